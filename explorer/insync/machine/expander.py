"""Expansion of states: their successors in a buffer per partition, or their steps with actions."""

from __future__ import annotations

import ctypes
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from insync.machine.packed import BATCH, COLUMN_BYTES, MASK_BYTES, Found, PackedRows, Records, Sizes, Words, words_at
from insync.runtime.memory import Block

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "ACTION_BITS",
    "EdgeField",
    "Edges",
    "ExpandField",
    "Expander",
    "Ownership",
]


_RECENT_BYTES = 1 << 17  # fits into a core's L2 cache; a third of all steps lead to a state in this table


class ExpandField(IntEnum):
    """The 64-bit fields of the context of `expand`."""

    ROWS = 0  # address of the first state
    COUNT = 1  # how many states
    PARTITIONS = 2
    CURSORS = 3  # address of one address per partition: where its next successor goes
    ENDS = 4  # address of one address per partition: the end of its buffer
    STEPS = 5  # address of one counter of steps per action, of 64 bits, or with symmetry of 128 bits
    REFUSED = 6  # address of a record (count, least state): steps whose checks fail
    COLUMNS = 7  # address of scratch memory for one batch
    MASKS = 8  # address of scratch memory: MASK_BYTES per action, and MASK_BYTES for the states outside
    RECENT = 9  # address of a table of recently found states, which are dropped
    RECENT_MASK = 10  # the size of that table, a power of 2, minus 1
    RAW = 11  # address of scratch memory: a state per step of a batch
    RAW_END = 12  # scratch: the end of the states there
    STUCK = 13  # a counter: states without a step, except those outside the confinement
    STUCK_HIGH = 14  # the upper half of that counter, with symmetry
    OWNING = 15  # address of a mask per word: the bits that determine the owner of a state; 0 is all bits


class Expander:
    """Expands states into one buffer per partition.

    Args:
        sizes: of the program.
        expand: its kernel; see `emit.expanding.expand_module`.
        partitions: how many partitions own the states.
        buffer_bytes: size of a buffer, which is increased to twice the steps of a batch if it is smaller.
        known: a state that need not be found again, such as the initial one.
    """

    def __init__(
        self, sizes: Sizes, expand: Callable[[int], int], partitions: int, buffer_bytes: int, known: Words
    ) -> None:
        self.partitions = partitions
        self._sizes, self._expand = sizes, expand
        self._batch_bytes = batch = BATCH * sizes.actions * sizes.row_bytes
        self.buffer_bytes = max(buffer_bytes, 2 * batch)
        self._buffers = [Block(self.buffer_bytes) for _ in range(partitions)]
        self._cursors = (ctypes.c_uint64 * partitions)()
        self._ends = (ctypes.c_uint64 * partitions)()
        for number, buffer in enumerate(self._buffers):
            self._ends[number] = buffer.address + self.buffer_bytes
            self._cursors[number] = buffer.address
        self._touched = [0] * partitions
        self._counter_words = 2 if sizes.symmetric else 1
        self._steps = (ctypes.c_uint64 * (sizes.actions * self._counter_words))()
        self._refused = Records(1, sizes.words)
        self._scratch = Block(COLUMN_BYTES * sizes.words + MASK_BYTES * (sizes.actions + 1))
        self._raw = Block(batch)
        self._known = b"".join(word.to_bytes(8, sys.byteorder) for word in known)
        self._recent_rows = 1 << (_RECENT_BYTES // sizes.row_bytes).bit_length() - 1
        self._recent = Block(self._recent_rows * sizes.row_bytes)
        self.forget()
        self._context = (ctypes.c_uint64 * len(ExpandField))()
        self._fill_context()

    def _fill_context(self) -> None:
        fields = self._context
        fields[ExpandField.PARTITIONS] = self.partitions
        fields[ExpandField.CURSORS] = ctypes.addressof(self._cursors)
        fields[ExpandField.ENDS] = ctypes.addressof(self._ends)
        fields[ExpandField.STEPS] = ctypes.addressof(self._steps)
        fields[ExpandField.REFUSED] = self._refused.address
        fields[ExpandField.COLUMNS] = self._scratch.address
        fields[ExpandField.RAW] = self._raw.address
        fields[ExpandField.RECENT] = self._recent.address
        fields[ExpandField.RECENT_MASK] = self._recent_rows - 1
        fields[ExpandField.MASKS] = self._scratch.address + COLUMN_BYTES * self._sizes.words

    def own_by(self, ownership: Ownership) -> None:
        """Use another assignment of states to partitions from now on."""
        self._ownership = ownership  # keeps the memory of the masks alive
        self._context[ExpandField.OWNING] = ownership.masks

    def forget(self) -> None:
        """Forget which states were found recently, so that they are put into the buffers again."""
        ctypes.memmove(self._recent.address, self._known * self._recent_rows, len(self._known) * self._recent_rows)

    def expand(self, rows: int, count: int) -> int:
        """Append the successors of states to the buffers; return how many states were done before a buffer was full."""
        self._context[ExpandField.ROWS] = rows
        self._context[ExpandField.COUNT] = count
        return self._expand(ctypes.addressof(self._context))

    def candidates(self, partition: int) -> tuple[int, int]:
        """Return address and count of the states in a partition's buffer."""
        start = self._buffers[partition].address
        return start, (self._cursors[partition] - start) // self._sizes.row_bytes

    @property
    def pending_bytes(self) -> int:
        """The size of all states in the buffers."""
        return sum(self._cursors) - sum(buffer.address for buffer in self._buffers)

    @property
    def batch_bytes(self) -> int:
        """The memory that the first batch may touch: the scratch memory, and twice the steps of the batch."""
        return self._scratch.size + 2 * self._batch_bytes

    @property
    def untouched_bytes(self) -> int:
        """The memory of the buffers that was not touched yet."""
        return sum(self.buffer_bytes - touched for touched in self._touched)

    def states(self, partition: int) -> Iterator[Words]:
        """Yield the states in a partition's buffer."""
        start, count = self.candidates(partition)
        for number in range(count):
            yield words_at(start + number * self._sizes.row_bytes, self._sizes.words)

    def clear(self) -> None:
        """Empty the buffers."""
        for number, buffer in enumerate(self._buffers):
            self._touched[number] = max(self._touched[number], self._cursors[number] - buffer.address)
            self._cursors[number] = buffer.address

    def take_steps(self) -> list[int]:
        """Return how many steps of each action were taken since the last call."""
        words = self._counter_words
        counters = [self._steps[at : at + words] for at in range(0, self._sizes.actions * words, words)]
        taken = [sum(word << 64 * place for place, word in enumerate(counter)) for counter in counters]
        ctypes.memset(ctypes.addressof(self._steps), 0, ctypes.sizeof(self._steps))
        return taken

    def take_stepless(self) -> int:
        """Return how many expanded states have no step, since the last call; states outside do not count."""
        low, high = (int(self._context[field]) for field in (ExpandField.STUCK, ExpandField.STUCK_HIGH))
        self._context[ExpandField.STUCK] = self._context[ExpandField.STUCK_HIGH] = 0
        return low | high << 64

    def take_refused(self) -> Found:
        """Return the states with a step whose checks fail (counted once per step), since the last call."""
        return self._refused.take()[0]

    def close(self) -> None:
        """Free all memory."""
        for block in [*self._buffers, self._scratch, self._raw, self._recent]:
            block.close()


# ---------------------------------------------------------------------------------------------------------------- edges

ACTION_BITS = 32
"""The low bits of the last word of an edge, which are the number of its action."""


class EdgeField(IntEnum):
    """The 64-bit fields of the context of `edges`."""

    ROWS = 0  # address of the first state
    COUNT = 1  # how many states, at most a batch
    CURSOR = 2  # where the next edge goes; there must be room for every action of every state
    STEPS = 3  # address of one counter of steps per action
    REFUSED = 4  # address of a record (count, least state): steps whose checks fail
    COLUMNS = 5  # address of scratch memory for one batch
    MASKS = 6  # address of scratch memory: MASK_BYTES per action


@dataclass(frozen=True, slots=True)
class EdgesOfBatch:
    """The steps of a batch of states, in the order of actions, and for one action in the order of states.

    Attributes:
        source: for each step the index in the batch of the state before it.
        action: the number of its action.
        target: the packed state after it, one row each.
    """

    source: NDArray[np.int64]
    action: NDArray[np.int64]
    target: NDArray[np.uint64]


class Edges:
    """Lists the steps of states with their actions.

    Args:
        sizes: of the program.
        edges: its kernel; see `emit.transitions.edges_module`.
    """

    def __init__(self, sizes: Sizes, edges: Callable[[int], int]) -> None:
        self._sizes, self._edges = sizes, edges
        self._steps = (ctypes.c_uint64 * sizes.actions)()
        self._refused = Records(1, sizes.words)
        self._out = Block(BATCH * sizes.actions * (sizes.row_bytes + 8))
        self._scratch = Block(COLUMN_BYTES * sizes.words + MASK_BYTES * sizes.actions)
        self._context = (ctypes.c_uint64 * len(EdgeField))()
        self._context[EdgeField.STEPS] = ctypes.addressof(self._steps)
        self._context[EdgeField.REFUSED] = self._refused.address
        self._context[EdgeField.COLUMNS] = self._scratch.address
        self._context[EdgeField.MASKS] = self._scratch.address + COLUMN_BYTES * sizes.words

    def of(self, rows: NDArray[np.uint64]) -> EdgesOfBatch:
        """Return the steps of at most a batch of states, without those whose checks fail. Needs numpy."""
        import numpy as np

        assert len(rows) <= BATCH
        words = self._sizes.words
        states = np.ascontiguousarray(rows)
        table = np.frombuffer(self._listed(states.ctypes.data, len(states)), dtype=np.uint64).reshape(-1, words + 1)
        origin = table[:, words].astype(np.int64)
        return EdgesOfBatch(origin >> ACTION_BITS, origin & (1 << ACTION_BITS) - 1, table[:, :words])

    def of_one(self, state: Words) -> dict[int, Words]:
        """Return the next state for each enabled action number, in order, without steps whose checks fail."""
        row, size = PackedRows([state]), self._sizes.words + 1
        table = array("Q", self._listed(row.address, 1))
        return {
            table[end - 1] & (1 << ACTION_BITS) - 1: tuple(table[end - size : end - 1])
            for end in range(size, len(table) + 1, size)
        }

    def _listed(self, rows: int, count: int) -> bytes:
        """Return the rows that `edges` writes for the states at an address."""
        self._context[EdgeField.ROWS] = rows
        self._context[EdgeField.COUNT] = count
        self._context[EdgeField.CURSOR] = self._out.address
        self._edges(ctypes.addressof(self._context))
        return self._out.read(0, self._context[EdgeField.CURSOR] - self._out.address)

    def take_refused(self) -> Found:
        """Return the states with a step whose checks fail (counted once per step), since the last call."""
        return self._refused.take()[0]

    def close(self) -> None:
        """Free all memory."""
        self._out.close()
        self._scratch.close()


# ------------------------------------------------------------------------------------------------------------ ownership
#
# Hash partitioning of states (Stern & Dill 1997) by some of their bits, which most steps do not change.


_CHUNK = 1 << 12


class Ownership:
    """The assignment of states to partitions by a hash of some of their bits.

    If most steps leave these bits unchanged, most successors belong to the partition of their state, and a state with
    several predecessors is more often sent only once.

    Args:
        select: the compiled function; see `emit.hash_table.store_module`.
        masks: the bits of each word that determine the partition.
        partitions: how many there are.

    Attributes:
        bits: the masks.
        masks: the address of the masks.
    """

    def __init__(self, select: Callable[..., int], masks: Sequence[int], partitions: int) -> None:
        self._select, self._words, self._partitions = select, len(masks), partitions
        self.bits = tuple(masks)
        self._masks = (ctypes.c_uint64 * len(masks))(*masks)
        self.masks = ctypes.addressof(self._masks)

    def owned(self, states: Iterable[tuple[int, int]], partition: int) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the states that a partition owns, in their order.

        A run is valid until the next one is requested.

        Args:
            states: (address, count) runs of states.
            partition: the partition.
        """
        room = (ctypes.c_uint64 * (self._words * _CHUNK))()
        owned = ctypes.addressof(room)
        for rows, count in states:
            for first in range(0, count, _CHUNK):
                here, some = rows + 8 * self._words * first, min(_CHUNK, count - first)
                yield owned, self._select(here, some, self.masks, self._partitions, partition, owned)
