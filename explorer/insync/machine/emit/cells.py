"""The cells of a packed state, for generated code: codes taken out of its words, and put into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from insync.machine.emit.builder import I64, Function, Value
from insync.machine.emit.memory import Row
from insync.model.schema import Schema

__all__ = ["Span", "span_of", "taken_out", "with_spans", "without_spans"]


@dataclass(frozen=True, slots=True)
class Span:
    """Some bits of a word: those of a cell, or of several side by side."""

    word: int
    shift: int
    bits: int

    @property
    def end(self) -> int:
        """The first bit behind it."""
        return self.shift + self.bits


def span_of(schema: Schema, number: int) -> Span:
    """Return the bits of a cell."""
    cell = schema.cells[number]
    return Span(cell.word, cell.shift, cell.bits)


def taken_out(b: Function, row: Row, span: Span) -> Value:
    """Return the number that some bits of a state are."""
    if not span.bits:
        return b.typed(I64, 0)
    word = row[span.word]
    lowest = word if span.shift == 0 else word >> span.shift
    return lowest & (1 << span.bits) - 1


def with_spans(row: Row, numbers: Mapping[Span, Value]) -> Row:
    """Return the words of a state with other numbers in some bits."""
    new = list(without_spans(row, numbers))
    for span, number in numbers.items():
        if span.bits:
            new[span.word] = new[span.word] | (number if span.shift == 0 else number << span.shift)
    return new


def without_spans(row: Row, spans: Iterable[Span]) -> Row:
    """Return the words of a state with 0 in some bits."""
    new = list(row)
    cleared = [span for span in spans if span.bits]
    for word in {span.word: None for span in cleared}:
        mask = sum((1 << span.bits) - 1 << span.shift for span in cleared if span.word == word)
        new[word] = new[word] & (~mask & 2**64 - 1)
    return new
