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
from insync.machine.emit.cells import cell_code
from insync.machine.emit.networks import Record, same_keys, sorted_records
from insync.machine.emit.rows import Row
from insync.model.schema import WORD, Schema
from insync.model.symmetry import Family, Symmetry

__all__ = ["SortedColumns"]


@dataclass(frozen=True, slots=True)
class _Field:
    """A part of every column: a family's code or truth, and where it lies in the words of a column."""

    family: Family
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
        codes: for each cell that the columns stand for, its code when they are sorted.
    """

    def __init__(self, b: Function, schema: Schema, symmetry: Symmetry, sort: int, row: Row) -> None:
        self._b, self._schema, self._count = b, schema, symmetry.sizes[sort]
        self._fields = _fields(schema, [family for family in symmetry.families if sort in family.sorts])
        self._words = 1 + max(field.word for field in self._fields)
        self._old = {f.cells: [cell_code(b, schema, row, cell) for cell in f.cells] for f in self._families}
        columns = [self._column(member) for member in range(self._count)]
        self._sorted = sorted_records(b, columns, self._words)
        self.codes = {cell: code for field in self._fields for cell, code in self._restored(field).items()}

    @property
    def orbit(self) -> Value:
        """How many states differ from this one in the order of the columns only."""
        b = self._b
        alike = reduce(Value.__mul__, same_keys(b, self._sorted, self._words))
        return b.typed(I64, math.factorial(self._count)) // alike

    @property
    def _families(self) -> list[Family]:
        return [field.family for field in self._fields]

    def _column(self, member: int) -> Record:
        words = [self._b.typed(I64, 0)] * self._words
        for field in self._fields:
            part = self._part(field.family, member)
            words[field.word] = words[field.word] | (part if not field.shift else part << field.shift)
        return words

    def _part(self, family: Family, member: int) -> Value:
        codes = self._old[family.cells]
        if family.value is None:
            return codes[member]
        if not family.value.height:
            named = codes[0].equals(family.value.offset + member)
            return self._b.convert("zext", named, I64)
        if not family.value.offset:
            return (codes[0] >> member) & 1
        return self._b.select(codes[0].equals(0), 0, (codes[0] - family.value.offset >> member) & 1)

    def _restored(self, field: _Field) -> dict[int, Value]:
        family = field.family
        parts = [(column[field.word] >> field.shift) & (1 << field.bits) - 1 for column in self._sorted]
        if family.value is None:
            return dict(zip(family.cells, parts, strict=True))
        offset = family.value.offset
        if not family.value.height:  # of an option that is none, no part is set
            return {family.cells[0]: reduce(Value.__or__, (part * (offset + i) for i, part in enumerate(parts)))}
        mask = reduce(Value.__or__, (part << i for i, part in enumerate(parts)))
        if not offset:
            return {family.cells[0]: mask}
        old = self._old[family.cells][0]
        return {family.cells[0]: self._b.select(old.equals(0), self._b.typed(I64, 0), mask + offset)}


def _fields(schema: Schema, families: list[Family]) -> list[_Field]:
    """Lay the parts of a column into words, each in the first that has room for it."""
    used: list[int] = [0]
    fields = []
    for family in families:
        bits = schema.cells[family.cells[0]].bits if family.value is None else 1
        word = next((w for w, taken in enumerate(used) if taken + bits <= WORD), len(used))
        if word == len(used):
            used.append(0)
        fields.append(_Field(family, bits, word, used[word]))
        used[word] += bits
    return fields
