"""The warm start: the driver searches the first, small levels itself, and writes them to the run directory."""

from __future__ import annotations

import threading
from dataclasses import replace
from itertools import pairwise

from insync.explorer.search.breadth_first import BreadthFirstSearch
from insync.explorer.search.explored import Explored
from insync.machine.kernels import Kernels
from insync.machine.packed import PackedRows
from insync.runtime.watch import Limits, Watch
from insync.runtime.workers import Team
from insync.spark_explore.wire.run_states import RunStates

__all__ = ["WarmStart"]

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
    """

    def __init__(
        self,
        kernels: Kernels,
        initials: PackedRows,
        partitions: int,
        limits: Limits,
        keep_going: bool,
        stop: threading.Event | None,
    ) -> None:
        watch = Watch(replace(limits, memory_bytes=_ADDRESS_SPACE), stop)
        self.partitions = partitions
        with Team(1) as team:
            search = BreadthFirstSearch(kernels, watch, team, partitions, initials, keep_going)
            try:
                self._space = search.run()
            except BaseException:
                search.space.release()
                raise

    @property
    def levels(self) -> int:
        """How many levels were found."""
        return len(self._space.levels)

    def write(self, states: RunStates) -> tuple[Explored, bytes]:
        """Write the states to the run directory; return the explored space, and the digests of the files."""
        digests = []
        for number, partition in enumerate(self._space.whole):
            starts = partition.starts[: self.levels + 1]
            counts = [end - start for start, end in pairwise(starts)]
            digests.append(states.write(number, counts, [partition.store.read(0, starts[-1])]))
        return replace(self._space, partitions=[], stopped_by=None), b"".join(digests)

    def close(self) -> None:
        """Free the memory of the states."""
        self._space.release()
