"""The store of one partition in memory: an array of whole states in order of discovery, and a hash table over it.

The table has open addressing in buckets of one cache line. A slot has 32 bits of a state's hash and its index in the
array; states are equal only when all their words are. The kernels are in `machine.emit.hash_table`.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, Protocol

from insync.machine.packed import PackedRows
from insync.machine.stores.store import MOST_CHUNK, Chunk, InsertOutcome
from insync.runtime.errors import InternalError
from insync.runtime.memory import HUGE_PAGE, Block, Permission

if TYPE_CHECKING:
    from insync.machine.expander import Expander

__all__ = [
    "BUCKET_BYTES",
    "BUCKET_SLOTS",
    "SPARE_BUCKETS",
    "TABLE_BYTES_OF_STATE",
    "HashTableStore",
    "Memory",
    "Store",
    "StoreField",
    "StoreKernels",
    "reserve",
    "table_bytes",
]

BUCKET_SLOTS = 8
BUCKET_BYTES = 8 * BUCKET_SLOTS
TABLE_BYTES_OF_STATE = 16
"""Bytes of the table for each state, on average: a slot has 8, and about half of the slots are free."""
SPARE_BUCKETS = 64
"""Buckets after the last home bucket, for states that find the last buckets full."""

_FIRST_BUCKETS = 1 << 15  # one huge page
_FIRST_BUCKETS_OF_MANY = 1 << 9
_MANY = 16  # partitions: with more, huge pages would stay nearly empty
_LEAST_SHARE = 1 << 26  # bytes of address space
_LARGEST_LOAD = 0.8  # beyond it, full buckets fill their neighbours
_GROWTH = 2.0
_GROWTH_OF_LARGE = 1.5
_LARGE = 1 << 28  # bytes
_MOST_BUCKETS = 2**32 // BUCKET_SLOTS
_MOST_STATES = 2**32 - 2  # a slot has 32 bits for 1 + the index of a state
_WAITING = 1 << 16


class StoreField(IntEnum):
    """The 64-bit fields of a store, as the kernels see them."""

    STATES = 0  # address of the array of states
    COUNT = 1  # how many states it holds
    LIMIT = 2  # how many states it may hold before the table or the array must grow
    TABLE = 3  # address of the table
    BUCKETS = 4  # how many buckets the table has


@dataclass(frozen=True, slots=True)
class StoreKernels:
    """The compiled functions over stores and rows of states; see `emit.hash_table.store_module`."""

    insert: Callable[[int, int, int], int]
    widen: Callable[[int, int, int, int], int]
    find: Callable[[int, int, int], int]
    owner: Callable[[int, int], int]
    select: Callable[[int, int, int, int, int, int], int]


class Memory(Protocol):
    """A block of memory that is zero until written."""

    @property
    def address(self) -> int:
        """The address of the first byte."""

    @property
    def size(self) -> int:
        """The size in bytes."""

    def read(self, start: int, length: int) -> bytes:
        """Return a copy of `length` bytes."""

    def close(self) -> None:
        """Free the memory."""


def table_bytes(states_bytes: int, row_bytes: int, first_buckets: int) -> int:
    """Return the address space for a table that begins with `first_buckets` and grows with its states."""
    slots = min(2 * min(states_bytes // row_bytes, _MOST_STATES), _MOST_BUCKETS * BUCKET_SLOTS)
    return 8 * slots + (first_buckets + SPARE_BUCKETS) * BUCKET_BYTES


def _states_within(buckets: int) -> int:
    """How many states a table holds before it must grow."""
    return int(buckets * BUCKET_SLOTS * _LARGEST_LOAD)


def _grown(buckets: int) -> int:
    return int(buckets * (_GROWTH if buckets * BUCKET_BYTES < _LARGE else _GROWTH_OF_LARGE))


class Store:
    """An exact set of packed states, in order of insertion.

    A store belongs to one thread at a time. States never move, so their addresses stay valid.

    Args:
        words: 64-bit words per packed state.
        kernels: the compiled functions for states of this size.
        states, table: memory for the states and the table, which may hold states already.
        buckets: the current size of the table.
        count: how many states the memory holds.
        page_bytes: the page size of the memory; the last page may be partly used.

    Attributes:
        words, buckets, page_bytes: the current values of these arguments.
    """

    def __init__(
        self,
        words: int,
        kernels: StoreKernels,
        states: Memory,
        table: Memory,
        buckets: int,
        count: int = 0,
        page_bytes: int = mmap.PAGESIZE,
    ) -> None:
        self.words, self.page_bytes = words, page_bytes
        self._kernels, self._states, self._table = kernels, states, table
        self._row_bytes = 8 * words
        self._room = min(states.size // self._row_bytes, _MOST_STATES)
        self._fields = (ctypes.c_uint64 * len(StoreField))()
        self._address = ctypes.addressof(self._fields)
        self._fields[StoreField.STATES] = states.address
        self._fields[StoreField.TABLE] = table.address
        self.restore(buckets, count)

    def restore(self, buckets: int, count: int) -> None:
        """Set the size of the table and the number of states, after the memory was changed from outside."""
        self._fields[StoreField.COUNT] = count
        self._use(buckets)

    def __len__(self) -> int:
        return int(self._fields[StoreField.COUNT])

    def address(self, place: int) -> int:
        """Return the address of the state with index `place`."""
        return self._states.address + place * self._row_bytes

    def insert(self, candidates: int, count: int, may_use: Permission) -> bool:
        """Add the states that are new, in their order; return False if memory ran out before all were added.

        Args:
            candidates: the address of the states.
            count: how many states to add.
            may_use: called before the table grows.
        """
        while True:
            done = self._kernels.insert(self._address, candidates, count)
            if done == count:
                return True
            candidates, count = candidates + done * self._row_bytes, count - done
            if not self._grow(may_use):
                return False

    def add(self, states: PackedRows, may_use: Permission) -> bool:
        """Add the states that are new; see `insert`."""
        return self.insert(states.address, states.count, may_use)

    def read(self, start: int, end: int) -> bytes:
        """Return the states with index `start` up to, but not including, `end` as bytes."""
        return self._states.read(start * self._row_bytes, (end - start) * self._row_bytes)

    @property
    def table_bytes(self) -> int:
        """The size of the table."""
        return self.buckets * BUCKET_BYTES

    @property
    def used_bytes(self) -> int:
        """The memory of states and table."""
        return len(self) * self._row_bytes + self.table_bytes

    def close(self) -> None:
        """Free all memory."""
        self._states.close()
        self._table.close()

    def _use(self, buckets: int) -> None:
        self.buckets = buckets
        self._fields[StoreField.BUCKETS] = buckets
        self._fields[StoreField.LIMIT] = min(_states_within(buckets), self._room)

    def _grow(self, may_use: Permission) -> bool:
        before, most = self.buckets, self._table.size // BUCKET_BYTES - SPARE_BUCKETS
        buckets = min(_grown(before), most)
        if len(self) >= self._room or buckets <= before or not may_use((buckets - before) * BUCKET_BYTES):
            return False
        self._use(buckets)
        waiting = (ctypes.c_uint64 * _WAITING)()
        if not self._kernels.widen(self._address, before, ctypes.addressof(waiting), _WAITING):
            message = f"A table of {before} buckets with {len(self)} states could not be widened to {buckets}."
            raise InternalError(message)
        return True


def reserve(words: int, kernels: StoreKernels, capacity: int, partitions: int) -> Store:
    """Return an empty store on reserved memory.

    Args:
        words: 64-bit words per packed state.
        kernels: the compiled functions for states of this size.
        capacity: the most bytes for the states of all partitions; they are reserved, and used as states come.
        partitions: how many stores there are; with many, each begins smaller.
    """
    huge = partitions <= _MANY
    share = capacity if huge else 2 * capacity // partitions + _LEAST_SHARE  # shares are never exactly equal
    first = _FIRST_BUCKETS if huge else _FIRST_BUCKETS_OF_MANY
    states = Block(max(share, HUGE_PAGE), huge)
    table = Block(table_bytes(states.size, 8 * words, first), huge)
    return Store(words, kernels, states, table, first, page_bytes=HUGE_PAGE if huge else mmap.PAGESIZE)


# ------------------------------------------------------------------------------------------------------------ levels


@dataclass(slots=True)
class HashTableStore:
    """States kept whole, in order of discovery: every level can be read again.

    Attributes:
        store: the states.
        starts: where each level begins in the store; the last one is being filled.
        expanded: the index of the first state that is not expanded.
        seen: the index of the first state that `unseen` has not yielded.
    """

    kept: ClassVar[str] = "states"

    store: Store
    starts: list[int] = field(default_factory=lambda: [0])
    expanded: int = 0
    seen: int = 0

    def __len__(self) -> int:
        return len(self.store)

    @property
    def pending(self) -> int:
        """How many states of the current level are not expanded yet."""
        return self.starts[-1] - self.expanded

    @property
    def page_bytes(self) -> int:
        """The most bytes by which the memory of the states exceeds their size."""
        return self.store.page_bytes

    @property
    def used_bytes(self) -> int:
        """Bytes of memory that the states take."""
        return self.store.used_bytes

    def expand(self, expander: Expander) -> bool:
        """Expand pending states until none is left or a buffer is full; return whether none is left."""
        if self.pending:
            self.expanded += expander.expand(self.store.address(self.expanded), self.pending)
        return not self.pending

    def insert(self, rows: int, count: int, may_use: Permission) -> InsertOutcome:
        """Add the states that are new to the next level; if that fails, some of them may be missing."""
        return InsertOutcome.DONE if self.store.insert(rows, count, may_use) else InsertOutcome.NO_MEMORY

    def detect_duplicates(self) -> InsertOutcome:
        """Do nothing: `insert` has detected the duplicates."""
        return InsertOutcome.DONE

    def unseen(self) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the states added since the last call, each valid until the next."""
        start = len(self.store) - self.skip_unseen()
        if start < len(self.store):
            yield self.store.address(start), len(self.store) - start

    def skip_unseen(self) -> int:
        """Return the number of states added since the last call of this or of `unseen`."""
        fresh, self.seen = len(self.store) - self.seen, len(self.store)
        return fresh

    def close_level(self) -> int:
        """Make the next level the current one; return its number of states."""
        self.starts.append(len(self.store))
        return self.starts[-1] - self.starts[-2]

    def current(self) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the states of the current level, each valid until the next."""
        return self.rows(len(self.starts) - 1)

    def rows(self, level: int) -> Iterator[tuple[int, int]]:
        """Yield (address, count) of the states of a level; the level of the initial states is 1."""
        first, end = self.starts[level - 1 : level + 1]
        if first < end:
            yield self.store.address(first), end - first

    def pass_over(self) -> None:
        """Mark the current level as expanded."""
        self.expanded = self.starts[-1]

    def expect(self, states: int) -> None:
        """Do nothing: whole states need no estimate."""

    def chunks(self, level: int) -> Iterator[Chunk]:
        """Yield chunks that cover a level; the level of the initial states is 1."""
        end = self.starts[level]
        for place in range(self.starts[level - 1], end, MOST_CHUNK):
            yield _HashTableChunk(self.store.address(place), min(MOST_CHUNK, end - place))

    def close(self) -> None:
        """Release all memory."""
        self.store.close()


@dataclass(frozen=True, slots=True)
class _HashTableChunk:
    """States in memory."""

    address: int
    count: int

    def load(self) -> tuple[int, int]:
        """Return the address and count of the states."""
        return self.address, self.count
