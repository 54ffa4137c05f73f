"""The one trace type: a sequence of steps from an initial state, and why its last state breaks a property."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from insync.explorer.tables import Shown, TableColumns, plural, with_fields
from insync.model import Demand, Hardness, ReadableState
from insync.properties.invariants import Failure
from insync.properties.temporal import Fairness

__all__ = ["AGREEMENT", "DIFFERENCE", "EXPLORED", "START", "WITHOUT_PROPERTY", "RefusedStep", "Trace", "TraceStep"]

START = "start"
"""The label of the initial state; if there are several ways to begin, the way stands after it."""

AGREEMENT = "agreement"
"""Replaces the property in the trace of a disagreement between a model and a system."""

EXPLORED = "explored"
"""Replaces the property in a trace that was explored by hand."""

DIFFERENCE = "difference"
"""Replaces the property in a trace that one model allows and another does not."""

WITHOUT_PROPERTY = frozenset({AGREEMENT, DIFFERENCE, EXPLORED})
"""Replaces the property in traces that are about none: only their steps can be verified."""


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One state of a trace and the step that led to it.

    `action` is None for the initial state. `parameters` maps the name of a parameter to its label ("b1"). `state` is
    the readable state, from `model.decode`. `label` is the step in words ("b3 fetches from b1").
    """

    action: str | None
    parameters: Mapping[str, str]
    state: ReadableState
    label: str = START


@dataclass(frozen=True, slots=True)
class RefusedStep:
    """An enabled step from the last state that would leave a field's domain: a violation of type_ok."""

    action: str
    parameters: Mapping[str, str]
    label: str
    message: str


@dataclass(frozen=True, slots=True, repr=False)
class Trace(Shown):
    """A counterexample: model and bounds, the property that fails, the steps, and the reason in words.

    `model` is the name under which the model is found again: "kip320", or "path/to/file.py:Class". `steps[0]` is the
    initial state. `refused` is set for type_ok alone: the last state is then sound, and a step from it leaves a domain.

    A run that never ends has a `loop`: its last state equals that of step `loop`, and if this is the last step the run
    stays there. `fairness` is the fairness that the run respects. A `witness` is not a counterexample: its last state
    is one in which a `sometimes` property holds.

    `failure` is the failure of an invariant, whose sentence is the reason. `demands` is what must happen in a real
    system for the steps to come about, by the model. Files contain neither; `replay` finds them again.
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
    failure: Failure | None = field(default=None, compare=False)

    @builtins.property
    def length(self) -> int:
        """The number of states, the initial one included."""
        return len(self.steps)

    @builtins.property
    def takes_race(self) -> bool:
        """Whether the steps need a race inside one method of the system."""
        return any(demand.hardness is Hardness.RACE for demand in self.demands)

    @builtins.property
    def outcome(self) -> str:
        """The outcome in words: "weak_isr fails after 10 steps"."""
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
