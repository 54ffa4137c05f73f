"""Collapse compression (Holzmann 1997, in Spin): a state as a code of the numbers of its components' values.

A component is a part of the state, such as the cells of `replica[b1]`. A dictionary numbers the values of components
as they appear, and a layout gives each number its bits in the code. Where the numbers of two components are numbered
again as a pair this is tree compression (Blom, Lisser, van de Pol, Weber 2009; Laarman, van de Pol, Weber 2011). The
kernels are in `machine.emit.collapse`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from insync.model.domains.layout import Cell, Schema
from insync.runtime.memory import Block

__all__ = [
    "MOST_CODE_BITS",
    "MOST_NUMBERS",
    "MOST_VALUE_BITS",
    "NUMBER_BITS",
    "PAIRED_BITS",
    "ROOMS",
    "BitRun",
    "Codec",
    "CodingKernels",
    "Component",
    "DictionaryField",
    "Digit",
    "Layout",
    "components_of",
    "dictionaries_of",
    "digits_of",
    "rest_masks",
]


# ----------------------------------------------------------------------------------------------------------- components

# The cells of one element of an array of records take far fewer values together than their bits allow, and so do the
# cells that belong to no such element.


MOST_VALUE_BITS = 40
"""The most bits of a component's value: a dictionary slot holds the value and its number in one word."""

PAIRED_BITS = MOST_VALUE_BITS // 2
"""The most bits of a number that is half of a pair."""

_LEAST_ELEMENT_BITS = 12  # a smaller element takes most of its possible values, so a number would save nothing


@dataclass(frozen=True, slots=True)
class BitRun:
    """A run of bits in a word of the state, and its position `at` in the value of a component."""

    word: int
    shift: int
    bits: int
    at: int


@dataclass(frozen=True, slots=True)
class Component:
    """A part of the state whose values are numbered.

    Attributes:
        shape: the number of its dictionary. Components of one shape share it, such as the elements of an array.
        pieces: the bits of the state that make up its value.
    """

    shape: int
    pieces: tuple[BitRun, ...]

    @property
    def bits(self) -> int:
        """The bits of its value."""
        return sum(piece.bits for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Digit:
    """A number in a code, or half of a pair that another digit numbers.

    Attributes:
        shape: the number of its dictionary.
        bits: the most bits of the values that it numbers.
        component: the component whose value it numbers; None if it numbers a pair of digits.
        halves: that pair.
    """

    shape: int
    bits: int
    component: int | None = None
    halves: tuple[Digit, ...] = ()

    @property
    def within(self) -> Iterator[Digit]:
        """The digits that this digit is made of, at all depths."""
        for half in self.halves:
            yield half
            yield from half.within


def digits_of(components: Sequence[Component], rounds: int) -> tuple[Digit, ...]:
    """Return the digits of the codes of states with these components.

    Args:
        components: of the state.
        rounds: how often adjacent digits are paired into one. Few of the possible pairs occur, so numbering pairs makes
            codes narrower at the price of one more lookup.
    """
    digits = [Digit(each.shape, each.bits, number) for number, each in enumerate(components)]
    shapes = dictionaries_of(digits)
    for _ in range(rounds):
        pairs = [tuple(digits[first : first + 2]) for first in range(0, len(digits), 2)]
        digits = []
        for pair in pairs:
            digits.append(Digit(shapes, MOST_VALUE_BITS, halves=pair) if len(pair) > 1 else pair[0])
            shapes += len(pair) - 1
    return tuple(digits)


def dictionaries_of(digits: Iterable[Digit]) -> int:
    """Return how many dictionaries these digits need."""
    return 1 + max((each.shape for digit in digits for each in (digit, *digit.within)), default=-1)


def components_of(schema: Schema) -> tuple[Component, ...]:
    """Return the components of a state, which contain each of its bits once.

    The cells of a component are in the order of their declaration, wherever they lie in the state: so equal elements of
    an array have equal values.
    """
    shapes: dict[tuple[int, ...], int] = {}
    made = []
    for cells in _parts(schema):
        shape = shapes.setdefault(tuple(cell.size for cell in cells), len(shapes))
        made.append(Component(shape, _pieces(cells)))
    return tuple(made)


def rest_masks(schema: Schema) -> list[int]:
    """Return the mask of the bits of each word that belong to no large element; most steps do not change them."""
    masks = [0] * schema.words
    for cell in _elements(schema)[1]:
        masks[cell.word] |= (1 << cell.bits) - 1 << cell.shift
    return masks


def _parts(schema: Schema) -> list[list[Cell]]:
    """The cells of each component; cells outside large elements come last."""
    large, rest = _elements(schema)
    return [part for cells in (*large, rest) for part in _divided(cells)]


def _elements(schema: Schema) -> tuple[list[list[Cell]], list[Cell]]:
    """The cells of each large element, and all others."""
    elements: dict[str, list[Cell]] = {}
    for cell in schema.cells:
        if cell.bits:
            head, bracket, _ = cell.path.partition("]")
            elements.setdefault(head if bracket else "", []).append(cell)
    large = [key for key, cells in elements.items() if key and _bits(cells) >= _LEAST_ELEMENT_BITS]
    rest = [cell for cell in schema.cells if cell.bits and cell.path.partition("]")[0] not in large]
    return [elements[key] for key in large], rest


def _divided(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Divide cells into parts of about equal width, each of at most `MOST_VALUE_BITS`."""
    cells = [part for cell in cells for part in _halved(cell)]
    total = _bits(cells)
    count = max(1, -(-total // MOST_VALUE_BITS))
    while True:
        parts: list[list[Cell]] = [[] for _ in range(count)]
        taken = 0
        for cell in cells:
            parts[min(count - 1, taken * count // total)].append(cell)
            taken += cell.bits
        if all(_bits(part) <= MOST_VALUE_BITS for part in parts):
            return [part for part in parts if part]
        count += 1


def _halved(cell: Cell) -> tuple[Cell, ...]:
    """Divide a cell into its low and its high bits, if it alone is wider than a part may be."""
    if cell.bits <= MOST_VALUE_BITS:
        return (cell,)
    low = cell.bits // 2
    high = cell.bits - low
    return (
        replace(cell, size=1 << low, bits=low),
        replace(cell, size=1 << high, bits=high, shift=cell.shift + low),
    )


def _bits(cells: Sequence[Cell]) -> int:
    return sum(cell.bits for cell in cells)


def _pieces(cells: Sequence[Cell]) -> tuple[BitRun, ...]:
    pieces: list[BitRun] = []
    at = 0
    for cell in cells:
        last = pieces[-1] if pieces else None
        if last is not None and last.word == cell.word and last.shift + last.bits == cell.shift:
            pieces[-1] = BitRun(last.word, last.shift, last.bits + cell.bits, last.at)
        else:
            pieces.append(BitRun(cell.word, cell.shift, cell.bits, at))
        at += cell.bits
    return tuple(pieces)


# --------------------------------------------------------------------------------------------- dictionaries and layouts


NUMBER_BITS = 64 - MOST_VALUE_BITS
"""The low bits of a dictionary slot: 1 + the number of the value in its high bits. An empty slot is 0."""

MOST_NUMBERS = (1 << NUMBER_BITS) - 1
"""The most values of a dictionary."""

MOST_CODE_BITS = 63
"""The most bits of a code: 1 + a code must fit into a word."""

_LEAST_AT_FIRST = 2.0
"""The least room in the first layout: with less, codes would soon be too wide."""

_FIRST_SLOTS = 1 << 10

ROOMS = (4.0, 2.0, 1.25)
"""The capacities of layouts as multiples of the current number of values, the largest first."""

_CHUNK = 1 << 12
_LITTLE = 1 << 20  # bytes of dictionaries that are always acceptable
_DICTIONARY_BYTES = 4  # of dictionaries per state: with more, few states share the values of their components


class DictionaryField(IntEnum):
    """The 64-bit fields of a dictionary."""

    SLOTS = 0  # address of the slots
    MASK = 1  # how many slots there are, a power of 2, minus 1
    TURN = 2  # the right shift that makes a slot number of a hash
    VALUES = 3  # address of the values, by their numbers
    COUNT = 4  # how many values there are
    LIMIT = 5  # how many there may be before slots or layout must grow


@dataclass(frozen=True, slots=True)
class CodingKernels:
    """The compiled functions of codes; see `emit.collapse.coding_module`."""

    encode: Callable[[int, int, int, int, int], int]
    decode: Callable[[int, int, int, int, int], int]
    lay: Callable[[int, int, int, int], int]
    spread: Callable[[int], int]


class Layout:
    """The positions of the digits in a code.

    Args:
        widths: the bits of each digit, the lowest digit first.

    Attributes:
        bits: per code.
        address: of the array of shifts and masks for the kernels.
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
    """Encodes states as codes: dictionaries that number the values of components, and the layout of the numbers.

    Values are numbered in order of discovery. So a code can be decoded by its codec alone, and the order of codes is
    arbitrary.

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
        self.layout = Layout([NUMBER_BITS] * len(digits))  # may be too wide for a code: `learn` uses no codes
        for shape in range(self._shapes):
            self._set(shape, DictionaryField.VALUES, self._values[shape].address)
            self._slots.append(self._with_slots(shape, _FIRST_SLOTS))

    def learn(self, rows: int, count: int) -> bool:
        """Number the values of `count` states; return whether their codes fit, with room for more values."""
        unused = (ctypes.c_uint64 * _CHUNK)()
        row_bytes = 8 * self.words
        while count:
            done = self.encode(rows, min(count, _CHUNK), ctypes.addressof(unused))
            rows, count = rows + done * row_bytes, count - done
            if not done and not self.has_more_room():
                return False
            if self.bits_with(_LEAST_AT_FIRST) > MOST_CODE_BITS:
                return False  # the number of values only grows
        for room in ROOMS:
            if room >= _LEAST_AT_FIRST and self.bits_with(room) <= MOST_CODE_BITS:
                self.lay_out(room)
                return True
        return False

    def encode(self, rows: int, count: int, codes: int) -> int:
        """Write the codes of `count` states; return how many were written before a dictionary was full."""
        return self._kernels.encode(self._address, self.layout.address, rows, count, codes)

    def decode(self, codes: int, count: int, rows: int, layout: Layout | None = None) -> None:
        """Write the states of `count` codes of the current layout, or of an earlier one."""
        self._kernels.decode(self._address, (layout or self.layout).address, codes, count, rows)

    def lay(self, before: Layout, codes: int, count: int) -> None:
        """Convert codes of an earlier layout to the current one, in place."""
        self._kernels.lay(before.address, self.layout.address, codes, count)

    def has_more_room(self) -> bool:
        """Make room for another value in each dictionary; return False if the layout has no room for one."""
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
        """Whether a dictionary has the most values that can be numbered, so that a wider layout does not help."""
        return any(count >= most for count, most in zip(self.counts, self._most, strict=True))

    def bits_with(self, room: float) -> int:
        """Return the bits of a code in a layout with room for `room` times the current values."""
        return sum(self._widths(room))

    def lay_out(self, room: float) -> Layout:
        """Use a layout with room for `room` times the current values; return the previous layout."""
        before, self.layout = self.layout, Layout(self._widths(room))
        for shape in range(self._shapes):
            self._limit(shape)
        return before

    @property
    def counts(self) -> list[int]:
        """How many values each dictionary has."""
        return [self._get(shape, DictionaryField.COUNT) for shape in range(self._shapes)]

    def values(self, shape: int, first: int) -> bytes:
        """Return the values of a dictionary from number `first` on, in the order of their numbers."""
        return self._values[shape].read(8 * first, 8 * (self._get(shape, DictionaryField.COUNT) - first))

    def take_up(self, values: Sequence[bytes], layout: Layout) -> None:
        """Append values to each dictionary, all of them new, and use another layout."""
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
        """Whether codes save memory with `states` states, as dictionaries are small in comparison."""
        return self.used_bytes <= max(_LITTLE, _DICTIONARY_BYTES * states)

    @property
    def used_bytes(self) -> int:
        """The memory of the dictionaries."""
        return 8 * sum(
            self._get(shape, DictionaryField.COUNT) + self._get(shape, DictionaryField.MASK) + 1
            for shape in range(self._shapes)
        )

    def close(self) -> None:
        """Free all memory."""
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
