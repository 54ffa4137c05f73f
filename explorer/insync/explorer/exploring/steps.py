"""The enabled steps of a state, why other actions are disabled, the status of properties, and a search onward."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from insync.explorer.coverage.source_page import argument_text
from insync.explorer.progress import Reporter
from insync.explorer.search.breadth_first import breadth_first
from insync.explorer.search.trace_back import path_to
from insync.explorer.stepping.stepper import Move, Refused, Stepper
from insync.machine.kernels import compile_kernels
from insync.machine.packed import PackedRows
from insync.model import Model
from insync.model.evaluator import Codes, evaluate, evaluate_each
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import apply
from insync.model.expressions.store import conjuncts
from insync.model.tracing.tracer import parts_of
from insync.properties.condition_text import plain, show
from insync.properties.explain import blame, explain, explain_step, failure_of_condition
from insync.properties.invariants import TYPE_OK, TYPE_OK_SENTENCE, Failure, Invariant, StepInvariant, kept_for
from insync.properties.registry import invariants_of
from insync.runtime.text import plural
from insync.runtime.watch import Limits, Stopped, StopReason, Watch
from insync.runtime.workers import available_cores

__all__ = [
    "OfferedStep",
    "Reached",
    "Standing",
    "WhyNot",
    "WrittenGuards",
    "holds_after",
    "offered_steps",
    "reach",
    "standings",
    "why_not",
    "written_guards",
]


_TOO_LONG = "a condition too long to be shown"


@dataclass(frozen=True, slots=True)
class OfferedStep:
    """A bound action in a state.

    Attributes:
        number: the number of the action in the program.
        action: its name.
        parameters: the label of each parameter's value, by the name of the parameter.
        label: the step in words.
        enabled: whether the guard holds.
        after: the state after the step; None if it is disabled or refused.
        refused: the assignment outside a field's domain for which the step is refused; None if there is none.
    """

    number: int
    action: str
    parameters: Mapping[str, str]
    label: str
    enabled: bool
    after: Codes | None = None
    refused: str | None = None


def offered_steps(stepper: Stepper, codes: Codes) -> list[OfferedStep]:
    """Return every bound action with its outcome in a state: the enabled ones first, otherwise in program order."""
    outcomes = dict(stepper.outcomes(codes))
    steps = []
    for number, action in enumerate(stepper.actions):
        outcome = outcomes.get(number)
        steps.append(
            OfferedStep(
                number=number,
                action=action.name,
                parameters=action.shown_parameters,
                label=action.label,
                enabled=outcome is not None,
                after=None if isinstance(outcome, Refused) else outcome,
                refused=str(outcome) if isinstance(outcome, Refused) else None,
            )
        )
    return sorted(steps, key=lambda step: not step.enabled)


@dataclass(frozen=True, slots=True)
class GuardPart:
    """One conjunct of a guard.

    Attributes:
        text: the condition in the words of the model, else in the names of the fields, or as in the source if that
            would be too long.
        holds: whether it holds.
        written: the condition as in the source; None if the source was not consulted, and for `within`.
    """

    text: str
    holds: bool
    written: WrittenPart | None


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why an action is disabled in a state, or that it is enabled.

    Attributes:
        number: the number of the action in the program.
        label: the step in words.
        guard: the conjuncts of its guard, in source order.
        first: the index in `guard` of the first that does not hold; None if the action is enabled.
        bindings: the values of quantified variables for which it fails first.
        culprit: the part of it that fails, unless that is the whole.
        values: the value of each field that the part reads, by the field's path.
        reason: all of that as one sentence.
    """

    number: int
    label: str
    guard: tuple[GuardPart, ...]
    first: int | None
    bindings: Mapping[str, str]
    culprit: str
    values: Mapping[str, str]
    reason: str


def why_not(model: Model, codes: Codes, number: int, written: WrittenGuards | None = None) -> WhyNot:
    """Return why an action is disabled in a state.

    Args:
        model: the model.
        codes: the state.
        number: the number of the action in the program.
        written: the guards as in the source; None leaves them out of the result.
    """
    said = {} if written is None else written[number]
    action = model.program.actions[number]
    holds = [bool(value) for value in evaluate_each(action.guard, codes)]
    parts = tuple(_part(model, node, held, said.get(node)) for node, held in zip(action.guard, holds, strict=True))
    if all(holds):
        return WhyNot(number, action.label, parts, None, {}, "", {}, f"{action.label}: it is enabled here.")
    first = holds.index(False)
    failing = failure_of_condition(model, action.guard[first], codes)
    assert failing is not None, f"{action.guard[first]} is false in {codes}, and the explanation says that it holds"
    where = "".join(f"for {variable} = {label}, " for variable, label in failing.bindings.items())
    whole = failing.conjunct if failing.must_hold else f"not {failing.conjunct}"
    culprit = "" if whole == parts[first].text else failing.conjunct
    in_words = model.condition_in_words(_as_text(model, action.guard[first]))
    takes = f"it takes that {in_words}; " if in_words else ""
    return WhyNot(
        number=number,
        label=action.label,
        guard=parts,
        first=first,
        bindings=dict(failing.bindings),
        culprit=culprit,
        values={path: plain(value) for path, value in failing.fields.items()},
        reason=f"{action.label}: {_within(model, action.guard[first])}{takes}{where}{blame(failing)}.",
    )


def _within(model: Model, node: Node) -> str:
    """Return the beginning of the reason for a step that `within` forbids; empty for a condition of the action."""
    if node not in model.program.within:
        return ""
    return "the search takes no step from a state outside of what it is confined to; "


def _part(model: Model, node: Node, holds: bool, written: WrittenPart | None) -> GuardPart:
    text = _as_text(model, node)
    said = model.condition_in_words(text) or text or (_TOO_LONG if written is None else written.text)
    return GuardPart(said, holds, written)


def _as_text(model: Model, node: Node) -> str:
    return kept_for(model, ("as text", node), lambda: show(model, node))


# Guards as in the source.


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A condition of a guard as in the source.

    Attributes:
        text: the argument of `require`.
        place: the name of the file, and the line.
    """

    text: str
    place: str


WrittenGuards = Sequence[Mapping[Node, WrittenPart]]
"""For each bound action of a program, the conditions of its guard as in the source."""


def written_guards(model: Model) -> WrittenGuards:
    """Return the guards of a model as in the source."""
    found: list[dict[Node, WrittenPart]] = []
    for action in parts_of(model):
        if action.bound is None:
            continue
        parts: dict[Node, WrittenPart] = {}
        for required in action.required:
            place = f"{os.path.basename(required.spot.file)}:{required.spot.line}"
            part = WrittenPart(argument_text(required.spot, required.place), place)
            for node in conjuncts(required.condition):
                parts.setdefault(node, part)
        found.append(parts)
    return found


# The status of properties.


@dataclass(frozen=True, slots=True)
class Standing:
    """The status of a property in a state.

    Attributes:
        name: the name of the property.
        sentence: its sentence.
        of_steps: whether it is about the step that led here, and not about the state.
        watched: whether it is watched.
        holds: whether it holds; for a property of steps, whether the last step satisfies it. None if there is no step.
        reason: why it fails; empty if it does not.
        failure: the same with what it is about, for a property of states or steps.
    """

    name: str
    sentence: str
    of_steps: bool
    watched: bool
    holds: bool | None
    reason: str
    failure: Failure | None = None


def standings(model: Model, stepper: Stepper, moves: Sequence[Move], watched: Sequence[str]) -> list[Standing]:
    """Return the status of each property of states and of steps after some moves, the watched ones first.

    Args:
        model: the model.
        stepper: the stepper of the model.
        moves: the moves; the first is (None, an initial state).
        watched: the names of the watched properties.
    """
    found = [_standing(model, one, moves, one.name in watched) for one in invariants_of(model).values()]
    refused = (outcome for _, outcome in stepper.outcomes(moves[-1][1]) if isinstance(outcome, Refused))
    first = next(refused, None)
    reason = "" if first is None else f"{model.program.actions[first.number].label}: {first}"
    found.append(Standing(TYPE_OK, TYPE_OK_SENTENCE, False, True, first is None, reason))
    order = {name: place for place, name in enumerate(watched)}
    return sorted(found, key=lambda one: (not one.watched, order.get(one.name, len(order))))


def holds_after(model: Model, found: Invariant, moves: Sequence[Move]) -> bool:
    """Return whether a property holds after some moves; for one of steps, whether the last step satisfies it."""
    if isinstance(found, StepInvariant):
        return len(moves) < 2 or found.met(model, moves[-2][1], moves[-1][1])
    return bool(evaluate(found.node(model), moves[-1][1]))


def _standing(model: Model, found: Invariant, moves: Sequence[Move], watched: bool) -> Standing:
    of_steps = isinstance(found, StepInvariant)
    if of_steps and len(moves) < 2:
        return Standing(found.name, found.sentence, of_steps, watched, None, "")
    holds = holds_after(model, found, moves)
    failure = None
    if not holds and isinstance(found, StepInvariant):
        failure = explain_step(model, found, moves[-2][1], moves[-1][1])
    elif not holds:
        failure = explain(model, found, moves[-1][1])
    reason = "" if failure is None else failure.sentence
    return Standing(found.name, found.sentence, of_steps, watched, holds, reason, failure)


# Search for a state in which a condition holds: breadth first, in machine code.


@dataclass(frozen=True, slots=True)
class Reached:
    """The result of a search from a state.

    Attributes:
        moves: the fewest steps to a state in which the condition holds, empty for the state itself; None if no such
            state was found.
        states: the number of states found.
        depth: the distance of the farthest of them, in steps.
        stopped_by: the limit that stopped the search; None if the state was found, or all states were searched.
        refused: whether the search ended at a refused step, a violation of type_ok.
    """

    moves: Sequence[Move] | None
    states: int = 1
    depth: int = 0
    stopped_by: StopReason | None = None
    refused: bool = False

    @property
    def in_words(self) -> str:
        """The result as a sentence."""
        searched = f"{plural(self.states, 'state')}, up to {plural(self.depth, 'step')} on"
        if self.moves is not None:
            if not self.moves:
                return "It holds here."
            return f"Found after {plural(len(self.moves), 'step')}, the nearest there is ({searched})."
        if self.refused:
            return f"Not found: the search ended at a step that is refused, so type_ok fails there ({searched})."
        if self.stopped_by is None:
            return f"Nowhere from here on: all states were searched ({searched})."
        ended = "stopped" if self.stopped_by is StopReason.INTERRUPT else f"ended by the limit on {self.stopped_by}"
        return f"Not found before the search was {ended} ({searched})."


def reach(
    model: Model,
    codes: Codes,
    condition: Node,
    limits: Limits,
    stop: threading.Event | None = None,
    reporter: Reporter | None = None,
) -> Reached:
    """Search breadth first from a state for the nearest one in which a condition holds.

    Args:
        model: the model.
        codes: the state to begin with.
        condition: the condition on states.
        limits: the limits of the search.
        stop: stops the search when it is set.
        reporter: receives the progress.

    Raises:
        UserError: the memory limit is too low for any search.
    """
    if evaluate(condition, codes):
        return Reached(())
    watch = Watch(limits, stop)
    program = model.program
    try:
        kernels = compile_kernels(program, [apply(Op.NOT, condition)], watch=watch)
    except Stopped as ended:
        return Reached(None, stopped_by=ended.reason)
    schema, beginning = program.schema, PackedRows([program.schema.pack(codes)])
    threads = available_cores()
    with breadth_first(program, kernels, watch, threads, False, reporter, schema, beginning) as search:
        space = search.run()
        states, depth = sum(space.levels), max(0, len(space.levels) - 1)
        hit = space.violations.get(0)
        if hit is None:
            return Reached(None, states, depth, space.stopped_by, space.refused is not None)
        try:
            moves = path_to(model, search, hit.least, hit.level, start=codes)
        except Stopped as ended:
            return Reached(None, states, depth, ended.reason)
        return Reached(moves[1:], states, depth)
