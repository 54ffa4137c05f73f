"""The cells of a packed state, for generated code: codes taken out of its words, and put into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from insync.machine.emit.builder import I64, Function, Value
from insync.machine.emit.rows import Row
from insync.model.schema import Schema

__all__ = ["cell_code", "with_cells", "without_cells"]


def cell_code(b: Function, schema: Schema, row: Row, number: int) -> Value:
    """Return the code of a cell."""
    cell = schema.cells[number]
    if not cell.bits:
        return b.typed(I64, 0)
    word = row[cell.word]
    lowest = word if cell.shift == 0 else word >> cell.shift
    return lowest & (1 << cell.bits) - 1


def with_cells(schema: Schema, row: Row, codes: Mapping[int, Value]) -> Row:
    """Return the words of a state with other codes in some cells."""
    new = list(without_cells(schema, row, codes))
    for number, code in codes.items():
        cell = schema.cells[number]
        if cell.bits:
            new[cell.word] = new[cell.word] | (code if cell.shift == 0 else code << cell.shift)
    return new


def without_cells(schema: Schema, row: Row, numbers: Iterable[int]) -> Row:
    """Return the words of a state with code 0 in some cells."""
    new = list(row)
    cells = [schema.cells[number] for number in numbers]
    for word in {cell.word: None for cell in cells if cell.bits}:
        mask = sum((1 << cell.bits) - 1 << cell.shift for cell in cells if cell.word == word)
        new[word] = new[word] & (~mask & 2**64 - 1)
    return new
