"""Domains: the type of a field, and how its values lie in cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import TYPE_CHECKING, Any, NoReturn

from insync.model.domains.bounds import BoundValues
from insync.runtime.errors import UserError, shown
from insync.runtime.text import in_one_line

if TYPE_CHECKING:
    from insync.model.domains.scalars import Scalar

__all__ = [
    "Domain",
    "DomainLike",
    "Element",
    "Field",
    "Holds",
    "Leaf",
    "Length",
    "Part",
    "Presence",
    "Readable",
    "Step",
    "Value",
    "plain",
]


Readable = Any
"""A value in plain Python: labels of members, None, names of an enumeration, lists, dicts, ints and bools."""

DomainLike = Any
"""A domain, a sort (an `Index` class), a `Range`, a Python enumeration class, or `Bool`."""


class Step:
    """A step from a domain to one of its parts."""

    __slots__ = ()

    def after(self, path: str) -> str:
        """Return the path of the part; `path` is that of the whole."""
        return path

    def read(self, value: Any) -> Readable:
        """Return the readable value of the part; `value` is that of the whole."""
        return value


@dataclass(frozen=True, slots=True)
class Field(Step):
    """The step from a record to a field."""

    name: str

    def after(self, path: str) -> str:
        return f"{path}.{self.name}" if path else self.name

    def read(self, value: Any) -> Readable:
        return value[self.name]


@dataclass(frozen=True, slots=True)
class Element(Step):
    """The step from an array, a sequence, a bag or a listed set to an element."""

    place: int
    label: str

    def after(self, path: str) -> str:
        return f"{path}[{self.label}]"

    def read(self, value: Any) -> Readable:
        if isinstance(value, list):
            return value[self.place] if self.place < len(value) else None
        return value[self.label]


@dataclass(frozen=True, slots=True)
class Length(Step):
    """The step from a sequence, a bag or a listed set to its length."""

    def after(self, path: str) -> str:
        return f"{path}.length"

    def read(self, value: Any) -> Readable:
        return len(value)


@dataclass(frozen=True, slots=True)
class Presence(Step):
    """The step from an optional record to the cell that is 1 where it is there."""


@dataclass(frozen=True, slots=True)
class Value(Step):
    """The step from an optional record to the record."""


@dataclass(frozen=True, slots=True)
class Holds(Step):
    """The step from a set to the cell that is 1 where one of its possible elements is in it."""

    place: int
    text: str

    def after(self, path: str) -> str:
        return f"{path}{{{self.text}}}"

    def read(self, value: Any) -> Readable:
        return self.text in map(plain, value)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bound domain.

    Attributes:
        step: the step to it.
        domain: its domain; None for a single cell with the codes 0 and 1, `Presence` or `Holds`.
        offset: the number of cells before it.
    """

    step: Step
    domain: Domain | None
    offset: int


@dataclass(frozen=True, slots=True)
class Leaf:
    """A cell of a bound domain.

    Attributes:
        steps: the steps to it.
        domain: its domain; None for a cell with the codes 0 and 1, `Presence` or `Holds`.
    """

    steps: tuple[Step, ...]
    domain: Scalar | None

    @property
    def size(self) -> int:
        """The number of its codes."""
        return 2 if self.domain is None else self.domain.size

    def after(self, path: str) -> str:
        """Return the path of the cell; `path` is that of the domain, and empty for a state."""
        for step in self.steps:
            path = step.after(path)
        return path

    def read(self, value: Any) -> Readable:
        """Return what the cell stands for in a readable value of the domain; None inside an absent part.

        For `Presence` that is the value of the optional record.
        """
        for step in self.steps:
            if value is None:
                return None
            value = step.read(value)
        return value

    @property
    def field(self) -> str:
        """The path without indexes: `replica[].log[].epoch`."""
        path = ""
        for step in self.steps:
            path = f"{path}[]" if isinstance(step, Element) else path if isinstance(step, Holds) else step.after(path)
        return path


class Domain:
    """The type of a field. After `bind`, `width` is the number of cells of a value."""

    width: int

    def bind(self, bounds: BoundValues) -> Domain:
        """Return the bound domain: this one with the sizes that the bounds give."""
        raise NotImplementedError

    def parts(self) -> tuple[Part, ...]:
        """Return the parts of a bound domain, in the order of their cells; none for a domain of one cell."""
        return ()

    def leaves(self, steps: tuple[Step, ...] = ()) -> Iterator[Leaf]:
        """Yield each cell of a bound domain, in order; `steps` are those to the domain."""
        for part in self.parts():
            below = (*steps, part.step)
            if part.domain is None:
                yield Leaf(below, None)
            else:
                yield from part.domain.leaves(below)

    def cells(self, path: str) -> Iterator[tuple[str, int]]:
        """Yield the path and the number of codes of each cell, in order."""
        return ((leaf.after(path), leaf.size) for leaf in self.leaves())

    def decode(self, codes: Sequence[int], at: int) -> Readable:
        """Return the readable value whose codes begin at a place of the list."""
        raise NotImplementedError

    def decode_after(self, codes: Sequence[int], at: int, former: Sequence[int], value: Readable) -> Readable:
        """Return the same as `decode`, sharing the parts of an earlier value whose codes are equal.

        Args:
            codes: the codes.
            at: the place of the first code of the value.
            former: the codes of the earlier value, at the same place.
            value: the earlier value; it must not be changed as long as the result is used.
        """
        end = at + self.width
        return value if codes[at:end] == former[at:end] else self.decode(codes, at)

    def encode(self, value: Readable, path: str) -> list[int]:
        """Return the codes of a readable value.

        Raises:
            UserError: the value is not in the domain; the message names the path.
        """
        raise NotImplementedError

    def shape(self) -> tuple[object, ...]:
        """Return a key that is equal for bound domains with the same values and codes."""
        raise NotImplementedError

    def without_members(self) -> Scalar | None:
        """Return the field that has no value as its sort has no member; None if the bound domain has a value."""
        return None

    def number_of_values(self) -> int:
        """Return the number of values of a bound domain; here of one whose parts have any of their values."""
        return math.prod(2 if part.domain is None else part.domain.number_of_values() for part in self.parts())

    def values(self) -> Iterator[tuple[int, ...]]:
        """Yield the codes of each value of a bound domain, in ascending order; here as for `number_of_values`."""
        each = (((0,), (1,)) if part.domain is None else part.domain.values() for part in self.parts())
        return (tuple(chain(*codes)) for codes in product(*each))

    def _reject(self, value: Readable, path: str, expected: str) -> NoReturn:
        message = f"{path or 'state'}: {shown(value)} is not a value of this field; expected {expected}."
        raise UserError(message)


def plain(value: object) -> str:
    """Return a readable value as it is written in a sentence, in one line."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"{{{', '.join(map(plain, value))}}}"
    if isinstance(value, dict):
        return f"({', '.join(f'{name}={plain(part)}' for name, part in value.items())})"
    return in_one_line(str(value))
