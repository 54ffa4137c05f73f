"""A buffer of rows of 64-bit words that is filled, sorted, and rid of known rows.

The kernels are in `machine.emit.external_sort`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from insync.runtime.memory import HUGE_PAGE, Block

__all__ = ["BLOCK", "OrderKernels", "RowBuffer", "RowScratch", "merged_runs", "most_packed", "sort_in_place"]

BLOCK = 1 << 14
"""Rows per packed block: enough that the Python code for a block costs little."""

_MERGED_ROWS = 4 * BLOCK
_SPARE = 8  # bytes after the packed rows, which the kernels read and write too


@dataclass(frozen=True, slots=True)
class OrderKernels:
    """The compiled functions for rows of `words` words; see `emit.external_sort.ordering_module`."""

    words: int
    order: Callable[[int, int, int], int]
    distinct: Callable[[int, int], int]
    merge: Callable[[int, int, int, int, int], int]
    pack: Callable[[int, int, int], int]
    unpack: Callable[[int, int, int], int]
    place: Callable[[int, int, int], int]
    strike: Callable[[int, int, int, int, int], int]
    remain: Callable[[int, int, int], int]

    @property
    def row_bytes(self) -> int:
        """Bytes per row."""
        return 8 * self.words


def most_packed(words: int, count: int) -> int:
    """Return how many bytes `count` packed rows take at most."""
    return (8 * words + words) * count + _SPARE


class RowScratch:
    """Scratch memory for sorting a buffer. Several buffers may share it, one at a time.

    The memory is touched at once, so that it counts as used.

    Args:
        row_bytes: bytes per row.
        capacity: of the buffers, in rows.

    Attributes:
        rows: room for `capacity` rows.
        struck: a byte per row, which is set for known rows.
    """

    def __init__(self, row_bytes: int, capacity: int) -> None:
        self.rows, self.struck = _touched(row_bytes * capacity), _touched(capacity)

    def close(self) -> None:
        """Free all memory."""
        self.rows.close()
        self.struck.close()


class RowBuffer:
    """A buffer of rows, which come in any order.

    The memory is touched at once, so that it counts as used.

    Args:
        kernels: the compiled functions.
        capacity: in rows.
        scratch: memory for sorting.

    Attributes:
        capacity: this argument.
        count: how many rows the buffer has.
    """

    def __init__(self, kernels: OrderKernels, capacity: int, scratch: RowScratch) -> None:
        self.capacity, self.count = capacity, 0
        self._kernels, self._scratch = kernels, scratch
        self._rows = _touched(kernels.row_bytes * capacity)
        self._sorted = 0  # the length of the prefix that is sorted and without duplicates

    @property
    def address(self) -> int:
        """The address of the first row."""
        return self._rows.address

    @property
    def end(self) -> int:
        """The address after the last row."""
        return self._rows.address + self.count * self._kernels.row_bytes

    @property
    def room(self) -> int:
        """How many more rows fit."""
        return self.capacity - self.count

    def sort(self) -> None:
        """Sort the rows, and drop duplicates."""
        kernels, scratch, start = self._kernels, self._scratch.rows.address, self._sorted
        if start < self.count:
            here = self.address + start * kernels.row_bytes
            if kernels.order(here, scratch, self.count - start):
                ctypes.memmove(here, scratch, self.end - here)
            count = kernels.distinct(here, self.count - start)
            if start:
                count = kernels.merge(self.address, start, here, count, scratch)
                ctypes.memmove(self.address, scratch, count * kernels.row_bytes)
            self.count = self._sorted = count

    def merge(self, ends: Sequence[int]) -> None:
        """Merge the rows, and drop duplicates.

        Args:
            ends: the ends of runs of rows, which follow one another; each run is sorted and without duplicates.
        """
        source, target, row_bytes = self._rows.address, self._scratch.rows.address, self._kernels.row_bytes
        while len(ends) > 1:
            starts, made, count = [0, *ends], [], 0
            for first in range(0, len(ends), 2):
                start, middle, end = (starts[min(first + more, len(ends))] for more in range(3))
                one, other = source + start * row_bytes, source + middle * row_bytes
                count += self._kernels.merge(one, middle - start, other, end - middle, target + count * row_bytes)
                made.append(count)
            ends, source, target = made, target, source
        self.count = self._sorted = ends[-1] if ends else 0
        if source != self.address:
            ctypes.memmove(self.address, source, self.count * row_bytes)

    def clear(self) -> None:
        """Remove all rows."""
        self.count = self._sorted = 0

    def extend(self, rows: int, count: int) -> None:
        """Append copies of `count` rows, which must fit."""
        assert count <= self.room
        ctypes.memmove(self.end, rows, count * self._kernels.row_bytes)
        self.count += count

    def begin_striking(self) -> None:
        """Clear all marks of known rows; the buffer must be sorted."""
        assert self._sorted == self.count
        ctypes.memset(self._scratch.struck.address, 0, self.count)

    def place(self, row: int) -> int:
        """Return how many rows of the sorted buffer are less than the row at an address."""
        return self._kernels.place(self.address, self.count, row)

    def place_of_last(self, rows: int, count: int) -> int:
        """Return how many rows of the sorted buffer are less than the last of `count` rows at an address."""
        return self.place(rows + (count - 1) * self._kernels.row_bytes)

    def blocks_before(self, firsts: int, count: int) -> int:
        """Return how many of `count` sorted rows are less than the first row of the buffer."""
        return self._kernels.place(firsts, count, self.address)

    def strike(self, first: int, end: int, known: int, size: int) -> None:
        """Mark the rows from `first` up to `end` that are among the `size` sorted rows at address `known`."""
        start = self.address + first * self._kernels.row_bytes
        self._kernels.strike(start, end - first, self._scratch.struck.address + first, known, size)

    def drop_struck(self) -> None:
        """Drop the marked rows, and clear all marks."""
        self.count = self._sorted = self._kernels.remain(self.address, self.count, self._scratch.struck.address)
        self.begin_striking()

    def close(self) -> None:
        """Free all memory, with that of the scratch: it is closed with the first of its buffers."""
        self._rows.close()
        self._scratch.close()


def sort_in_place(kernels: OrderKernels, runs: Sequence[tuple[int, int]]) -> None:
    """Sort the rows of each (address, count) run; no run has a row twice."""
    scratch = Block(kernels.row_bytes * max(count for _, count in runs))
    for rows, count in runs:
        if kernels.order(rows, scratch.address, count):
            ctypes.memmove(rows, scratch.address, count * kernels.row_bytes)
    scratch.close()


def merged_runs(kernels: OrderKernels, runs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield (address, count) runs of all rows of sorted runs, in order. Each is valid until the next is requested.

    The rows are divided where the longest run is divided evenly, so that the rows of a part fit into a core's cache.
    """
    longest, size = max(runs, key=lambda run: run[1])
    parts = 1 + sum(count for _, count in runs) // _MERGED_ROWS
    cuts = [longest + size * part // parts * kernels.row_bytes for part in range(1, parts)]
    inner = ([kernels.place(rows, count, cut) for rows, count in runs] for cut in cuts)
    bounds = list(pairwise([[0] * len(runs), *inner, [count for _, count in runs]]))
    capacity = max(sum(ends) - sum(starts) for starts, ends in bounds)
    buffer = RowBuffer(kernels, capacity, RowScratch(kernels.row_bytes, capacity))
    try:
        for starts, ends in bounds:
            buffer.clear()
            made = []
            for (rows, _), start, end in zip(runs, starts, ends, strict=True):
                buffer.extend(rows + start * kernels.row_bytes, end - start)
                made.append(buffer.count)
            buffer.merge(made)
            yield buffer.address, buffer.count
    finally:
        buffer.close()


def _touched(size: int) -> Block:
    block = Block(size, huge=size >= HUGE_PAGE)
    ctypes.memset(block.address, 0, size)
    return block
