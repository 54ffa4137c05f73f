"""The states of one partition: every state that it owns once, in order of discovery."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable

from insync.explorer.breadth_first.memory import HUGE_PAGE, Block
from insync.model.errors import InternalError
from insync.model.machine.kernels import StoreKernels
from insync.model.machine.slots import BUCKET_BYTES, BUCKET_SLOTS, SPARE_BUCKETS, StoreField

__all__ = ["Store"]

_FIRST_BUCKETS = 1 << 15  # one huge page
_FIRST_BUCKETS_OF_MANY = 1 << 9
_MANY = 16  # partitions: beyond it, huge pages would hold little
_LEAST_SHARE = 1 << 26  # bytes of address space
_LARGEST_LOAD = 0.8  # beyond it, full buckets make neighbours full
_GROWTH = 2.0
_GROWTH_OF_LARGE = 1.5
_LARGE = 1 << 28  # bytes
_MOST_BUCKETS = 2**32 // BUCKET_SLOTS
_MOST_STATES = 2**32 - 2  # a slot has 32 bits for a place
_WAITING = 1 << 16

Permission = Callable[[int], bool]
"""Asked before memory is used: whether so many more bytes may be."""


class Store:
    """An exact set of packed states that keeps the order in which they came.

    A store belongs to one thread at a time. States are written once and never move, so their addresses stay good.

    Args:
        kernels: the compiled functions for states of this size.
        capacity: bytes that the states of all partitions may take, which they do only as they come.
        partitions: how many stores there are: the more, the smaller each begins.
    """

    def __init__(self, kernels: StoreKernels, capacity: int, partitions: int = 1) -> None:
        self.kernels = kernels
        huge = partitions <= _MANY
        share = capacity if huge else 2 * capacity // partitions + _LEAST_SHARE  # shares are never exactly equal
        first = _FIRST_BUCKETS if huge else _FIRST_BUCKETS_OF_MANY
        self._states = Block(max(share, HUGE_PAGE), huge)
        self._room = min(self._states.size // kernels.row_bytes, _MOST_STATES)
        slots = min(2 * self._room, _MOST_BUCKETS * BUCKET_SLOTS)
        self._table = Block(8 * slots + (first + SPARE_BUCKETS) * BUCKET_BYTES, huge)
        self._fields = (ctypes.c_uint64 * len(StoreField))()
        self._address = ctypes.addressof(self._fields)
        self._fields[StoreField.STATES] = self._states.address
        self._fields[StoreField.TABLE] = self._table.address
        self._use(first)

    def __len__(self) -> int:
        return int(self._fields[StoreField.COUNT])

    def address(self, place: int) -> int:
        """Return where a state lies."""
        return self._states.address + place * self.kernels.row_bytes

    def insert(self, candidates: int, count: int, may_use: Permission) -> bool:
        """Add those of some states that are new, in their order; return False when there was no memory for all.

        Args:
            candidates: the address of the states.
            count: how many there are.
            may_use: asked before the table grows.
        """
        while True:
            done = self.kernels.insert(self._address, candidates, count)
            if done == count:
                return True
            candidates, count = candidates + done * self.kernels.row_bytes, count - done
            if not self._grow(may_use):
                return False

    @property
    def page_bytes(self) -> int:
        """By how much the memory of the states may be more than their size."""
        return HUGE_PAGE if self._states.huge else mmap.PAGESIZE

    def read(self, start: int, end: int) -> bytes:
        """Return the states from one place to another as bytes."""
        row = self.kernels.row_bytes
        return self._states.read(start * row, (end - start) * row)

    @property
    def table_bytes(self) -> int:
        """The size of the table."""
        return self._buckets * BUCKET_BYTES

    def close(self) -> None:
        """Give all memory back."""
        self._states.close()
        self._table.close()

    def _use(self, buckets: int) -> None:
        self._buckets = buckets
        self._fields[StoreField.BUCKETS] = buckets
        self._fields[StoreField.LIMIT] = min(int(buckets * BUCKET_SLOTS * _LARGEST_LOAD), self._room)

    def _grow(self, may_use: Permission) -> bool:
        before, most = self._buckets, self._table.size // BUCKET_BYTES - SPARE_BUCKETS
        factor = _GROWTH if self.table_bytes < _LARGE else _GROWTH_OF_LARGE
        buckets = min(int(before * factor), most)
        if len(self) >= self._room or buckets <= before or not may_use((buckets - before) * BUCKET_BYTES):
            return False
        self._use(buckets)
        waiting = (ctypes.c_uint64 * _WAITING)()
        if not self.kernels.widen(self._address, before, ctypes.addressof(waiting), _WAITING):
            message = f"A table of {before} buckets with {len(self)} states could not be widened to {buckets}."
            raise InternalError(message)
        return True
