"""Evaluation of conditions on ranges of states: the least violating states, or how many states violate each."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING

from insync.machine.packed import BATCH, COLUMN_BYTES, MASK_BYTES, Found, Records, Sizes
from insync.runtime.memory import Block

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "CheckField",
    "Checker",
    "CountField",
    "Counter",
]


class CheckField(IntEnum):
    """The 64-bit fields of the context of `check`."""

    COLUMNS = 0  # address of scratch memory for one batch
    MASKS = 1  # address of scratch memory: MASK_BYTES per condition: in which states it is violated
    VIOLATIONS = 2  # address of one record (count, least state) per condition


class Checker:
    """Evaluates conditions on states, and keeps the number of violations and the least violating state of each.

    Args:
        sizes: of the program; without conditions there is nothing to do.
        check: its kernel, if there are conditions; see `emit.conditions.check_module`.
    """

    def __init__(self, sizes: Sizes, check: Callable[[int, int, int], int] | None) -> None:
        self._sizes, self._check = sizes, check
        self._records = Records(sizes.conditions, sizes.words)
        self._scratch = Block(COLUMN_BYTES * sizes.words + MASK_BYTES * sizes.conditions)
        self._masks = self._scratch.address + COLUMN_BYTES * sizes.words
        self._context = (ctypes.c_uint64 * len(CheckField))()
        self._context[CheckField.COLUMNS] = self._scratch.address
        self._context[CheckField.MASKS] = self._masks
        self._context[CheckField.VIOLATIONS] = self._records.address

    def check(self, rows: int, count: int) -> None:
        """Evaluate all conditions on a range of states."""
        if self._check is not None and count:
            self._check(ctypes.addressof(self._context), rows, count)

    def take(self) -> list[Found]:
        """Return the violations of each condition since the last call."""
        return self._records.take()

    def holds(self, rows: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return for each condition whether it holds in each of the states. Needs numpy."""
        import numpy as np

        shape = (self._sizes.conditions, MASK_BYTES)
        found = np.ones((self._sizes.conditions, len(rows)), dtype=np.bool_)
        states = np.ascontiguousarray(rows)
        for first in range(0, len(states), BATCH):
            some = states[first : first + BATCH]
            self.check(some.ctypes.data, len(some))
            masks = np.frombuffer(ctypes.string_at(self._masks, MASK_BYTES * shape[0]), dtype=np.uint8).reshape(shape)
            violated = np.unpackbits(masks, axis=1, count=len(some), bitorder="little")
            found[:, first : first + BATCH] = violated == 0
        return found

    def close(self) -> None:
        """Free all memory."""
        self._scratch.close()


class CountField(IntEnum):
    """The 64-bit fields of the context of `count`."""

    COLUMNS = 0  # address of scratch memory for one batch
    MASKS = 1  # address of scratch memory: MASK_BYTES per condition: in which states it is violated
    COUNTS = 2  # address of one counter per condition


class Counter:
    """Counts the states that violate each condition, and keeps none: for many conditions faster than `Checker`.

    Args:
        sizes: of the program; without conditions there is nothing to do.
        count: its kernel, if there are conditions; see `emit.conditions.count_module`.
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
        """Free all memory."""
        self._scratch.close()
