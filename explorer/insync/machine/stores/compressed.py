"""The store of one partition in memory with collapse-compressed states: a quotient table of codes, and two levels.

Codes of the current and the next level are kept in order of discovery; earlier states can only be looked up.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from insync.machine.stores.collapse import MOST_CODE_BITS, ROOMS, Codec, CodingKernels, Digit, Layout
from insync.machine.stores.hash_table import HashTableStore
from insync.machine.stores.level_file import LevelFile
from insync.machine.stores.quotient_table import (
    LINE_BYTES,
    MOST_LINES,
    CodeTable,
    TableKernels,
    most_codes,
    table_width,
)
from insync.machine.stores.store import MOST_CHUNK, Chunk, InsertOutcome, StateRuns
from insync.runtime.errors import InternalError
from insync.runtime.memory import HUGE_PAGE, Block, Permission

if TYPE_CHECKING:
    from insync.machine.expander import Expander

__all__ = ["CodeKernels", "CodedStore", "CompressedStore", "Turns", "coded"]

CHUNK = 1 << 12
"""How many states are encoded or decoded together."""

_FACTOR = 2  # a table is made for this multiple of the present states
_FEWEST_LINES = 64  # with fewer, the widest slots would be too narrow for the widest codes
_GROWTH = 2.0
_GROWTH_OF_LARGE = 1.5
_NEAR = 2.5  # a table grows to its forecast size at once if that is at most 2.5 times its present size
_LARGE = 1 << 26  # bytes
_LITTLE = 1.02  # the capacity of a table as a multiple of the states for which it is made
_UNSURE = 10  # a forecast of the states still to come is raised by one in ten
_NEARLY = 0.9  # the load, as a share of the capacity, at which a table grows together with the others
_GIVEN_BACK = 1 << 20  # codes of a level whose memory is freed together: huge pages are freed whole


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class CodeKernels:
    """The compiled functions for codes of the states of a program.

    Attributes:
        digits: of the codes.
        words: 64-bit words per packed state.
        coding: the functions that encode and decode.
        table: returns the functions of tables, given the bits of a slot.
    """

    digits: tuple[Digit, ...]
    words: int
    coding: CodingKernels
    table: Callable[[int], TableKernels]

    def codec(self) -> Codec:
        """Return a codec with empty dictionaries."""
        return Codec(self.digits, self.words, self.coding)


@dataclass(slots=True)
class Turns:
    """Counts how often any table of the stores of a search has grown, so that nearly full tables grow together.

    If they grew in turn, the threads would wait for one another at the end of each round.
    """

    count: int = 0


class CodedStore:
    """An exact set of states; those of the last two levels can be read.

    A store belongs to one thread at a time.

    Args:
        kernels: the compiled functions for codes.
        codec: has numbered the first states, and has a layout.
        expected: how many states the first table is made for.
        level_bytes: the address space of a level.

    Attributes:
        codec: this argument.
        current, fresh: how many states the current level has, and the next level so far.
        expected: a forecast of the final number of states; 0 if there is none.
        stopped: called while the table is moved; if it returns True the move ends, and the store is unusable.
        turns: shared by the stores of a search.
    """

    def __init__(self, kernels: CodeKernels, codec: Codec, expected: int, level_bytes: int) -> None:
        self._kernels, self.codec, self.words = kernels, codec, kernels.words
        self._table = CodeTable(kernels.table, codec.layout.bits, self._lines_for(expected))
        self._levels = [Block(max(level_bytes, HUGE_PAGE)) for _ in range(2)]
        self._codes = (ctypes.c_uint64 * CHUNK)()
        self.stopped: Callable[[], bool] = _never
        self.turns, self._seen_turns = Turns(), 0
        self.current = self.fresh = self.expected = 0
        self._forgotten = 0  # codes of the current level whose memory was freed

    def __len__(self) -> int:
        return len(self._table)

    def insert(self, rows: int, count: int, may_use: Permission) -> InsertOutcome:
        """Add the states that are new, in their order, to the next level; on failure some of them are added.

        Args:
            rows: the address of the states.
            count: how many states to add.
            may_use: called before the table grows.
        """
        codes, row_bytes = ctypes.addressof(self._codes), 8 * self.words
        while count:
            if self._seen_turns != self.turns.count and not self._has_grown_with_others(may_use):
                return InsertOutcome.NO_MEMORY
            done = self.codec.encode(rows, min(count, CHUNK), codes)
            if not self._has_inserted(codes, done, may_use):
                return InsertOutcome.NO_MEMORY
            rows, count = rows + done * row_bytes, count - done
            if not done and not self.codec.has_more_room():
                outcome = self._laid_out(may_use)
                if outcome is not InsertOutcome.DONE:
                    return outcome
        return InsertOutcome.DONE

    def decode(self, start: int, count: int, rows: int, fresh: bool) -> None:
        """Write `count` states of the current level, or if `fresh` of the next one, to `rows`."""
        self.codec.decode(self._level(fresh).address + 8 * start, count, rows)

    def codes(self) -> tuple[int, int]:
        """Return address and count of the codes of the current level."""
        return self._level(False).address, self.current

    def forget(self, count: int) -> None:
        """Allow the memory of the first `count` states of the current level to be freed."""
        if count - self._forgotten >= _GIVEN_BACK:
            self._give_back(count)

    def next_level(self) -> None:
        """Make the next level the current one; the states of the former can only be looked up then."""
        if self.current >= _GIVEN_BACK:
            self._give_back(self.current)
        self._levels.reverse()
        self.current, self.fresh, self._forgotten = self.fresh, 0, 0

    def _give_back(self, count: int) -> None:
        self._level(False).discard(8 * self._forgotten, 8 * (count - self._forgotten))
        self._forgotten = count

    @property
    def used_bytes(self) -> int:
        """The memory of the table, the dictionaries and the codes of two levels."""
        codes = self.current - self._forgotten + self.fresh
        return self._table.used_bytes + self.codec.used_bytes + 8 * codes

    @property
    def table_bytes(self) -> int:
        """The size of the table."""
        return self._table.used_bytes

    def close(self) -> None:
        """Free all memory except that of the codec."""
        self._table.close()
        for level in self._levels:
            level.close()

    def _level(self, fresh: bool) -> Block:
        return self._levels[1 if fresh else 0]

    def _has_inserted(self, codes: int, count: int, may_use: Permission) -> bool:
        """Insert codes, and grow the table when necessary; return whether there was memory for it.

        Growing may change the layout; the codes that are left are then converted.
        """
        while count:
            before = len(self._table)
            done = self._table.insert(codes, count, self._level(True).address + 8 * self.fresh)
            self.fresh += len(self._table) - before
            codes, count = codes + 8 * done, count - done
            layout = self.codec.layout
            if count and not self._has_grown(may_use):
                return False
            if self.codec.layout is not layout:
                self.codec.lay(layout, codes, count)
        return True

    def _has_grown_with_others(self, may_use: Permission) -> bool:
        """Grow if the table is nearly full. Without memory for that it stays as it is, which may suffice."""
        self._seen_turns = self.turns.count
        if len(self._table) < _NEARLY * most_codes(self._table.bits, self._table.lines):
            return True
        lines = self._next_lines(may_use)
        return lines is None or self._has_grown_to(lines)

    def _has_grown(self, may_use: Permission) -> bool:
        lines = self._next_lines(may_use)
        return lines is not None and self._has_grown_to(lines)

    def _next_lines(self, may_use: Permission) -> int | None:
        """How many lines the next table has; None if there is no memory for more, or a table cannot have more."""
        lines, more = self._table.lines, min(self._more_lines(), MOST_LINES)
        return more if more > lines and may_use((more - lines) * LINE_BYTES) else None

    def _has_grown_to(self, more: int) -> bool:
        self.turns.count += 1
        self._seen_turns = self.turns.count
        bits, room = self._table.bits, self._room_in(more)
        narrower = room is not None and table_width(self.codec.bits_with(room), more) < table_width(bits, more)
        return self._rebuilt(more, self.codec.lay_out(room) if room is not None and narrower else None)

    def _more_lines(self) -> int:
        """How many lines the next table should have: enough for the forecast if that is near."""
        lines = self._table.lines
        growth = _GROWTH_OF_LARGE if CodeTable.bytes_of(lines) >= _LARGE else _GROWTH
        more = int(lines * growth)
        if self.expected > len(self):
            enough = self._lines_for(self.expected + (self.expected - len(self)) // _UNSURE)
            more = enough if enough <= _NEAR * lines else min(more, enough)
        return max(more, lines + lines // 16 + 1)

    def _room_in(self, lines: int) -> float | None:
        """The largest of `ROOMS` that allows the narrowest slots; None if codes are too wide for a word with each."""
        bits = {room: self.codec.bits_with(room) for room in ROOMS}
        widths = {room: table_width(bits[room], lines) for room in ROOMS if bits[room] <= MOST_CODE_BITS}
        return next((room for room, width in widths.items() if width == min(widths.values())), None)

    def _laid_out(self, may_use: Permission) -> InsertOutcome:
        """Convert the table and both levels to a wider layout."""
        room = None if self.codec.has_used_all_numbers else self._room_in(self._table.lines)
        if room is None:
            return InsertOutcome.NO_CODES
        if not may_use(CodeTable.bytes_of(self._table.lines)):
            return InsertOutcome.NO_MEMORY
        done = self._rebuilt(self._table.lines, self.codec.lay_out(room))
        return InsertOutcome.DONE if done else InsertOutcome.NO_MEMORY

    def _rebuilt(self, lines: int, before: Layout | None) -> bool:
        """Move all codes to another table, converted from an earlier layout if one is given.

        Returns False if the search was stopped; codes are missing then.
        """
        bits = self.codec.layout.bits
        while most_codes(bits, lines) < len(self._table) + CHUNK:
            lines += lines // 8 + 1
        old, self._table = self._table, CodeTable(self._kernels.table, bits, lines)
        for address, count in old.unloaded():
            if self.stopped():
                old.close()
                return False
            if before is None:
                self._table.refill(address, count)
            else:
                self._insert_laid(before, address, count)
        if len(self._table) != len(old):
            message = f"{len(old)} codes were moved, and {len(self._table)} arrived."
            raise InternalError(message)
        old.close()
        if before is not None:
            left = self.current - self._forgotten
            self.codec.lay(before, self._level(False).address + 8 * self._forgotten, left)
            self.codec.lay(before, self._level(True).address, self.fresh)
        return True

    def _insert_laid(self, before: Layout, codes: int, count: int) -> None:
        """Convert codes of an earlier layout, and insert them; they are in no order."""
        unused = (ctypes.c_uint64 * CHUNK)()
        self.codec.lay(before, codes, count)
        for start in range(0, count, CHUNK):
            self._table.insert(codes + 8 * start, min(CHUNK, count - start), ctypes.addressof(unused))

    def _lines_for(self, states: int) -> int:
        """How many lines a table for `states` states has."""
        bits, lines = self.codec.layout.bits, max(_FEWEST_LINES, states // 16)
        while most_codes(bits, lines) < _LITTLE * states:
            lines += lines // 64 + 1
        return lines


# ------------------------------------------------------------------------------------------------------------ levels


class CompressedStore:
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

    def detect_duplicates(self) -> InsertOutcome:
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
        return self._levels.chunks(level, MOST_CHUNK)

    def close(self) -> None:
        """Release all memory."""
        self.store.close()
        self.store.codec.close()
        if self._levels is not None:
            self._levels.close()


def coded(
    whole: HashTableStore, levels: Iterable[StateRuns], kernels: CodeKernels, level_bytes: int, keep: bool
) -> CompressedStore | None:
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
    made = CompressedStore(
        CodedStore(kernels, codec, _FACTOR * len(store), level_bytes), LevelFile(codec) if keep else None
    )
    for level in levels:
        for rows, count in level:
            if made.insert(rows, count, lambda _: True) is not InsertOutcome.DONE:
                message = f"The codes of {len(store)} states could not be entered in a table."
                raise InternalError(message)
        made.close_level()
    return made
