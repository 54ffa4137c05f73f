"""Code that sorts the elements of bags and sets after members were permuted, and their part of a member's key.

Elements are stored in ascending order of their codes, which changes when members are renamed. The part of a key is a
sum over the elements, so it does not depend on their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from insync.machine.emit.builder import GOLDEN_RATIO, I64, Function, Value
from insync.machine.emit.memory import Row, Span, span_of, taken_out, with_spans
from insync.machine.emit.sorting_networks import Record, sorted_records
from insync.model.domains.layout import WORD, Schema
from insync.model.symmetry.group import Family, Kind, Symmetry

__all__ = ["Collections", "mixed", "names"]


class Collections:
    """The collections of a state whose elements must be sorted.

    Args:
        schema: where the cells lie.
        symmetry: of the state.
    """

    def __init__(self, schema: Schema, symmetry: Symmetry) -> None:
        self._schema, self._symmetry = schema, symmetry
        self._families: dict[int, tuple[Family, int, tuple[int, ...]]] = {}
        for family in symmetry.families if symmetry.arranged else ():
            for at, (cell, index) in enumerate(zip(family.cells, symmetry.indices(family.places), strict=True)):
                self._families[cell] = family, at, index
        self._labels = {cell: self._label(cell) for cell in symmetry.in_order}
        self._said: dict[int, Value] = {}  # impersonal hashes of the elements of one state, by their first cells
        self._said_of: Row | None = None

    def arranged(self, b: Function, row: Row) -> Row:
        """Return the words of a state with all elements sorted."""
        for group in self._symmetry.arranged:
            for length, rows in zip(group.lengths, group.rows, strict=True):
                row = self._in_order(b, row, length, rows)
        return row

    def key_parts(self, b: Function, row: Row, sort: int, member: int) -> Iterator[Value]:
        """Yield hashes of how collections mention a member; they are the same for its image in a permuted state."""
        for group in self._symmetry.arranged:
            if not self._symmetry.in_order.isdisjoint(group.lengths):
                continue  # it is part of an element of another collection, which covers it
            found = []
            for length, rows, index in zip(
                group.lengths, group.rows, self._symmetry.indices(group.places), strict=True
            ):
                lying = sum(at + 1 for at, is_at in enumerate(_lies_at(group.places, index, sort, member)) if is_at)
                for place, cells in enumerate(rows):
                    said = self._of_member(b, row, cells, sort, member) + lying
                    there = self._code(b, row, length) > place
                    found.append(b.select(there, mixed(self._of_all(b, row, cells) + mixed(said)), 0))
            yield reduce(Value.__add__, found)

    # ---------------------------------------------------------------------------------------------------------- order

    def _in_order(self, b: Function, row: Row, length: int, rows: tuple[tuple[int, ...], ...]) -> Row:
        layout = [[span_of(self._schema, cell) for cell in cells] for cells in rows]
        words = _words([span.bits for span in layout[0]])
        count = self._code(b, row, length)
        records = []
        for place, spans in enumerate(layout):
            record: Record = [b.typed(I64, 0)] * (1 + max((word for word, _ in words), default=0))
            record[0] = b.convert("zext", count < place + 1, I64) << WORD - 1
            for span, (word, shift) in zip(spans, words, strict=True):
                code = taken_out(b, row, span)
                record[word] = record[word] | (code << shift if shift else code)
            records.append(record)
        new: dict[Span, Value] = {}
        for spans, record in zip(layout, sorted_records(b, records, len(records[0])), strict=True):
            for span, (word, shift) in zip(spans, words, strict=True):
                new[span] = (record[word] >> shift if shift else record[word]) & (1 << span.bits) - 1
        return with_spans(row, new)

    # ----------------------------------------------------------------------------------------------------------- keys

    def _label(self, cell: int) -> int:
        """Return the first of the cells with the same role in other elements or for other members."""
        for group in reversed(self._symmetry.arranged):
            for rows in group.rows:
                for cells in rows:
                    if cell in cells:
                        cell = rows[0][cells.index(cell)]
        return self._families[cell][0].cells[0] if cell in self._families else cell

    def _of_all(self, b: Function, row: Row, cells: tuple[int, ...]) -> Value:
        """Return a hash of an element that does not depend on which members it names."""
        if self._said_of is not row:
            self._said, self._said_of = {}, row
        if cells[0] not in self._said:
            parts = [mixed(self._impersonal(b, row, cell) + (self._labels[cell] << 32)) for cell in cells]
            self._said[cells[0]] = reduce(Value.__add__, parts)
        return self._said[cells[0]]

    def _of_member(self, b: Function, row: Row, cells: tuple[int, ...], sort: int, member: int) -> Value:
        """Return a hash of the cells of an element that name a member, or lie at it."""
        total = b.typed(I64, 0)
        for cell in cells:
            if cell not in self._families:
                continue
            (family, at, index), label = self._families[cell], self._labels[cell]
            if family.value is not None and family.value.sort == sort:
                named = names(b, self._symmetry, self._code(b, row, cell), family.value, member)
                if family.guards:
                    named = b.select(self._code(b, row, family.guards[at]) > family.above, named, 0)
                total = total + named * (GOLDEN_RATIO * (2 * label + 1) & 2**64 - 1)
            if any(_lies_at(family.places, index, sort, member)):
                total = total + mixed(self._impersonal(b, row, cell) + (label << 32))
        return total

    def _impersonal(self, b: Function, row: Row, cell: int) -> Value:
        code = self._code(b, row, cell)
        value = self._families[cell][0].value if cell in self._families else None
        if value is None:
            return code
        said = b.convert("zext", code < value.offset, I64) if value.offset else b.typed(I64, 0)
        return (said << 8) + b.ones(code - value.offset if value.offset else code) if value.height else said

    def _code(self, b: Function, row: Row, cell: int) -> Value:
        return taken_out(b, row, span_of(self._schema, cell))


def names(b: Function, symmetry: Symmetry, code: Value, value: Kind, member: int) -> Value:
    """Return 1 if a code names a member, else 0; for a set of sets, how many of its sets contain the member."""
    if value.height == 0:
        return b.convert("zext", code.equals(value.offset + member), I64)
    mask = code - value.offset if value.offset else code
    found = mask >> member & 1
    if value.height > 1:
        sets = symmetry.size(Kind(value.sort, value.height - 1))
        found = b.ones(mask & sum(1 << held for held in range(sets) if held >> member & 1))
    return b.select(code < value.offset, b.typed(I64, 0), found) if value.offset else found


def mixed(value: Value) -> Value:
    """Return a hash of a number; sums of such hashes rarely agree by chance."""
    spread = (value + 1) * GOLDEN_RATIO
    return (spread ^ spread >> 31) * GOLDEN_RATIO


def _lies_at(places: tuple[Kind, ...], index: tuple[int, ...], sort: int, member: int) -> list[bool]:
    return [place == Kind(sort, 0) and at == member for place, at in zip(places, index, strict=True)]


def _words(sizes: list[int]) -> list[tuple[int, int]]:
    """Lay codes of the given widths into words that sort like the codes; the highest bit of the first word is free."""
    found: list[tuple[int, int]] = []
    word, room = 0, WORD - 1
    for bits in sizes:
        if bits > room:
            word, room = word + 1, WORD
        room -= bits
        found.append((word, room))
    return found
