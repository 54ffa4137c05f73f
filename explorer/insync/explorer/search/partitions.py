"""The partitions of a hash-partitioned search: states kept whole, level after level, or as codes.

One worker owns a partition. Codes are collapse-compressed states (Holzmann 1997), one to one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from insync.explorer.search.level_file import LevelFile
from insync.machine.expander import Expander
from insync.machine.kernels import CHUNK as PART
from insync.machine.stores.compressed import CHUNK, CodedStore, CodeKernels, InsertOutcome
from insync.machine.stores.hash_table import Store
from insync.runtime.errors import InternalError
from insync.runtime.memory import HUGE_PAGE, Permission

__all__ = ["CodedPartition", "Partition", "StateRuns", "WholePartition", "coded"]

_FACTOR = 2  # a table is made for this multiple of the present states


class Partition(Protocol):
    """The states that one worker owns."""

    def __len__(self) -> int:
        """The number of states."""

    @property
    def kept(self) -> str:
        """How the states are kept; see `CheckResult`."""

    @property
    def pending(self) -> int:
        """How many states of the current level are not expanded yet."""

    @property
    def page_bytes(self) -> int:
        """The most bytes by which the memory of the states exceeds their size."""

    @property
    def used_bytes(self) -> int:
        """Bytes of memory that the states take."""

    def expand(self, expander: Expander) -> bool:
        """Expand pending states until none is left or a buffer is full; return whether none is left."""

    def insert(self, rows: int, count: int, may_use: Permission) -> InsertOutcome:
        """Add the states that are new to the next level; if that fails, some of them may be missing."""

    def settle(self) -> InsertOutcome:
        """Detect duplicates, where `insert` has put that off until the whole level is expanded."""

    def unseen(self) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the states added since the last call, each valid until the next."""

    def skip_unseen(self) -> int:
        """Return the number of states added since the last call of this or of `unseen`."""

    def close_level(self) -> int:
        """Make the next level the current one; return its number of states."""

    def current(self) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the states of the current level, each valid until the next."""

    def pass_over(self) -> None:
        """Mark the current level as expanded."""

    def expect(self, states: int) -> None:
        """Store an estimate of the final number of states."""

    def chunks(self, level: int) -> Iterator[Chunk]:
        """Yield chunks that cover a level; the level of the initial states is 1."""

    def close(self) -> None:
        """Release all memory."""


class Chunk(Protocol):
    """Some states of one level."""

    def load(self) -> tuple[int, int]:
        """Return the address and count of the states, which are valid until this chunk is loaded again."""


@dataclass(slots=True)
class WholePartition:
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

    def settle(self) -> InsertOutcome:
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
        for place in range(self.starts[level - 1], end, PART):
            yield _WholeChunk(self.store.address(place), min(PART, end - place))

    def close(self) -> None:
        """Release all memory."""
        self.store.close()


@dataclass(frozen=True, slots=True)
class _WholeChunk:
    """States in memory."""

    address: int
    count: int

    def load(self) -> tuple[int, int]:
        """Return the address and count of the states."""
        return self.address, self.count


class CodedPartition:
    """States as codes: the last two levels can be read, and all levels if a file keeps them.

    Args:
        store: the codes.
        levels: the file that each closed level is written to; without it the levels are forgotten.
    """

    kept: ClassVar[str] = "codes"

    def __init__(self, store: CodedStore, levels: LevelFile | None = None) -> None:
        self.store, self._levels = store, levels
        self._rows = (ctypes.c_uint64 * (store.words * CHUNK))()
        self._scratch = (ctypes.c_uint64 * (store.words * CHUNK))()
        self._decoded = self._expanded = self._seen = 0

    def __len__(self) -> int:
        return len(self.store)

    @property
    def pending(self) -> int:
        """How many states of the current level are not expanded yet."""
        return self.store.current - self._expanded

    @property
    def page_bytes(self) -> int:
        """The most bytes by which the memory of the states exceeds their size."""
        return HUGE_PAGE

    @property
    def used_bytes(self) -> int:
        """Bytes of memory that the states take."""
        return self.store.used_bytes

    def expand(self, expander: Expander) -> bool:
        """Expand pending states until none is left or a buffer is full; return whether none is left."""
        rows, row_bytes = ctypes.addressof(self._rows), 8 * self.store.words
        while self.pending:
            if self._expanded == self._decoded:
                self._decoded = min(self.store.current, self._expanded + CHUNK)
                self._first = self._expanded
                self.store.decode(self._expanded, self._decoded - self._expanded, rows, fresh=False)
                self.store.forget(self._decoded)
            left = self._decoded - self._expanded
            done = expander.expand(rows + (self._expanded - self._first) * row_bytes, left)
            self._expanded += done
            if done < left:
                return False
        return True

    def insert(self, rows: int, count: int, may_use: Permission) -> InsertOutcome:
        """Add the states that are new to the next level; if that fails, some of them may be missing."""
        return self.store.insert(rows, count, may_use)

    def settle(self) -> InsertOutcome:
        """Do nothing: `insert` has detected the duplicates."""
        return InsertOutcome.DONE

    def unseen(self) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the states added since the last call, each valid until the next."""
        start, self._seen = self._seen, self.store.fresh
        return self._decoded_rows(start, self._seen, fresh=True)

    def _decoded_rows(self, start: int, end: int, fresh: bool) -> Iterator[tuple[int, int]]:
        rows = ctypes.addressof(self._scratch)
        for first in range(start, end, CHUNK):
            count = min(CHUNK, end - first)
            self.store.decode(first, count, rows, fresh=fresh)
            yield rows, count

    def skip_unseen(self) -> int:
        """Return the number of states added since the last call of this or of `unseen`."""
        fresh, self._seen = self.store.fresh - self._seen, self.store.fresh
        return fresh

    def close_level(self) -> int:
        """Make the next level the current one; return its number of states."""
        self.store.next_level()
        self._decoded = self._expanded = self._seen = 0
        if self._levels is not None:
            self._levels.append(*self.store.codes())
        return self.store.current

    def current(self) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the states of the current level, each valid until the next."""
        return self._decoded_rows(0, self.store.current, fresh=False)

    def pass_over(self) -> None:
        """Mark the current level as expanded."""
        self._expanded = self._decoded = self.store.current

    def expect(self, states: int) -> None:
        """Store an estimate of the final number of states."""
        self.store.expected = states

    def chunks(self, level: int) -> Iterator[Chunk]:
        """Yield chunks that cover a level; the level of the initial states is 1."""
        if self._levels is None:
            message = f"Level {level} was not kept."
            raise InternalError(message)
        return self._levels.chunks(level, PART)

    def close(self) -> None:
        """Release all memory."""
        self.store.close()
        self.store.codec.close()
        if self._levels is not None:
            self._levels.close()


StateRuns = Iterable[tuple[int, int]]
"""(address, count) runs of states, each valid until the next one is requested."""


def coded(
    whole: WholePartition, levels: Iterable[StateRuns], kernels: CodeKernels, level_bytes: int, keep: bool
) -> CodedPartition | None:
    """Return the states of some levels as a partition of codes; None if codes would be too wide, or save nothing.

    Args:
        whole: a partition, between two levels, whose states the codec learns from; it is not changed.
        levels: the states of each level.
        kernels: the functions that encode and decode states.
        level_bytes: address space that a level may take, in bytes.
        keep: whether to keep the levels.

    Raises:
        UserError: the disk has no room for the levels.
    """
    if not kernels.digits:
        return None
    codec, store = kernels.codec(), whole.store
    learnt = codec.learn(store.address(0), len(store))
    if not learnt or not codec.saves(len(store)):
        codec.close()
        return None
    made = CodedPartition(
        CodedStore(kernels, codec, _FACTOR * len(store), level_bytes), LevelFile(codec) if keep else None
    )
    for level in levels:
        for rows, count in level:
            if made.insert(rows, count, lambda _: True) is not InsertOutcome.DONE:
                message = f"The codes of {len(store)} states could not be entered in a table."
                raise InternalError(message)
        made.close_level()
    return made
