"""The states of one partition: every state that it owns once, in order of discovery."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable
from typing import Protocol

from insync.machine.emit.slots import BUCKET_BYTES, BUCKET_SLOTS, SPARE_BUCKETS, StoreField
from insync.machine.kernels import StoreKernels
from insync.machine.memory import HUGE_PAGE, Block
from insync.model.errors import InternalError

__all__ = ["Memory", "Store", "table_bytes"]

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


class Memory(Protocol):
    """What a store stands on: memory that is zero until written."""

    @property
    def address(self) -> int:
        """Where it starts."""

    @property
    def size(self) -> int:
        """How many bytes it has."""

    def read(self, start: int, length: int) -> bytes:
        """Return a copy of a part."""

    def close(self) -> None:
        """Give it back."""


def table_bytes(states_bytes: int, row_bytes: int, first_buckets: int) -> int:
    """Return how much address space a table may come to take that begins with so many buckets."""
    slots = min(2 * min(states_bytes // row_bytes, _MOST_STATES), _MOST_BUCKETS * BUCKET_SLOTS)
    return 8 * slots + (first_buckets + SPARE_BUCKETS) * BUCKET_BYTES


class Store:
    """An exact set of packed states that keeps the order in which they came.

    A store belongs to one thread at a time. States are written once and never move, so their addresses stay good.

    Args:
        kernels: the compiled functions for states of this size.
        capacity: bytes that the states of all partitions may take, which they do only as they come.
        partitions: how many stores there are: the more, the smaller each begins.

    Attributes:
        page_bytes: by how much the memory of the states may be more than their size.
    """

    page_bytes = mmap.PAGESIZE

    def __init__(self, kernels: StoreKernels, capacity: int, partitions: int = 1) -> None:
        huge = partitions <= _MANY
        share = capacity if huge else 2 * capacity // partitions + _LEAST_SHARE  # shares are never exactly equal
        first = _FIRST_BUCKETS if huge else _FIRST_BUCKETS_OF_MANY
        self.page_bytes = HUGE_PAGE if huge else mmap.PAGESIZE
        states = Block(max(share, HUGE_PAGE), huge)
        table = Block(table_bytes(states.size, kernels.row_bytes, first), huge)
        self._stand_on(kernels, states, table, first)

    def _stand_on(self, kernels: StoreKernels, states: Memory, table: Memory, buckets: int) -> None:
        """Use this memory, of whose table so many buckets are in use."""
        self.kernels, self._states, self._table = kernels, states, table
        self._room = min(states.size // kernels.row_bytes, _MOST_STATES)
        self._fields = (ctypes.c_uint64 * len(StoreField))()
        self._address = ctypes.addressof(self._fields)
        self._fields[StoreField.STATES] = states.address
        self._fields[StoreField.TABLE] = table.address
        self._use(buckets)

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
