"""Several engines on one model: the same counts, verdicts and traces, or the first place at which they differ.

An engine is a function; those of other layers, such as Spark, are handed in by the caller. An engine that cannot run
here says why and is left out, one that was stopped is compared up to where it got, and z3, which counts nothing, is
compared in what fails first and after how many states.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from insync.explorer.check import check
from insync.explorer.check_by_evaluator import check_by_evaluator
from insync.explorer.evaluator.difference import Difference, first_difference
from insync.explorer.given_model import ModelLike, model_of
from insync.explorer.limits import Limits, StopReason, limits_of
from insync.explorer.verdict import CheckResult, Verdict
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.errors import UserError
from insync.model.suspicion import suspicions
from insync.properties.class_names import names_within
from insync.properties.confine import confined
from insync.properties.every_model import TYPE_OK
from insync.properties.registry import judge, select
from insync.properties.step_invariants import StepInvariant

__all__ = [
    "Agreement",
    "Engine",
    "Opinion",
    "agree",
    "evaluator_engine",
    "local_engine",
    "opinion_of",
    "own_engines",
    "z3_engine",
]


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one engine says.

    Attributes:
        engine: its name.
        verdict: its verdict; None if it did not run.
        depth: how many levels it has looked at as a whole.
        levels: states per level; None if the engine counts none.
        actions: steps by action, of a complete search; None if it is not one or counts none.
        failing: for each property that fails, the length of its trace.
        paths: for each such property the steps of its trace; empty if any trace of that length will do.
        seconds: how long it took.
        note: why it did not run, or what else limits what it says; else empty.
        stopped_by: the limit that ended it before it was complete.
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

    @property
    def counts(self) -> bool:
        """Whether it has looked at any state, so that it can be compared."""
        return self.verdict is not None and self.depth > 0


Engine = Callable[[Model, Sequence[str], Limits, threading.Event | None], Opinion]
"""Examines a model's properties within limits, until the event is set; raises UserError if it cannot run here."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the engines say, and where they differ.

    Attributes:
        model: the name by which the model is found again.
        bounds: the bounds of the model.
        properties: what was checked, beside type_ok.
        within: the names of the invariants that the engines were confined to.
        opinions: of each engine, in the order given.
        differences: one sentence for each.
        state: the first state that evaluator and machine code treat differently, looked for if the engines differ.
        warnings: what is suspicious in the model, or in its settings; a sentence for each.
        stopped_by: INTERRUPT if somebody stopped it; the opinions then say how far each engine came.
    """

    model: str
    bounds: Mapping[str, int | str]
    properties: tuple[str, ...]
    within: tuple[str, ...]
    opinions: tuple[Opinion, ...]
    differences: tuple[str, ...]
    state: Difference | None
    warnings: tuple[str, ...] = ()
    stopped_by: StopReason | None = None

    @property
    def agreed(self) -> bool:
        """Whether at least two engines have looked at states and none differs."""
        return not self.differences and self.compared > 1

    @property
    def compared(self) -> int:
        """How many engines have looked at states."""
        return sum(opinion.counts for opinion in self.opinions)


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
    """Run engines on a model and compare what they say.

    Args:
        model: what to search: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        bounds: bounds and settings of a class or a name; those left out have their defaults.
        properties: names of properties; None is the model's headline.
        engines: by name; the first one that runs is what the others are compared with. None is `own_engines`.
        within: names of invariants, to states in which they hold every engine is confined. None is what the model's
            class says.
        limits: of each engine, compilation included.
        reporter: called with each opinion when it is there.
        stop: ends the engine at work when it is set; those after it are not asked.

    Raises:
        UserError: an unknown model, bound or property, a model that cannot be traced, or engines without names.
    """
    model = confined(model_of(model, bounds), within)
    names, chosen, limits = select(model, properties), _engines(engines), limits_of(limits)
    opinions = []
    event = stop if stop is not None else threading.Event()
    for name, engine in chosen.items():
        opinions.append(_asked(name, engine, model, names, limits, event))
        if reporter is not None:
            reporter(opinions[-1])
    ran = [opinion for opinion in opinions if opinion.counts]
    steps = {found.name for found in judge(model, names).invariants if isinstance(found, StepInvariant)}
    differences = tuple(text for other in ran[1:] for text in _differences(ran[0], other, steps))
    depth = max((opinion.depth for opinion in ran), default=1)
    state = first_difference(model, properties=names, depth=depth, stop=event) if differences else None
    stopped = StopReason.INTERRUPT if event.is_set() else None
    warnings = suspicions(model, judge(model, names).written(model))
    reference, said = model_reference(model), tuple(opinions)
    return Agreement(reference, model.identity, names, names_within(model), said, differences, state, warnings, stopped)


def _engines(given: Any) -> Mapping[str, Engine]:
    own = own_engines()
    if given is None:
        return own
    if not isinstance(given, Mapping) or not all(map(callable, given.values())):
        message = (
            f"engines={given!r} is not a mapping from names to engines; write {{'spark': engine}} with a function "
            f"engine, or leave it out for {', '.join(own)}; own_engines() of insync.explorer.agree has these by name."
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


def _differences(one: Opinion, other: Opinion, steps: Collection[str]) -> list[str]:
    """Return a sentence for each thing that two engines say differently, in the levels that both have searched.

    Args:
        one: what the first says.
        other: what the other says.
        steps: the names of the invariants of steps, which are broken by a step from the last level that was searched.
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
    if one.actions is not None and other.actions is not None and not found:
        for action in dict.fromkeys([*one.actions, *other.actions]):
            a, b = one.actions.get(action, 0), other.actions.get(action, 0)
            if a != b:
                found.append(f"{one.engine} takes {a} steps of {action}, {other.engine} {b}.")
    return found + _verdict_differences(one, other, steps)


def _verdict_differences(one: Opinion, other: Opinion, steps: Collection[str]) -> list[str]:
    found = []
    for name in dict.fromkeys([*one.failing, *other.failing]):
        a, b = one.failing.get(name), other.failing.get(name)
        least = min(length for length in (a, b) if length is not None)
        if a != b and least - (name in steps) <= min(_looked(one), _looked(other)):
            said = [f"{o.engine}: {_length(n)}" for o, n in ((one, a), (other, b))]
            found.append(f"{name}: {'; '.join(said)}.")
        elif a == b and name in one.paths and name in other.paths and one.paths[name] != other.paths[name]:
            found.append(f"{name}: {one.engine} and {other.engine} give different traces of {_states(a)}.")
    return found


def _looked(opinion: Opinion) -> int:
    """How long traces would have been found."""
    return opinion.depth if opinion.verdict is not Verdict.HOLDS else 1 << 60


def _length(length: int | None) -> str:
    return "no violation" if length is None else f"fails after {_states(length)}"


def _states(number: int | None) -> str:
    return "1 state" if number == 1 else f"{number} states"


# ------------------------------------------------------------------------------------------------------ the engines


def opinion_of(result: CheckResult) -> Opinion:
    """Return what the result of an exhaustive search says."""
    complete = result.stopped_by is None
    paths = {violation.property: tuple(step.label for step in violation.trace.steps) for violation in result.violations}
    return Opinion(
        engine=result.engine,
        verdict=result.verdict,
        depth=result.depth,
        levels=result.levels,
        actions=result.actions if complete else None,
        failing={violation.property: violation.trace_length for violation in result.violations},
        paths=paths if result.representatives is None else {},  # who is who in a trace is not the same with symmetry
        seconds=sum(result.seconds.values()),
        stopped_by=result.stopped_by,
    )


def own_engines(z3_depth: int = 8) -> dict[str, Engine]:
    """Return the engines of this machine: the evaluator, machine code on one and on two threads, z3 to a depth.

    Those visit every state; `symmetric` visits representatives, where a sort is declared symmetric.
    """
    return {
        "evaluator": evaluator_engine,
        "local-1": local_engine(1),
        "local-2": local_engine(2),
        "symmetric": symmetric_engine,
        "z3": z3_engine(z3_depth),
    }


def evaluator_engine(
    model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None = None
) -> Opinion:
    """Search with the evaluator."""
    return opinion_of(check_by_evaluator(model, properties=properties, limits=limits, stop=stop))


def local_engine(threads: int) -> Engine:
    """Return the search in machine code on so many threads, with as many partitions."""

    def engine(model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None = None) -> Opinion:
        found = check(model, properties=properties, limits=limits, threads=threads, symmetry=False, stop=stop)
        return opinion_of(found)

    return engine


def symmetric_engine(
    model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None = None
) -> Opinion:
    """Search in machine code, one state for all that differ in who is who only.

    Raises:
        UserError: no sort of the model is declared symmetric, or its members are not treated alike.
    """
    found = check(model, properties=properties, limits=limits, stop=stop)
    if found.representatives is None:
        message = "No sort of this model is declared symmetric."
        raise UserError(message)
    return opinion_of(found)


def z3_engine(depth: int) -> Engine:
    """Return the bounded check with z3, of traces of at most so many states."""

    def engine(model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None = None) -> Opinion:
        from insync.proofs.bounded import check_bounded
        from insync.proofs.outcome import BoundedVerdict
        from insync.proofs.watch import ProofLimits

        most = depth if limits.depth is None else min(depth, limits.depth)
        asked = judge(model, properties).invariants
        answer = check_bounded(model, asked, most, limits=ProofLimits(limits.seconds), stop=stop)
        found_any = answer.verdict is BoundedVerdict.VIOLATED
        steps = {found.name for found in asked if isinstance(found, StepInvariant)}
        pairs = zip(answer.violated, answer.sequences, strict=True)
        lengths = {name: len(found.codes) + (name in steps) for name, found in pairs}
        if TYPE_OK in lengths and lengths[TYPE_OK] == limits.depth:  # no search takes steps from its last level
            del lengths[TYPE_OK]
        beyond = f"unknown beyond {_states(answer.depth)}"
        return Opinion(
            engine="z3",
            verdict=Verdict.VIOLATED if lengths else Verdict.INCOMPLETE,
            depth=answer.depth + found_any,
            levels=None,
            actions=None,
            failing=lengths,
            paths={},
            seconds=answer.seconds,
            note=beyond if answer.verdict is BoundedVerdict.UNKNOWN else f"traces of at most {_states(most)}",
            stopped_by=None if answer.stopped_by is None else StopReason(str(answer.stopped_by)),
        )

    return engine
