"""The one trace type: a sequence of steps from an initial state, and why its last state breaks a property.

Engines find moves: numbers of bound actions, and packed states. `trace_of` and its like make a trace of these, with
readable states, labels and the reason of the violation.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from insync.explorer.tables import Shown, TableColumns, with_fields
from insync.model import Demand, Hardness, Model, ReadableState
from insync.model.catalogue import model_reference
from insync.model.evaluator import Codes
from insync.properties.invariants import TYPE_OK, Failure, Invariant, StepInvariant
from insync.properties.temporal import Fairness
from insync.runtime.errors import InternalError, UserError
from insync.runtime.text import plural

if TYPE_CHECKING:
    from insync.explorer.stepping.stepper import Move, Refused

__all__ = [
    "AGREEMENT",
    "DIFFERENCE",
    "EXPLORED",
    "START",
    "WITHOUT_PROPERTY",
    "RefusedStep",
    "Trace",
    "TraceStep",
    "first_codes",
    "refusal_trace",
    "refused_step",
    "trace_of",
    "trace_step",
    "trace_steps",
    "violation_trace",
]

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


# ---------------------------------------------------------------------------------------------------- traces of moves


def violation_trace(model: Model, violated: Invariant, moves: Sequence[Move]) -> Trace:
    """Return the trace of moves to a state in which a property fails.

    For a step invariant the trace also has the step that breaks it, by the least bound action that does.

    Raises:
        InternalError: by the evaluator, the property holds there.
    """
    from insync.properties.explain import explain  # not at the top: results refer to traces, and mostly have none

    codes = moves[-1][1]
    failure = explain(model, violated, codes)
    if failure is None:
        message = f"The machine code finds {violated.name} violated in {codes}; by the evaluator it holds."
        raise InternalError(message)
    step = violated.bad_step(model, codes) if isinstance(violated, StepInvariant) else None
    return trace_of(model, violated.name, moves if step is None else [*moves, step], failure)


def refusal_trace(model: Model, moves: Sequence[Move]) -> Trace:
    """Return the trace of moves to a state with a step that leaves a field's domain: a violation of type_ok.

    Raises:
        InternalError: the evaluator finds no such step.
    """
    from insync.explorer.stepping.stepper import Refused, Stepper

    codes = moves[-1][1]
    for _, outcome in Stepper(model).outcomes(codes):
        if isinstance(outcome, Refused):
            return trace_of(model, TYPE_OK, moves, outcome.message, outcome)
    message = f"The machine code refuses a step from {codes}; the evaluator refuses none."
    raise InternalError(message)


def trace_of(
    model: Model, failing: str, moves: Sequence[Move], reason: str | Failure, refused: Refused | None = None
) -> Trace:
    """Return moves as the trace of a property that fails at their end.

    Args:
        model: the model.
        failing: the name of the property.
        moves: the moves, (None, an initial state) first.
        reason: why the property fails; a `Failure` of an invariant has its sentence.
        refused: the refused step from the last state, if that is the failure.
    """
    last = None if refused is None else refused_step(model, refused.number, refused.message)
    steps = trace_steps(model, moves)
    demands = tuple(model.demands(steps))
    known, said = (reason, reason.sentence) if isinstance(reason, Failure) else (None, reason)
    return Trace(model_reference(model), model.identity, failing, steps, said, last, demands=demands, failure=known)


def trace_steps(model: Model, moves: Sequence[Move]) -> tuple[TraceStep, ...]:
    """Return moves as the steps of a trace."""
    return tuple(trace_step(model, move) for move in moves)


def trace_step(model: Model, move: Move, state: ReadableState | None = None) -> TraceStep:
    """Return a move as a step of a trace; `state` is the state after it if that has been decoded already."""
    number, codes = move
    readable = model.decode(codes) if state is None else state
    if number is None:
        origin = model.program.initials.origin(codes)
        return TraceStep(None, {}, readable, START if origin is None else f"{START}: {origin}")
    action = model.program.actions[number]
    return TraceStep(action.name, action.shown_parameters, readable, action.label)


def first_codes(model: Model, trace: Trace) -> Codes | None:
    """Return the initial state that a trace begins in; None if its first state is not an initial one."""
    try:
        codes = model.encode(dict(trace.steps[0].state))
    except UserError:
        return None
    return codes if codes in model.program.initials else None


def refused_step(model: Model, number: int, message: str) -> RefusedStep:
    """Return the refused step at the end of a trace: its bound action, and what it would assign in words."""
    action = model.program.actions[number]
    return RefusedStep(action.name, action.shown_parameters, action.label, message)
