"""The warm start: the driver searches the first, small levels itself, and writes them to the run directory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

from insync.explorer.search.breadth_first import BreadthFirstSearch
from insync.explorer.search.explored import LevelSummary
from insync.explorer.search.run_levels import RunLevels
from insync.machine.kernels import Kernels
from insync.machine.packed import Found, PackedRows
from insync.machine.store_kernels import order_kernels
from insync.machine.stores.run_files import RunFiles, Span
from insync.machine.stores.sorted_rows import merged_runs, sort_in_place
from insync.runtime.watch import Limits, StopReason, Watch
from insync.runtime.workers import Team

__all__ = ["WarmStart"]

_WRITERS = 16  # at once: a file takes long in a store
_ADDRESS_SPACE = 8 << 30  # reserved, not used


class WarmStart:
    """The levels up to a limit, searched in this process; the last one is not expanded, unless the search is over.

    A temporary run directory exists only when Spark has started, so levels are written after all have been found.

    Args:
        kernels: the compiled program and properties.
        initials: the initial states.
        partitions: how many partitions the states are divided into.
        limits: the depth, and a number of states; the level that reaches it is the last.
        keep_going: whether to continue after a violation.
        stop: ends the search when it is set.
        is_enough: called with the number of states of the complete levels; if it returns True, they are all.
    """

    def __init__(
        self,
        kernels: Kernels,
        initials: PackedRows,
        partitions: int,
        limits: Limits,
        keep_going: bool,
        stop: threading.Event | None,
        is_enough: Callable[[int], bool] = lambda known: False,
    ) -> None:
        watch = _WarmWatch(replace(limits, memory_bytes=_ADDRESS_SPACE), stop)
        self.partitions = partitions
        with Team(1) as team:
            search = BreadthFirstSearch(kernels, watch, team, partitions, initials, keep_going)
            watch.is_enough = lambda: is_enough(sum(search.space.visited))
            try:
                self._space = search.run()
            except BaseException:
                search.space.release()
                raise

    @property
    def levels(self) -> int:
        """How many levels were found."""
        return len(self._space.levels)

    @property
    def is_over(self) -> bool:
        """Whether the search has ended, not only the part of it that the limit on the states allows."""
        return self._space.stopped_by is not StopReason.STATES

    def write(self, states: RunFiles) -> RunLevels:
        """Write the states to the run directory; return the levels."""
        numbers = range(self.partitions)
        with ThreadPoolExecutor(min(_WRITERS, self.partitions)) as pool:
            files = dict(enumerate(pool.map(lambda number: self._write(states, number), numbers)))
        levels = dict(enumerate(self._space.summaries, 1))
        levels[1] = replace(levels[1], files=files)
        found = RunLevels(len(self._space.steps), levels, self.levels)
        if self._space.stopped_by is None and levels[self.levels].steps is not None:  # an empty level is the end
            counted = replace(states, counted=found.counted)
            empty = {number: _write_empty(counted, number, self.levels + 1) for number in numbers}
            levels[self.levels + 1] = LevelSummary(violations=[Found()] * len(levels[1].violations), files=empty)
        return found

    def _write(self, states: RunFiles, number: int) -> bytes:
        """Write the states of a partition: all levels merged, and each for itself. They are sorted where they are."""
        partition, kernels = self._space.whole[number], order_kernels(states.words)
        store, starts = partition.store, partition.starts[: self.levels + 1]
        runs = [(store.address(start) if start < end else 0, end - start) for start, end in pairwise(starts)]
        sort_in_place(kernels, runs)
        spans = []
        if self.levels > 1:
            with states.merging(number, 1, self.levels) as merged:
                for rows, count in merged_runs(kernels, runs):
                    merged.append(rows, count)
            spans = [Span(1, self.levels, merged.count, merged.digest)]
        with states.writing_states(number, 1, spans) as writer:
            for level, (rows, count) in enumerate(runs):
                if level:
                    writer.next_level()
                writer.append(rows, count)
        return writer.digest

    def close(self) -> None:
        """Free the memory of the states."""
        self._space.release()


class _WarmWatch(Watch):
    """A watch that also ends a search, within a level, when that has found enough."""

    is_enough: Callable[[], bool] = staticmethod(lambda: False)

    def reason(self, grows: bool = False) -> StopReason | None:
        return super().reason(grows) or (StopReason.STATES if self.is_enough() else None)


def _write_empty(states: RunFiles, number: int, level: int) -> bytes:
    """Write a level of a partition that has no states; return the digest of the file."""
    try:
        with states.writing_states(number, level, states.level(number, level - 1).spans) as writer:
            pass
    finally:
        states.close()
    return writer.digest
