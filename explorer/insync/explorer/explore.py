"""`explore`: begin an exploration by hand, at an initial state, a trace, an address, or a violation to search for."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from insync.explorer.check import check
from insync.explorer.exploring.session import Exploration
from insync.explorer.progress import Reporter
from insync.explorer.replay import replay
from insync.explorer.results import Verdict
from insync.explorer.stepping.stepper import Move
from insync.explorer.task import ModelLike, model_of
from insync.explorer.traces.trace import EXPLORED, Trace, first_codes
from insync.explorer.traces.trace_file import portable_reference, read_trace
from insync.model import Model
from insync.model.catalogue import class_reference
from insync.properties.registry import confined, default_names, invariants_of
from insync.runtime.errors import UserError
from insync.runtime.watch import Limits

__all__ = ["NoViolation", "explore", "refuse_trace_of_another"]


class NoViolation(UserError):
    """The search found no violation to begin at.

    Attributes:
        verdict: holds, or incomplete if a limit ended the search.
    """

    def __init__(self, message: str, verdict: Verdict = Verdict.HOLDS) -> None:
        super().__init__(message)
        self.verdict = verdict

    def __reduce__(self) -> tuple[type[NoViolation], tuple[str, Verdict]]:
        return type(self), (str(self), self.verdict)


def explore(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    properties: Sequence[str] | None = None,
    trace: Trace | str | Path | None = None,
    address: str | None = None,
    violation: str | None = None,
    within: Sequence[str] | None = None,
    limits: Limits | None = None,
    reporter: Reporter | None = None,
    stop: threading.Event | None = None,
) -> Exploration:
    """Return an exploration of a model, whose methods take steps.

    Args:
        model: a class, an instance, or a name.
        bounds: bounds of a class or a name.
        properties: the properties that random walks stop at and that traces are of; None is the model's headline.
        trace: begin at the end of this trace, or of the one in this file.
        address: begin at the state with this address.
        violation: search for a violation of this property, and begin at the end of its trace.
        within: names of invariants; no step leads from a state in which one fails. None is the confinement of the
            model's class.
        limits: of that search.
        reporter: called with the progress of that search.
        stop: ends that search when it is set.

    Raises:
        UserError: more than one beginning; an unknown model, bound or property; a trace or address of another model.
        NoViolation: the search found no violation.
    """
    built = confined(model_of(model, bounds), within)
    if sum(given is not None for given in (trace, address, violation)) > 1:
        message = "A trace, an address and a violation are three places to begin at; give one of them."
        raise UserError(message)
    if violation is not None:
        trace = _violation(built, violation, limits, reporter, stop)
    steps = None if trace is None else _replayed(built, trace)
    watched = properties
    if steps is not None and properties is None and steps.property in invariants_of(built):
        watched = list(dict.fromkeys([steps.property, *default_names(built)]))
    made = Exploration(built, watched)
    if steps is not None:
        made.follow(_moves(built, steps))
    if address is not None:
        made.go_to_address(address)
    made.visited.forget_changes()
    return made


def _violation(
    model: Model, name: str, limits: Limits | None, reporter: Reporter | None, stop: threading.Event | None
) -> Trace:
    """Return the shortest trace to a violation of a property."""
    result = check(model, properties=[name], limits=limits, reporter=reporter, stop=stop)
    found = next((one for one in result.violations if one.property == name), None)
    if found is not None:
        return found.trace
    if result.violations:
        message = f"The search for a violation of {name} ended at one of {result.violations[0].property}; explore that."
        raise NoViolation(message, Verdict.INCOMPLETE)
    if result.verdict is Verdict.HOLDS:
        message = f"{name} holds in all {result.distinct_states:,} states, so it has no violation. Begin elsewhere."
        raise NoViolation(message)
    if result.verdict is Verdict.VIOLATED:
        message = (
            f"The search for the way to a violation was stopped ({result.stopped_by}). Raise that limit, or begin "
            "elsewhere."
        )
        raise NoViolation(message, Verdict.INCOMPLETE)
    message = (
        f"No violation of {name} was found in {result.distinct_states:,} states before the search was stopped "
        f"({result.stopped_by}). Raise that limit, or begin elsewhere."
    )
    raise NoViolation(message, Verdict.INCOMPLETE)


def _replayed(model: Model, given: Trace | str | Path) -> Trace:
    """Return a trace that the model has replayed; its claim about a property is not checked."""
    claim = given if isinstance(given, Trace) else read_trace(Path(given))
    bare = replace(claim, property=EXPLORED, refused=None, loop=None, fairness=None, witness=False)
    place = "trace" if isinstance(given, Trace) else str(given)
    refuse_trace_of_another(claim, type(model), place)
    other = {name: value for name, value in claim.bounds.items() if model.identity.get(name, value) != value}
    if other:
        name, value = next(iter(other.items()))
        own = f"{model.name} is explored with {name}={model.identity[name]}"
        message = f"{place}: it was made with {name}={value}, and {own}. Give the same value."
        raise UserError(message)
    return replace(replay(bare, model=model, place=place), property=claim.property)


def refuse_trace_of_another(trace: Trace, kind: type[Model], place: str) -> None:
    """Raise UserError, with `place` at its beginning, if a trace is of another model, wherever their files are."""
    own = portable_reference(class_reference(kind))
    if trace.model.rpartition(":")[2] != own.rpartition(":")[2]:
        other = portable_reference(trace.model)
        message = f"{place}: it is a trace of {other} and not of {own}; explore {other} to begin there."
        raise UserError(message)


def _moves(model: Model, trace: Trace) -> list[Move]:
    start = first_codes(model, trace)
    assert start is not None, f"{trace} was replayed, and begins in no initial state"
    moves: list[Move] = [(None, start)]
    for step in trace.steps[1:]:
        number = model.program.action_number(step.action or "", dict(step.parameters))
        moves.append((number, model.encode(dict(step.state))))
    return moves
