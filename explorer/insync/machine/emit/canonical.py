"""Representatives, for generated code: of all states that differ in who is who only, always the same one.

The columns of some sorts are sorted (`columns`), then the members of the others are permuted (`relations`); no cell
speaks of both. A state stands for as many states as there are permutations that give different ones: its orbit.
"""

from __future__ import annotations

from functools import reduce

from insync.machine.emit.builder import I64, I128, PTR, Function, Module, Value
from insync.machine.emit.columns import SortedColumns
from insync.machine.emit.member_orders import Relations
from insync.machine.emit.memory import Elements, Row, Rows, read_row, with_spans, write_row
from insync.model.schema import Schema
from insync.model.symmetry import Symmetry

__all__ = ["Canonical"]


class Canonical:
    """The functions of one symmetry.

    Args:
        m: where they are defined.
        schema: where the cells lie.
        symmetry: of the state.

    Attributes:
        represent: `represent.one(row, to) -> orbit` writes the representative of a state to an address, which may be
            that of the state, and gives the number of states that it stands for.
    """

    def __init__(self, m: Module, schema: Schema, symmetry: Symmetry) -> None:
        self._schema, self._symmetry = schema, symmetry
        self._relations = Relations(m, schema, symmetry) if symmetry.relational else None
        self._columns = [sort for sort in range(len(symmetry.sizes)) if sort not in symmetry.relational]
        self.represent = self._represent_function(m)
        self._orbit = self._orbit_function(m)

    def orbit(self, b: Function, row: Value) -> Value:
        """Return how many states the state at an address stands for."""
        return b.call(self._orbit, row)

    def define_exported(self, m: Module) -> None:
        """Define `represent` and `orbits` for Python.

        - `represent(rows, count)` writes the representatives of so many states over them.
        - `orbits(rows, count, total)` adds the number of states that so many states represent to the 128-bit number at
          an address.
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
        """Define `orbit.one(row)`: of most states it can be said without making the representative."""
        b = m.function("orbit.one", I64, (PTR,), inline=False)
        row, orbits = self._sorted_columns(b, b.arguments[0])
        if self._relations is not None:
            orbits.append(self._relations.orbit(b, row))
        b.give(reduce(Value.__mul__, orbits))
        return b

    def _sorted_columns(self, b: Function, address: Value) -> tuple[Row, list[Value]]:
        """Return the words of a state with its columns sorted, and of how many states each sort makes one."""
        row, orbits = read_row(b, address, self._schema.words), [b.typed(I64, 1)]
        for sort in self._columns:
            columns = SortedColumns(b, self._schema, self._symmetry, sort, row)
            row = with_spans(row, columns.codes)
            orbits.append(columns.orbit)
        return row, orbits
