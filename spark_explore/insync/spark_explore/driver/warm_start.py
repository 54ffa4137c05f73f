"""The first levels, which are small: the driver searches them itself, and writes them to the run directory."""

from __future__ import annotations

import threading
from dataclasses import replace
from itertools import pairwise

from insync.explorer.breadth_first.search import BreadthFirstSearch
from insync.explorer.breadth_first.space import Space
from insync.explorer.breadth_first.workers import Team
from insync.explorer.limits import Limits, Watch
from insync.machine.kernels import Kernels
from insync.machine.packed import PackedRows
from insync.spark_explore.wire.run_folder import RunFolder

__all__ = ["warm_start"]

_ADDRESS_SPACE = 8 << 30  # reserved, not used


def warm_start(
    kernels: Kernels,
    initials: PackedRows,
    run: RunFolder,
    partitions: int,
    limits: Limits,
    keep_going: bool,
    stop: threading.Event | None,
) -> Space:
    """Search until a limit is reached, write the states, and return what was found.

    The levels that are returned are complete, and the last of them is not expanded, unless the search ended by itself.

    Args:
        kernels: the compiled program and properties.
        initials: the initial states.
        run: where to write the states.
        partitions: how many parts they are in.
        limits: the depth, and how many states are enough; the level in which they are reached is the last.
        keep_going: whether a violation ends the search.
        stop: ends it when it is set.
    """
    watch = Watch(replace(limits, memory_bytes=_ADDRESS_SPACE), stop)
    with Team(1) as team:
        search = BreadthFirstSearch(kernels, watch, team, partitions, initials, keep_going)
        try:
            space = search.run()
            for number, partition in enumerate(space.whole):
                starts = partition.starts[: len(space.levels) + 1]
                counts = [end - start for start, end in pairwise(starts)]
                run.write_states(number, 1, counts, kernels.sizes.words, partition.store.read(0, starts[-1]))
        finally:
            search.space.close()
    return replace(space, partitions=[], stopped_by=None)
