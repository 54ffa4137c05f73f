"""Packed states in Python: tuples of words, rows in memory, records of the least state; and the sizes of a program."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "BATCH",
    "BLOCKS",
    "COLUMN_BYTES",
    "MASK_BYTES",
    "Found",
    "PackedRows",
    "Records",
    "Sizes",
    "Words",
    "words_at",
]


Words = tuple[int, ...]
"""A packed state: compared word by word, the first word first."""


def words_at(address: int, words: int) -> Words:
    """Return the packed state at an address."""
    return tuple((ctypes.c_uint64 * words).from_address(address))


class PackedRows:
    """An array of packed states in memory, for the kernels.

    Args:
        states: the states, all of one size.

    Attributes:
        address: of the first state; valid as long as this object is kept.
        count: how many states there are.
    """

    def __init__(self, states: Sequence[Words]) -> None:
        self.count = len(states)
        self._memory = (ctypes.c_uint64 * sum(map(len, states)))(*(word for state in states for word in state))
        self.address = ctypes.addressof(self._memory)

    @classmethod
    def of(cls, content: array[int] | bytes, words: int) -> PackedRows:
        """Return a copy of an array of states of `words` words each."""
        made = cls([])
        copied = content if isinstance(content, bytes) else content.tobytes()
        made.count = len(copied) // (8 * words)
        made._memory = (ctypes.c_uint64 * max(1, len(copied) // 8)).from_buffer_copy(copied or bytes(8))
        made.address = ctypes.addressof(made._memory)
        return made

    def first(self, words: int) -> Words:
        """Return the first state."""
        return words_at(self.address, words)

    def content(self, words: int) -> bytes:
        """Return the array as bytes."""
        return ctypes.string_at(self.address, 8 * words * self.count)


@dataclass(slots=True)
class Found:
    """How many states of some kind were found, and the least of them."""

    count: int = 0
    least: Words | None = None

    def add(self, other: Found) -> None:
        """Add the states that another worker found."""
        self.count += other.count
        known = [least for least in (self.least, other.least) if least is not None]
        self.least = min(known) if known else None


class Records:
    """Memory for the kernels' records of (count, least state).

    Args:
        count: how many records.
        words: 64-bit words per packed state.

    Attributes:
        address: of the first record.
    """

    def __init__(self, count: int, words: int) -> None:
        self._words, self._count = words, count
        self._memory = (ctypes.c_uint64 * (count * (1 + words)))()
        self.address = ctypes.addressof(self._memory)

    def take(self) -> list[Found]:
        """Return the records, and clear them."""
        size = 1 + self._words
        found = []
        for start in range(0, self._count * size, size):
            count, *least = self._memory[start : start + size]
            found.append(Found(count, tuple(least) if count else None))
        ctypes.memset(self.address, 0, ctypes.sizeof(self._memory))
        return found


# ---------------------------------------------------------------------------------------------------------------- sizes

BATCH = 256
"""How many states are expanded or checked together: enough to keep a loop busy, few enough for the L1 cache."""

COLUMN_BYTES = 8 * BATCH
"""The size of one word of every state of a batch."""

MASK_BYTES = BATCH // 8
"""The size of one bit for every state of a batch."""

BLOCKS = BATCH // 64
"""The 64-bit words of a mask."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a program and the conditions that it is compiled with.

    Attributes:
        words: 64-bit words per packed state.
        actions: how many bound actions there are; their numbers are those of the program.
        conditions: how many conditions are evaluated.
        symmetric: whether states are representatives of orbits; steps then count once per state of the orbit.
        abstract_words: 64-bit words per abstract state; 0 if walks record none.
        confined: whether some states are not expanded, as they are outside the confinement.
    """

    words: int
    actions: int = 0
    conditions: int = 0
    symmetric: bool = False
    abstract_words: int = 0
    confined: bool = False

    @property
    def row_bytes(self) -> int:
        """Bytes per packed state."""
        return 8 * self.words
