"""`agree`: differential testing (McKeeman 1998) of the engines on one model, by counts, verdicts and traces.

An engine that cannot run here is left out, with the reason. One that was stopped is compared in the levels that it
searched. z3 counts nothing, so it is compared in the properties that fail and the lengths of their traces.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from insync.explorer.check import check
from insync.explorer.results import CheckResult, ModelResult, Verdict
from insync.explorer.search.by_evaluator import check_by_evaluator
from insync.explorer.stepping.difference import Difference, first_difference
from insync.explorer.tables import TableColumns
from insync.explorer.task import ModelLike, Needs, Prepared, Task
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.lints import suspicions
from insync.properties.invariants import TYPE_OK, StepInvariant, names_within
from insync.properties.registry import judge
from insync.runtime.errors import UserError
from insync.runtime.text import plural
from insync.runtime.watch import Limits, StopReason, Watch

__all__ = [
    "SHARES",
    "Agreement",
    "Engine",
    "Opinion",
    "agree",
    "evaluator_engine",
    "local_engine",
    "opinion_of",
    "own_engines",
    "sharing",
    "states_in_words",
    "z3_engine",
]


@dataclass(frozen=True, slots=True, repr=False)
class Agreement(ModelResult):
    """The results of the engines, and where they differ.

    Attributes:
        properties: the properties that were checked, beside type_ok.
        opinions: the result of each engine, in the order given.
        differences: a sentence for each difference.
        state: the first state that evaluator and machine code treat differently, searched for if the engines differ.
    """

    properties: tuple[str, ...]
    opinions: tuple[Opinion, ...]
    differences: tuple[str, ...]
    state: Difference | None

    @property
    def agreed(self) -> bool:
        """Whether at least two engines have searched states and none differs."""
        return not self.differences and self.compared > 1

    @property
    def compared(self) -> int:
        """The number of engines that have searched states."""
        return sum(opinion.counts for opinion in self.opinions)

    def summary(self) -> str:
        said = "agree" if self.agreed else "differ" if self.differences else "too few to compare"
        return f"{self.model}: {plural(len(self.opinions), 'engine')}, {said}"

    def _tables(self) -> Mapping[str, Callable[[], TableColumns]]:
        """Return the table `engines`."""
        return {"engines": self._engines}

    def _engines(self) -> TableColumns:
        return {
            "engine": [opinion.engine for opinion in self.opinions],
            "verdict": [opinion.verdict and opinion.verdict.value for opinion in self.opinions],
            "depth": [opinion.depth for opinion in self.opinions],
            "states": [None if opinion.levels is None else sum(opinion.levels) for opinion in self.opinions],
            "note": [opinion.note for opinion in self.opinions],
        }


def agree(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    properties: Sequence[str] | None = None,
    engines: Mapping[str, Engine] | None = None,
    within: Sequence[str] | None = None,
    limits: Limits | None = None,
    reporter: Callable[[Opinion], None] | None = None,
    stop: threading.Event | None = None,
) -> Agreement:
    """Run engines on a model and compare their results.

    Args:
        model: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        bounds: bounds and settings of a class or a name; those left out have their defaults.
        properties: names of properties; None is the model's headline.
        engines: by name; the others are compared with the first one that runs. None is `own_engines`; without limits
            each of them has a share of half a minute.
        within: names of invariants; every engine is confined to states in which they hold. None is the confinement of
            the model's class.
        limits: of each engine, compilation included. The model is traced once before them, within the same limits.
        reporter: called with each opinion as soon as it is there.
        stop: ends the engine at work when it is set; those after it do not run.

    Raises:
        UserError: an unknown model, bound or property, a model that cannot be traced, or engines without names.
    """
    chosen, event = _engines(engines, limits), stop if stop is not None else threading.Event()
    task = Task(model=model, bounds=bounds, properties=properties, within=within, limits=limits, stop=event)

    def stopped(prepared: Prepared, reason: StopReason) -> Agreement:
        verdict = None if reason is StopReason.INTERRUPT else Verdict.INCOMPLETE
        none = Opinion("", verdict, 0, None, None, {}, {}, 0.0, stopped_by=reason)
        return _agreement(prepared, [replace(none, engine=name) for name in chosen], event)

    return task.run(lambda prepared: _compared(prepared, chosen, event, reporter), stopped, Needs.PROPERTIES)


def _compared(
    prepared: Prepared,
    engines: Mapping[str, Engine],
    stop: threading.Event,
    reporter: Callable[[Opinion], None] | None,
) -> Agreement:
    model, names, limits = prepared.model, prepared.names, prepared.watch.limits
    opinions = []
    for name, engine in engines.items():
        opinions.append(_asked(name, engine, model, names, limits, stop))
        if reporter is not None:
            reporter(opinions[-1])
    ran = [opinion for opinion in opinions if opinion.counts]
    steps = {found.name for found in prepared.judged.invariants if isinstance(found, StepInvariant)}
    found = (text for one, other in _pairs(ran) for text in _differences(one, other, steps))
    differences = tuple(dict.fromkeys(found))
    depth = max((opinion.depth for opinion in ran), default=1)
    state = first_difference(model, properties=names, depth=depth, stop=stop) if differences else None
    return _agreement(prepared, opinions, stop, differences, state)


def _agreement(
    prepared: Prepared,
    opinions: Sequence[Opinion],
    stop: threading.Event,
    differences: tuple[str, ...] = (),
    state: Difference | None = None,
) -> Agreement:
    model = prepared.model
    return Agreement(
        model_reference(model),
        model.identity,
        prepared.names,
        tuple(opinions),
        differences,
        state,
        within=names_within(model),
        stopped_by=StopReason.INTERRUPT if stop.is_set() else None,
        warnings=suspicions(model, prepared.conditions),
    )


def _engines(given: Any, limits: Limits | None) -> Mapping[str, Engine]:
    own = own_engines()
    if given is None:
        return own if limits is not None else {name: sharing(engine, SHARES[name]) for name, engine in own.items()}
    if not isinstance(given, Mapping) or not all(map(callable, given.values())):
        message = (
            f"engines={given!r} is not a mapping from names to engines; write {{'spark': engine}} with a function "
            f"engine, or leave it out for {', '.join(own)}; own_engines() of insync.explorer.agree has these by "
            f"name."
        )
        raise UserError(message)
    return given


def _asked(
    name: str, engine: Engine, model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event
) -> Opinion:
    started = time.perf_counter()
    if stop.is_set():
        return Opinion(name, None, 0, None, None, {}, {}, 0.0, stopped_by=StopReason.INTERRUPT)
    try:
        return replace(engine(model, properties, limits, stop), engine=name, seconds=time.perf_counter() - started)
    except UserError as error:
        return Opinion(name, None, 0, None, None, {}, {}, time.perf_counter() - started, str(error.args[0]))


def _pairs(ran: Sequence[Opinion]) -> Iterator[tuple[Opinion, Opinion]]:
    """Yield pairs to compare: each with the first, and if that was stopped also with the one that came furthest."""
    counting = [opinion for opinion in ran if opinion.levels is not None]
    first, furthest = ran[:1], max(counting, key=lambda opinion: opinion.depth, default=None)
    for one in [*first, furthest] if first and first[0].stopped_by is not None else first:
        yield from ((one, other) for other in ran[1:] if one is not None and other is not one)


def _differences(one: Opinion, other: Opinion, steps: Collection[str]) -> list[str]:
    """Return a sentence for each difference of two engines in the levels that both have searched.

    Args:
        one: the result of the first.
        other: the result of the second.
        steps: the names of step invariants; a step from the last searched level may break them.
    """
    found = []
    both = min(one.depth, other.depth)
    if one.levels is not None and other.levels is not None:
        pairs = zip(one.levels[:both], other.levels[:both], strict=False)
        uneven = next((level for level, (a, b) in enumerate(pairs, start=1) if a != b), None)
        if uneven is not None:
            counts = f"{one.levels[uneven - 1]} for {one.engine}, {other.levels[uneven - 1]} for {other.engine}"
            found.append(f"Level {uneven} has a different number of states: {counts}.")
        elif Verdict.INCOMPLETE not in (one.verdict, other.verdict) and one.depth != other.depth:
            found.append(f"The depth is {one.depth} for {one.engine} and {other.depth} for {other.engine}.")
    if not found:
        found += _total_differences(one, other)
    if one.actions is not None and other.actions is not None and not found:
        for action in dict.fromkeys([*one.actions, *other.actions]):
            a, b = one.actions.get(action, 0), other.actions.get(action, 0)
            if a != b:
                found.append(f"{one.engine} takes {a} steps of {action}, {other.engine} {b}.")
    return found + _verdict_differences(one, other, steps)


def _total_differences(one: Opinion, other: Opinion) -> list[str]:
    """Return a sentence for each total of two whole searches that differs, where one of them counts no levels."""
    if one.states is None or other.states is None or (one.levels is not None and other.levels is not None):
        return []
    numbers = {
        "states": (one.states, other.states),
        "steps": (one.taken, other.taken),
        "levels": (one.depth, other.depth),
    }
    return [f"{one.engine} has {a} {what}, {other.engine} {b}." for what, (a, b) in numbers.items() if a != b]


def _verdict_differences(one: Opinion, other: Opinion, steps: Collection[str]) -> list[str]:
    found = []
    for name in dict.fromkeys([*one.failing, *other.failing]):
        a, b = one.failing.get(name), other.failing.get(name)
        if (a is None and _ended_before(one, b)) or (b is None and _ended_before(other, a)):
            continue
        least = min(length for length in (a, b) if length is not None)
        if a != b and least - (name in steps) <= min(_looked(one, name), _looked(other, name)):
            said = [f"{o.engine}: {_length(n)}" for o, n in ((one, a), (other, b))]
            found.append(f"{name}: {'; '.join(said)}.")
        elif a == b and name in one.paths and name in other.paths and one.paths[name] != other.paths[name]:
            found.append(f"{name}: {one.engine} and {other.engine} give different traces of {states_in_words(a)}.")
    return found


def _ended_before(opinion: Opinion, length: int | None) -> bool:
    """Return whether an engine ended at another failure, so that it has no result for traces of this length."""
    return opinion.ends_at_first and length is not None and length >= min(opinion.failing.values(), default=length + 1)


def _looked(opinion: Opinion, name: str) -> int:
    """The length of the longest trace to a failure of a property that the engine would have found."""
    if opinion.verdict is Verdict.HOLDS:
        return 1 << 60
    # A search that ended early took no step from its last level, unless a refused step there has ended it.
    unexpanded = name == TYPE_OK and opinion.levels is not None and name not in opinion.failing
    return opinion.depth - unexpanded


def _length(length: int | None) -> str:
    return "no violation" if length is None else f"fails after {states_in_words(length)}"


# ------------------------------------------------------------------------------------------------------------ engines
#
# An engine is a function; those of other layers, such as Spark, are passed in by the caller.


@dataclass(frozen=True, slots=True)
class Opinion:
    """The result of one engine.

    Attributes:
        engine: the name of the engine.
        verdict: of the engine; None if it did not run.
        depth: the number of levels that were searched as a whole.
        levels: states per level; None if the engine does not count them.
        actions: steps by action in a complete search; None if the search is not complete or counts no steps.
        failing: for each property that fails, the length of its trace in states.
        paths: for each such property the steps of its trace; empty if any trace of that length will do.
        seconds: the time that the engine took.
        note: why the engine did not run, or another limitation of the result; else empty.
        stopped_by: the limit that ended the engine before its search was complete.
        of_share: whether that limit was the engine's share of a default run, and not the caller's.
        states: the states of a complete search, also of an engine that does not count levels.
        taken: the steps of such a search.
        ends_at_first: whether the engine reports the first failure alone, though others may have traces as long.
    """

    engine: str
    verdict: Verdict | None
    depth: int
    levels: tuple[int, ...] | None
    actions: Mapping[str, int] | None
    failing: Mapping[str, int]
    paths: Mapping[str, tuple[str, ...]]
    seconds: float
    note: str = ""
    stopped_by: StopReason | None = None
    of_share: bool = False
    states: int | None = None
    taken: int | None = None
    ends_at_first: bool = False

    @property
    def counts(self) -> bool:
        """Whether the engine has searched any state, so that its result can be compared."""
        return self.verdict is not None and self.depth > 0


Engine = Callable[[Model, Sequence[str], Limits, threading.Event | None], Opinion]
"""Examines a model's properties within limits, until the event is set; raises UserError if it cannot run here."""


def opinion_of(result: CheckResult) -> Opinion:
    """Return the result of an exhaustive search as an opinion."""
    complete = result.stopped_by is None
    paths = {violation.property: tuple(step.label for step in violation.trace.steps) for violation in result.violations}
    return Opinion(
        engine=result.engine,
        verdict=result.verdict,
        depth=result.depth,
        levels=result.levels,
        actions=result.actions if complete else None,
        failing={violation.property: violation.trace_length for violation in result.violations},
        paths=paths if result.representatives is None else {},  # with symmetry a trace may name other members
        seconds=sum(result.seconds.values()),
        stopped_by=result.stopped_by,
        states=result.distinct_states if complete and result.verdict is Verdict.HOLDS else None,
        taken=result.transitions if complete and result.verdict is Verdict.HOLDS else None,
    )


def own_engines(z3_depth: int = 8) -> dict[str, Engine]:
    """Return the engines of this machine: the evaluator, machine code on one and on two threads, z3 to a depth.

    Another one, `symmetric`, visits representatives if a sort is declared symmetric.
    """
    return {
        "evaluator": evaluator_engine,
        "local-1": local_engine(1),
        "local-2": local_engine(2),
        "symmetric": symmetric_engine,
        "z3": z3_engine(z3_depth),
    }


SHARES: Mapping[str, Limits] = {
    "evaluator": Limits(states=10_000, seconds=5),
    "local-1": Limits(states=2_000_000, seconds=6),
    "local-2": Limits(states=2_000_000, seconds=6),
    "symmetric": Limits(states=2_000_000, seconds=6),
    "z3": Limits(seconds=5),
}
"""The limits of each own engine in a run without engines or limits: mostly a few seconds."""


def sharing(engine: Engine, share: Limits) -> Engine:
    """Return an engine limited to its share of a default run, whatever limits are passed; see `Opinion.of_share`."""

    def shared(model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None = None) -> Opinion:
        found = engine(model, properties, share, stop)
        return replace(found, of_share=found.stopped_by in (StopReason.STATES, StopReason.TIME))

    return shared


def evaluator_engine(
    model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None = None
) -> Opinion:
    """Search with the evaluator."""
    return opinion_of(check_by_evaluator(model, properties=properties, limits=limits, stop=stop))


def local_engine(threads: int) -> Engine:
    """Return the search in machine code on `threads` threads, with as many partitions."""

    def engine(model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None = None) -> Opinion:
        found = check(model, properties=properties, limits=limits, threads=threads, symmetry=False, stop=stop)
        return opinion_of(found)

    return engine


def symmetric_engine(
    model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None = None
) -> Opinion:
    """Search in machine code, visiting one representative of the states that symmetry makes equal.

    Raises:
        UserError: no sort of the model with two members is declared symmetric, or its members are not treated alike.
    """
    found = check(model, properties=properties, limits=limits, stop=stop)
    if found.representatives is None:
        message = (
            f"It needs a sort that is declared symmetric and has two members or more, and this model has none"
            f"{' under these settings' if model.identity else ''}."
        )
        raise UserError(message)
    return opinion_of(found)


def z3_engine(depth: int) -> Engine:
    """Return bounded model checking with z3, of the states of `depth` levels and the steps from them."""

    def engine(model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None = None) -> Opinion:
        from insync.proofs.bounded import check_bounded
        from insync.proofs.results import BoundedVerdict

        most = depth if limits.depth is None else min(depth, limits.depth)
        asked = judge(model, properties).invariants
        answer = check_bounded(model, asked, most, watch=Watch(Limits(seconds=limits.seconds), stop))
        found_any = answer.verdict is BoundedVerdict.VIOLATED
        steps = {found.name for found in asked if isinstance(found, StepInvariant)}
        pairs = zip(answer.violated, answer.sequences, strict=True)
        lengths = {name: len(found.codes) + (name in steps) for name, found in pairs}
        if TYPE_OK in lengths and lengths[TYPE_OK] == limits.depth:  # no search takes steps from its last level
            del lengths[TYPE_OK]
        beyond = f"unknown beyond {states_in_words(answer.depth)}"
        return Opinion(
            engine="z3",
            verdict=Verdict.VIOLATED if lengths else Verdict.INCOMPLETE,
            depth=answer.depth + found_any,
            levels=None,
            actions=None,
            failing=lengths,
            paths={},
            seconds=answer.seconds,
            note=beyond if answer.verdict is BoundedVerdict.UNKNOWN else f"up to depth {most}",
            stopped_by=answer.stopped_by,
        )

    return engine


def states_in_words(number: int | None) -> str:
    """Return a number of states in words."""
    return "1 state" if number == 1 else f"{number} states"
