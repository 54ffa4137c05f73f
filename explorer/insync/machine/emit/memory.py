"""Packed states in memory, for generated code: a row is the words of one state; rows follow each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from insync.machine.emit.builder import I8, I64, I128, PTR, VOID, Function, Module, Value
from insync.machine.emit.elements import Elements

__all__ = [
    "Row",
    "Rows",
    "keep_least_function",
    "owner_of",
    "part_hash",
    "read_row",
    "row_hash",
    "rows_equal",
    "rows_less",
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

Row = Sequence[Value]
"""The words of one state, loaded."""


class Rows:
    """States of so many words, the first at an address."""

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
    """Return whether two states are the same, without a branch."""
    differences = [a ^ b for a, b in zip(left, right, strict=True)]
    return reduce(Value.__or__, differences).equals(0)


def rows_less(left: Row, right: Row) -> Value:
    """Return whether a state comes before another: word by word, the first word first, as unsigned numbers."""
    less = left[-1] < right[-1]
    for word in reversed(range(len(left) - 1)):
        less = (left[word] < right[word]) | left[word].equals(right[word]) & less
    return less


def row_hash(b: Function, row: Row) -> Value:
    """Return 64 bits, every one of which depends on every bit of the state.

    Two words at a time are multiplied into 128 bits, whose halves are folded; the last fold spreads the sums. States
    differ in a few low bits of each word, and both halves of the result are used: the high half names the owning
    partition, the low half the place in its table.
    """
    state = b.typed(I64, _MIX[7])
    for pair in range(0, len(row), 2):
        first, second = _MIX[pair % 6], _MIX[pair % 6 + 1] + 2 * pair
        other = row[pair + 1] ^ second if pair + 1 < len(row) else b.typed(I64, second)
        state = _fold(b, row[pair] ^ first, other ^ state)
    return _fold(b, state ^ _MIX[6], b.typed(I64, _MIX[5]))


def _fold(b: Function, left: Value, right: Value) -> Value:
    """Return the exclusive or of the halves of the product of two words."""
    product = b.convert("zext", left, I128) * b.convert("zext", right, I128)
    return b.convert("trunc", product, I64) ^ b.convert("trunc", product >> 64, I64)


def part_hash(b: Function, row: Row, masks: Elements) -> Value:
    """Return a hash of some bits of a state, given a mask for each of its words."""
    return row_hash(b, [value & masks[word] for word, value in enumerate(row)])


def owner_of(hashed: Value, partitions: Value) -> Value:
    """Return the partition that stores the states of a hash: its high half, scaled to their number."""
    return (hashed >> 32) * partitions >> 32


def keep_least_function(m: Module, words: int) -> Function:
    """Define `keep_least(record, row)`: count a state in a record of (count, least state), and keep the least one.

    States are compared word by word, the first word first, as unsigned numbers.
    """
    b = m.function("keep_least", VOID, (PTR, PTR), inline=False)
    record, address = Elements(b, b.arguments[0]), b.arguments[1]
    count = record[0]
    record[0] = count + 1
    kept = record.at(1)
    new, old = read_row(b, address, words), read_row(b, kept, words)
    with b.when(count.equals(0) | rows_less(new, old)):
        write_row(b, kept, new)
    return b
