"""`count`: how many states of a range violate each condition."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from enum import IntEnum

from insync.machine.memory import Block
from insync.machine.packed import COLUMN_BYTES, MASK_BYTES, Sizes

__all__ = ["CountField", "Counter"]


class CountField(IntEnum):
    """The 64-bit fields of the context that `count` is given the address of."""

    COLUMNS = 0  # address of scratch memory for one batch
    MASKS = 1  # address of scratch memory: MASK_BYTES per condition: where it is violated
    COUNTS = 2  # address of one counter per condition


class Counter:
    """Counts states, and keeps none: many conditions are counted faster than checked.

    Args:
        sizes: of the program; without conditions there is nothing to do.
        count: its kernel, if there are conditions; see `counting.count_module`.
    """

    def __init__(self, sizes: Sizes, count: Callable[[int, int, int], int] | None) -> None:
        self._count = count
        self._counts = (ctypes.c_uint64 * max(1, sizes.conditions))()
        self._conditions = sizes.conditions
        self._scratch = Block(COLUMN_BYTES * sizes.words + MASK_BYTES * sizes.conditions)
        self._context = (ctypes.c_uint64 * len(CountField))()
        self._context[CountField.COLUMNS] = self._scratch.address
        self._context[CountField.MASKS] = self._scratch.address + COLUMN_BYTES * sizes.words
        self._context[CountField.COUNTS] = ctypes.addressof(self._counts)

    def count(self, rows: int, count: int) -> None:
        """Count the states of a range that violate the conditions."""
        if self._count is not None and count:
            self._count(ctypes.addressof(self._context), rows, count)

    def take(self) -> list[int]:
        """Return how many states violate each condition since the last call."""
        found = list(self._counts[: self._conditions])
        ctypes.memset(ctypes.addressof(self._counts), 0, ctypes.sizeof(self._counts))
        return found

    def close(self) -> None:
        """Give all memory back."""
        self._scratch.close()
