"""The initial states of a program: each once, packed, in the order of their packed words."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from insync.model.graph import Graph, Node
from insync.model.schema import WORD, Schema

__all__ = ["Beginning", "Initials", "initials_of", "packed_number"]


@dataclass(frozen=True, slots=True)
class Beginning:
    """An initial method with its parameters bound: the states that it allows.

    Its expressions are on variables, not on the cells of a state: `CELL` number n is variable n.

    Attributes:
        label: the method and its parameters in words; empty for the plain method `initial`.
        place: the author's file and line.
        graph: the nodes of its expressions; its `cell_sizes` are how many values each variable has.
        conditions: what must hold of the variables.
        cells: the code of each cell of the state.
        expected: what must hold besides of those that the conditions allow, with the message for where it does not.
    """

    label: str
    place: str
    graph: Graph
    conditions: tuple[Node, ...]
    cells: tuple[Node, ...]
    expected: tuple[tuple[Node, str], ...] = ()


class Initials(Sequence[tuple[int, ...]]):
    """The distinct initial states as codes, the least packed state first; at least one.

    Args:
        schema: how they are packed.
        rows: the words of one packed state after those of the other, in order.
        beginnings: where they come from.
        origins: for each state the first of the beginnings that allows it; nothing where there is a single one.
    """

    def __init__(
        self, schema: Schema, rows: array[int], beginnings: tuple[Beginning, ...], origins: array[int] | None = None
    ) -> None:
        self.rows, self.beginnings = rows, beginnings
        self._schema, self._origins = schema, origins

    def __len__(self) -> int:
        return len(self.rows) // self._schema.words

    @overload
    def __getitem__(self, place: int) -> tuple[int, ...]: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[tuple[int, ...], ...]: ...

    def __getitem__(self, place: int | slice) -> tuple[int, ...] | tuple[tuple[int, ...], ...]:
        if isinstance(place, slice):
            return tuple(self[each] for each in range(*place.indices(len(self))))
        return self._schema.unpack(self.words(range(len(self))[place]))

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return (self._schema.unpack(self.words(place)) for place in range(len(self)))

    def __contains__(self, codes: object) -> bool:
        return isinstance(codes, tuple) and self.place_of(codes) is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Initials) and self.rows == other.rows

    __hash__ = object.__hash__

    def words(self, place: int) -> tuple[int, ...]:
        """Return a packed state."""
        size = self._schema.words
        return tuple(self.rows[place * size : (place + 1) * size])

    def origin(self, codes: tuple[int, ...]) -> str | None:
        """Return what the method that allows a state is called; None where a single one gives all."""
        place = self.place_of(codes)
        return None if self._origins is None or place is None else self.beginnings[self._origins[place]].label

    def place_of(self, codes: tuple[int, ...]) -> int | None:
        """Return the place of a state; None where it is not an initial one."""
        wanted = self._schema.pack(codes)
        place = bisect_left(range(len(self)), wanted, key=self.words)
        found = place < len(self) and self.words(place) == wanted
        return place if found and self._schema.unpack(wanted) == codes else None


def packed_number(schema: Schema, number: int) -> int:
    """Return by how much a cell's code is shifted in a state packed into one number, the first word foremost."""
    cell = schema.cells[number]
    return WORD * (schema.words - 1 - cell.word) + cell.shift


def initials_of(schema: Schema, beginnings: tuple[Beginning, ...], found: Mapping[int, int]) -> Initials:
    """Return the initial states.

    Args:
        schema: how they are packed.
        beginnings: where they come from.
        found: each state packed into one number (see `packed_number`), with the number of its beginning.
    """
    ordered = sorted(found)
    rows = array("Q")
    rows.frombytes(b"".join(state.to_bytes(8 * schema.words, "big") for state in ordered))
    if sys.byteorder == "little":
        rows.byteswap()
    origins = array("I", (found[state] for state in ordered)) if len(beginnings) > 1 else None
    return Initials(schema, rows, beginnings, origins)
