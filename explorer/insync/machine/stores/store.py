"""The protocol of the states that one worker owns, and what its three implementations have in common.

hash_table.HashTableStore   whole states in memory
compressed.CompressedStore  collapse-compressed states in memory
external.ExternalStore      sorted files
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum, auto
from typing import TYPE_CHECKING, Protocol

from insync.runtime.memory import Permission

if TYPE_CHECKING:
    from insync.machine.expander import Expander

__all__ = ["MOST_CHUNK", "Chunk", "InsertOutcome", "StateRuns", "StateStore"]

MOST_CHUNK = 512
"""The most states of a chunk in memory."""

StateRuns = Iterable[tuple[int, int]]
"""(address, count) runs of states, each valid until the next one is requested."""


class InsertOutcome(Enum):
    """The outcome of an insertion."""

    DONE = auto()
    NO_MEMORY = auto()  # or the search was stopped
    NO_CODES = auto()  # codes would be wider than a word, or a component has more values than can be numbered


class StateStore(Protocol):
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

    def detect_duplicates(self) -> InsertOutcome:
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
