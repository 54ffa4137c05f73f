"""Representatives, for generated code: of all states that differ in who is who only, always the same one.

The columns of some sorts are sorted (`columns`), then the members of the others are permuted (`relations`); no cell
speaks of both. A state stands for as many states as there are permutations that give different ones: its orbit.
"""

from __future__ import annotations

from functools import reduce

from insync.machine.emit.builder import I64, I128, PTR, Function, Module, Value
from insync.machine.emit.cells import with_cells
from insync.machine.emit.columns import SortedColumns
from insync.machine.emit.elements import Elements
from insync.machine.emit.relations import Relations
from insync.machine.emit.rows import Row, Rows, read_row, write_row
from insync.model.schema import Schema
from insync.model.symmetry import Symmetry

__all__ = ["Canonical", "symmetry_module"]


class Canonical:
    """The functions of one symmetry.

    Args:
        m: where they are defined.
        schema: where the cells lie.
        symmetry: of the state.

    Attributes:
        represent: `represent(row, to)` writes the representative of a state to an address, which may be that of the
            state.
        orbit: `orbit(row) -> count` gives the number of states that a state represents.
    """

    def __init__(self, m: Module, schema: Schema, symmetry: Symmetry) -> None:
        self._schema, self._symmetry = schema, symmetry
        self._relations = Relations(m, schema, symmetry) if symmetry.relational else None
        self._columns = [sort for sort in range(len(symmetry.sizes)) if sort not in symmetry.relational]
        self.represent = self._represent_function(m)
        self.orbit = self._orbit_function(m)

    def _represent_function(self, m: Module) -> Function:
        b = m.function("represent.one", I64, (PTR, PTR), inline=False)
        row, to = b.arguments
        changed, _ = self._with_sorted_columns(b, read_row(b, row, self._schema.words))
        if self._relations is None:
            write_row(b, to, changed)
        else:
            self._relations.represent(b, changed, to)
        b.give(0)
        return b

    def _orbit_function(self, m: Module) -> Function:
        b = m.function("orbit.one", I64, (PTR,), inline=False)
        row, to = b.arguments[0], b.space(I64, self._schema.words, 8)
        changed, sorted_ = self._with_sorted_columns(b, read_row(b, row, self._schema.words))
        orbits = [columns.orbit for columns in sorted_]
        if self._relations is not None:
            orbits.append(self._relations.represent(b, changed, to))
        b.give(reduce(Value.__mul__, orbits))
        return b

    def _with_sorted_columns(self, b: Function, row: Row) -> tuple[Row, list[SortedColumns]]:
        made = []
        for sort in self._columns:
            columns = SortedColumns(b, self._schema, self._symmetry, sort, row)
            row = with_cells(self._schema, row, columns.codes)
            made.append(columns)
        return row, made


def symmetry_module(schema: Schema, symmetry: Symmetry) -> str:
    """Return the IR module that defines `represent` and `orbits`.

    - `represent(rows, count, to) -> count` writes the representatives of so many states to an address.
    - `orbits(rows, count, total) -> count` adds the number of states that so many states represent to the 128-bit
      number at an address.
    """
    m = Module()
    canonical, words = Canonical(m, schema, symmetry), schema.words
    b = m.function("represent", I64, (PTR, I64, PTR), exported=True)
    rows, to = Rows(b, b.arguments[0], words), Rows(b, b.arguments[2], words)
    with b.loop(b.arguments[1]) as number:
        b.call(canonical.represent, rows.at(number), to.at(number))
    b.give(b.arguments[1])
    b = m.function("orbits", I64, (PTR, I64, PTR), exported=True)
    rows, total = Rows(b, b.arguments[0], words), Elements(b, b.arguments[2], I128)
    with b.loop(b.arguments[1]) as number:
        total[0] = total[0] + b.convert("zext", b.call(canonical.orbit, rows.at(number)), I128)
    b.give(b.arguments[1])
    return m.text
