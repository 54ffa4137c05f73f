"""The initial states of a program: each once, packed, in the order of their packed words."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import overload

from insync.model.domains.layout import Schema
from insync.model.expressions.graph import Node
from insync.model.expressions.simplify import substituted
from insync.model.tracing.enumeration import TooManyStates, a_state, add_states
from insync.model.tracing.initial_states import Beginning

__all__ = ["Initials"]


class Initials(Sequence[tuple[int, ...]]):
    """The distinct initial states as codes, the least packed state first.

    There may be too many to have them one by one: then whoever asks for them, or how many there are, gets a ModelError.
    What they are is known all the same, from the beginnings, and that is all that a proof needs.

    Args:
        schema: how they are packed.
        beginnings: where they come from.
        go_on: called again and again while they are looked for; what it raises ends it.

    Attributes:
        beginnings: this argument.
        enumerated: whether there are few enough.

    Raises:
        ModelError: one of them has a value outside its field's domain.
    """

    def __init__(self, schema: Schema, beginnings: tuple[Beginning, ...], go_on: Callable[[], None]) -> None:
        self._schema, self.beginnings = schema, beginnings
        self._too_many: str | None = None
        found: dict[int, int] = {}
        try:
            for number, beginning in enumerate(beginnings):
                add_states(found, beginning, number, schema, go_on)
        except TooManyStates as error:
            self._too_many = str(error)
            found = {}
        ordered = sorted(found)
        self._rows = _rows_of(schema, ordered)
        self._origins = array("I", (found[state] for state in ordered)) if len(beginnings) > 1 else array("I")

    def changed(self, beginnings: Mapping[int, Beginning], go_on: Callable[[], None]) -> Initials:
        """Return the initial states with other beginnings in the place of some, by their numbers.

        Raises:
            ModelError: one of the new states has a value outside its field's domain.
        """
        made = tuple(beginnings.get(number, one) for number, one in enumerate(self.beginnings))
        return Initials(self._schema, made, go_on)

    def some_meet(self, conditions: Sequence[Node]) -> bool:
        """Return whether conditions on a state all hold in some of them, or that is not found out soon."""
        for beginning in self.beginnings:
            more = substituted(beginning.graph, conditions, beginning.cells)
            asked = replace(beginning, conditions=(*beginning.conditions, *more))
            found: dict[int, int] = {}
            try:
                add_states(found, asked, 0, self._schema, lambda: None, most=0)
            except TooManyStates:  # one was found, or too many were tried
                return True
            if found:
                return True
        return False

    @property
    def enumerated(self) -> bool:
        return self._too_many is None

    @property
    def rows(self) -> array[int]:
        """The words of each packed state, one state after the other."""
        if self._too_many is not None:
            raise TooManyStates(self._too_many)
        return self._rows

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
        return isinstance(codes, tuple) and self._allowing(codes) is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Initials) and self.rows == other.rows

    def __hash__(self) -> int:
        return hash(self.rows.tobytes())

    def words(self, place: int) -> tuple[int, ...]:
        """Return a packed state."""
        size = self._schema.words
        return tuple(self.rows[place * size : (place + 1) * size])

    @property
    def example(self) -> tuple[int, ...] | None:
        """The first of them, or some other one where they are not enumerated; None where none is found soon."""
        if self.enumerated:
            return self[0]
        states = (a_state(beginning, self._schema) for beginning in self.beginnings)
        state = next((state for state in states if state is not None), None)
        return None if state is None else self._schema.unpack(_rows_of(self._schema, [state]))

    def place_of(self, codes: tuple[int, ...]) -> int | None:
        """Return the place of a state; None where it is not an initial one."""
        wanted = self._schema.pack(codes)
        place = bisect_left(range(len(self)), wanted, key=self.words)
        found = place < len(self) and self.words(place) == wanted
        return place if found and self._schema.unpack(wanted) == codes else None

    def origin(self, codes: tuple[int, ...]) -> str | None:
        """Return what the method that allows a state is called; None where a single one gives all."""
        allowing = self._allowing(codes) if len(self.beginnings) > 1 else None
        return None if allowing is None else self.beginnings[allowing].label

    def _allowing(self, codes: tuple[int, ...]) -> int | None:
        """Return the number of the first beginning that allows a state; None where it is not an initial one."""
        if self.enumerated:
            place = self.place_of(codes)
            return None if place is None else self._origins[place] if self._origins else 0
        found: dict[int, int] = {}
        for number, beginning in enumerate(self.beginnings):
            add_states(found, beginning.pinned(codes), number, self._schema, lambda: None)
        return next(iter(found.values()), None)


def _rows_of(schema: Schema, states: Sequence[int]) -> array[int]:
    """Return the words of states that are packed into one number each (see `packed_number`)."""
    rows = array("Q")
    rows.frombytes(b"".join(state.to_bytes(8 * schema.words, "big") for state in states))
    if sys.byteorder == "little":
        rows.byteswap()
    return rows
