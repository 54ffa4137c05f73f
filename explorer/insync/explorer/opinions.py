"""The engines that can be asked of one model, and the opinion that each gives.

An engine is a function; those of other layers, such as Spark, are handed in by the caller.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from insync.explorer.check import check
from insync.explorer.check_by_evaluator import check_by_evaluator
from insync.explorer.limits import Limits, StopReason
from insync.explorer.results import CheckResult, Verdict
from insync.model import Model
from insync.model.errors import UserError
from insync.properties.invariants import TYPE_OK, StepInvariant
from insync.properties.registry import judge

__all__ = [
    "SHARES",
    "Engine",
    "Opinion",
    "evaluator_engine",
    "local_engine",
    "opinion_of",
    "own_engines",
    "sharing",
    "states_in_words",
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
        of_share: whether that was its share of a default run, and no limit that somebody gave.
        states: how many states a search of the whole space has found, also of an engine that does not count levels.
        taken: how many steps it has taken then.
        ends_at_first: whether it knows of one property alone that fails first, whatever else does after as many states.
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
        """Whether it has looked at any state, so that it can be compared."""
        return self.verdict is not None and self.depth > 0


Engine = Callable[[Model, Sequence[str], Limits, threading.Event | None], Opinion]
"""Examines a model's properties within limits, until the event is set; raises UserError if it cannot run here."""


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
        states=result.distinct_states if complete and result.verdict is Verdict.HOLDS else None,
        taken=result.transitions if complete and result.verdict is Verdict.HOLDS else None,
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


SHARES: Mapping[str, Limits] = {
    "evaluator": Limits(states=10_000, seconds=5),
    "local-1": Limits(states=2_000_000, seconds=6),
    "local-2": Limits(states=2_000_000, seconds=6),
    "symmetric": Limits(states=2_000_000, seconds=6),
    "z3": Limits(seconds=5),
}
"""What each of the own engines may take in a run for which nobody gave engines or limits: some seconds, mostly."""


def sharing(engine: Engine, share: Limits) -> Engine:
    """Return an engine that ends with its share of a default run, whatever limits it is given, and says so."""

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
    """Return the bounded check with z3, of the states of so many levels and the steps from them."""

    def engine(model: Model, properties: Sequence[str], limits: Limits, stop: threading.Event | None = None) -> Opinion:
        from insync.proofs.bounded import check_bounded
        from insync.proofs.results import BoundedVerdict
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
            stopped_by=None if answer.stopped_by is None else StopReason(str(answer.stopped_by)),
        )

    return engine


def states_in_words(number: int | None) -> str:
    """Return a number of states with the word."""
    return "1 state" if number == 1 else f"{number} states"
