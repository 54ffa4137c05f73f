"""Where two models diverge: a shortest trace that only one allows, the states of one alone; and two traces compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import zip_longest

from insync.explorer.exploring.steps import why_not
from insync.explorer.products.product import Joined, JoinedModel
from insync.explorer.progress import Reporter, while_compiling
from insync.explorer.results import CheckResult, Result, Verdict
from insync.explorer.search.breadth_first import breadth_first
from insync.explorer.search.explored import Explored
from insync.explorer.search.trace_back import path_to
from insync.explorer.stepping.stepper import Move, Refused, Stepper, confirmed
from insync.explorer.tables import Shown, TableColumns
from insync.explorer.traces.trace import DIFFERENCE, Trace, TraceStep, trace_of
from insync.machine.kernels import compile_kernels
from insync.model import Model
from insync.model.evaluator import Codes
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import apply
from insync.properties.condition_text import plain
from insync.runtime.errors import InternalError
from insync.runtime.watch import Stopped, StopReason, Watch

__all__ = [
    "DiffResult",
    "OnlyOne",
    "PropertyChange",
    "StatesCompared",
    "TraceDifference",
    "compare_states",
    "compare_traces",
    "parting_traces",
]


_MOST_FIELDS = 5


def parting_traces(
    joined: Joined, watch: Watch, threads: int, reporter: Reporter | None = None
) -> tuple[tuple[OnlyOne | None, OnlyOne | None], StopReason | None]:
    """Return a shortest trace that only the first model allows, and one that only the second allows.

    The second result is the limit that ended the search before both were found or the product was searched.
    """
    found: list[OnlyOne | None] = [_of_initial(joined, side) for side in (0, 1)]
    stopped: StopReason | None = None
    wanted = [side for side in (0, 1) if found[side] is None and joined.only[side] is not joined.program.graph.false]
    while wanted and stopped is None and len(joined.program.initials):
        moves, stopped = _search(joined, wanted, watch, threads, reporter)
        for side, steps in moves.items():
            found[side] = _of_moves(joined, side, steps)
        if not moves:
            break
        wanted = [side for side in wanted if found[side] is None]
    return (found[0], found[1]), stopped


def _search(
    joined: Joined, sides: Sequence[int], watch: Watch, threads: int, reporter: Reporter | None
) -> tuple[dict[int, Sequence[Move]], StopReason | None]:
    """Return the joined moves to the nearest state in which a model takes a step alone, by the side of that model."""
    model, program = JoinedModel(joined.program), joined.program
    conditions: list[Node] = [apply(Op.NOT, joined.only[side]) for side in sides]
    try:
        with watch.telling(while_compiling(reporter, watch)):
            kernels = compile_kernels(program, conditions, watch=watch)
        with breadth_first(program, kernels, watch, threads, False, reporter, program.schema) as search:
            space = search.run()
            moves: dict[int, Sequence[Move]] = {
                sides[number]: path_to(model, search, hit.least, hit.level)
                for number, hit in sorted(space.violations.items())
            }
    except Stopped as ended:
        return {}, ended.reason
    return moves, space.stopped_by


def _of_initial(joined: Joined, side: int) -> OnlyOne | None:
    if not joined.alone[side]:
        return None
    reason = f"This initial state is none of {joined.title(1 - side)}."
    return OnlyOne(trace_of(joined.models(side)[0], DIFFERENCE, [(None, min(joined.alone[side]))], reason), reason)


def _of_moves(joined: Joined, side: int, moves: Sequence[Move]) -> OnlyOne:
    """Return the trace of joined moves and of the step that one model takes alone after them."""
    model, other = joined.models(side)
    own: list[Move] = [
        (None if number is None else joined.numbers[number][side], joined.part(side, codes)) for number, codes in moves
    ]
    confirmed(model, own)
    confirmed(other, [(n if n is None else joined.numbers[n][1 - side], joined.part(1 - side, c)) for n, c in moves])
    here, there = own[-1][1], joined.part(1 - side, moves[-1][1])
    stepper, their_stepper = Stepper(model), Stepper(other)
    for number, after in stepper.outcomes(here):
        if isinstance(after, Refused):
            continue
        theirs = joined.counterparts[side][number]
        outcome = None if theirs is None else their_stepper.attempt(there, theirs)
        if isinstance(outcome, tuple) and not (apart := _apart(joined, side, after, outcome)):
            continue
        title = joined.title(1 - side)
        if theirs is None:
            name = model.program.actions[number].name
            known = name in other.program.action_names
            reason = f"{title} has no such step{': its bounds and settings rule it out' if known else ''}."
        elif outcome is None:
            reason = f"{title} does not take this step. {why_not(other, there, theirs).reason}"
        elif isinstance(outcome, Refused):
            reason = f"{title} refuses this step: {outcome}"
        else:
            told = _told(joined, side, after, outcome, apart)
            reason = f"{title} takes this step too, and it leads elsewhere: {told}"
        return OnlyOne(trace_of(model, DIFFERENCE, [*own, (number, after)], reason), reason)
    message = f"The machine code finds a step that only {model.name} takes from {here}; the evaluator finds none."
    raise InternalError(message)


def _apart(joined: Joined, side: int, mine: Codes, theirs: Codes) -> list[int]:
    """Return the common cells in which two states, one of each model, differ."""
    first, second = (mine, theirs) if side == 0 else (theirs, mine)
    at = {place: cell for cell, place in enumerate(joined.places)}
    return [place for place in joined.common if first[place] != second[at[place]]]


def _told(joined: Joined, side: int, mine: Codes, theirs: Codes, apart: Sequence[int]) -> str:
    model, other = joined.models(side)
    here, there = model.decode(mine), other.decode(theirs)
    leaves = list(joined.first.state.leaves())
    told = []
    for leaf in [leaves[place] for place in apart[:_MOST_FIELDS]]:
        told.append(f"{leaf.after('')} is {plain(leaf.read(here))} here and {plain(leaf.read(there))} there")
    more = f", and {len(apart) - _MOST_FIELDS} more parts of the state" if len(apart) > _MOST_FIELDS else ""
    return f"{'; '.join(told)}{more}."


# ------------------------------------------------------------------------------------------------------------- states


def compare_states(
    first: Model, second: Model, watch: Watch, threads: int, reporter: Reporter | None = None
) -> StatesCompared | StopReason:
    """Return what the states of two models have in common, or the limit that ended one of the searches.

    Args:
        first: a model.
        second: a model whose states have the same cells, so that equal states are equal words.
        watch: the limits of both searches.
        threads: the number of threads.
        reporter: called with the progress of each search.
    """
    try:
        with ExitStack() as opened:
            spaces: list[Explored] = []
            for model in (first, second):
                with watch.telling(while_compiling(reporter, watch)):
                    kernels = compile_kernels(model.program, watch=watch)
                search = opened.enter_context(breadth_first(model.program, kernels, watch, threads, True, reporter))
                spaces.append(search.run())
                if spaces[-1].stopped_by is not None:
                    return spaces[-1].stopped_by
            one, other = spaces
            # The partition of a state depends on the state alone, so it is the same in both searches.
            # The states of the second are appended to those of the first, which stay in their places.
            only_second = _added(one, other, watch)
            only_first = None if only_second is None else _added(other, one, watch)
    except Stopped as ended:
        return ended.reason
    if only_first is None or only_second is None:
        return StopReason.MEMORY
    return StatesCompared(sum(one.levels) - sum(only_first), only_first, only_second)


def _added(into: Explored, of: Explored, watch: Watch) -> tuple[int, ...] | None:
    """Add the states of one space to the stores of another; return the number of new states of each level.

    The result is None if memory had no room for all of them.
    """
    new = []
    for level in range(len(of.levels)):
        fresh = 0
        for mine, theirs in zip(into.whole, of.whole, strict=True):
            before, start, end = len(mine.store), theirs.starts[level], theirs.starts[level + 1]
            if end > start and not mine.store.insert(theirs.store.address(start), end - start, watch.may_use):
                return None
            fresh += len(mine.store) - before
        watch.end_promises()
        new.append(fresh)
    return tuple(new)


# ------------------------------------------------------------------------------------------------------------- traces


def compare_traces(first: Trace, second: Trace) -> TraceDifference:
    """Return the first step in which two traces differ: in the step, in the state after it, or as one has ended."""
    number = next(
        (at for at, pair in enumerate(zip_longest(first.steps, second.steps)) if not _alike(*pair)),
        None,
    )
    steps = [None if number is None or number >= trace.length else trace.steps[number] for trace in (first, second)]
    fields: dict[str, tuple[object, object]] = {}
    if steps[0] is not None and steps[1] is not None:
        fields = dict(_fields(steps[0].state, steps[1].state, ""))
    return TraceDifference(
        step=number,
        labels=(_label(steps[0]), _label(steps[1])),
        fields=fields,
        about=_about(first, second),
        lengths=(first.length, second.length),
    )


def _alike(one: TraceStep | None, other: TraceStep | None) -> bool:
    if one is None or other is None:
        return False
    same_step = (one.action, one.parameters) == (other.action, other.parameters)
    return same_step and not any(_fields(one.state, other.state, ""))


def _label(step: TraceStep | None) -> str | None:
    if step is None:
        return None
    if step.action is None or step.label != step.action:
        return step.label
    return f"{step.action}({', '.join(f'{name}={value}' for name, value in step.parameters.items())})"


def _about(first: Trace, second: Trace) -> dict[str, tuple[object, object]]:
    found: dict[str, tuple[object, object]] = {}
    for name, pair in {
        "model": (first.model, second.model),
        "property": (first.property, second.property),
        "loop": (first.loop, second.loop),
        "refused": (first.refused and first.refused.label, second.refused and second.refused.label),
    }.items():
        if pair[0] != pair[1]:
            found[name] = pair
    for name in dict.fromkeys([*first.bounds, *second.bounds]):
        pair = (first.bounds.get(name), second.bounds.get(name))
        if pair[0] != pair[1]:
            found[name] = pair
    return found


def _fields(one: object, other: object, path: str) -> Iterator[tuple[str, tuple[object, object]]]:
    """Yield the path of each innermost part in which two readable values differ, with the value in each."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in dict.fromkeys([*one, *other]):
            inner = f"{path}.{name}" if path else str(name)
            if name in one and name in other:
                yield from _fields(one[name], other[name], inner)
            else:
                yield inner, (one.get(name), other.get(name))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other) and _nested(one, other):
        for place, pair in enumerate(zip(one, other, strict=True)):
            yield from _fields(*pair, f"{path}[{place}]")
    elif type(one) is not type(other) or one != other:
        yield path, (one, other)


def _nested(one: list[object], other: list[object]) -> bool:
    """Return whether lists are compared element by element: if all elements are records or None."""
    return all(isinstance(part, Mapping) or part is None for part in [*one, *other])


# ------------------------------------------------------------------------------------------------------------ results


@dataclass(frozen=True, slots=True)
class PropertyChange:
    """A property of either model.

    Attributes:
        name: the property.
        first, second: the verdict in each model; None if the model has no property of that name.
        lengths: of the shortest trace to a failure in each model; None if there is none.
    """

    name: str
    first: Verdict | None
    second: Verdict | None
    lengths: tuple[int | None, int | None]

    @property
    def changed(self) -> bool:
        """Whether it holds in one model and fails in the other; an incomplete verdict is no difference."""
        return {self.first, self.second} == {Verdict.HOLDS, Verdict.VIOLATED}


@dataclass(frozen=True, slots=True)
class StatesCompared:
    """The states of two models of the same fields, both searched to the end.

    Attributes:
        both: the number of states that both reach.
        only_first, only_second: for each level of a model, the number of states that it alone reaches.
    """

    both: int
    only_first: tuple[int, ...]
    only_second: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OnlyOne:
    """A shortest trace that only one model allows: both models take the same steps up to the last.

    Attributes:
        trace: of the model that allows it. The other does not take the last step, or reaches another state by it. The
            trace has no step if its initial state is none of the other's.
        reason: what the other does instead of the last step.
    """

    trace: Trace
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class DiffResult(Result):
    """How two models differ.

    Attributes:
        first, second: the result of the search of each.
        settings: the bounds and settings in which they differ, with both values; None if a model has none of that name.
        properties: of either model.
        own_fields: the paths of the cells that only the first has, and of those that only the second has; these are not
            compared.
        states: the states compared; None if the fields differ, or a search was stopped.
        only: a shortest trace that only the first allows, and one that only the second allows; None if there is none,
            or none was found before `stopped_by`.
        stopped_by: the limit that ended the search for these traces, or another search.
        seconds: the time that all took.
    """

    first: CheckResult
    second: CheckResult
    settings: Mapping[str, tuple[int | str | None, int | str | None]]
    properties: tuple[PropertyChange, ...]
    own_fields: tuple[tuple[str, ...], tuple[str, ...]]
    states: StatesCompared | None
    only: tuple[OnlyOne | None, OnlyOne | None]
    stopped_by: StopReason | None
    seconds: float

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is suspicious in either model or its settings; a sentence each."""
        return tuple(dict.fromkeys([*self.first.warnings, *self.second.warnings]))

    @property
    def differ(self) -> bool:
        """Whether a difference was found: a trace that only one allows, or a property that changes."""
        return any(self.only) or any(one.changed for one in self.properties)

    @property
    def same(self) -> bool | None:
        """Whether both take the same steps and have the same verdicts; None if a limit left that open."""
        if self.differ:
            return False
        return None if self.stopped_by is not None else True

    def summary(self) -> str:
        verdict = {True: "the same", False: "different", None: "not decided"}[self.same]
        changed = [one.name for one in self.properties if one.changed]
        said = f"; {', '.join(changed)} changed" if changed else ""
        return f"{self.first.model} and {self.second.model}: {verdict}{said}"

    def _tables(self) -> Mapping[str, Callable[[], TableColumns]]:
        """Return the tables `properties`, `levels` and `actions`."""
        return {"properties": self._of_properties, "levels": self._of_levels, "actions": self._of_actions}

    def _of_properties(self) -> TableColumns:
        return {
            "property": [one.name for one in self.properties],
            "first": [one.first and one.first.value for one in self.properties],
            "second": [one.second and one.second.value for one in self.properties],
        }

    def _of_levels(self) -> TableColumns:
        levels = list(zip_longest(self.first.levels, self.second.levels, fillvalue=0))
        return {
            "level": list(range(1, len(levels) + 1)),
            "first": [first for first, _ in levels],
            "second": [second for _, second in levels],
        }

    def _of_actions(self) -> TableColumns:
        names = list(dict.fromkeys([*self.first.actions, *self.second.actions]))
        return {
            "action": names,
            "first": [self.first.actions.get(name, 0) for name in names],
            "second": [self.second.actions.get(name, 0) for name in names],
        }


@dataclass(frozen=True, slots=True, repr=False)
class TraceDifference(Shown):
    """The first step in which two traces differ.

    Attributes:
        step: the number of the step, 0 for the initial state; None if the traces are the same.
        labels: the step in words in each; None if a trace has ended.
        fields: for each part of the state that differs after the step, both values; None if a state has none.
        about: the headers that differ (model, bounds, property), with both values.
        lengths: the number of states of each.
    """

    step: int | None
    labels: tuple[str | None, str | None]
    fields: Mapping[str, tuple[object, object]]
    about: Mapping[str, tuple[object, object]]
    lengths: tuple[int, int]

    @property
    def same(self) -> bool:
        """Whether both traces take the same steps through the same states."""
        return self.step is None

    def summary(self) -> str:
        return "the same steps" if self.step is None else f"they differ first in step {self.step}"
