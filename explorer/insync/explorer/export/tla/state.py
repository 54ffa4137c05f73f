"""The state in TLA+: the place of each cell in records and functions, and the value of a field from its cells.

A record is a record, and an array a function over its index. An optional record has one more field: whether it is
present. A sequence, a bag or a set of bounded size is its length and its places, as it is stored. A set with a cell for
each value is a function from values to BOOLEAN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from insync.explorer.export.tla.terms import Form, Term, Terms
from insync.explorer.export.tla.values import Kind, Kinds, What
from insync.model.domains import composite as d
from insync.model.domains.containers import Listed
from insync.model.domains.domain import Element, Field, Holds, Length, Presence, Value
from insync.model.domains.sorts import Index

__all__ = ["THERE", "Axis", "PathStep", "PlacedCell", "Shapes"]

THERE = "there"
"""The field of an optional record that is TRUE if it is present."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The domain of the function that stands for an array.

    Attributes:
        kind: the kind of the arguments of the function.
        literals: for a set with a cell for each value, these values; else empty.
        variable: the preferred name of a variable over it.
    """

    kind: Kind
    literals: tuple[Term, ...] = ()
    variable: str = "i"

    def __len__(self) -> int:
        return len(self.literals) or self.kind.size

    def argument(self, terms: Terms, place: int) -> Term:
        """Return the argument for a place."""
        return self.literals[place] if self.literals else self.kind.literal(terms, place)

    def extent(self, terms: Terms) -> Term:
        """Return the set of all arguments."""
        return terms.set_of(self.literals) if self.literals else self.kind.extent(terms)


@dataclass(frozen=True, slots=True)
class PathStep:
    """One step on the way to a cell: a field by its name, or a place of an axis."""

    name: str = ""
    axis: Axis | None = None
    place: int = 0


@dataclass(frozen=True, slots=True)
class PlacedCell:
    """The path to a cell, and the kind of its values."""

    steps: tuple[PathStep, ...]
    kind: Kind


Leaf = Callable[[int, Kind], Term]
"""Maps the number of a cell and the kind of its values to the term of its value."""


class Shapes:
    """The cells of a state as parts of TLA+ values.

    Args:
        terms: the maker of terms.
        kinds: the kinds of values.
        state: the domain of the state.

    Attributes:
        cells: each cell, in order.
    """

    def __init__(self, terms: Terms, kinds: Kinds, state: d.State) -> None:
        self.terms, self.kinds = terms, kinds
        self._axes: dict[int, Axis] = {}
        self.cells = list(self._cells(state, ()))

    def live(self, domain: d.Domain) -> bool:
        """Return whether a domain has more than one value; the others are left out of the module."""
        return any(leaf.size > 1 for leaf in domain.leaves())

    def cells_of(self, domain: d.Domain) -> list[PlacedCell]:
        """Return the cells of a part of the state with their paths in it."""
        return list(self._cells(domain, ()))

    def value(self, domain: d.Domain, at: int, leaf: Leaf) -> Term:
        """Return the value of a domain whose first cell is `at`."""
        return _VALUES[type(domain)](self, domain, at, leaf)

    def extent(self, domain: d.Domain) -> Term:
        """Return the set of the values of a domain, as a product of the sets of its parts."""
        return _EXTENTS[type(domain)](self, domain)

    # ------------------------------------------------------------------------------------------------------ cells

    def _cells(self, domain: d.Domain, steps: tuple[PathStep, ...]) -> Iterator[PlacedCell]:
        for step, _, inner in self.parts(domain):
            yield from self._cells(inner, (*steps, *step))
        if type(domain) in d.SCALARS:
            assert isinstance(domain, d.Scalar)
            yield PlacedCell(steps, self.kinds.of_scalar(domain))

    def parts(self, domain: d.Domain) -> Iterator[tuple[tuple[PathStep, ...], int, d.Domain]]:
        """Yield the steps to each part of a domain, the number of cells before it, and its domain."""
        for part in domain.parts():
            inner = part.domain or d.Boolean()
            match part.step:
                case Value():  # the fields of an optional record lie beside the one that says whether it is there
                    yield from ((steps, part.offset + offset, one) for steps, offset, one in self.parts(inner))
                case Field(name=name):
                    yield (PathStep(name),), part.offset, inner
                case Presence():
                    yield (PathStep(self.there(domain)),), part.offset, inner
                case Length():
                    yield (PathStep("length"),), part.offset, inner
                case Element(place=place) | Holds(place=place):
                    step = PathStep(axis=self.axis(domain), place=place)
                    yield (PathStep("at"), step) if isinstance(domain, Listed) else (step,), part.offset, inner

    def there(self, domain: d.Domain) -> str:
        """Return the name of the field that is TRUE if an optional record is present."""
        assert isinstance(domain, d.Option)
        fields = domain.of.fields if isinstance(domain.of, d.Record) else {}
        return next(name for name in (THERE, f"is_{THERE}", f"{THERE}_", f"{THERE}__") if name not in fields)

    def axis(self, domain: d.Domain) -> Axis:
        """Return the axis of an array or a container, the same object each time."""
        assert isinstance(domain, d.Array | Listed | d.BitSet)
        if id(domain) not in self._axes:
            self._axes[id(domain)] = self._new_axis(domain)
        return self._axes[id(domain)]

    def _new_axis(self, domain: d.Array | Listed | d.BitSet) -> Axis:
        if isinstance(domain, d.BitSet):
            texts = [self.value(domain.of, 0, self._of_codes(codes)) for codes in domain.members]
            return Axis(Kind(What.NUMBER, len(texts)), tuple(texts), "v")
        if isinstance(domain, Listed):
            return Axis(Kind(What.NUMBER, domain.most))
        over = domain.over
        if isinstance(over, int) or not isinstance(over, type):
            return Axis(Kind(What.NUMBER, len(domain.labels)))
        if issubclass(over, Index):
            return Axis(self.kinds.of_sort(over), variable=over.__name__[0].lower())
        if domain.lowest == 0 and not hasattr(over, "hi"):
            return Axis(self.kinds.of_enum(over), variable=over.__name__[0].lower())
        return Axis(Kind(What.NUMBER, len(domain.labels), low=domain.lowest))

    def _of_codes(self, codes: Sequence[int]) -> Leaf:
        return lambda number, kind: kind.literal(self.terms, codes[number])

    # ----------------------------------------------------------------------------------------------------- values

    def _scalar_value(self, domain: d.Scalar, at: int, leaf: Leaf) -> Term:
        return leaf(at, self.kinds.of_scalar(domain))

    def _record_value(self, domain: d.Record, at: int, leaf: Leaf) -> Term:
        return self._record(self._field_values(domain, at, leaf))

    def _field_values(self, domain: d.Record, at: int, leaf: Leaf) -> list[tuple[str, Term]]:
        live = [(name, inner) for name, inner in domain.fields.items() if self.live(inner)]
        return [(name, self.value(inner, at + domain.offsets[name], leaf)) for name, inner in live]

    def _record(self, values: Sequence[tuple[str, Term]]) -> Term:
        return self.terms.make(Form.RECORD, [value for _, value in values], fields=[name for name, _ in values])

    def _option_value(self, domain: d.Option, at: int, leaf: Leaf) -> Term:
        there = leaf(at, self.kinds.of_scalar(d.Boolean()))
        assert isinstance(domain.of, d.Record)
        return self._record([(self.there(domain), there), *self._field_values(domain.of, at + 1, leaf)])

    def _array_value(self, domain: d.Array, at: int, leaf: Leaf) -> Term:
        width = domain.of.width
        values = [self.value(domain.of, at + place * width, leaf) for place in range(len(domain.labels))]
        return self.function(self.axis(domain), values)

    def function(self, axis: Axis, values: Sequence[Term]) -> Term:
        """Return the function with a value for each place of an axis."""
        terms = self.terms
        places = [axis.argument(terms, place) for place in range(len(values) - 1)]
        variable = terms.variable(axis.variable, *values, *places)
        body = values[-1]
        for place, value in reversed(list(zip(places, values[:-1], strict=True))):
            body = terms.chosen(terms.infix("=", terms.variable_name(variable), place), value, body)
        return terms.binding(Form.FUNCTION, variable, axis.extent(terms), body)

    def _listed_value(self, domain: Listed, at: int, leaf: Leaf) -> Term:
        length = leaf(at, self.kinds.of_scalar(d.Int(0, domain.most)))
        places = range(domain.most)
        if not domain.most or not self.live(domain.of):
            return self._record([("length", length)])
        values = [self.value(domain.of, at + 1 + place * domain.of.width, leaf) for place in places]
        return self._record([("length", length), ("at", self.function(self.axis(domain), values))])

    def _bit_value(self, domain: d.BitSet, at: int, leaf: Leaf) -> Term:
        truth = self.kinds.of_scalar(d.Boolean())
        return self.function(self.axis(domain), [leaf(at + place, truth) for place in range(domain.width)])

    def _absent_value(self, domain: d.Absent, at: int, leaf: Leaf) -> Term:
        raise AssertionError(domain)  # never live

    # ----------------------------------------------------------------------------------------------------- extents

    def _scalar_extent(self, domain: d.Scalar) -> Term:
        return self.kinds.of_scalar(domain).extent(self.terms)

    def _fields_extent(self, domain: d.Record) -> list[tuple[str, Term]]:
        return [(name, self.extent(inner)) for name, inner in domain.fields.items() if self.live(inner)]

    def _records(self, fields: Sequence[tuple[str, Term]]) -> Term:
        return self.terms.make(Form.RECORDS, [extent for _, extent in fields], fields=[name for name, _ in fields])

    def _record_extent(self, domain: d.Record) -> Term:
        return self._records(self._fields_extent(domain))

    def _option_extent(self, domain: d.Option) -> Term:
        assert isinstance(domain.of, d.Record)
        return self._records([(self.there(domain), self.terms.name("BOOLEAN")), *self._fields_extent(domain.of)])

    def _array_extent(self, domain: d.Array) -> Term:
        return self.terms.make(Form.FUNCTIONS, (self.axis(domain).extent(self.terms), self.extent(domain.of)))

    def _listed_extent(self, domain: Listed) -> Term:
        length = ("length", self._scalar_extent(d.Int(0, domain.most)))
        if not domain.most or not self.live(domain.of):
            return self._records([length])
        places = self.terms.make(Form.FUNCTIONS, (self.axis(domain).extent(self.terms), self.extent(domain.of)))
        return self._records([length, ("at", places)])

    def _bit_extent(self, domain: d.BitSet) -> Term:
        return self.terms.make(Form.FUNCTIONS, (self.axis(domain).extent(self.terms), self.terms.name("BOOLEAN")))


_LISTED = (d.Seq, d.Bag, d.ListedSet)
_VALUES: dict[type[d.Domain], Callable[[Shapes, Any, int, Leaf], Term]] = {
    **dict.fromkeys(d.SCALARS, Shapes._scalar_value),
    **dict.fromkeys((d.Record, d.State), Shapes._record_value),
    d.Option: Shapes._option_value,
    d.Absent: Shapes._absent_value,
    d.Array: Shapes._array_value,
    **dict.fromkeys(_LISTED, Shapes._listed_value),
    d.BitSet: Shapes._bit_value,
}
_EXTENTS: dict[type[d.Domain], Callable[[Shapes, Any], Term]] = {
    **dict.fromkeys(d.SCALARS, Shapes._scalar_extent),
    **dict.fromkeys((d.Record, d.State), Shapes._record_extent),
    d.Option: Shapes._option_extent,
    d.Absent: lambda shapes, domain: shapes.terms.set_of([]),
    d.Array: Shapes._array_extent,
    **dict.fromkeys(_LISTED, Shapes._listed_extent),
    d.BitSet: Shapes._bit_extent,
}
assert set(_VALUES) == set(_EXTENTS) == d.DOMAINS
