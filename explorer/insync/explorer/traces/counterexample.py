"""Moves that an engine found, as a trace with readable states, labels, and the reason of the violation."""

from __future__ import annotations

from collections.abc import Sequence

from insync.explorer.stepping.stepper import Move, Refused, Stepper
from insync.explorer.traces.trace import START, RefusedStep, Trace, TraceStep
from insync.model import Model, ReadableState
from insync.model.catalogue import model_reference
from insync.model.evaluator import Codes
from insync.properties.explain import explain
from insync.properties.invariants import TYPE_OK, Failure, Invariant, StepInvariant
from insync.runtime.errors import InternalError, UserError

__all__ = ["first_codes", "refusal_trace", "refused_step", "trace_of", "trace_step", "trace_steps", "violation_trace"]


def violation_trace(model: Model, violated: Invariant, moves: Sequence[Move]) -> Trace:
    """Return the trace of moves to a state in which a property fails.

    For a step invariant the trace also has the step that breaks it, by the least bound action that does.

    Raises:
        InternalError: by the evaluator, the property holds there.
    """
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
