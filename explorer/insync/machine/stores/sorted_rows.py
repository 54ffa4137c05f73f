"""Rows of words in order: a buffer that is filled, sorted, and rid of what is known; and rows packed into few bytes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

from insync.machine.memory import HUGE_PAGE, Block

__all__ = ["BLOCK", "OrderKernels", "RowBuffer", "RowScratch", "most_packed"]

BLOCK = 1 << 14
"""How many rows are packed together: enough that what Python does for a block costs little beside."""

_SPARE = 8  # bytes behind what is packed: read and written with it, and of no meaning


@dataclass(frozen=True, slots=True)
class OrderKernels:
    """The compiled functions of rows of so many words; see `ordering.ordering_module`."""

    words: int
    order: Callable[[int, int, int], int]
    distinct: Callable[[int, int], int]
    pack: Callable[[int, int, int], int]
    unpack: Callable[[int, int, int], int]
    place: Callable[[int, int, int], int]
    strike: Callable[[int, int, int, int, int], int]
    remain: Callable[[int, int, int], int]

    @property
    def row_bytes(self) -> int:
        """The bytes of a row."""
        return 8 * self.words


def most_packed(words: int, count: int) -> int:
    """Return how many bytes are enough for so many packed rows."""
    return (8 * words + words) * count + _SPARE


class RowScratch:
    """What a buffer is sorted with; several may share it, one at a time. Its memory is touched at once.

    Args:
        row_bytes: of a row.
        capacity: of the buffers, in rows.

    Attributes:
        rows: room for as many rows.
        struck: room for as many bytes.
    """

    def __init__(self, row_bytes: int, capacity: int) -> None:
        self.rows, self.struck = _touched(row_bytes * capacity), _touched(capacity)

    def close(self) -> None:
        """Give all memory back."""
        self.rows.close()
        self.struck.close()


class RowBuffer:
    """Rows that come in any order.

    Its memory is touched at once: who asks later how much there is finds it taken.

    Args:
        kernels: the compiled functions.
        capacity: how many there may be.
        scratch: see `RowScratch`.

    Attributes:
        capacity: this argument.
        count: how many rows there are.
    """

    def __init__(self, kernels: OrderKernels, capacity: int, scratch: RowScratch) -> None:
        self.capacity, self.count = capacity, 0
        self._kernels, self._scratch = kernels, scratch
        self._rows = _touched(kernels.row_bytes * capacity)
        self._sorted = 0  # so many at the beginning are in order, and none of them is there twice

    @property
    def address(self) -> int:
        """Where the rows are."""
        return self._rows.address

    @property
    def end(self) -> int:
        """Where the next row goes."""
        return self._rows.address + self.count * self._kernels.row_bytes

    @property
    def room(self) -> int:
        """How many more rows there may be."""
        return self.capacity - self.count

    def sort(self) -> None:
        """Put the rows in order, each once."""
        if self._sorted < self.count:
            if self._kernels.order(self.address, self._scratch.rows.address, self.count):
                size = self.count * self._kernels.row_bytes
                ctypes.memmove(self.address, self._scratch.rows.address, size)
            self.count = self._kernels.distinct(self.address, self.count)
        self._sorted = self.count

    def clear(self) -> None:
        """Forget all rows."""
        self.count = self._sorted = 0

    def extend(self, rows: int, count: int) -> None:
        """Add copies of some rows, for which there is room."""
        assert count <= self.room
        ctypes.memmove(self.end, rows, count * self._kernels.row_bytes)
        self.count += count

    def begin_striking(self) -> None:
        """Take no row for known."""
        assert self._sorted == self.count
        ctypes.memset(self._scratch.struck.address, 0, self.count)

    def place(self, row: int) -> int:
        """Return how many rows, which are in order, come before the one at an address."""
        return self._kernels.place(self.address, self.count, row)

    def blocks_before(self, firsts: int, count: int) -> int:
        """Return how many of some rows, which are in order, come before the first one here."""
        return self._kernels.place(firsts, count, self.address)

    def strike(self, first: int, end: int, known: int, size: int) -> None:
        """Take for known which of the rows from one place to another is among some others, which are in order too."""
        start = self.address + first * self._kernels.row_bytes
        self._kernels.strike(start, end - first, self._scratch.struck.address + first, known, size)

    def drop_struck(self) -> None:
        """Drop the rows that are known, and take no other for known."""
        self.count = self._sorted = self._kernels.remain(self.address, self.count, self._scratch.struck.address)
        self.begin_striking()

    def close(self) -> None:
        """Give all memory back, that of the scratch too: it is closed with the first buffer."""
        self._rows.close()
        self._scratch.close()


def _touched(size: int) -> Block:
    block = Block(size, huge=size >= HUGE_PAGE)
    ctypes.memset(block.address, 0, size)
    return block
