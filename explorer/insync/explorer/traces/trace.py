"""The one trace type: a sequence of steps from an initial state, and why its last state breaks a property.

Reading and writing it is in `trace_file`, running it again in `replay`, showing it in `grid`, its export in `itf`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from insync.explorer.tables import TableColumns, Tabular, plural, with_fields
from insync.model import Demand, Hardness, ReadableState
from insync.properties.temporal import Fairness

__all__ = ["AGREEMENT", "DIFFERENCE", "EXPLORED", "START", "WITHOUT_PROPERTY", "RefusedStep", "Trace", "TraceStep"]

START = "start"
"""Label of the initial state, which no action produced; which one it is stands after it, if there are several ways."""

AGREEMENT = "agreement"
"""What stands in the place of the property in the trace of a disagreement between a model and a system."""

EXPLORED = "explored"
"""What stands in the place of the property in a trace that was explored by hand and ends in a state like any other."""

DIFFERENCE = "difference"
"""What stands in the place of the property in a trace that one model allows and another does not."""

WITHOUT_PROPERTY = frozenset({AGREEMENT, DIFFERENCE, EXPLORED})
"""What stands in the place of the property where a trace is about none: its steps are all that can be verified."""


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One state of a trace and the step that led to it.

    `action` is None for the initial state. `parameters` maps the name of a parameter to its label ("b1"). `state` is
    the readable state that `model.decode` gives. `label` is the step in words ("b3 fetches from b1").
    """

    action: str | None
    parameters: Mapping[str, str]
    state: ReadableState
    label: str = START


@dataclass(frozen=True, slots=True)
class RefusedStep:
    """A step from the last state that is enabled and assigns outside a field's domain: the failure of type_ok."""

    action: str
    parameters: Mapping[str, str]
    label: str
    message: str


@dataclass(frozen=True, slots=True, repr=False)
class Trace(Tabular):
    """A counterexample: model and bounds, the property that fails, the steps, and the reason in words.

    `model` is the name under which the model is found again: "kip320", or "path/to/file.py:Class". `steps[0]` is the
    initial state. `refused` is set for type_ok alone, whose last state is sound but has a step that leaves a domain.

    A run that goes on for ever has a `loop`: the last state is that of step `loop` again (the last step itself: the run
    stays there), and `fairness` is what it respects. A `witness` is not a counterexample: its last state is a state of
    the kind that a `sometimes` property asks for.

    `demands` is what must happen for the steps to come about, as the model says it; a file does not have it.
    """

    model: str
    bounds: Mapping[str, int | str]
    property: str
    steps: tuple[TraceStep, ...]
    reason: str
    refused: RefusedStep | None = None
    loop: int | None = None
    fairness: Fairness | None = None
    witness: bool = False
    demands: tuple[Demand, ...] = field(default=(), compare=False)

    @builtins.property
    def length(self) -> int:
        """The number of states, the initial one included."""
        return len(self.steps)

    @builtins.property
    def takes_race(self) -> bool:
        """Whether the steps come about only by a race inside one method of the system."""
        return any(demand.hardness is Hardness.RACE for demand in self.demands)

    @builtins.property
    def outcome(self) -> str:
        """What it shows, in words: "weak_isr fails after 10 steps"."""
        steps = self.length - 1
        first = "in the initial state" if self.refused is None else "in the first step"
        count = first if steps == 0 else f"after {plural(steps, 'step')}"
        if self.property in (DIFFERENCE, EXPLORED):
            return f"{self.property}, {count}"
        if self.witness:
            return f"{self.property} is reached {count}"
        if self.loop is not None:
            return f"{self.property} fails in a run that never ends"
        return f"{self.property} fails {count}"

    def summary(self) -> str:
        return f"{self.model}: {self.outcome}"

    def _tables(self) -> Mapping[str, Callable[[], TableColumns]]:
        """Return the table `steps`: a row for each state, with its step and a column for each field."""
        return {"steps": self._steps}

    def _steps(self) -> TableColumns:
        names = dict.fromkeys(name for step in self.steps for name in step.state)
        own: TableColumns = {
            "step": list(range(self.length)),
            "label": [step.label for step in self.steps],
            "action": [step.action for step in self.steps],
        }
        return with_fields(own, {name: [step.state.get(name) for step in self.steps] for name in names})
