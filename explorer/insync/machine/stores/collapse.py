"""The codes of one partition: dictionaries that number the values of components, and the layout of their numbers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from insync.machine.memory import Block
from insync.machine.stores.components import MOST_VALUE_BITS, PAIRED_BITS, Digit, dictionaries_of

__all__ = [
    "MOST_CODE_BITS",
    "MOST_NUMBERS",
    "NUMBER_BITS",
    "ROOMS",
    "Codec",
    "CodingKernels",
    "DictionaryField",
    "Layout",
]

NUMBER_BITS = 64 - MOST_VALUE_BITS
"""Of a slot of a dictionary: 1 + the number of the value that is above it; a slot that is 0 is empty."""

MOST_NUMBERS = (1 << NUMBER_BITS) - 1
"""How many values a dictionary may number."""

MOST_CODE_BITS = 63
"""Of a code: 1 + a code is a word."""

_LEAST_AT_FIRST = 2.0
"""The least room with which codes are begun: with less they would soon be too wide."""

_FIRST_SLOTS = 1 << 10

ROOMS = (4.0, 2.0, 1.25)
"""For how many times the values that there are a layout may have room, the roomiest first."""

_CHUNK = 1 << 12
_LITTLE = 1 << 20  # bytes of dictionaries that are never too many
_DICTIONARY_BYTES = 4  # of dictionaries, for a state: with more, hardly a part has the same value in many states


class DictionaryField(IntEnum):
    """The 64-bit fields of a dictionary."""

    SLOTS = 0  # address of the slots
    MASK = 1  # how many there are, a power of 2, minus 1
    TURN = 2  # by how much a product is shifted to be the number of a slot
    VALUES = 3  # address of the values, by their numbers
    COUNT = 4  # how many values there are
    LIMIT = 5  # how many there may be before slots or layout must grow


@dataclass(frozen=True, slots=True)
class CodingKernels:
    """The compiled functions of codes; see `coding.coding_module`."""

    encode: Callable[[int, int, int, int, int], int]
    decode: Callable[[int, int, int, int, int], int]
    lay: Callable[[int, int, int, int], int]
    spread: Callable[[int], int]


class Layout:
    """Where the digits of a code lie in it.

    Args:
        widths: the bits that each digit has.

    Attributes:
        bits: of a code.
        address: of its array, as the kernels take it.
    """

    def __init__(self, widths: Sequence[int]) -> None:
        self.widths, self.bits = tuple(widths), sum(widths)
        fields = []
        shift = 0
        for width in widths:
            fields += [shift, (1 << width) - 1]
            shift += width
        self._array = (ctypes.c_uint64 * len(fields))(*fields)
        self.address = ctypes.addressof(self._array)


class Codec:
    """Numbers the values of components as they come, and makes codes of the numbers.

    Which number a value has depends on who came first: a code means something to its codec alone, and order among codes
    nothing at all.

    Args:
        digits: of the codes.
        words: 64-bit words per packed state.
        kernels: the compiled functions.

    Attributes:
        digits: this argument.
        layout: of the codes.
    """

    def __init__(self, digits: Sequence[Digit], words: int, kernels: CodingKernels) -> None:
        self.digits, self.words, self._kernels = digits, words, kernels
        self._shapes = dictionaries_of(digits)
        self._most = [MOST_NUMBERS] * self._shapes
        for within in (each for digit in digits for each in digit.within):
            self._most[within.shape] = min(MOST_NUMBERS, 1 << PAIRED_BITS)
        self._records = (ctypes.c_uint64 * (len(DictionaryField) * self._shapes))()
        self._address = ctypes.addressof(self._records)
        self._values = [Block(8 << NUMBER_BITS, huge=False) for _ in range(self._shapes)]
        self._slots: list[Block] = []
        self.layout = Layout([NUMBER_BITS] * len(digits))  # too wide for a code: `learn` needs no codes
        for shape in range(self._shapes):
            self._set(shape, DictionaryField.VALUES, self._values[shape].address)
            self._slots.append(self._with_slots(shape, _FIRST_SLOTS))

    def learn(self, rows: int, count: int) -> bool:
        """Number the values of some states; return whether codes of them are narrow enough, with room for more."""
        unused = (ctypes.c_uint64 * _CHUNK)()
        row_bytes = 8 * self.words
        while count:
            done = self.encode(rows, min(count, _CHUNK), ctypes.addressof(unused))
            rows, count = rows + done * row_bytes, count - done
            if not done and not self.has_more_room():
                return False
            if self.bits_with(_LEAST_AT_FIRST) > MOST_CODE_BITS:
                return False  # there will be more values, and never fewer
        for room in ROOMS:
            if room >= _LEAST_AT_FIRST and self.bits_with(room) <= MOST_CODE_BITS:
                self.lay_out(room)
                return True
        return False

    def encode(self, rows: int, count: int, codes: int) -> int:
        """Write the codes of some states; return how many were done before a dictionary was full."""
        return self._kernels.encode(self._address, self.layout.address, rows, count, codes)

    def decode(self, codes: int, count: int, rows: int, layout: Layout | None = None) -> None:
        """Write the states of some codes, of this layout or of an earlier one."""
        self._kernels.decode(self._address, (layout or self.layout).address, codes, count, rows)

    def lay(self, before: Layout, codes: int, count: int) -> None:
        """Change codes of an earlier layout to what they are now, in place."""
        self._kernels.lay(before.address, self.layout.address, codes, count)

    def has_more_room(self) -> bool:
        """Make room for another value in each dictionary; return whether the layout allows it."""
        for shape in range(self._shapes):
            slots = self._get(shape, DictionaryField.MASK) + 1
            if 2 * self._get(shape, DictionaryField.COUNT) >= slots:
                old, self._slots[shape] = self._slots[shape], self._with_slots(shape, 2 * slots)
                old.close()
        return all(
            self._get(shape, DictionaryField.COUNT) < self._get(shape, DictionaryField.LIMIT)
            for shape in range(self._shapes)
        )

    @property
    def has_used_all_numbers(self) -> bool:
        """Whether a dictionary has as many values as can be numbered, so that no layout makes room for another."""
        return any(count >= most for count, most in zip(self.counts, self._most, strict=True))

    def bits_with(self, room: float) -> int:
        """Return how wide codes are in a layout with room for so many times the values that there are."""
        return sum(self._widths(room))

    def lay_out(self, room: float) -> Layout:
        """Lay codes out with room for so many times the values that there are; return the layout before."""
        before, self.layout = self.layout, Layout(self._widths(room))
        for shape in range(self._shapes):
            self._limit(shape)
        return before

    @property
    def counts(self) -> list[int]:
        """How many values each dictionary has."""
        return [self._get(shape, DictionaryField.COUNT) for shape in range(self._shapes)]

    def values(self, shape: int, first: int) -> bytes:
        """Return the values of a dictionary from a number on, in the order of their numbers."""
        return self._values[shape].read(8 * first, 8 * (self._get(shape, DictionaryField.COUNT) - first))

    def take_up(self, values: Sequence[bytes], layout: Layout) -> None:
        """Number more values of each dictionary, none of which is there yet, in their order, and lay codes out."""
        self.layout = layout
        for shape, given in enumerate(values):
            count = self._get(shape, DictionaryField.COUNT)
            ctypes.memmove(self._values[shape].address + 8 * count, given, len(given))
            self._set(shape, DictionaryField.COUNT, count + len(given) // 8)
            slots = self._get(shape, DictionaryField.MASK) + 1
            while 2 * self._get(shape, DictionaryField.COUNT) >= slots:
                slots *= 2
            old, self._slots[shape] = self._slots[shape], self._with_slots(shape, slots)
            old.close()

    def saves(self, states: int) -> bool:
        """Whether so many states are worth it: their dictionaries take little beside them."""
        return self.used_bytes <= max(_LITTLE, _DICTIONARY_BYTES * states)

    @property
    def used_bytes(self) -> int:
        """The memory that the dictionaries take."""
        return 8 * sum(
            self._get(shape, DictionaryField.COUNT) + self._get(shape, DictionaryField.MASK) + 1
            for shape in range(self._shapes)
        )

    def close(self) -> None:
        """Give all memory back."""
        for block in (*self._values, *self._slots):
            block.close()

    def _widths(self, room: float) -> list[int]:
        counts = [self._get(digit.shape, DictionaryField.COUNT) for digit in self.digits]
        needed = [max(count, int(count * room) - 1).bit_length() for count in counts]
        return [min(w, digit.bits, NUMBER_BITS) for w, digit in zip(needed, self.digits, strict=True)]

    def _with_slots(self, shape: int, slots: int) -> Block:
        """Give a dictionary new slots, and enter its values."""
        block = Block(8 * slots)
        self._set(shape, DictionaryField.SLOTS, block.address)
        self._set(shape, DictionaryField.MASK, slots - 1)
        self._set(shape, DictionaryField.TURN, 64 - (slots - 1).bit_length())
        self._kernels.spread(self._address + 8 * shape * len(DictionaryField))
        self._limit(shape)
        return block

    def _limit(self, shape: int) -> None:
        widths = [w for w, digit in zip(self.layout.widths, self.digits, strict=True) if digit.shape == shape]
        slots = self._get(shape, DictionaryField.MASK) + 1
        self._set(shape, DictionaryField.LIMIT, min(slots // 2, self._most[shape], *(1 << w for w in widths)))

    def _get(self, shape: int, field: DictionaryField) -> int:
        return int(self._records[shape * len(DictionaryField) + field])

    def _set(self, shape: int, field: DictionaryField, value: int) -> None:
        self._records[shape * len(DictionaryField) + field] = value
