"""`replay`: execute a trace with the evaluator, and refuse it unless all its steps and its violation are real."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from insync.explorer.named_model import Naming, opened_kind
from insync.explorer.runs.lassos import Lasso, Verified, verify, witness_reason
from insync.explorer.stepping.stepper import Move, Refused, Stepper, Walk
from insync.explorer.task import ModelLike, model_of
from insync.explorer.traces.trace import (
    WITHOUT_PROPERTY,
    RefusedStep,
    Trace,
    TraceStep,
    first_codes,
    refused_step,
    trace_step,
)
from insync.explorer.traces.trace_file import read_trace
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.properties.explain import explain, explain_step
from insync.properties.invariants import TYPE_OK, Failure, StepInvariant
from insync.properties.registry import judge, run_properties_of, select
from insync.properties.temporal import Fairness, RunKind, RunProperty
from insync.runtime.errors import GuardError, UserError, closest

__all__ = ["ReplayError", "model_of_trace", "replay"]

_CAUSE = "The trace was changed by hand, or the model has changed since it was written."


class ReplayError(UserError):
    """A trace that its model does not confirm; the message names the step and what differs."""


def replay(trace: Trace | str | Path, *, model: ModelLike | None = None, place: str | None = None) -> Trace:
    """Execute a trace again and return it with the states, labels and reason of this execution.

    Args:
        trace: a trace, or the file with one; only its model name and bounds are trusted.
        model: an instance with the bounds of the trace, or a class or a name, which gets them. None is the model that
            the trace names, if it comes with insync or its class has been imported already.
        place: the beginning of messages; None is the file, or else `trace`.

    Raises:
        UnnamedModel: the trace names a Python file, and `model` is None; nothing was imported.
        UserError: the file is not a trace, or there is no such model, bound or property.
        ReplayError: an unknown action or parameter, a step that is not enabled, a state that differs, or a property
            that is not violated at the end.
    """
    file = None if isinstance(trace, Trace) else Path(trace)
    claim = trace if isinstance(trace, Trace) else read_trace(Path(trace))
    where = place or str(file or "trace")
    built = model if isinstance(model, Model) else model_of_trace(claim, where, model=model, beside=file)
    return _Replay(built, where).run(replace(claim, model=model_reference(built)))


def model_of_trace(
    trace: Trace, place: str, *, model: type[Model] | str | None = None, beside: Path | None = None
) -> Model:
    """Return the model of a trace under the bounds of the trace.

    Args:
        trace: the trace.
        place: the beginning of messages.
        model: a class or a name. None is the model that the trace names, if it comes with insync or its class has been
            imported already.
        beside: the file of the trace.

    Raises:
        UnnamedModel: the trace names a Python file, and `model` is None; nothing was imported.
        UserError: there is no such model, bound or property.
    """
    if model is None:
        model = opened_kind(Naming(trace.model, "trace", place, beside))
    try:
        built = model_of(model, trace.bounds)
        if trace.property not in (*WITHOUT_PROPERTY, *run_properties_of(built)):
            select(built, [trace.property])
    except UserError as error:
        message = f"{place}: {error.args[0]}"
        raise UserError(message) from error
    return built


class _Replay:
    def __init__(self, model: Model, place: str) -> None:
        self.model = model
        self.place = place
        self.walk: Walk  # begins in the first state of the trace

    def run(self, trace: Trace) -> Trace:
        names = self.model.identity
        missing = [name for name in names if name not in trace.bounds]
        if missing:
            without = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
            message = f"{without}; {self.model.name} needs a value for each of its bounds and settings. {_CAUSE}"
            raise self._error(message, "bounds")
        steps = [self._first(trace)]
        steps += [self._step(step, number) for number, step in enumerate(trace.steps[1:], start=1)]
        return replace(self._ended(trace, steps), demands=tuple(self.model.demands(steps)))

    def _ended(self, trace: Trace, steps: list[TraceStep]) -> Trace:
        """The trace with these steps and the verified claim about its end."""
        if trace.property in WITHOUT_PROPERTY:  # the steps are all that a model can verify
            return replace(trace, steps=tuple(steps))
        known = run_properties_of(self.model)
        if trace.property in known:
            return self._run(trace, known[trace.property], self.walk.moves, tuple(steps))
        if trace.loop is not None or trace.fairness is not None or trace.witness:
            message = f"{trace.property} is not a property of runs: its trace cannot have a loop or witness. {_CAUSE}"
            raise self._error(message, "the end of the trace")
        refused = self._refused(trace)
        failure = None if refused is not None else self._failure(trace)
        reason = failure.sentence if failure is not None else refused.message if refused is not None else ""
        return replace(trace, steps=tuple(steps), reason=reason, refused=refused, failure=failure)

    def _run(self, trace: Trace, found: RunProperty, moves: list[Move], steps: tuple[TraceStep, ...]) -> Trace:
        """Verify a lasso or a witness."""
        witness = found.kind is RunKind.SOMETIMES
        if trace.witness != witness or (trace.loop is None) != witness:
            shape = "is a witness and has no loop" if witness else "has a loop and is not a witness"
            message = f"a trace of {found.name} {shape}. {_CAUSE}"
            raise self._error(message, "the end of the trace")
        if trace.loop is None:
            reason, fault = witness_reason(self.model, found, moves[-1][1]), None
            if reason is None:
                fault = f"{found.name} does not hold in the last state, which must be a witness of it."
            verified = Verified(fault, reason or "")
        else:
            verified = verify(self.model, found, trace.fairness or Fairness(), Lasso(moves, trace.loop))
        if verified.fault is not None:
            message = f"{verified.fault} {_CAUSE}"
            raise self._error(message, "the end of the trace")
        return replace(trace, steps=steps, reason=verified.reason, refused=None)

    def _first(self, trace: Trace) -> TraceStep:
        """The first step, whose state must be an initial one."""
        initials, start = self.model.program.initials, first_codes(self.model, trace)
        if start is None and not (initials.enumerated and len(initials) == 1):
            many = f"{len(initials)} " if initials.enumerated else ""
            message = f"the state in the trace is none of the {many}initial states of {self.model.name}. {_CAUSE}"
            raise self._error(message, "step 0 (an initial state)")
        self.walk = Walk(Stepper(self.model), start)
        return self._executed(trace.steps[0], "step 0 (the initial state)")

    def _step(self, step: TraceStep, number: int) -> TraceStep:
        where = f"step {number}"
        try:
            self.walk.step(self._find(step.action or "", step.parameters, where))
        except GuardError:
            message = (
                f"{_call(step.action, step.parameters)} is not enabled in the state after step {number - 1}. {_CAUSE}"
            )
            raise self._error(message, where) from None
        except Refused as refused:
            message = f"{_call(step.action, step.parameters)} leaves a domain: {refused.message} {_CAUSE}"
            raise self._error(message, where) from None
        return self._executed(step, where)

    def _executed(self, step: TraceStep, where: str) -> TraceStep:
        """The step that the walk has taken last; an error unless its state is that of the trace."""
        executed = trace_step(self.model, self.walk.moves[-1])
        difference = _difference(step.state, executed.state, "")
        if difference is not None:
            message = f"{difference} {_CAUSE}"
            raise self._error(message, where)
        return executed

    def _refused(self, trace: Trace) -> RefusedStep | None:
        refused = trace.refused
        if (refused is not None) != (trace.property == TYPE_OK):
            expected = "must end with the key 'refused'" if refused is None else "has no key 'refused'"
            message = f"a trace of {trace.property} {expected}. {_CAUSE}"
            raise self._error(message, "the end of the trace")
        if refused is None:
            return None
        number = self._find(refused.action, refused.parameters, "refused")
        call = _call(refused.action, refused.parameters)
        outcome = self.walk.stepper.attempt(self.walk.codes, number)
        if outcome is None:
            message = f"{call} is not enabled in the last state. {_CAUSE}"
            raise self._error(message, "refused")
        if not isinstance(outcome, Refused):
            message = f"{call} leaves no domain, so {TYPE_OK} is not violated. {_CAUSE}"
            raise self._error(message, "refused")
        return refused_step(self.model, number, outcome.message)

    def _failure(self, trace: Trace) -> Failure:
        (found,) = judge(self.model, [trace.property]).invariants
        if isinstance(found, StepInvariant):
            return self._failure_of_step(trace, found)
        failure = explain(self.model, found, self.walk.codes)
        if failure is None:
            message = f"{trace.property} holds in the last state of the trace, which must violate it. {_CAUSE}"
            raise self._error(message, f"step {trace.length - 1}")
        return failure

    def _failure_of_step(self, trace: Trace, found: StepInvariant) -> Failure:
        """Return the failure of a step invariant in the last step."""
        states = [codes for _, codes in self.walk.moves[-2:]]
        failure = explain_step(self.model, found, *states) if len(states) == 2 else None
        if failure is None:
            message = f"the last step of the trace keeps {trace.property}, which it must break. {_CAUSE}"
            raise self._error(message, f"step {trace.length - 1}")
        return failure

    def _find(self, action: str, parameters: Mapping[str, str], where: str) -> int:
        """The number of the bound action that a step names; if there is none, the error says what is wrong."""
        program = self.model.program
        number = program.action_number(action, dict(parameters))
        if number is not None:
            return number
        if action not in program.action_names:
            message = f"{self.model.name} has no action {action!r}. {closest(action, program.action_names)}"
            raise self._error(message, where)
        known: dict[str, dict[str, None]] = {}  # the values of each parameter, as an ordered set
        for bound in program.actions:
            if bound.name == action:
                for name, label in bound.shown_parameters.items():
                    known.setdefault(name, {})[label] = None
        message = _wrong_parameter(action, parameters, known) or (
            f"{_call(action, parameters)} is never enabled, whatever the state. {_CAUSE}"
        )
        raise self._error(message, where)

    def _error(self, message: str, where: str) -> ReplayError:
        return ReplayError(f"{self.place}: {where}: {message}")


def _wrong_parameter(action: str, given: Mapping[str, str], known: Mapping[str, Iterable[str]]) -> str | None:
    for name in given:
        if known and name not in known:
            return f"{action} has no parameter {name!r}. {closest(name, known)}"
    for name, labels in known.items():
        if name not in given:
            return f"the parameter {name!r} of {action} is missing; it is one of {', '.join(labels)}."
        if given[name] not in labels:
            return f"the parameter {name!r} of {action} is {given[name]!r}; it must be one of {', '.join(labels)}."
    return None


def _call(action: str | None, parameters: Mapping[str, str]) -> str:
    return f"{action}({', '.join(f'{name}={label}' for name, label in parameters.items())})"


def _difference(claimed: object, real: object, path: str) -> str | None:
    """Return a sentence on the first difference of two readable states, or None."""
    if isinstance(claimed, Mapping) and isinstance(real, Mapping):
        for name in real:
            if name not in claimed:
                return f"the field {_join(path, name)} is missing from the state in the trace."
        for name in claimed:
            if name not in real:
                return f"the state in the trace has a field {_join(path, name)} that is not one of the model."
        pairs = [(claimed[name], real[name], _join(path, name)) for name in real]
    elif isinstance(claimed, list | tuple) and isinstance(real, list | tuple) and len(claimed) == len(real):
        pairs = [(mine, its, f"{path}[{index}]") for index, (mine, its) in enumerate(zip(claimed, real, strict=True))]
    else:
        if type(claimed) is type(real) and claimed == real:
            return None
        return f"{path} is {_shown(claimed)} in the trace and {_shown(real)} when the step is executed."
    found = (_difference(mine, its, place) for mine, its, place in pairs)
    return next((text for text in found if text is not None), None)


def _shown(value: object) -> str:
    """The value as it is written in a trace file."""
    return json.dumps(value, ensure_ascii=False)


def _join(path: str, name: object) -> str:
    return f"{path}.{name}" if path else str(name)
