"""Symmetry reduction (scalarsets: Ip & Dill 1996): code that computes the representative of a state's orbit.

The orbit of a state is the set of its images under permutations of the members of symmetric sorts. First the columns of
some sorts are sorted (`SortedColumns`), then the members of the others are permuted (`member_orders`); no cell belongs
to both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce

from insync.machine.emit.builder import I64, I128, PTR, Function, Module, Value
from insync.machine.emit.member_orders import Relations
from insync.machine.emit.memory import (
    Elements,
    Row,
    Rows,
    Span,
    Track,
    read_row,
    taken_out,
    tracks_of,
    with_spans,
    write_row,
)
from insync.machine.emit.sorting_networks import Record, same_keys, sorted_records
from insync.model.domains.layout import WORD, Schema
from insync.model.symmetry.group import Symmetry

__all__ = [
    "Canonical",
]


class Canonical:
    """The functions of one symmetry.

    Args:
        m: the module in which they are defined.
        schema: where the cells lie.
        symmetry: of the state.

    Attributes:
        represent: `represent.one(row, to) -> orbit` writes the representative of a state to an address, which may be
            that of the state, and returns the size of the orbit.
    """

    def __init__(self, m: Module, schema: Schema, symmetry: Symmetry) -> None:
        self._schema, self._symmetry = schema, symmetry
        self._relations = Relations(m, schema, symmetry) if symmetry.relational else None
        self._columns = [sort for sort in range(len(symmetry.sizes)) if sort not in symmetry.relational]
        self.represent = self._represent_function(m)
        self._orbit = self._orbit_function(m)

    def orbit(self, b: Function, row: Value) -> Value:
        """Return the size of the orbit of the state at an address."""
        return b.call(self._orbit, row)

    def define_exported(self, m: Module) -> None:
        """Define `represent` and `orbits` for Python.

        - `represent(rows, count)` overwrites states with their representatives.
        - `orbits(rows, count, total)` adds the sizes of the orbits of states to the 128-bit number at address `total`.
        """
        b = m.function("represent", I64, (PTR, I64), exported=True)
        rows = Rows(b, b.arguments[0], self._schema.words)
        with b.loop(b.arguments[1]) as number:
            b.call(self.represent, rows.at(number), rows.at(number))
        b.give(0)
        b = m.function("orbits", I64, (PTR, I64, PTR), exported=True)
        rows, total = Rows(b, b.arguments[0], self._schema.words), Elements(b, b.arguments[2], I128)
        with b.loop(b.arguments[1]) as number:
            total[0] = total[0] + b.convert("zext", self.orbit(b, rows.at(number)), I128)
        b.give(0)

    def _represent_function(self, m: Module) -> Function:
        b = m.function("represent.one", I64, (PTR, PTR), inline=False)
        address, to = b.arguments
        row, orbits = self._sorted_columns(b, address)
        if self._relations is None:
            write_row(b, to, row)
        else:
            orbits.append(self._relations.represent(b, row, to))
        b.give(reduce(Value.__mul__, orbits))
        return b

    def _orbit_function(self, m: Module) -> Function:
        """Define `orbit.one(row)`: the size of an orbit, mostly without making the representative."""
        b = m.function("orbit.one", I64, (PTR,), inline=False)
        row, orbits = self._sorted_columns(b, b.arguments[0])
        if self._relations is not None:
            orbits.append(self._relations.orbit(b, row))
        b.give(reduce(Value.__mul__, orbits))
        return b

    def _sorted_columns(self, b: Function, address: Value) -> tuple[Row, list[Value]]:
        """Return the words of a state with its columns sorted, and the size of the orbit under each sort."""
        row, orbits = read_row(b, address, self._schema.words), [b.typed(I64, 1)]
        for sort in self._columns:
            columns = SortedColumns(b, self._schema, self._symmetry, sort, row)
            row = with_spans(row, columns.codes)
            orbits.append(columns.orbit)
        return row, orbits


# -------------------------------------------------------------------------------------------------------------- columns

# For some sorts, all that a state has of a member is a column: the cells that lie at the member, and for each cell that
# names members whether it names this one. Members with equal columns are interchangeable. So the sorted columns are the
# same for all permutations of a state and for no other state, for any number of members.


@dataclass(frozen=True, slots=True)
class _Field:
    """A part of every column, a number or a truth value, and its position in the words of a column."""

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
        codes: the new code of each cell when the columns are sorted.
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
        if not track.value.height:  # for an option without a value no part is set
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
