"""A quotient hash table (Cleary 1984): the exact set of codes of one partition.

The position of a slot stands for the high bits of a code, so that a slot stores the low bits only. A quotient filter
(Bender et al. 2012) does the same with hashes. Codes are mixed one to one instead, so this set is exact.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from insync.runtime.memory import Block

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
"""How many codes are processed together, so that their memory accesses overlap."""

LINE_BYTES = 64
SLOTS_OF: Mapping[int, int] = {32: 16, 40: 12, 48: 10, 64: 8}
"""Slots per line, by the bits of a slot."""

HOME_BITS = 36
"""How many of the highest bits of a mixed code determine its home line."""

MOST_DISTANCE = 7
"""In how many lines a code may be: three bits of a slot store its distance from home plus 1; 0 is an empty slot."""

MOST_LINES = 1 << 63 - HOME_BITS
"""The most lines of a table: the number of lines times the home bits of a code must fit into a word."""

_DISTANCE_BITS = 3
_SPARE_LINES = MOST_DISTANCE  # after the last home
_LOADS: Mapping[int, float] = {32: 0.9, 40: 0.88, 48: 0.85, 64: 0.8}  # beyond these, full lines fill their neighbours
_FIRST_OVERFLOW = 1 << 10  # slots, half of them usable
_CHUNK = 1 << 12  # lines that are moved together
_GIVEN_BACK = 1 << 17  # lines whose memory is freed together: huge pages are freed whole


class CodeTableField(IntEnum):
    """The 64-bit fields of a table, as the kernels see them."""

    LINES = 0  # address of the lines
    BUCKETS = 1  # how many of them are homes
    COUNT = 2  # codes in the table, those in the overflow included
    LIMIT = 3  # the most codes
    BITS = 4  # per mixed code
    MASK = 5  # of those bits
    HALF = 6  # half of BITS, rounded up
    REST = 7  # the mask of the bits of a mixed code that a slot keeps
    OVERFLOW = 8  # address of the overflow
    OVERFLOW_MASK = 9  # its slots, a power of 2, minus 1
    SPILLED = 10  # codes in the overflow
    SPILL_LIMIT = 11  # codes in the overflow at which it must grow


@dataclass(frozen=True, slots=True)
class TableKernels:
    """The compiled functions of tables with slots of one width; see `emit.quotient_table.quotient_module`."""

    insert: Callable[[int, int, int, int], int]
    refill: Callable[[int, int, int], int]
    unload: Callable[[int, int, int, int], int]
    unspill: Callable[[int, int], int]
    respill: Callable[[int, int, int], int]


def table_width(bits: int, lines: int) -> int:
    """Return the narrowest slot width that holds `bits`-bit codes in `lines` cache lines."""
    return next(width for width in SLOTS_OF if _rest_bits(bits, lines) + _DISTANCE_BITS <= width)


def _rest_bits(bits: int, lines: int) -> int:
    """How many bits of a mixed code distinguish it from the others with the same home."""
    longest = -(-(1 << HOME_BITS) // lines)
    return max(bits, HOME_BITS) - HOME_BITS + (longest - 1).bit_length()


def most_codes(bits: int, lines: int) -> int:
    """Return how many `bits`-bit codes a table of `lines` cache lines holds."""
    width = table_width(bits, lines)
    return int(lines * SLOTS_OF[width] * _LOADS[width])


class CodeTable:
    """An exact set of codes, of fixed size.

    Args:
        kernels: returns the compiled functions for a slot width.
        bits: per code, at most `collapse.MOST_CODE_BITS`.
        lines: how many lines are homes.

    Attributes:
        bits, lines: these arguments.
        width: bits per slot.
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
        """Return the memory of a table with `lines` home lines, without its overflow."""
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
        """Add the codes that are new, and copy them to `fresh`; return how many were done before the table was full.

        Args:
            codes: the address of the codes.
            count: how many codes to add.
            fresh: the address of a buffer for `count` codes.
        """
        done, before = 0, len(self)
        while True:
            room = fresh + 8 * (len(self) - before)
            done += self._kernels.insert(self._address, codes + 8 * done, count - done, room)
            if done == count or not self._has_overflow_grown():
                return done

    def refill(self, codes: int, count: int) -> None:
        """Add codes that are not in the table, in the order in which another table yielded them; they must fit.

        The kernel remembers how full a line is, so codes in the order of their homes are added fast.
        """
        done = 0
        while done < count:
            done += self._kernels.refill(self._address, codes + 8 * done, count - done)
            if done < count:
                self._has_overflow_grown()

    def unloaded(self) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of all codes: line by line, then the overflow.

        The memory of lines that were yielded is freed: afterwards the table may only be closed.
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
        """Free all memory."""
        self._block.close()
        self._overflow.close()

    def _unspilled(self) -> ctypes.Array[ctypes.c_uint64]:
        """The codes in the overflow, and one word more, which the kernel may overwrite."""
        codes = (ctypes.c_uint64 * (self.spilled + 1))()
        self._kernels.unspill(self._address, ctypes.addressof(codes))
        return codes

    def _has_overflow_grown(self) -> bool:
        """Double the overflow if it is full; return whether it was."""
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
