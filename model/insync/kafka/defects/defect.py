"""What an entry of the catalogue says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from insync.kafka.defects.finding import KafkaFinding

__all__ = ["NO_DEFECT", "Defect", "LeftOut"]

NO_DEFECT = "none"
"""The value of the bound `defect` that changes no rule."""


@dataclass(frozen=True, slots=True)
class Defect:
    """A defect: what brings it back into a model, and the bounds that are large enough to witness it.

    Attributes:
        name: its name in the catalogue, such as `R-13`.
        title: what goes wrong, in a few words.
        ticket: the KIP or ticket that describes or fixes it; "mutant" for a guard that no release has left out.
        affected: the releases that have it, in words.
        story: how it goes wrong.
        fix: what fixes it.
        breaks: the property that fails: an invariant, or a property of runs.
        length: the number of states of the shortest trace to that failure, or of a run up to its loop; 0 where nothing
            fails, in the whole space.
        bounds: the bounds that witness it; all others have their defaults.
        rules: the rules that are the defect; none where it is a setting.
        base: rules that hold for the defect and for its fix alike, where it needs an older protocol around it, or the
            absence of another defect.
        fixed: bounds that differ for the fix, where the fix is a setting.
        model: the model that shows it; those of `cluster` are switched on by its setting `defect`.
        finding: what it is as a finding about released Kafka, if it is one that has a page.
    """

    name: str
    title: str
    ticket: str
    affected: str
    story: str
    fix: str
    breaks: str
    length: int
    bounds: Mapping[str, int | str]
    rules: Mapping[str, object] = field(default_factory=dict)
    base: Mapping[str, object] = field(default_factory=dict)
    fixed: Mapping[str, int | str] = field(default_factory=dict)
    model: str = "cluster"
    finding: KafkaFinding | None = None

    @property
    def harmless(self) -> bool:
        """Whether nothing fails although the rules are changed."""
        return self.length == 0

    @property
    def witness(self) -> dict[str, int | str]:
        """The bounds under which the model shows the defect."""
        return {**self.bounds, **self._switch}

    @property
    def fixed_witness(self) -> dict[str, int | str]:
        """The bounds under which the model holds, because the defect is fixed."""
        return {**self.bounds, **self.fixed, **self._switch, **({"fixed": "on"} if self._switch else {})}

    @property
    def _switch(self) -> dict[str, int | str]:
        """What switches the defect on besides the bounds."""
        return {"defect": self.name} if self.model == "cluster" or self.rules else {}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A published defect that the model does not show.

    Attributes:
        name: its name in the catalogue.
        title: what goes wrong, in a few words.
        ticket: the KIP or ticket.
        reason: why the model does not show it.
        finding: what it is as a finding about released Kafka, if it is one.
    """

    name: str
    title: str
    ticket: str
    reason: str
    finding: KafkaFinding | None = None
