"""What is said of a breadth-first search while it works."""

from __future__ import annotations

from insync.explorer.growth import estimated_end, last_growth
from insync.explorer.limits import Watch
from insync.explorer.progress import Progress
from insync.explorer.search.explored import Space

__all__ = ["SLOT_BYTES", "progress_of"]

SLOT_BYTES = 16
"""Of the table of states that are kept whole, for a state."""


def progress_of(space: Space, watch: Watch, row_bytes: int, pending: int, rate: float) -> Progress:
    """Return where a search is.

    Args:
        space: what was found.
        watch: of the search.
        row_bytes: of a packed state.
        pending: how many states of the last level are not expanded yet.
        rate: states found per second in the last seconds.
    """
    distinct = sum(len(partition) for partition in space.partitions)
    end, resident = estimated_end(space.visited, watch.reaches), watch.resident
    to_come = 0 if end is None else max(0, end.states - distinct)
    return Progress(
        level=len(space.levels),
        frontier=pending,
        distinct_states=distinct,
        states_per_second=rate,
        memory_bytes=resident,
        seconds=watch.seconds,
        growth=last_growth(space.visited),
        end=end,
        memory_at_end=resident + to_come * _bytes_of_state(space, row_bytes, distinct),
        memory_limit=watch.memory_bytes,
    )


def _bytes_of_state(space: Space, row_bytes: int, distinct: int) -> int:
    """About what a state takes."""
    if space.kept == "states":
        return row_bytes + SLOT_BYTES
    return sum(partition.used_bytes for partition in space.partitions) // max(1, distinct)
