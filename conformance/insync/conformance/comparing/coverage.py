"""What has been compared so far: steps, transitions of the model by action, facts, and what could not be taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from insync.conformance.correspondence.known_differences import Missing, NotSchedulable
from insync.explorer.stepping.stepper import Move, Stepper
from insync.model.evaluator import Codes

__all__ = ["Coverage"]

_Kind = TypeVar("_Kind")


@dataclass(slots=True)
class Coverage:
    """Counts what Kafka's classes and the model were compared in.

    Not frozen: it counts.

    Attributes:
        actions: the names of the model's actions, by number.
        steps: the steps taken, those that Kafka took by itself included.
        own_steps: those alone.
        fields: the facts compared.
        opened: how often a cluster was made.
        refused: for each action how often Kafka had to refuse it, or do nothing, and did.
        unexpected: the actions and reasons of the gaps that the guide does not name.
    """

    actions: tuple[str, ...]
    steps: int = 0
    own_steps: int = 0
    fields: int = 0
    opened: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    unexpected: set[tuple[str, str]] = field(default_factory=set)
    _transitions: dict[str, set[int]] = field(default_factory=dict)
    _gaps: dict[tuple[str, str], set[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, stepper: Stepper) -> Coverage:
        """Begin to count the steps of a model."""
        return cls(tuple(action.name for action in stepper.actions))

    def add_step(self, before: Codes, moves: list[Move], *, own: int, fields: int) -> None:
        """Note a step that both have taken.

        Args:
            before: the state in which it was taken.
            moves: the moves of the model for it, those that Kafka took by itself included.
            own: how many of them are those.
            fields: how many facts were compared.
        """
        self.own_steps += own
        self.fields += fields
        for (_, codes), (number, _) in zip([(None, before), *moves], moves, strict=False):
            assert number is not None
            self.steps += 1
            self._transitions.setdefault(self.actions[number], set()).add(hash((codes, number)))

    def add_gap(self, codes: tuple[int, ...], number: int, why: NotSchedulable) -> None:
        """Note a transition that cannot be brought about, and why."""
        self._gaps.setdefault((self.actions[number], why.kind), set()).add(hash((codes, number)))
        self.note(number, why)

    def note(self, number: int, why: NotSchedulable) -> None:
        """Note whether it was to be expected that an action cannot be brought about."""
        if isinstance(why, Missing):
            self.unexpected.add((self.actions[number], why.kind))

    def add(self, other: Coverage, space: str | None = None) -> None:
        """Take in what was compared elsewhere.

        Args:
            other: what was compared there.
            space: the name of the space where it is another one, whose transitions are others than those of any other.
        """
        self.steps += other.steps
        self.own_steps += other.own_steps
        self.fields += other.fields
        self.opened += other.opened
        self.refused += other.refused
        self.unexpected |= other.unexpected
        _take_in(self._transitions, other._transitions, space)
        _take_in(self._gaps, other._gaps, space)

    @property
    def transitions(self) -> dict[str, int]:
        """The different transitions that were taken, for each action."""
        return {name: len(taken) for name, taken in sorted(self._transitions.items())}

    @property
    def gaps(self) -> dict[tuple[str, str], int]:
        """The different transitions that were never taken, for each action and reason."""
        taken: set[int] = set().union(*self._transitions.values())
        counts = {kind: len(found - taken) for kind, found in sorted(self._gaps.items())}
        return {kind: count for kind, count in counts.items() if count}


def _take_in(mine: dict[_Kind, set[int]], theirs: Mapping[_Kind, set[int]], space: str | None) -> None:
    for kind, found in theirs.items():
        mine.setdefault(kind, set()).update(found if space is None else {hash((space, one)) for one in found})
