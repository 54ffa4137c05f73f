"""Random walks in the threads of this process: shares of the walks are handed out in order, and summed up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from insync.explorer.breadth_first.workers import Team, available_cores
from insync.explorer.limits import StopReason, Watch, require_whole
from insync.explorer.progress import Pulse, WalkProgress, WalkReporter
from insync.machine.kernels import Kernels, Part, compile_kernels
from insync.machine.packed import PackedRows
from insync.machine.walker import Strategy, Walked, Walker, merged
from insync.model.graph import Node
from insync.model.program import Program

__all__ = ["Taken", "WalkThreads", "Walks"]

_SHARE_STEPS = 1 << 18  # of a share of the walks: some ten milliseconds
_SHARE_LEAST, _SHARE_MOST = 256, 4096


@dataclass(frozen=True, slots=True)
class Walks:
    """The walks that are asked for.

    Attributes:
        count: how many.
        depth: most steps of a walk.
        seed: of the random numbers.
        strategy: how they choose among the enabled actions.

    Raises:
        UserError: no walk, no step, or a seed that is not from 0 to 2^64 - 1.
    """

    count: int
    depth: int
    seed: int
    strategy: Strategy = Strategy.MIXED

    def __post_init__(self) -> None:
        require_whole(f"walks={self.count!r}", self.count, 1)
        require_whole(f"depth={self.depth!r}", self.depth, 1)
        require_whole(f"seed={self.seed!r}", self.seed, 0, (1 << 64) - 1)

    @property
    def per_share(self) -> int:
        """How many are handed out at a time: the fewer, the longer they may be."""
        return max(_SHARE_LEAST, min(_SHARE_MOST, _SHARE_STEPS // self.depth))


@dataclass(frozen=True, slots=True)
class Taken:
    """The walks that were taken.

    Attributes:
        total: the sum of all of them, up to the first that fails.
        stopped_by: what ended them before the last.
    """

    total: Walked
    stopped_by: StopReason | None


class WalkThreads:
    """Takes walks in threads; see `simulate.WalkEngine`.

    Args:
        threads: how many; None is one per core.
    """

    def __init__(self, threads: int | None) -> None:
        self._threads = threads or available_cores()
        self._kernels: Kernels | None = None

    def compile(self, program: Program, conditions: Sequence[Node], stopped: Callable[[], object]) -> None:
        """Compile the kernel of walks."""
        self._kernels = compile_kernels(program, conditions, (Part.WALK,), stopped=stopped)

    def take(self, initials: PackedRows, walks: Walks, watch: Watch, reporter: WalkReporter | None) -> Taken:
        """Take walks; those that are under way when it is stopped end where they are, and count."""
        assert self._kernels is not None, "compile comes first"
        shares = _Shares(walks, watch, reporter)
        with Team(self._threads) as team:
            walkers = [
                self._kernels.walker(initials, walks.seed, walks.depth, walks.strategy) for _ in range(self._threads)
            ]
            try:
                team.run(lambda number: shares.work(walkers[number]))
            finally:
                for walker in walkers:
                    walker.close()
        return shares.taken()


class _Shares:
    """Hands out shares of the walks in order, and collects what came of them."""

    def __init__(self, walks: Walks, watch: Watch, reporter: WalkReporter | None) -> None:
        self._end, self._watch, self._reporter = walks.count, watch, reporter
        self._share = walks.per_share
        self._next = 0
        self._lock = threading.Lock()
        self._done: dict[int, Walked] = {}
        self._under_way: dict[int, int] = {}
        self._left_off: set[int] = set()
        self._pulse = Pulse()
        self._stopped_by: StopReason | None = None

    def work(self, walker: Walker) -> None:
        while (first := self._take()) is not None:
            walked = walker.walk(first, min(first + self._share, self._end), partial(self._stops, first, walker))
            with self._lock:
                self._done[first] = walked
                self._under_way.pop(first, None)
                if walked.failed is not None:
                    self._end = min(self._end, first + self._share)  # shares after this one are not needed
            self._report()

    def taken(self) -> Taken:
        """Return the sum of the shares; it was not stopped if those up to the first that fails are whole."""
        total = merged([self._done[first] for first in sorted(self._done)])
        decided = total.failed is not None and all(first > total.failed.number for first in self._left_off)
        return Taken(total, None if decided else self._stopped_by)

    def _take(self) -> int | None:
        with self._lock:
            if self._next >= self._end:
                return None
            self._stopped_by = self._stopped_by or (self._watch.interrupted() if self._next else None)
            if self._stopped_by is not None:
                return None
            first, self._next = self._next, self._next + self._share
            return first

    def _stops(self, first: int, walker: Walker) -> bool:
        """Whether to leave a share off that is under way: on a stop, or when one before it has failed."""
        with self._lock:
            self._under_way[first] = walker.steps
            self._stopped_by = self._stopped_by or self._watch.interrupted()
            stops = self._stopped_by is not None or first >= self._end
            if stops:
                self._left_off.add(first)
        self._report()
        return stops

    def _report(self) -> None:
        if self._reporter is None or threading.current_thread() is not threading.main_thread():
            return
        if self._pulse.due():
            with self._lock:
                parts, under_way = list(self._done.values()), sum(self._under_way.values())
            steps = sum(sum(part.steps) for part in parts) + under_way
            walks = sum(sum(part.lengths.values()) for part in parts)
            rate = self._pulse.rate(steps)
            self._reporter(WalkProgress(walks, steps, rate, self._watch.resident, self._watch.seconds))
