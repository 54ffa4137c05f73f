"""Composite domains: records, arrays, options and absent fields, and the list of all domains.

A record has the cells of its fields, an array those of its elements. An option of a scalar takes one cell, whose code 0
is none (`OptionalScalar`). An option of a record takes a cell for its presence and the record's cells, which are all 0
where it is none, so that equal values have equal codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum as PythonEnum
from functools import cached_property
from itertools import accumulate
from typing import Any, NoReturn, Self

from insync.model.domains.bounds import BoundValues, is_open, value_of
from insync.model.domains.containers import Bag, BitSet, ListedSet, Seq, SetOf
from insync.model.domains.domain import Element, Field, Part, Presence, Value
from insync.model.domains.open_bounds import OpenArray, OpenSize
from insync.model.domains.scalars import (
    Boolean,
    Domain,
    DomainLike,
    Enum,
    Int,
    Member,
    OptionalScalar,
    Readable,
    Scalar,
    Set,
    as_domain,
    name_of,
)
from insync.model.domains.sorts import Index, Parameter, Range, is_kind, label_of, members_of, number_of_members
from insync.runtime.errors import ModelError, shown, user_frame

__all__ = [
    "DOMAINS",
    "MOST_CELLS",
    "SCALARS",
    "Absent",
    "Array",
    "Bag",
    "BitSet",
    "Boolean",
    "Domain",
    "DomainLike",
    "Enum",
    "Int",
    "ListedSet",
    "Member",
    "Option",
    "OptionalScalar",
    "Readable",
    "ReadableState",
    "Record",
    "Scalar",
    "Seq",
    "Set",
    "SetOf",
    "State",
    "as_domain",
    "described",
]

ReadableState = dict[str, Readable]
"""A state in plain Python: the value of each top-level field."""


class Option(Domain):
    """A value or none."""

    def __init__(self, of: DomainLike) -> None:
        self.of = as_domain(of)
        if not isinstance(self.of, (Scalar, Record)):
            message = f"{user_frame()}: Option({name_of(self.of)}): only one cell or a record can be optional."
            raise ModelError(message)

    def bind(self, bounds: BoundValues) -> Domain:
        inner = self.of.bind(bounds)
        if isinstance(inner, Scalar):
            return OptionalScalar(inner)
        if inner.without_members() is not None:
            refuse_without_members(inner, bounds, "a record in an Option")
        bound = Option(inner)
        bound.width = 1 + inner.width
        return bound

    def shape(self) -> tuple[object, ...]:
        return (None, *self.of.shape())

    def parts(self) -> tuple[Part, ...]:
        return Part(Presence(), None, 0), Part(Value(), self.of, 1)

    def decode(self, codes: Sequence[int], at: int) -> Readable:
        return self.of.decode(codes, at + 1) if codes[at] else None

    def encode(self, value: Readable, path: str) -> list[int]:
        return [0] * self.width if value is None else [1, *self.of.encode(value, path)]

    def number_of_values(self) -> int:
        return 1 + self.of.number_of_values()

    def values(self) -> Iterator[tuple[int, ...]]:
        yield (0,) * self.width
        yield from ((1, *codes) for codes in self.of.values())


class Absent(Domain):
    """A field of a record that is not needed under the chosen bounds and settings.

    It takes no cell. Reading it gives the first value of the domain, and assignments to it have no effect, so an action
    need not check whether the field is there. Readable states leave it out.
    """

    width = 0

    def __init__(self, of: DomainLike) -> None:
        self.of = as_domain(of)

    @staticmethod
    def unless(needed: object, of: DomainLike) -> Domain:
        """Return the domain if the field is needed, else an absent field of this domain."""
        return as_domain(of) if needed else Absent(of)

    def bind(self, bounds: BoundValues) -> Absent:
        return Absent(self.of.bind(bounds))

    def shape(self) -> tuple[object, ...]:
        return (Absent, *self.of.shape())


class Record(Domain):
    """Named fields."""

    def __init__(self, **fields: DomainLike) -> None:
        for name in fields:
            if name.startswith("_"):
                message = (
                    f"{user_frame()}: the field name {name!r} begins with an underscore; give the field another name."
                )
                raise ModelError(message)
        self.fields = {
            name: domain if isinstance(domain, Absent) else as_domain(domain) for name, domain in fields.items()
        }
        self.offsets: dict[str, int] = {}

    def bind(self, bounds: BoundValues) -> Self:
        bound = type(self)(**{name: domain.bind(bounds) for name, domain in self.fields.items()})
        at = 0
        for name, domain in bound.fields.items():
            bound.offsets[name] = at
            at += domain.width
        bound.width = at
        return bound

    @cached_property
    def present(self) -> dict[str, Domain]:
        """The fields that have cells: all but the absent ones."""
        return {name: domain for name, domain in self.fields.items() if not isinstance(domain, Absent)}

    @cached_property
    def _spans(self) -> list[tuple[str, Domain, int, int]]:
        """Name, domain, first cell and end of each field that has cells."""
        places = self.offsets
        return [(name, domain, places[name], places[name] + domain.width) for name, domain in self.present.items()]

    def without_members(self) -> Scalar | None:
        return next((one for of in self.present.values() if (one := of.without_members()) is not None), None)

    def shape(self) -> tuple[object, ...]:
        return (dict, *((name, domain.shape()) for name, domain in self.fields.items()))

    def parts(self) -> tuple[Part, ...]:
        starts = accumulate((domain.width for domain in self.present.values()), initial=0)
        return tuple(
            Part(Field(name), domain, at) for (name, domain), at in zip(self.present.items(), starts, strict=False)
        )

    def decode(self, codes: Sequence[int], at: int) -> dict[str, Readable]:
        return {name: domain.decode(codes, at + self.offsets[name]) for name, domain in self.present.items()}

    def decode_after(self, codes: Sequence[int], at: int, former: Sequence[int], value: Readable) -> Readable:
        if codes[at : at + self.width] == former[at : at + self.width]:
            return value
        after = dict(value)
        for name, domain, place, end in self._spans:
            if codes[at + place : at + end] != former[at + place : at + end]:
                after[name] = domain.decode_after(codes, at + place, former, value[name])
        return after

    def encode(self, value: Readable, path: str) -> list[int]:
        if not isinstance(value, dict) or set(value) != set(self.present):
            self._reject(value, path, f"an object with the fields {', '.join(self.present)}")
        codes: list[int] = []
        for name, domain in self.present.items():
            codes += domain.encode(value[name], Field(name).after(path))
        return codes


class State(Record):
    """The fields of a model's state."""

    def bind(self, bounds: BoundValues) -> Self:
        bound = super().bind(bounds)
        if bound.without_members() is not None:
            refuse_without_members(bound, bounds, "a state")
        return bound


def refuse_without_members(domain: Domain, bounds: BoundValues, what: str) -> NoReturn:
    """Raise ModelError for a domain that has no value because a sort has no member."""
    field = domain.without_members()
    assert isinstance(field, Member), "only members of sorts can be missing"
    sort = field.sort.__name__
    message = (
        f"{field.place}: the sort {sort} has no member under {dict(bounds)}, so a field of it has no value, and {what} "
        f"needs one. Declare it Option({sort}), or an array over {sort}, or use larger bounds."
    )
    raise ModelError(message)


MOST_CELLS = 4096
"""The largest number of cells of a state: more than any search can exhaust, and few enough to compile."""


class Array(Domain):
    """One value for each member of a sort, a range or an enumeration, or for each of a number of places.

    Attributes:
        over: the class of the indexes, or the number of places.
        of: the domain of the values.
        labels: the name of each place.
        lowest: the index of the first place.
    """

    def __init__(
        self, over: type[Index | Range | PythonEnum] | int | OpenSize, of: DomainLike, *, place: str | None = None
    ) -> None:
        given: object = over
        self.place = place or user_frame()
        kind = is_kind(given) and given is not bool
        places = isinstance(over, OpenSize) or (isinstance(over, int) and not isinstance(over, bool) and over >= 0)
        if not kind and not places:
            message = (
                f"{self.place}: Array({shown(over)}, ...): give a sort, a range, an enumeration or a number of places."
            )
            raise ModelError(message)
        self.over, self.of, self.lowest = over, as_domain(of), 0
        if isinstance(self.of, Absent):
            message = f"{self.place}: Array(..., Absent(...)): a field is absent as a whole; write Absent(Array(...))."
            raise ModelError(message)
        self.labels: list[str] = []

    def without_members(self) -> Scalar | None:
        return self.of.without_members() if self.labels else None

    def shape(self) -> tuple[object, ...]:
        return (list, tuple(self.labels), self.of.shape())

    def bind(self, bounds: BoundValues) -> Array | OpenArray:
        over = self.over
        length = number_of_members(over, bounds) if isinstance(over, type) else value_of(over, bounds)
        if is_open(length):
            lowest = value_of(over.lo, bounds) if isinstance(over, type) and issubclass(over, Range) else 0
            return OpenArray(self.over, self.of.bind(bounds), length, lowest)
        if length > MOST_CELLS:
            message = (
                f"{self.place}: an array of {length} places under {dict(bounds)} is too large: a whole state has at "
                f"most {MOST_CELLS} cells. Use smaller bounds."
            )
            raise ModelError(message)
        bound = Array(self.over, self.of.bind(bounds), place=self.place)
        if not isinstance(over, type):
            bound.labels = [str(i) for i in range(length)]
        else:
            bound.labels = [label_of(member) for member in members_of(over, bounds)]
            if issubclass(over, Range):
                bound.lowest = value_of(over.lo, bounds)
        bound.width = len(bound.labels) * bound.of.width
        return bound

    def members(self) -> list[Parameter]:
        """Return the indexes of a bound array, in order."""
        if isinstance(self.over, type) and issubclass(self.over, PythonEnum):
            return list(self.over)
        numbers = range(self.lowest, self.lowest + len(self.labels))
        return (
            [self.over(n) for n in numbers]
            if isinstance(self.over, type) and issubclass(self.over, Index)
            else [*numbers]
        )

    def parts(self) -> tuple[Part, ...]:
        width = self.of.width
        return tuple(Part(Element(place, label), self.of, place * width) for place, label in enumerate(self.labels))

    def decode(self, codes: Sequence[int], at: int) -> Readable:
        values = [self.of.decode(codes, at + i * self.of.width) for i in range(len(self.labels))]
        return values if isinstance(self.over, int) else dict(zip(self.labels, values, strict=True))

    def decode_after(self, codes: Sequence[int], at: int, former: Sequence[int], value: Readable) -> Readable:
        if codes[at : at + self.width] == former[at : at + self.width]:
            return value
        listed = isinstance(self.over, int)
        after: Any = [*value] if listed else dict(value)
        places: Iterable[Any] = range(len(self.labels)) if listed else self.labels
        width = self.of.width
        for place, begin in zip(places, range(at, at + self.width, width), strict=True):
            if codes[begin : begin + width] != former[begin : begin + width]:
                after[place] = self.of.decode_after(codes, begin, former, value[place])
        return after

    def encode(self, value: Readable, path: str) -> list[int]:
        if isinstance(self.over, int):
            if not isinstance(value, list) or len(value) != len(self.labels):
                self._reject(value, path, f"a list of {len(self.labels)} values")
            values = value
        else:
            if not isinstance(value, dict) or set(value) != set(self.labels):
                self._reject(value, path, f"an object with the members {', '.join(self.labels)}")
            values = [value[label] for label in self.labels]
        codes: list[int] = []
        for label, one in zip(self.labels, values, strict=True):
            codes += self.of.encode(one, f"{path}[{label}]")
        return codes


SCALARS = frozenset({Boolean, Int, Enum, Member, Set, OptionalScalar})
"""Every domain of one cell."""

DOMAINS = SCALARS | {Option, Absent, Record, State, Array, Seq, Bag, ListedSet, BitSet}
"""Every domain of a bound state. A table over domains asserts that it has a rule for each of them."""


def described(domain: Domain) -> str:
    """Return the name of a domain with its article."""
    name = name_of(domain)
    return f"an {name}" if name[0] in "AEIOU" else f"a {name}"
