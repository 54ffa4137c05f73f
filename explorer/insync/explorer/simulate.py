"""`simulate`: seeded random walks through a model, and the first that fails, shortened."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from insync.explorer.breadth_first.workers import Team, available_cores
from insync.explorer.evaluator.shrink import FailingWalks, shrink
from insync.explorer.evaluator.stepping import Stepper
from insync.explorer.given_model import ModelLike, model_of
from insync.explorer.limits import Limits, StopReason, Watch, require_seconds_alone
from insync.explorer.progress import Pulse, WalkProgress, WalkReporter
from insync.explorer.traces.counterexample import refusal_trace, violation_trace
from insync.explorer.verdict import PropertyResult, Verdict, Violation
from insync.machine.interruptible import GivenUp
from insync.machine.kernels import Part, compile_kernels
from insync.machine.memory import peak_memory
from insync.machine.walker import FailedWalk, Walked, Walker
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.evaluator import evaluate
from insync.model.suspicion import suspicions
from insync.properties.every_model import TYPE_OK
from insync.properties.registry import Judged, judge

__all__ = ["SimulationResult", "WalkLengths", "shortened", "simulate", "simulation_of", "walk_watch", "walks_per_share"]

_SHARE_STEPS = 1 << 18  # of a share of the walks: some ten milliseconds
_SHARE_LEAST, _SHARE_MOST = 256, 4096


@dataclass(frozen=True, slots=True)
class WalkLengths:
    """The steps of the walks: fewest, most, on average, and how many walks ended in a state without a step."""

    shortest: int
    longest: int
    mean: float
    stuck: int


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """The result of a simulation: all but times and memory depends on model, bounds, properties, seed and depth alone.

    The walks are taken in shares, in order; the figures are those of all shares up to the one with the first failure.

    Attributes:
        model: the name by which the model is found again.
        bounds: the bounds of the model.
        verdict: violated, or incomplete: walks prove nothing.
        stopped_by: the bound that ended it; None if it ended with the last walk or a failure.
        seed: of the random numbers.
        depth: most steps of a walk.
        walks: how many walks were taken.
        steps: how many steps.
        properties: what is known about each property.
        violation: the failing walk with the smallest number, shortened.
        failed_walk: the number of that walk.
        failed_walk_length: its states before it was shortened.
        lengths: the lengths of the walks.
        actions: the steps taken of each action, by its name.
        not_taken: the actions of which no step was taken.
        warnings: what is suspicious in the model, or in its settings; a sentence for each.
        seconds: spent to compile, to walk and to shorten.
        peak_memory_bytes: the largest resident set of the process so far.
    """

    model: str
    bounds: Mapping[str, int | str]
    verdict: Verdict
    stopped_by: StopReason | None
    seed: int
    depth: int
    walks: int
    steps: int
    properties: tuple[PropertyResult, ...]
    violation: Violation | None
    failed_walk: int | None
    failed_walk_length: int | None
    lengths: WalkLengths
    actions: Mapping[str, int]
    not_taken: tuple[str, ...]
    warnings: tuple[str, ...]
    seconds: Mapping[str, float]
    peak_memory_bytes: int


def simulate(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    properties: Sequence[str] | None = None,
    walks: int = 10_000,
    depth: int = 100,
    seed: int = 0,
    limits: Limits | None = None,
    threads: int | None = None,
    reporter: WalkReporter | None = None,
    stop: threading.Event | None = None,
) -> SimulationResult:
    """Take random walks, each step uniform over the enabled ones, and check properties in each state.

    Args:
        model: what to walk through: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        bounds: bounds and settings of a class or a name; those left out have their defaults.
        properties: names of properties; None is the model's headline. type_ok is always checked.
        walks: how many, at least 1; walk n is the same whatever their number.
        depth: most steps of a walk, at least 1.
        seed: of the random numbers, from 0 to 2^64 - 1.
        limits: `seconds` of compilation and walks together; walks have no other limit.
        threads: how many work at once; None is one per core. The result does not depend on it.
        reporter: is told about once a second how far it is.
        stop: ends compilation, walks or shortening when it is set.

    Raises:
        UserError: an unknown model, bound or property, a model that cannot be traced, or another limit than seconds.
        InternalError: the evaluator does not confirm what the machine code found.
    """
    watch = walk_watch(limits, stop)
    model = model_of(model, bounds)
    judged = judge(model, properties)
    program = model.program
    started = time.perf_counter()
    try:
        kernels = compile_kernels(program, judged.nodes, (Part.WALK,), stopped=watch.interrupted)
    except GivenUp as ended:
        nothing = Walked((0,) * len(program.actions), (0,), 0, None)
        spent = {"compile": time.perf_counter() - started, "search": 0.0}
        return simulation_of(model, judged, (seed, depth, 0), nothing, None, StopReason(str(ended.reason)), spent)
    compiled = time.perf_counter()
    walked = _Simulation(walks, depth, watch, reporter)
    size = threads or available_cores()
    initial = program.schema.pack(program.initial)
    if all(evaluate(node, program.initial) for node in judged.nodes):
        with Team(size) as team:
            walkers = [kernels.walker(initial, seed, depth) for _ in range(size)]
            try:
                team.run(lambda number: walked.work(walkers[number]))
            finally:
                for walker in walkers:
                    walker.close()
    else:
        first = next(place for place, node in enumerate(judged.nodes) if not evaluate(node, program.initial))
        walked.fails_at_once(kernels.sizes.actions, first)
    total, done = walked.total()
    taken = time.perf_counter()
    violation = None if total.failed is None else shortened(model, judged, total.failed, stopped=watch.interrupted)
    spent = {"compile": compiled - started, "search": taken - compiled}
    if violation is not None:
        spent["shrink"] = time.perf_counter() - taken
    return simulation_of(model, judged, (seed, depth, done), total, violation, walked.stopped_by, spent)


def walk_watch(limits: Limits | None, stop: threading.Event | None) -> Watch:
    """Return the watch over random walks.

    Raises:
        UserError: a limit that walks do not have.
    """
    instead = " Say how many walks with walks=, and how long they are with depth=."
    return Watch(require_seconds_alone(limits, "random walks", instead), stop)


def walks_per_share(depth: int) -> int:
    """Return how many walks are handed out at a time: the fewer, the longer they may be."""
    return max(_SHARE_LEAST, min(_SHARE_MOST, _SHARE_STEPS // depth))


class _Simulation:
    """Hands out shares of the walks in order, and collects what came of them."""

    def __init__(self, walks: int, depth: int, watch: Watch, reporter: WalkReporter | None) -> None:
        self._walks, self._watch, self._reporter = walks, watch, reporter
        self._share = walks_per_share(depth)
        self._next = 0
        self._lock = threading.Lock()
        self._done: dict[int, Walked] = {}
        self._pulse = Pulse()
        self.stopped_by: StopReason | None = None

    def work(self, walker: Walker) -> None:
        while (first := self._take()) is not None:
            walked = walker.walk(first, min(first + self._share, self._walks))
            with self._lock:
                self._done[first] = walked
                if walked.failed is not None:
                    self._walks = min(self._walks, first + self._share)  # shares after this one are not needed
            self._report()

    def fails_at_once(self, actions: int, prop: int) -> None:
        self._walks = 1
        self._done[0] = Walked((0,) * actions, (1,), 0, FailedWalk(0, prop, ()))

    def total(self) -> tuple[Walked, int]:
        """The sum of all shares up to the first that is missing or fails, and their number of walks."""
        parts: list[Walked] = []
        for first in range(0, self._next or 1, self._share):
            part = self._done.get(first)
            if part is None:
                break
            parts.append(part)
            if part.failed is not None:
                break
        steps = tuple(map(sum, zip(*(part.steps for part in parts), strict=True)))
        lengths = tuple(map(sum, zip(*(part.lengths for part in parts), strict=True)))
        failed = parts[-1].failed if parts else None
        return Walked(steps, lengths, sum(part.stuck for part in parts), failed), sum(lengths)

    def _take(self) -> int | None:
        with self._lock:
            if self._next >= self._walks:
                return None
            # The first share is always taken, so that there is something to report.
            self.stopped_by = self.stopped_by or (self._watch.interrupted() if self._next else None)
            if self.stopped_by is not None:
                return None
            first, self._next = self._next, self._next + self._share
            return first

    def _report(self) -> None:
        if self._reporter is None or threading.current_thread() is not threading.main_thread():
            return
        if self._pulse.due():
            with self._lock:
                parts = list(self._done.values())
            steps = sum(sum(part.steps) for part in parts)
            walks = sum(sum(part.lengths) for part in parts)
            rate = self._pulse.rate(steps)
            self._reporter(WalkProgress(walks, steps, rate, self._watch.resident, self._watch.seconds))


def shortened(
    model: Model, judged: Judged, failed: FailedWalk, stopped: Callable[[], object] | None = None
) -> Violation:
    """Return the violation that a failing walk ends in, with the steps that it does not need left out.

    Args:
        model: what was walked through.
        judged: what was asked for.
        failed: the walk.
        stopped: ends the shortening when it gives something true; the walk is then as short as it is by then.
    """
    stepper = Stepper(model)
    if failed.property == len(judged.nodes):
        walks = FailingWalks(stepper, None)
        trace = refusal_trace(model, walks.moves(shrink(walks, failed.actions, stopped)))
        return Violation(TYPE_OK, trace.length, trace)
    violated, node = judged.invariants[failed.property], judged.nodes[failed.property]
    walks = FailingWalks(stepper, lambda codes: not evaluate(node, codes))
    trace = violation_trace(model, violated, walks.moves(shrink(walks, failed.actions, stopped)))
    return Violation(violated.name, trace.length, trace)


def simulation_of(
    model: Model,
    judged: Judged,
    settings: tuple[int, int, int],
    total: Walked,
    violation: Violation | None,
    stopped_by: StopReason | None,
    spent: Mapping[str, float],
) -> SimulationResult:
    """Return the result of a simulation.

    Args:
        model: what was walked through.
        judged: what was asked for.
        settings: the seed, the depth and how many walks were taken.
        total: what all of them counted.
        violation: what the first failing walk ends in.
        stopped_by: the limit that ended it.
        spent: the seconds of its parts.
    """
    seed, depth, walks = settings
    taken = dict.fromkeys(model.program.action_names, 0)
    for action, steps in zip(model.program.actions, total.steps, strict=True):
        taken[action.name] += steps
    violated = {violation.property} if violation is not None else set()
    names = [*judged.names, *(violated - set(judged.names))]
    occurring = [length for length, count in enumerate(total.lengths) if count] or [0]
    steps = sum(taken.values())
    lost = total.failed is not None and total.failed.property < len(judged.nodes)
    return SimulationResult(
        model=model_reference(model),
        bounds=model.identity,
        verdict=Verdict.VIOLATED if violated else Verdict.INCOMPLETE,
        stopped_by=None if violated else stopped_by,
        seed=seed,
        depth=depth,
        walks=walks,
        steps=steps,
        properties=tuple(
            PropertyResult(name, Verdict.VIOLATED if name in violated else Verdict.INCOMPLETE) for name in names
        ),
        violation=violation,
        failed_walk=None if total.failed is None else total.failed.number,
        failed_walk_length=None if total.failed is None else len(total.failed.actions) + lost,
        lengths=WalkLengths(occurring[0], occurring[-1], steps / max(walks, 1), total.stuck),
        actions=taken,
        not_taken=tuple(name for name, count in taken.items() if not count),
        warnings=suspicions(model, judged.conditions),
        seconds=spent,
        peak_memory_bytes=peak_memory(),
    )
