"""What one worker owns of a searched space: states kept whole, level after level, or codes of them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from insync.explorer.search.level_file import LevelFile
from insync.machine.expander import Expander
from insync.machine.kernels import CHUNK as PART
from insync.machine.memory import HUGE_PAGE, Permission
from insync.machine.stores.compressed import CHUNK, CodedStore, CodeKernels, InsertOutcome
from insync.machine.stores.hash_table import Store
from insync.model.errors import InternalError

__all__ = ["CodedPartition", "Partition", "StateRuns", "WholePartition", "coded"]

_FACTOR = 2  # a table is made for so many times the states that there are


class Partition(Protocol):
    """The states that one worker owns."""

    def __len__(self) -> int:
        """How many states there are."""

    @property
    def kept(self) -> str:
        """As what its states are kept; see `CheckResult`."""

    @property
    def pending(self) -> int:
        """How many states of the current level are not expanded yet."""

    @property
    def page_bytes(self) -> int:
        """By how much the memory of the states may be more than their size."""

    @property
    def used_bytes(self) -> int:
        """The memory that the states take."""

    def expand(self, expander: Expander) -> bool:
        """Expand pending states until there are none or a buffer is full; return whether there are none."""

    def insert(self, rows: int, count: int, may_use: Permission) -> InsertOutcome:
        """Add those of some states that are new to the next level; on failure perhaps not all of them."""

    def settle(self) -> InsertOutcome:
        """Find out which states that came are new, where that was put off: the level that they come from is done."""

    def unseen(self) -> Iterator[tuple[int, int]]:
        """Yield addresses and numbers of the states that were added since the last call, for a while each."""

    def skip_unseen(self) -> int:
        """Return how many states were added since the last call of this or of `unseen`."""

    def close_level(self) -> int:
        """Make the next level the current one; return how many states it has."""

    def current(self) -> Iterator[tuple[int, int]]:
        """Yield addresses and numbers of the states of the current level, for a while each."""

    def pass_over(self) -> None:
        """Take the current level for expanded."""

    def expect(self, states: int) -> None:
        """Take note of about how many states there will be in the end."""

    def chunks(self, level: int) -> Iterator[Chunk]:
        """Yield parts that cover a level, the first level being 1."""

    def close(self) -> None:
        """Give all memory back."""


class Chunk(Protocol):
    """Some states of one level."""

    def load(self) -> tuple[int, int]:
        """Return the address and the number of the states; they are there as long as this is not loaded again."""


@dataclass(slots=True)
class WholePartition:
    """States kept whole, in order of discovery: every level can be read again.

    Attributes:
        store: the states.
        starts: where each level begins in the store; the last one is being filled.
        expanded: up to where they are expanded.
        seen: up to where `unseen` has come.
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
        """By how much the memory of the states may be more than their size."""
        return self.store.page_bytes

    @property
    def used_bytes(self) -> int:
        """The memory that the states take."""
        return self.store.used_bytes

    def expand(self, expander: Expander) -> bool:
        """Expand pending states until there are none or a buffer is full; return whether there are none."""
        if self.pending:
            self.expanded += expander.expand(self.store.address(self.expanded), self.pending)
        return not self.pending

    def insert(self, rows: int, count: int, may_use: Permission) -> InsertOutcome:
        """Add those of some states that are new to the next level; on failure perhaps not all of them."""
        return InsertOutcome.DONE if self.store.insert(rows, count, may_use) else InsertOutcome.NO_MEMORY

    def settle(self) -> InsertOutcome:
        """Do nothing: it is known."""
        return InsertOutcome.DONE

    def unseen(self) -> Iterator[tuple[int, int]]:
        """Yield addresses and numbers of the states that were added since the last call, for a while each."""
        start = len(self.store) - self.skip_unseen()
        if start < len(self.store):
            yield self.store.address(start), len(self.store) - start

    def skip_unseen(self) -> int:
        """Return how many states were added since the last call of this or of `unseen`."""
        fresh, self.seen = len(self.store) - self.seen, len(self.store)
        return fresh

    def close_level(self) -> int:
        """Make the next level the current one; return how many states it has."""
        self.starts.append(len(self.store))
        return self.starts[-1] - self.starts[-2]

    def current(self) -> Iterator[tuple[int, int]]:
        """Yield addresses and numbers of the states of the current level, for a while each."""
        return self.rows(len(self.starts) - 1)

    def rows(self, level: int) -> Iterator[tuple[int, int]]:
        """Yield the address and the number of the states of a level, the first level being 1."""
        first, end = self.starts[level - 1 : level + 1]
        if first < end:
            yield self.store.address(first), end - first

    def pass_over(self) -> None:
        """Take the current level for expanded."""
        self.expanded = self.starts[-1]

    def expect(self, states: int) -> None:
        """Take note of about how many states there will be in the end, which changes nothing here."""

    def chunks(self, level: int) -> Iterator[Chunk]:
        """Yield parts that cover a level, the first level being 1."""
        end = self.starts[level]
        for place in range(self.starts[level - 1], end, PART):
            yield _WholeChunk(self.store.address(place), min(PART, end - place))

    def close(self) -> None:
        """Give all memory back."""
        self.store.close()


@dataclass(frozen=True, slots=True)
class _WholeChunk:
    """States in memory."""

    address: int
    count: int

    def load(self) -> tuple[int, int]:
        """Return their address and number."""
        return self.address, self.count


class CodedPartition:
    """States as codes, of which the last two levels can be read, and all if they are kept in a file.

    Args:
        store: the codes.
        levels: keeps each level when it is closed; without it they are forgotten.
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
        """By how much the memory of the states may be more than their size."""
        return HUGE_PAGE

    @property
    def used_bytes(self) -> int:
        """The memory that the states take."""
        return self.store.used_bytes

    def expand(self, expander: Expander) -> bool:
        """Expand pending states until there are none or a buffer is full; return whether there are none."""
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
        """Add those of some states that are new to the next level; on failure perhaps not all of them."""
        return self.store.insert(rows, count, may_use)

    def settle(self) -> InsertOutcome:
        """Do nothing: it is known."""
        return InsertOutcome.DONE

    def unseen(self) -> Iterator[tuple[int, int]]:
        """Yield addresses and numbers of the states that were added since the last call, for a while each."""
        start, self._seen = self._seen, self.store.fresh
        return self._decoded_rows(start, self._seen, fresh=True)

    def _decoded_rows(self, start: int, end: int, fresh: bool) -> Iterator[tuple[int, int]]:
        rows = ctypes.addressof(self._scratch)
        for first in range(start, end, CHUNK):
            count = min(CHUNK, end - first)
            self.store.decode(first, count, rows, fresh=fresh)
            yield rows, count

    def skip_unseen(self) -> int:
        """Return how many states were added since the last call of this or of `unseen`."""
        fresh, self._seen = self.store.fresh - self._seen, self.store.fresh
        return fresh

    def close_level(self) -> int:
        """Make the next level the current one; return how many states it has."""
        self.store.next_level()
        self._decoded = self._expanded = self._seen = 0
        if self._levels is not None:
            self._levels.append(*self.store.codes())
        return self.store.current

    def current(self) -> Iterator[tuple[int, int]]:
        """Yield addresses and numbers of the states of the current level, for a while each."""
        return self._decoded_rows(0, self.store.current, fresh=False)

    def pass_over(self) -> None:
        """Take the current level for expanded."""
        self._expanded = self._decoded = self.store.current

    def expect(self, states: int) -> None:
        """Take note of about how many states there will be in the end."""
        self.store.expected = states

    def chunks(self, level: int) -> Iterator[Chunk]:
        """Yield parts that cover a level, the first level being 1."""
        if self._levels is None:
            message = f"Level {level} was not kept."
            raise InternalError(message)
        return self._levels.chunks(level, PART)

    def close(self) -> None:
        """Give all memory back."""
        self.store.close()
        self.store.codec.close()
        if self._levels is not None:
            self._levels.close()


StateRuns = Iterable[tuple[int, int]]
"""Addresses and numbers of states, for a while each."""


def coded(
    whole: WholePartition, levels: Iterable[StateRuns], kernels: CodeKernels, level_bytes: int, keep: bool
) -> CodedPartition | None:
    """Return the states of a partition, between two levels, as codes; None if these would be too wide, or save nothing.

    Args:
        whole: states such as these; they are not changed.
        levels: the states of each level.
        kernels: what codes are made with.
        level_bytes: how much address space a level may take.
        keep: whether to keep the levels.

    Raises:
        UserError: there is no room on the disk for the levels.
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
