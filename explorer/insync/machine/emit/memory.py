"""Code that reads and writes memory: rows of packed states, their cells, arrays, and the fields of a context.

A row is the words of one state; rows are contiguous. Also the hash and the order of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from insync.machine.emit.builder import I8, I64, I128, PTR, VOID, Function, Module, Value
from insync.model.domains.layout import WORD, Schema
from insync.model.symmetry.group import Family, Kind

__all__ = [
    "Elements",
    "Fields",
    "Row",
    "Rows",
    "Span",
    "Track",
    "keep_least_function",
    "owner_of",
    "part_hash",
    "read_row",
    "row_hash",
    "rows_equal",
    "rows_less",
    "span_of",
    "taken_out",
    "tracks_of",
    "with_spans",
    "without_spans",
    "write_row",
]


# Odd 64-bit constants with about half their bits set and no pattern: fractional digits of square roots of primes.
_MIX = (
    0x6A09E667F3BCC909,
    0xBB67AE8584CAA73B,
    0x3C6EF372FE94F82B,
    0xA54FF53A5F1D36F1,
    0x510E527FADE682D1,
    0x9B05688C2B3E6C1F,
    0x1F83D9ABFB41BD6B,
    0x5BE0CD19137E2179,
)

# ----------------------------------------------------------------------------------------------------------------- rows

Row = Sequence[Value]
"""The words of one state, in registers."""


class Rows:
    """An array of states in memory, of `words` words each."""

    __slots__ = ("_b", "address", "words")

    def __init__(self, b: Function, address: Value, words: int) -> None:
        self._b, self.address, self.words = b, address, words

    def at(self, place: Value | int) -> Value:
        """Return the address of a state."""
        size = 8 * self.words
        return self._b.element(I8, self.address, place * size)

    def __getitem__(self, place: Value | int) -> Row:
        return read_row(self._b, self.at(place), self.words)

    def __setitem__(self, place: Value | int, row: Row) -> None:
        write_row(self._b, self.at(place), row)


def read_row(b: Function, address: Value, words: int) -> Row:
    """Return the words of the state at an address."""
    array = Elements(b, address)
    return [array[word] for word in range(words)]


def write_row(b: Function, address: Value, row: Row) -> None:
    """Write the words of a state to an address."""
    array = Elements(b, address)
    for word, value in enumerate(row):
        array[word] = value


def rows_equal(left: Row, right: Row) -> Value:
    """Return whether two states are equal, without a branch."""
    differences = [a ^ b for a, b in zip(left, right, strict=True)]
    return reduce(Value.__or__, differences).equals(0)


def rows_less(left: Row, right: Row) -> Value:
    """Return whether a state is less than another: by unsigned words, the first word first."""
    less = left[-1] < right[-1]
    for word in reversed(range(len(left) - 1)):
        less = (left[word] < right[word]) | left[word].equals(right[word]) & less
    return less


def row_hash(b: Function, row: Row) -> Value:
    """Return a 64-bit hash in which every bit depends on every bit of the state.

    Two words at a time are multiplied into 128 bits, and the two halves of the product are xored. A last fold spreads
    the result. States often differ in a few low bits only, and both halves of the hash are used: the high half
    determines the owning partition, the low half the position in its table.
    """
    state = b.typed(I64, _MIX[7])
    for pair in range(0, len(row), 2):
        first, second = _MIX[pair % 6], _MIX[pair % 6 + 1] + 2 * pair
        other = row[pair + 1] ^ second if pair + 1 < len(row) else b.typed(I64, second)
        state = _fold(b, row[pair] ^ first, other ^ state)
    return _fold(b, state ^ _MIX[6], b.typed(I64, _MIX[5]))


def _fold(b: Function, left: Value, right: Value) -> Value:
    """Return the xor of the halves of the product of two words."""
    product = b.convert("zext", left, I128) * b.convert("zext", right, I128)
    return b.convert("trunc", product, I64) ^ b.convert("trunc", product >> 64, I64)


def part_hash(b: Function, row: Row, masks: Elements) -> Value:
    """Return a hash of the bits of a state in `masks`, one mask per word."""
    return row_hash(b, [value & masks[word] for word, value in enumerate(row)])


def owner_of(hashed: Value, partitions: Value) -> Value:
    """Return the partition that owns the states with a hash: its high half, scaled to the number of partitions."""
    return (hashed >> 32) * partitions >> 32


def keep_least_function(m: Module, words: int) -> Function:
    """Define `keep_least(record, row)`: count a state in a record of (count, least state), and keep the least state."""
    b = m.function("keep_least", VOID, (PTR, PTR), inline=False)
    record, address = Elements(b, b.arguments[0]), b.arguments[1]
    count = record[0]
    record[0] = count + 1
    kept = record.at(1)
    new, old = read_row(b, address, words), read_row(b, kept, words)
    with b.when(count.equals(0) | rows_less(new, old)):
        write_row(b, kept, new)
    return b


# ---------------------------------------------------------------------------------------------------- arrays and fields


class Elements:
    """An array of elements of one type, at an address."""

    __slots__ = ("_b", "address", "type")

    def __init__(self, b: Function, address: Value, kind: str = I64) -> None:
        self._b, self.address, self.type = b, address, kind

    def at(self, index: Value | int) -> Value:
        """Return the address of an element."""
        return self._b.element(self.type, self.address, index)

    def __getitem__(self, index: Value | int) -> Value:
        return self._b.load(self.type, self.at(index))

    def __setitem__(self, index: Value | int, value: Value | int) -> None:
        self._b.store(self._b.typed(self.type, value), self.at(index))


class Fields(Elements):
    """A record of 64-bit fields, each a number or an address."""

    __slots__ = ()

    def pointer(self, field: int) -> Value:
        """Return the address in a field."""
        return self._b.load(PTR, self.at(field))

    def set_pointer(self, field: int, address: Value) -> None:
        """Write an address to a field."""
        self._b.store(self._b.typed(PTR, address), self.at(field))

    def array(self, field: int, kind: str = I64) -> Elements:
        """Return the array whose address is in a field."""
        return Elements(self._b, self.pointer(field), kind)


# ---------------------------------------------------------------------------------------------------------------- cells


@dataclass(frozen=True, slots=True)
class Span:
    """A range of bits in a word of a state: a cell, or several adjacent ones."""

    word: int
    shift: int
    bits: int

    @property
    def end(self) -> int:
        """The bit after the last one."""
        return self.shift + self.bits


def span_of(schema: Schema, number: int) -> Span:
    """Return the bits of a cell."""
    cell = schema.cells[number]
    return Span(cell.word, cell.shift, cell.bits)


def taken_out(b: Function, row: Row, span: Span) -> Value:
    """Return the number in a span of a state."""
    if not span.bits:
        return b.typed(I64, 0)
    word = row[span.word]
    lowest = word if span.shift == 0 else word >> span.shift
    return lowest & (1 << span.bits) - 1


def with_spans(row: Row, numbers: Mapping[Span, Value]) -> Row:
    """Return the words of a state with other numbers in some spans."""
    new = list(without_spans(row, numbers))
    for span, number in numbers.items():
        if span.bits:
            new[span.word] = new[span.word] | (number if span.shift == 0 else number << span.shift)
    return new


def without_spans(row: Row, spans: Iterable[Span]) -> Row:
    """Return the words of a state with 0 in some spans."""
    new = list(row)
    cleared = [span for span in spans if span.bits]
    for word in {span.word: None for span in cleared}:
        mask = sum((1 << span.bits) - 1 << span.shift for span in cleared if span.word == word)
        new[word] = new[word] & (~mask & 2**64 - 1)
    return new


# ---------------------------------------------------------------------------------------------------- families of cells


@dataclass(frozen=True, slots=True)
class Track:
    """A family of cells as spans; several families that are adjacent at all places are one track.

    Attributes:
        places: the sorts that index the cells, as in the family.
        spans: the spans of the cells, for all values of the places.
        value: the kind of member that a cell names; None if it names none.
        guards: the spans of the cells that determine whether each cell is present; empty if all are always present.
        above: a cell is present if its guard is greater than this number.
    """

    places: tuple[Kind, ...]
    spans: tuple[Span, ...]
    value: Kind | None
    guards: tuple[Span, ...] = ()
    above: int = 0

    @property
    def sorts(self) -> set[int]:
        """The sorts of its places and of its value."""
        return {kind.sort for kind in (*self.places, self.value) if kind is not None}


def tracks_of(schema: Schema, families: Iterable[Family]) -> list[Track]:
    """Return the tracks of families; families without bits, as they have one value only, are left out."""
    made: list[Track] = []
    for family in families:
        spans = tuple(span_of(schema, cell) for cell in family.cells)
        if not spans[0].bits:
            continue
        before = made[-1] if made else None
        if before is not None and family.value is before.value is None and family.places == before.places:
            pairs = list(zip(before.spans, spans, strict=True))
            if all(_adjoin(first, second) for first, second in pairs):
                joined = tuple(Span(first.word, first.shift, first.bits + second.bits) for first, second in pairs)
                made[-1] = Track(family.places, joined, None)
                continue
        guards = tuple(span_of(schema, cell) for cell in family.guards)
        made.append(Track(family.places, spans, family.value, guards, family.above))
    return made


def _adjoin(first: Span, second: Span) -> bool:
    return first.word == second.word and first.end == second.shift and first.bits + second.bits < WORD
