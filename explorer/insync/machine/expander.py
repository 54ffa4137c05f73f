"""One worker's side of the search: the buffers it expands into, and what it counts on the way."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from insync.machine.emit.checking import CheckField
from insync.machine.emit.expanding import ExpandField
from insync.machine.emit.masks import COLUMN_BYTES, MASK_BYTES
from insync.machine.emit.rows import BATCH
from insync.machine.kernels import Kernels
from insync.machine.memory import Block

__all__ = ["Checker", "Expander", "Words", "words_at"]

_RECENT_BYTES = 1 << 17  # stays in a core's second cache; a third of all steps lead to a state that is in it

Words = tuple[int, ...]
"""A packed state: compared word by word, the first word first."""


def words_at(address: int, words: int) -> Words:
    """Return the packed state at an address."""
    return tuple((ctypes.c_uint64 * words).from_address(address))


@dataclass(slots=True)
class Found:
    """How many states of a kind were found, and the least of them."""

    count: int = 0
    least: Words | None = None

    def add(self, other: Found) -> None:
        """Take in what another worker found."""
        self.count += other.count
        known = [least for least in (self.least, other.least) if least is not None]
        self.least = min(known) if known else None


class Records:
    """Memory for the kernels' records of (count, least state)."""

    def __init__(self, count: int, words: int) -> None:
        self._words, self._count = words, count
        self._memory = (ctypes.c_uint64 * (max(count, 1) * (1 + words)))()
        self.address = ctypes.addressof(self._memory)

    def take(self) -> list[Found]:
        """Return what was recorded and begin anew."""
        size = 1 + self._words
        found = []
        for start in range(0, self._count * size, size):
            count, *least = self._memory[start : start + size]
            found.append(Found(count, tuple(least) if count else None))
        ctypes.memset(self.address, 0, ctypes.sizeof(self._memory))
        return found


class Expander:
    """Expands states into one buffer per partition.

    Args:
        kernels: the compiled program.
        partitions: how many partitions own the states.
        buffer_bytes: how large a buffer is; one that cannot take the steps of a whole batch is made larger.
        known: a state that need not be found again: the initial one.
    """

    def __init__(self, kernels: Kernels, partitions: int, buffer_bytes: int, known: Words) -> None:
        self.kernels, self.partitions = kernels, partitions
        batch = BATCH * max(kernels.actions, 1) * kernels.row_bytes
        self.buffer_bytes = max(buffer_bytes, 2 * batch)
        self._buffers = [Block(self.buffer_bytes) for _ in range(partitions)]
        self._cursors = (ctypes.c_uint64 * partitions)()
        self._ends = (ctypes.c_uint64 * partitions)()
        for number, buffer in enumerate(self._buffers):
            self._ends[number] = buffer.address + self.buffer_bytes
            self._cursors[number] = buffer.address
        self._touched = [0] * partitions
        self._steps = (ctypes.c_uint64 * max(kernels.actions, 1))()
        self._refused = Records(1, kernels.words)
        self._scratch = Block(COLUMN_BYTES * kernels.words + MASK_BYTES * kernels.actions)
        self._raw = Block(batch)
        self._known = b"".join(word.to_bytes(8, sys.byteorder) for word in known)
        self._recent_rows = 1 << (_RECENT_BYTES // kernels.row_bytes).bit_length() - 1
        self._recent = Block(self._recent_rows * kernels.row_bytes)
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
        fields[ExpandField.MASKS] = self._scratch.address + COLUMN_BYTES * self.kernels.words

    def forget(self) -> None:
        """Forget which states were found recently: they are put into the buffers again."""
        ctypes.memmove(self._recent.address, self._known * self._recent_rows, len(self._known) * self._recent_rows)

    def expand(self, rows: int, count: int) -> int:
        """Append the successors of states to the buffers; return how many states were done before one was full."""
        self._context[ExpandField.ROWS] = rows
        self._context[ExpandField.COUNT] = count
        return self.kernels.expand(ctypes.addressof(self._context))

    def candidates(self, partition: int) -> tuple[int, int]:
        """Return the address and the number of the states in a partition's buffer."""
        start = self._buffers[partition].address
        return start, (self._cursors[partition] - start) // self.kernels.row_bytes

    @property
    def pending_bytes(self) -> int:
        """The size of all states in the buffers."""
        return sum(self._cursors) - sum(buffer.address for buffer in self._buffers)

    @property
    def untouched_bytes(self) -> int:
        """How much more memory the buffers may come to take."""
        return sum(self.buffer_bytes - touched for touched in self._touched)

    def states(self, partition: int) -> Iterator[Words]:
        """Yield the states in a partition's buffer."""
        start, count = self.candidates(partition)
        for number in range(count):
            yield words_at(start + number * self.kernels.row_bytes, self.kernels.words)

    def clear(self) -> None:
        """Empty the buffers."""
        for number, buffer in enumerate(self._buffers):
            self._touched[number] = max(self._touched[number], self._cursors[number] - buffer.address)
            self._cursors[number] = buffer.address

    def take_steps(self) -> list[int]:
        """Return how many steps of each action were taken since the last call."""
        taken = list(self._steps[: self.kernels.actions])
        ctypes.memset(ctypes.addressof(self._steps), 0, ctypes.sizeof(self._steps))
        return taken

    def take_refused(self) -> Found:
        """Return the states with a step whose checks fail (counted once per step), since the last call."""
        return self._refused.take()[0]

    def close(self) -> None:
        """Give all memory back."""
        for block in [*self._buffers, self._scratch, self._raw, self._recent]:
            block.close()


class Checker:
    """Evaluates the properties on states.

    Args:
        kernels: the compiled program and properties.
    """

    def __init__(self, kernels: Kernels) -> None:
        self._check = kernels.check
        self._records = Records(kernels.properties, kernels.words)
        self._scratch = Block(COLUMN_BYTES * kernels.words + MASK_BYTES * kernels.properties)
        self._context = (ctypes.c_uint64 * len(CheckField))()
        self._context[CheckField.COLUMNS] = self._scratch.address
        self._context[CheckField.MASKS] = self._scratch.address + COLUMN_BYTES * kernels.words
        self._context[CheckField.VIOLATIONS] = self._records.address

    def check(self, rows: int, count: int) -> None:
        """Evaluate all properties on a range of states."""
        if self._check is not None and count:
            self._check(ctypes.addressof(self._context), rows, count)

    def take(self) -> list[Found]:
        """Return the violations of each property since the last call."""
        return self._records.take()

    def close(self) -> None:
        """Give all memory back."""
        self._scratch.close()
