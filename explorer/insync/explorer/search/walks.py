"""Random walks on threads: shares of consecutive walks are handed out in order, and their results added up.

A walk is determined by its number and the seed, whichever thread takes it. Abstract states are counted in the order of
the walks, so the sums and the end are the same for any number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from insync.explorer.progress import Pulse, WalkProgress, WalkReporter
from insync.explorer.tables import TableColumns
from insync.machine.kernels import WALKS, Kernels, compile_kernels
from insync.machine.packed import PackedRows
from insync.machine.walker import Sightings, Strategy, Walked, Walker, merged
from insync.model.abstraction import Abstraction
from insync.model.expressions.graph import Node
from insync.model.tracing.program import Program
from insync.runtime.errors import UserError
from insync.runtime.text import plural
from insync.runtime.watch import StopReason, Watch, require_whole
from insync.runtime.workers import Team, available_cores

__all__ = [
    "AbstractStates",
    "SeenStates",
    "Taken",
    "WalkThreads",
    "Walks",
]


_SHARE_STEPS = 1 << 18  # of a share of the walks: about ten milliseconds
_SHARE_LEAST, _SHARE_MOST = 256, 4096


@dataclass(frozen=True, slots=True)
class Walks:
    """The walks to take.

    Attributes:
        count: the number of walks.
        depth: the most steps of a walk.
        seed: of the random numbers, from 0 to 2^64 - 1.
        strategy: how a walk chooses among the enabled actions.
        abstract_states: whether abstract states are counted.
        until_saturated: end after this many walks in a row without a new abstract state; None is never. Abstract
            states are then counted in any case.

    Raises:
        UserError: no walk, no step, a seed out of range, or fewer walks than saturation takes.
    """

    count: int
    depth: int
    seed: int
    strategy: Strategy = Strategy.MIXED
    abstract_states: bool = False
    until_saturated: int | None = None

    def __post_init__(self) -> None:
        require_whole(f"walks={self.count!r}", self.count, 1)
        require_whole(f"depth={self.depth!r}", self.depth, 1)
        require_whole(f"seed={self.seed!r}", self.seed, 0, (1 << 64) - 1)
        if self.until_saturated is None:
            return
        require_whole(f"until_saturated={self.until_saturated!r}", self.until_saturated, 1)
        if self.until_saturated >= self.count:
            message = (
                f"until_saturated={self.until_saturated} needs more walks than walks={self.count}, as the first one "
                f"always sees a new abstract state; give fewer, or more walks."
            )
            raise UserError(message)

    @property
    def notes_states(self) -> bool:
        """Whether abstract states are counted."""
        return self.abstract_states or self.until_saturated is not None

    @property
    def per_share(self) -> int:
        """The number of walks of a share: the longer walks may be, the fewer."""
        return max(_SHARE_LEAST, min(_SHARE_MOST, _SHARE_STEPS // self.depth))


@dataclass(frozen=True, slots=True)
class Taken:
    """The walks that were taken.

    Attributes:
        total: the sum over the walks, up to the first that fails.
        stopped_by: the limit that ended them before the last one.
        seen: their abstract states, if these were counted.
    """

    total: Walked
    stopped_by: StopReason | None
    seen: SeenStates | None = None


class WalkThreads:
    """Takes walks in threads; see `simulate.WalkEngine`.

    Args:
        threads: the number of threads; None is one per core.
    """

    def __init__(self, threads: int | None) -> None:
        self._threads = threads or available_cores()
        self._kernels: Kernels | None = None

    def compile(
        self,
        program: Program,
        conditions: Sequence[Node],
        abstraction: Abstraction | None,
        watch: Watch,
    ) -> None:
        """Compile the kernel of walks."""
        self._kernels = compile_kernels(program, conditions, WALKS, watch=watch, abstraction=abstraction)

    def take(self, initials: PackedRows, walks: Walks, watch: Watch, reporter: WalkReporter | None) -> Taken:
        """Take walks; when stopped, walks under way end where they are, and count."""
        assert self._kernels is not None, "compile comes first"
        kernels = self._kernels
        with ExitStack() as opened, Team(self._threads) as team:
            seen = SeenStates(Sightings.of(kernels), walks.until_saturated) if walks.notes_states else None
            walkers = [
                Walker.of(kernels, initials, walks.seed, walks.depth, walks.strategy) for _ in range(self._threads)
            ]
            for walker in walkers:
                opened.callback(walker.close)
            if seen is not None:
                opened.callback(seen.close)
            shares = _Shares(walks, watch, reporter, seen)
            team.run(lambda number: shares.work(walkers[number]))
            return shares.taken()


@dataclass(frozen=True, slots=True)
class _Sight:
    """The abstract states of a share, which are not counted yet.

    Attributes:
        entries: see `Walker.seen`.
        end: the number after the share's last walk.
        failed: the number of the share's first walk that fails.
    """

    entries: bytes
    end: int
    failed: int | None


class _Shares:
    """Hands out shares of the walks in order, and collects their results."""

    def __init__(
        self, walks: Walks, watch: Watch, reporter: WalkReporter | None, seen: SeenStates | None = None
    ) -> None:
        self._end, self._watch, self._reporter, self._seen = walks.count, watch, reporter, seen
        self._share = walks.per_share
        self._next = 0
        self._lock = threading.Lock()
        self._done: dict[int, Walked] = {}
        self._under_way: dict[int, int] = {}
        self._left_off: set[int] = set()
        self._sights: dict[int, _Sight] = {}
        self._next_sight: int | None = 0  # the share whose abstract states are counted next; None after the last
        self._pulse = Pulse()
        self._stopped_by: StopReason | None = None

    def work(self, walker: Walker) -> None:
        while (first := self._take()) is not None:
            end = min(first + self._share, self._end)
            walked = walker.walk(first, end, partial(self._stops, first, walker))
            with self._lock:
                self._done[first] = walked
                self._under_way.pop(first, None)
                failed = None if walked.failed is None else walked.failed.number
                if failed is not None:
                    self._end = min(self._end, first + self._share)  # shares after this one are not needed
                if self._seen is not None:
                    self._sights[first] = _Sight(walker.seen, end, failed)
                saturated = self._saturated()
            if saturated is not None:
                self._leave(saturated, walker)
            self._report()

    def taken(self) -> Taken:
        """Return the sum of the shares; it counts as not stopped if all shares up to the first failure are whole."""
        seen = self._seen
        if seen is not None:
            for first in sorted(self._sights):
                self._count(seen, first, whole=False)
            if seen.saturated is not None:
                parts = [self._done[first] for first in sorted(self._done) if first < seen.saturated]
                whole = self._share_of(seen.saturated) not in self._left_off
                return Taken(merged(parts), StopReason.SATURATION if whole else self._stopped_by, seen)
        total = merged([self._done[first] for first in sorted(self._done)])
        decided = total.failed is not None and all(first > total.failed.number for first in self._left_off)
        return Taken(total, None if decided else self._stopped_by, seen)

    def _saturated(self) -> int | None:
        """Count the shares before the first that is not whole; return the number of walks to saturation, if reached."""
        seen = self._seen
        if seen is None or self._next_sight is None:
            return None
        while self._next_sight in self._sights and self._next_sight not in self._left_off:
            self._count(seen, self._next_sight, whole=True)
        if seen.saturated is not None:
            self._end = min(self._end, seen.saturated)
        return seen.saturated

    def _leave(self, count: int, walker: Walker) -> None:
        """Take the share of walk `count` again, up to that walk: later ones do not count."""
        first = self._share_of(count)
        if first < count:
            walked = walker.walk(first, count, partial(self._stops, first, walker))
            with self._lock:
                self._done[first] = walked
                self._under_way.pop(first, None)

    def _share_of(self, walk: int) -> int:
        return walk // self._share * self._share

    def _count(self, seen: SeenStates, first: int, whole: bool) -> None:
        sight = self._sights.pop(first)
        if self._next_sight is not None:
            seen.add(sight.entries, first, sight.end, sight.failed, whole)
            ended = sight.failed is not None or seen.saturated is not None
            self._next_sight = None if ended else sight.end

    def _take(self) -> int | None:
        with self._lock:
            if self._next >= self._end:
                return None
            self._stopped_by = self._stopped_by or (self._must_stop() if self._next else None)
            if self._stopped_by is not None:
                return None
            first, self._next = self._next, self._next + self._share
            return first

    def _must_stop(self) -> StopReason | None:
        return self._watch.reason(grows=self._seen is not None)

    def _stops(self, first: int, walker: Walker) -> bool:
        """Whether to leave off the share under way: on a stop, or when an earlier share has ended the walks."""
        with self._lock:
            self._under_way[first] = walker.steps
            self._stopped_by = self._stopped_by or self._must_stop()
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
            seen = None if self._seen is None else len(self._seen)
            self._reporter(WalkProgress(walks, steps, rate, self._watch.resident, self._watch.seconds, seen))


# ---------------------------------------------------------------------------------------------------- abstract states


@dataclass(frozen=True, slots=True)
class AbstractStates:
    """The abstract states that walks saw: states told apart only by the values of the model's `abstraction`.

    Attributes:
        names: of these values.
        distinct: the number of abstract states; each is kept whole, so no two are taken for one.
        last_new: the number of the last walk that saw a new one; None if no walk was taken.
        growth: (walks, abstract states) after 1, 10, 100, ... walks, and after the last.
    """

    names: tuple[str, ...]
    distinct: int
    last_new: int | None
    growth: tuple[tuple[int, int], ...]

    def summary(self) -> str:
        """Return one line."""
        last = "" if self.last_new is None else f", the last new one in walk {self.last_new:,}"
        return f"{plural(self.distinct, 'abstract state')}{last}"

    def table(self) -> TableColumns:
        """Return the growth as the columns of a table."""
        walks, states = zip(*self.growth, strict=True) if self.growth else ((), ())
        return {"walks": list(walks), "abstract_states": list(states)}


class SeenStates:
    """Counts the abstract states of walks that come in order.

    Args:
        sightings: an empty set for the abstract states.
        patience: walks in a row without a new abstract state after which they are saturated; None is never.

    Attributes:
        saturated: the number of walks that this took; None as long as they are not saturated.
    """

    def __init__(self, sightings: Sightings, patience: int | None) -> None:
        self._sightings, self._patience = sightings, patience
        self._distinct = 0
        self._last_new: int | None = None
        self._growth: list[tuple[int, int]] = []
        self.saturated: int | None = None

    def __len__(self) -> int:
        return self._distinct

    def add(self, entries: bytes, first: int, end: int, failed: int | None, whole: bool = True) -> None:
        """Count the abstract states of the next walks.

        Args:
            entries: the abstract states; see `Sightings.entries`.
            first: the number of the first walk, which follows the last one counted.
            end: the number after the last walk.
            failed: the number of the first walk that fails.
            whole: whether no walk was stopped; if one was, saturation cannot be decided.
        """
        assert self.saturated is None, "what comes after saturation does not count"
        new = self._sightings.absorb(entries, first, end - first)
        fresh = [(first + place, count) for place, count in enumerate(new) if count]
        if whole:
            saturated = self._saturated(fresh, end)
            if saturated is not None and (failed is None or saturated <= failed):
                self.saturated, end = saturated, saturated
        for walk, count in fresh:
            if walk < end:
                self._mark(walk)
                self._last_new = walk
                self._distinct += count
        self._mark(end)

    def found(self, names: tuple[str, ...], walks: int) -> AbstractStates:
        """Return the abstract states that `walks` walks saw, with the names of their values."""
        before = [(mark, count) for mark, count in self._growth if mark < walks]
        after = [(walks, self._distinct)] if walks else []
        return AbstractStates(names, self._distinct, self._last_new, (*before, *after))

    def close(self) -> None:
        """Release all memory."""
        self._sightings.close()

    def _saturated(self, fresh: list[tuple[int, int]], end: int) -> int | None:
        """Return the number of walks to saturation, if it is at most `end`."""
        if self._patience is None:
            return None
        last = -1 if self._last_new is None else self._last_new
        for walk, _ in [*fresh, (end, 0)]:
            if walk - last > self._patience:
                return last + 1 + self._patience
            last = walk
        return None

    def _mark(self, walks: int) -> None:
        """Note the number of abstract states at each power of ten up to `walks`."""
        while (mark := 10 ** len(self._growth)) <= walks:
            self._growth.append((mark, self._distinct))
