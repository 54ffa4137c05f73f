"""Sorts of which a state says no more than a column for each member, for generated code: the columns are sorted.

A column has the cells that lie at the member, and whether it is the one that a cell names, or in the set that a cell
has. Equal columns are members that nothing distinguishes, so the sorted columns are the same for all permutations of
a state, and for no other state, however many members there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce

from insync.machine.emit.builder import I64, Function, Value
from insync.machine.emit.memory import Row, Span, Track, taken_out, tracks_of
from insync.machine.emit.networks import Record, same_keys, sorted_records
from insync.model.schema import WORD, Schema
from insync.model.symmetry import Symmetry

__all__ = ["SortedColumns"]


@dataclass(frozen=True, slots=True)
class _Field:
    """A part of every column: a number or a truth, and where it lies in the words of a column."""

    track: Track
    bits: int
    word: int
    shift: int


class SortedColumns:
    """The sorted columns of one sort.

    Args:
        b: the function.
        schema: where the cells lie.
        symmetry: of the state.
        sort: the number of the sort.
        row: the state.

    Attributes:
        codes: for the bits of each cell that the columns stand for, what they are when the columns are sorted.
    """

    def __init__(self, b: Function, schema: Schema, symmetry: Symmetry, sort: int, row: Row) -> None:
        self._b, self._schema, self._count = b, schema, symmetry.sizes[sort]
        self._fields = _fields([track for track in tracks_of(schema, symmetry.families) if sort in track.sorts])
        self._words = 1 + max(field.word for field in self._fields)
        self._old = {f.track.spans: [taken_out(b, row, span) for span in f.track.spans] for f in self._fields}
        columns = [self._column(member) for member in range(self._count)]
        self._sorted = sorted_records(b, columns, self._words)
        self.codes = {span: code for field in self._fields for span, code in self._restored(field).items()}

    @property
    def orbit(self) -> Value:
        """How many states differ from this one in the order of the columns only."""
        b = self._b
        alike = reduce(Value.__mul__, same_keys(b, self._sorted, self._words))
        return b.typed(I64, math.factorial(self._count)) // alike

    def _column(self, member: int) -> Record:
        words = [self._b.typed(I64, 0)] * self._words
        for field in self._fields:
            part = self._part(field.track, member)
            words[field.word] = words[field.word] | (part if not field.shift else part << field.shift)
        return words

    def _part(self, track: Track, member: int) -> Value:
        codes = self._old[track.spans]
        if track.value is None:
            return codes[member]
        if not track.value.height:
            named = codes[0].equals(track.value.offset + member)
            return self._b.convert("zext", named, I64)
        if not track.value.offset:
            return (codes[0] >> member) & 1
        return self._b.select(codes[0].equals(0), 0, (codes[0] - track.value.offset >> member) & 1)

    def _restored(self, field: _Field) -> dict[Span, Value]:
        track = field.track
        parts = [(column[field.word] >> field.shift) & (1 << field.bits) - 1 for column in self._sorted]
        if track.value is None:
            return dict(zip(track.spans, parts, strict=True))
        offset = track.value.offset
        if not track.value.height:  # of an option that is none, no part is set
            return {track.spans[0]: reduce(Value.__or__, (part * (offset + i) for i, part in enumerate(parts)))}
        mask = reduce(Value.__or__, (part << i for i, part in enumerate(parts)))
        if not offset:
            return {track.spans[0]: mask}
        old = self._old[track.spans][0]
        return {track.spans[0]: self._b.select(old.equals(0), self._b.typed(I64, 0), mask + offset)}


def _fields(tracks: list[Track]) -> list[_Field]:
    """Lay the parts of a column into words, each in the first that has room for it."""
    used: list[int] = [0]
    fields = []
    for track in tracks:
        bits = track.spans[0].bits if track.value is None else 1
        word = next((w for w, taken in enumerate(used) if taken + bits <= WORD), len(used))
        if word == len(used):
            used.append(0)
        fields.append(_Field(track, bits, word, used[word]))
        used[word] += bits
    return fields
