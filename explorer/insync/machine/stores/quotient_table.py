"""The set of codes of one partition: a table that keeps of each code only what its place does not say."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from insync.machine.memory import Block

__all__ = [
    "BLOCK",
    "HOME_BITS",
    "LINE_BYTES",
    "MOST_DISTANCE",
    "MOST_LINES",
    "SLOTS_OF",
    "CodeTable",
    "CodeTableField",
    "TableKernels",
    "most_codes",
    "table_width",
]

BLOCK = 128
"""How many codes are looked at together, so that their memory accesses overlap."""

LINE_BYTES = 64
SLOTS_OF: Mapping[int, int] = {32: 16, 40: 12, 48: 10, 64: 8}
"""How many slots a line has, by the bits of a slot."""

HOME_BITS = 36
"""The highest bits of a mixed code, which name its home."""

MOST_DISTANCE = 7
"""In how many lines a code may be: a slot says in three bits, none of them all 0, how far from home it is."""

MOST_LINES = 1 << 63 - HOME_BITS
"""Of a table: a home and the bits that name it are multiplied within a word."""

_DISTANCE_BITS = 3
_SPARE_LINES = MOST_DISTANCE  # beyond the last home
_LOADS: Mapping[int, float] = {32: 0.9, 40: 0.88, 48: 0.85, 64: 0.8}  # beyond, full lines make neighbours full
_FIRST_OVERFLOW = 1 << 10  # slots, of which half may be full
_CHUNK = 1 << 12  # lines that are moved together
_GIVEN_BACK = 1 << 17  # lines whose memory is given back together: of huge pages, only whole ones are given back


class CodeTableField(IntEnum):
    """The 64-bit fields of a table that its kernels are given the address of."""

    LINES = 0  # address of the lines
    BUCKETS = 1  # how many of them are homes
    COUNT = 2  # how many codes there are, those in the overflow included
    LIMIT = 3  # how many there may be
    BITS = 4  # of a code
    MASK = 5  # of those bits
    HALF = 6  # half as many, rounded up
    REST = 7  # the mask of the bits of a mixed code that a slot keeps
    OVERFLOW = 8  # address of the overflow
    OVERFLOW_MASK = 9  # how many slots it has, a power of 2, minus 1
    SPILLED = 10  # how many codes are in it
    SPILL_LIMIT = 11  # how many there may be before it must grow


@dataclass(frozen=True, slots=True)
class TableKernels:
    """The compiled functions of tables with slots of one width; see `quotient.quotient_module`."""

    insert: Callable[[int, int, int, int], int]
    refill: Callable[[int, int, int], int]
    unload: Callable[[int, int, int, int], int]
    unspill: Callable[[int, int], int]
    respill: Callable[[int, int, int], int]


def table_width(bits: int, lines: int) -> int:
    """Return the bits of a slot of a table of codes of so many bits with so many lines: the fewest that will do."""
    return next(width for width in SLOTS_OF if _rest_bits(bits, lines) + _DISTANCE_BITS <= width)


def _rest_bits(bits: int, lines: int) -> int:
    """How many bits of a mixed code tell it from the others with its home."""
    longest = -(-(1 << HOME_BITS) // lines)
    return max(bits, HOME_BITS) - HOME_BITS + (longest - 1).bit_length()


def most_codes(bits: int, lines: int) -> int:
    """Return how many codes of so many bits a table of so many lines takes."""
    width = table_width(bits, lines)
    return int(lines * SLOTS_OF[width] * _LOADS[width])


class CodeTable:
    """An exact set of codes, of a size that it keeps.

    Args:
        kernels: gives the compiled functions for a width of slots.
        bits: of a code, at most `codec.MOST_CODE_BITS`.
        lines: how many lines are homes.

    Attributes:
        bits, lines: these arguments.
        width: the bits of a slot.
    """

    def __init__(self, kernels: Callable[[int], TableKernels], bits: int, lines: int) -> None:
        self.bits, self.lines = bits, min(lines, MOST_LINES)
        self.width = table_width(bits, self.lines)
        self._kernels = kernels(self.width)
        self._fields = (ctypes.c_uint64 * len(CodeTableField))()
        self._address = ctypes.addressof(self._fields)
        self._block = Block(self.bytes_of(self.lines))
        mixed = max(bits, HOME_BITS)
        self._fields[CodeTableField.LINES] = self._block.address
        self._fields[CodeTableField.BUCKETS] = self.lines
        self._fields[CodeTableField.LIMIT] = most_codes(bits, self.lines)
        self._fields[CodeTableField.BITS] = mixed
        self._fields[CodeTableField.MASK] = (1 << mixed) - 1
        self._fields[CodeTableField.HALF] = (mixed + 1) // 2
        self._fields[CodeTableField.REST] = (1 << _rest_bits(bits, self.lines)) - 1
        self._overflow = self._with_overflow(_FIRST_OVERFLOW)

    @staticmethod
    def bytes_of(lines: int) -> int:
        """Return the size of so many lines."""
        return (lines + _SPARE_LINES) * LINE_BYTES

    def __len__(self) -> int:
        return int(self._fields[CodeTableField.COUNT])

    @property
    def spilled(self) -> int:
        """How many codes are in the overflow."""
        return int(self._fields[CodeTableField.SPILLED])

    @property
    def used_bytes(self) -> int:
        """The memory that the table takes."""
        return self._block.size + 8 * (int(self._fields[CodeTableField.OVERFLOW_MASK]) + 1)

    def insert(self, codes: int, count: int, fresh: int) -> int:
        """Add those of some codes that are new, and write them to `fresh`; return how many it had room for.

        Args:
            codes: the address of the codes.
            count: how many there are.
            fresh: the address of room for as many.
        """
        done, before = 0, len(self)
        while True:
            room = fresh + 8 * (len(self) - before)
            done += self._kernels.insert(self._address, codes + 8 * done, count - done, room)
            if done == count or not self._has_overflow_grown():
                return done

    def refill(self, codes: int, count: int) -> None:
        """Add codes that are not there, and that a table has yielded in this order; there must be room for them.

        The kernel remembers what it put into a line, so that codes that come in the order of their homes are fast.
        """
        done = 0
        while done < count:
            done += self._kernels.refill(self._address, codes + 8 * done, count - done)
            if done < count:
                self._has_overflow_grown()

    def unloaded(self) -> Iterator[tuple[int, int]]:
        """Yield addresses and numbers of codes until all have been: those spilled last, the others as their homes lie.

        The memory of the lines that are done is given back: afterwards the table may only be closed.
        """
        scratch = (ctypes.c_uint64 * (_CHUNK * SLOTS_OF[self.width]))()
        address, end, fields = ctypes.addressof(scratch), self.lines + _SPARE_LINES, self._address
        given_back = 0
        for first in range(0, end, _CHUNK):
            last = min(end, first + _CHUNK)
            yield address, self._kernels.unload(fields, first, last, address)
            if last - given_back >= _GIVEN_BACK or last == end:
                self._block.discard(given_back * LINE_BYTES, (last - given_back) * LINE_BYTES)
                given_back = last
        spilled = self._unspilled()
        yield ctypes.addressof(spilled), self.spilled

    def close(self) -> None:
        """Give all memory back."""
        self._block.close()
        self._overflow.close()

    def _unspilled(self) -> ctypes.Array[ctypes.c_uint64]:
        """The codes in the overflow, and one more, which means nothing."""
        codes = (ctypes.c_uint64 * (self.spilled + 1))()
        self._kernels.unspill(self._address, ctypes.addressof(codes))
        return codes

    def _has_overflow_grown(self) -> bool:
        """Make the overflow larger if it is full; return whether it was."""
        spilled = self.spilled
        if spilled + BLOCK <= self._fields[CodeTableField.SPILL_LIMIT]:
            return False
        codes, old = self._unspilled(), self._overflow
        self._overflow = self._with_overflow(2 * (int(self._fields[CodeTableField.OVERFLOW_MASK]) + 1))
        self._fields[CodeTableField.SPILLED] = 0
        self._kernels.respill(self._address, ctypes.addressof(codes), spilled)
        old.close()
        return True

    def _with_overflow(self, slots: int) -> Block:
        block = Block(8 * slots, huge=False)
        self._fields[CodeTableField.OVERFLOW] = block.address
        self._fields[CodeTableField.OVERFLOW_MASK] = slots - 1
        self._fields[CodeTableField.SPILL_LIMIT] = slots // 2
        return block
