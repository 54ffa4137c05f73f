"""Counterexamples in the words of the model: moves become a trace, with the reason why it ends where it does."""

from __future__ import annotations

from collections.abc import Sequence

from insync.explorer.breadth_first.backtrack import Move
from insync.explorer.traces.trace import START, RefusedStep, Trace, TraceStep
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.errors import InternalError
from insync.model.evaluator import Evaluator
from insync.properties.every_model import TYPE_OK
from insync.properties.explain import explain
from insync.properties.invariants import Invariant

__all__ = ["refusal_trace", "trace_steps", "violation_trace"]


def violation_trace(model: Model, violated: Invariant, moves: Sequence[Move]) -> Trace:
    """Return the trace of moves to a state in which a property fails.

    Raises:
        InternalError: by the evaluator, the property holds there.
    """
    reason = explain(model, violated, moves[-1][1])
    if reason is None:
        message = f"The machine code finds {violated.name} violated in {moves[-1][1]}; by the evaluator it holds."
        raise InternalError(message)
    return Trace(model_reference(model), model.identity, violated.name, trace_steps(model, moves), reason)


def refusal_trace(model: Model, moves: Sequence[Move]) -> Trace:
    """Return the trace of moves to a state with a step that assigns outside a field's domain: a violation of type_ok.

    Raises:
        InternalError: by the evaluator, there is no such step.
    """
    program, codes = model.program, moves[-1][1]
    evaluator = Evaluator(program)
    for number in evaluator.enabled(codes):
        check = evaluator.failing_check(number, codes)
        if check is not None:
            action = program.actions[number]
            refused = RefusedStep(action.name, action.shown_parameters, action.label, check.message)
            reference = model_reference(model)
            return Trace(reference, model.identity, TYPE_OK, trace_steps(model, moves), check.message, refused)
    message = f"The machine code refuses a step from {codes}; the evaluator refuses none."
    raise InternalError(message)


def trace_steps(model: Model, moves: Sequence[Move]) -> tuple[TraceStep, ...]:
    """Return moves as the steps of a trace."""
    steps = []
    for number, codes in moves:
        if number is None:
            steps.append(TraceStep(None, {}, model.decode(codes), START))
        else:
            action = model.program.actions[number]
            steps.append(TraceStep(action.name, action.shown_parameters, model.decode(codes), action.label))
    return tuple(steps)
