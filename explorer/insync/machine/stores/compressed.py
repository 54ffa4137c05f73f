"""The states of one partition as codes: a set of all that were found, and the codes of two levels in their order."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from insync.machine.memory import HUGE_PAGE, Block, Permission
from insync.machine.stores.collapse import MOST_CODE_BITS, ROOMS, Codec, CodingKernels, Digit, Layout
from insync.machine.stores.quotient_table import (
    LINE_BYTES,
    MOST_LINES,
    CodeTable,
    TableKernels,
    most_codes,
    table_width,
)
from insync.model.errors import InternalError

__all__ = ["CodeKernels", "CodedStore", "InsertOutcome", "Turns"]

CHUNK = 1 << 12
"""How many states are encoded or decoded together."""

_FEWEST_LINES = 64  # with fewer, a slot of the widest kind would be too narrow for the widest codes
_GROWTH = 2.0
_GROWTH_OF_LARGE = 1.5
_NEAR = 2.5  # times the lines that there are
_LARGE = 1 << 26  # bytes
_LITTLE = 1.02  # by how much a table is made for more states than are expected
_UNSURE = 10  # of so many states that are still to come, one more may come
_NEARLY = 0.9  # of the codes that a table takes, from which on it grows with the others
_GIVEN_BACK = 1 << 20  # codes of a level whose memory is given back together: of huge pages, only whole ones are


def _never() -> bool:
    return False


class InsertOutcome(Enum):
    """What became of an insertion."""

    DONE = auto()
    NO_MEMORY = auto()  # or no time: somebody has asked for the end
    NO_CODES = auto()  # codes would have to be wider than a word, or a part has more values than can be numbered


@dataclass(frozen=True, slots=True)
class CodeKernels:
    """What codes of the states of a program are made with.

    Attributes:
        digits: of the codes.
        words: 64-bit words per packed state.
        coding: the compiled functions of codes.
        table: gives the functions of tables with slots of so many bits.
    """

    digits: tuple[Digit, ...]
    words: int
    coding: CodingKernels
    table: Callable[[int], TableKernels]

    def codec(self) -> Codec:
        """Return what makes codes, with empty dictionaries."""
        return Codec(self.digits, self.words, self.coding)


@dataclass(slots=True)
class Turns:
    """How often one of the tables of several stores has grown, by which the nearly full ones grow at the same time.

    If they grew in turn, each thread would wait for every other one at the end of a round.
    """

    count: int = 0


class CodedStore:
    """An exact set of states, of which those of the last two levels can be read.

    A store belongs to one thread at a time.

    Args:
        kernels: what codes are made with.
        codec: that has numbered the first states, and is laid out.
        expected: for how many states the table is made; it grows beyond.
        level_bytes: how much address space a level may take.

    Attributes:
        codec: this argument.
        current, fresh: how many states the level that is being expanded has, and the next one so far.
        expected: how many states there will be in the end, where that is known: the table does not grow far beyond.
        stopped: asked while the table is moved whether to give up; the store is of no use any more then.
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
        self._forgotten = 0  # of the current level: they are not there any more

    def __len__(self) -> int:
        return len(self._table)

    def insert(self, rows: int, count: int, may_use: Permission) -> InsertOutcome:
        """Add those of some states that are new, in their order, to the next level; on failure some of them are.

        Args:
            rows: the address of the states.
            count: how many there are.
            may_use: asked before the table grows.
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
        """Write some states of the current or of the next level."""
        self.codec.decode(self._level(fresh).address + 8 * start, count, rows)

    def codes(self) -> tuple[int, int]:
        """Return the address and number of the codes of the current level."""
        return self._level(False).address, self.current

    def forget(self, count: int) -> None:
        """Take note that the first so many states of the current level are not read again."""
        if count - self._forgotten >= _GIVEN_BACK:
            self._give_back(count)

    def next_level(self) -> None:
        """Make the next level the current one, and forget the states of that but for their being known."""
        if self.current >= _GIVEN_BACK:
            self._give_back(self.current)
        self._levels.reverse()
        self.current, self.fresh, self._forgotten = self.fresh, 0, 0

    def _give_back(self, count: int) -> None:
        self._level(False).discard(8 * self._forgotten, 8 * (count - self._forgotten))
        self._forgotten = count

    @property
    def used_bytes(self) -> int:
        """The memory that table, dictionaries and the codes of two levels take."""
        codes = self.current - self._forgotten + self.fresh
        return self._table.used_bytes + self.codec.used_bytes + 8 * codes

    @property
    def table_bytes(self) -> int:
        """The size of the table."""
        return self._table.used_bytes

    def close(self) -> None:
        """Give all memory back, but for what belongs to the codec."""
        self._table.close()
        for level in self._levels:
            level.close()

    def _level(self, fresh: bool) -> Block:
        return self._levels[1 if fresh else 0]

    def _has_inserted(self, codes: int, count: int, may_use: Permission) -> bool:
        """Insert codes, and let the table grow as often as it must; return whether there was memory for it.

        A table that grows may bring another layout, in which the codes that wait must be then.
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
        """Grow if the table is nearly full; without memory for that it stays as it is, which may do."""
        self._seen_turns = self.turns.count
        if len(self._table) < _NEARLY * most_codes(self._table.bits, self._table.lines):
            return True
        lines = self._next_lines(may_use)
        return lines is None or self._has_grown_to(lines)

    def _has_grown(self, may_use: Permission) -> bool:
        lines = self._next_lines(may_use)
        return lines is not None and self._has_grown_to(lines)

    def _next_lines(self, may_use: Permission) -> int | None:
        """How many lines the next table has; None where there is no room or no memory for more."""
        lines, more = self._table.lines, min(self._more_lines(), MOST_LINES)
        return more if more > lines and may_use((more - lines) * LINE_BYTES) else None

    def _has_grown_to(self, more: int) -> bool:
        self.turns.count += 1
        self._seen_turns = self.turns.count
        bits, room = self._table.bits, self._room_in(more)
        narrower = room is not None and table_width(self.codec.bits_with(room), more) < table_width(bits, more)
        return self._rebuilt(more, self.codec.lay_out(room) if room is not None and narrower else None)

    def _more_lines(self) -> int:
        """How many lines the next table has: enough for the end, where that is known and not far."""
        lines = self._table.lines
        growth = _GROWTH_OF_LARGE if CodeTable.bytes_of(lines) >= _LARGE else _GROWTH
        more = int(lines * growth)
        if self.expected > len(self):
            enough = self._lines_for(self.expected + (self.expected - len(self)) // _UNSURE)
            more = enough if enough <= _NEAR * lines else min(more, enough)
        return max(more, lines + lines // 16 + 1)

    def _room_in(self, lines: int) -> float | None:
        """How roomy codes may be: as they can be with the narrowest slots of all; None if all codes are too wide."""
        bits = {room: self.codec.bits_with(room) for room in ROOMS}
        widths = {room: table_width(bits[room], lines) for room in ROOMS if bits[room] <= MOST_CODE_BITS}
        return next((room for room, width in widths.items() if width == min(widths.values())), None)

    def _laid_out(self, may_use: Permission) -> InsertOutcome:
        """Lay the codes out anew, wider, and with them the table and both levels."""
        room = None if self.codec.has_used_all_numbers else self._room_in(self._table.lines)
        if room is None:
            return InsertOutcome.NO_CODES
        if not may_use(CodeTable.bytes_of(self._table.lines)):
            return InsertOutcome.NO_MEMORY
        done = self._rebuilt(self._table.lines, self.codec.lay_out(room))
        return InsertOutcome.DONE if done else InsertOutcome.NO_MEMORY

    def _rebuilt(self, lines: int, before: Layout | None) -> bool:
        """Move all codes to another table, after changing them from an earlier layout if there is one.

        False: somebody has asked for the end, and codes are missing.
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
        """Change codes of an earlier layout, and insert them: they come in no order."""
        unused = (ctypes.c_uint64 * CHUNK)()
        self.codec.lay(before, codes, count)
        for start in range(0, count, CHUNK):
            self._table.insert(codes + 8 * start, min(CHUNK, count - start), ctypes.addressof(unused))

    def _lines_for(self, states: int) -> int:
        """How many lines a table for so many states has."""
        bits, lines = self.codec.layout.bits, max(_FEWEST_LINES, states // 16)
        while most_codes(bits, lines) < _LITTLE * states:
            lines += lines // 64 + 1
        return lines
