"""Packed states as Arrow columns, with the names and readable values of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from insync.model.domains.composite import (
    DOMAINS,
    SCALARS,
    Absent,
    Array,
    Bag,
    BitSet,
    Domain,
    Int,
    ListedSet,
    Option,
    Readable,
    Record,
    Scalar,
    Seq,
    State,
)
from insync.model.domains.layout import Cell, Schema

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]

__all__ = ["Column", "columns_of", "decode_states"]

_MOST_VALUES = 1 << 16  # the most values of a scalar that is decoded by a table


@dataclass(frozen=True, slots=True)
class Column:
    """How to decode a part of the state; it can be sent to a worker that does not have the model.

    Attributes:
        name: of the column or field.
        kind: "scalar", "option" (children: the record), "struct", "list", "listed" (the cell is how many of its
            children are present) or "bits" (cells: one per row; children: how to decode the rows).
        type: in Spark's SQL.
        cell: word, shift and mask of the cell of a scalar, an option or a listed column.
        values: the value of each code of a scalar; if empty, the value is `low` + the code.
        low: see `values`.
        children: the parts.
        cells: for bits, the word, shift and mask of each.
        rows: for bits, the packed value of each.
    """

    name: str
    kind: str
    type: str
    cell: tuple[int, int, int] = (0, 0, 0)
    values: tuple[Readable, ...] = ()
    low: int = 0
    children: tuple[Column, ...] = ()
    cells: tuple[tuple[int, int, int], ...] = ()
    rows: tuple[tuple[int, ...], ...] = ()


def columns_of(state: Record, schema: Schema) -> tuple[Column, ...]:
    """Return the columns of a model's state, one per field."""
    cells = iter(schema.cells)
    return tuple(_column(name, domain, cells) for name, domain in state.present.items())


def _column(name: str, domain: Domain, cells: Iterator[Cell]) -> Column:
    return _COLUMNS[type(domain)](name, domain, cells)


def _option(name: str, domain: Option, cells: Iterator[Cell]) -> Column:
    present = next(cells)
    record = _column(name, domain.of, cells)
    return Column(name, "option", record.type, _place(present), children=(record,))


def _array(name: str, domain: Array, cells: Iterator[Cell]) -> Column:
    children = tuple(_column(label, domain.of, cells) for label in domain.labels)
    if isinstance(domain.over, int):
        return Column(name, "list", f"array<{children[0].type if children else 'int'}>", children=children)
    return Column(name, "struct", _struct(children), children=children)


def _listed(name: str, domain: Seq | Bag | ListedSet, cells: Iterator[Cell]) -> Column:
    length = next(cells)
    children = tuple(_column(str(place), domain.of, cells) for place in range(domain.most))
    element = children[0].type if children else "int"
    return Column(name, "listed", f"array<{element}>", _place(length), children=children)


def _bits(name: str, domain: BitSet, cells: Iterator[Cell]) -> Column:
    own = Schema(State(element=domain.of))
    element = _column("element", domain.of, iter(own.cells))
    places = tuple(_place(cell) for cell in islice(cells, domain.width))
    rows = tuple(own.pack(codes) for codes in domain.members)
    return Column(name, "bits", f"array<{element.type}>", children=(element,), cells=places, rows=rows)


def _record(name: str, domain: Record, cells: Iterator[Cell]) -> Column:
    children = tuple(_column(field, part, cells) for field, part in domain.present.items())
    return Column(name, "struct", _struct(children), children=children)


def _number(name: str, domain: Int, cells: Iterator[Cell]) -> Column:
    return Column(name, "scalar", "bigint", _place(next(cells)), low=domain.lo)


def _scalar(name: str, domain: Scalar, cells: Iterator[Cell]) -> Column:
    cell = next(cells)
    if cell.size > _MOST_VALUES:
        # Too many values for a table: the code itself, which for a set is a mask of its elements.
        return Column(name, "scalar", "bigint", _place(cell))
    values = tuple(domain.readable(code) for code in range(cell.size))
    return Column(name, "scalar", _type_of(values[-1]), _place(cell), values)


_COLUMNS: dict[type[Domain], Callable[[str, Any, Iterator[Cell]], Column]] = {
    **dict.fromkeys(SCALARS, _scalar),
    Int: _number,
    Option: _option,
    Record: _record,
    State: _record,
    Array: _array,
    Seq: _listed,
    Bag: _listed,
    ListedSet: _listed,
    BitSet: _bits,
}
assert set(_COLUMNS) == DOMAINS - {Absent}, "an absent field has no column"


def _place(cell: Cell) -> tuple[int, int, int]:
    return cell.word, cell.shift, (1 << cell.bits) - 1


def _struct(children: Sequence[Column]) -> str:
    return f"struct<{', '.join(f'`{child.name}`: {child.type}' for child in children)}>"


def _type_of(value: Readable) -> str:
    """The type of a scalar whose last value this is."""
    if isinstance(value, list):
        return f"array<{_type_of(value[-1])}>" if value else "array<string>"
    return {bool: "boolean", int: "bigint"}.get(type(value), "string")


def decode_states(columns: Sequence[Column], rows: NDArray[np.uint64]) -> list[pa.Array]:
    """Decode packed states to Arrow arrays, one per column.

    Args:
        columns: the columns to decode.
        rows: the packed states, one row of words each.
    """
    return [_decode(column, rows) for column in columns]


def _decode(column: Column, rows: NDArray[np.uint64]) -> pa.Array:
    import pyarrow as pa

    if column.kind == "scalar":
        return _decode_scalar(column, rows)
    if column.kind == "option":
        parts = [_decode(child, rows) for child in column.children[0].children]
        absent = pa.array(_codes(column.cell, rows) == 0)
        return pa.StructArray.from_arrays(parts, [child.name for child in column.children[0].children], mask=absent)
    if column.kind == "bits":
        return _decode_bits(column, rows)
    parts = [_decode(child, rows) for child in column.children]
    if column.kind == "struct":
        return pa.StructArray.from_arrays(parts, [child.name for child in column.children])
    return _lists(parts, len(rows), _codes(column.cell, rows) if column.kind == "listed" else None)


def _lists(parts: Sequence[pa.Array], count: int, lengths: Codes | None = None) -> pa.Array:
    """A list per row: one value of each part, or of as many parts as the row's length."""
    import numpy as np
    import pyarrow as pa

    size = len(parts)
    if not size:
        return pa.array([[]] * count, type=pa.list_(pa.int32()))
    there = np.arange(size) < (np.full(count, size) if lengths is None else lengths)[:, None]
    return _taken(pa.concat_arrays(parts), np.arange(size * count).reshape(size, count).T, there)


def _taken(values: pa.Array, places: Codes, there: NDArray[np.bool_]) -> pa.Array:
    """A list per row: the values at its places, without those that are not present."""
    import numpy as np
    import pyarrow as pa

    offsets = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values.take(pa.array(places[there])))


def _decode_bits(column: Column, rows: NDArray[np.uint64]) -> pa.Array:
    import numpy as np

    values = _decode(column.children[0], np.array(column.rows, dtype=np.uint64))
    there = np.stack([_codes(cell, rows) == 1 for cell in column.cells], axis=1)
    return _taken(values, np.broadcast_to(np.arange(len(column.cells)), there.shape), there)


def _decode_scalar(column: Column, rows: NDArray[np.uint64]) -> pa.Array:
    import pyarrow as pa

    codes = _codes(column.cell, rows)
    if not column.values:
        return pa.array(codes + column.low)
    return pa.array(list(column.values), type=_arrow_type(column.type)).take(pa.array(codes))


def _arrow_type(type_: str) -> pa.DataType:
    import pyarrow as pa

    if type_.startswith("array<"):
        return pa.list_(_arrow_type(type_[len("array<") : -1]))
    return {"boolean": pa.bool_(), "bigint": pa.int64(), "string": pa.string()}[type_]


def _codes(cell: tuple[int, int, int], rows: NDArray[np.uint64]) -> Codes:
    import numpy as np

    word, shift, mask = cell
    found: Codes = (rows[:, word] >> np.uint64(shift) & np.uint64(mask)).astype(np.int64)
    return found
