"""The values of one cell in TLA+: numbers, named or not, truth values, sets, and sets of at most one value.

Codes begin with 0 and values need not, so a code and its value differ by a constant. `Linear` keeps this constant apart
from the term, so that `epoch + 1 = new + 1` becomes `epoch = new`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from enum import Enum as PythonEnum
from typing import Any

from insync.explorer.export.tla.terms import Form, Term, Terms
from insync.model.domains import composite as d
from insync.model.domains.bounds import BoundValues
from insync.model.domains.sorts import Index, Subset

__all__ = ["PLAIN", "PLAIN_SET", "UNKNOWN", "Kind", "Kinds", "Linear", "What", "aligned", "calculated"]


UNKNOWN = "?"
"""Stands for a set of members that could not be determined."""

NONE = "None"
"""The name of the absent value of an optional number or member."""


class What(Enum):
    """The forms in which values are written."""

    NUMBER = "number"
    TRUTH = "truth"
    SET = "set"
    SOME = "some"  # a set of at most one value: an option of something else than a number


@dataclass(frozen=True, slots=True)
class Kind:
    """The values of a cell.

    Attributes:
        what: the form in which they are written.
        size: the number of values.
        low: of numbers, the one with code 0.
        names: the names of the numbers from `low` on; empty if they have none.
        of: the kind of the members of a set, or of the value of an option.
        called: the name of the set of all values, if it has one.
        optional: whether the first value stands for absence.
    """

    what: What
    size: int
    low: int = 0
    names: tuple[str, ...] = ()
    of: Kind | None = None
    called: str = ""
    optional: bool = False

    @property
    def members_of(self) -> str:
        """The name of the set that the numbers, other than an absent one, are members of; empty for plain numbers."""
        return self.called or (self.of.called if self.optional and self.of is not None else "")

    def literal(self, terms: Terms, code: int) -> Term:
        """Return the value with a code."""
        if self.what is What.NUMBER:
            return self.number(terms, code + self.low)
        if self.what is What.TRUTH:
            return terms.truth(bool(code))
        assert self.of is not None
        if self.what is What.SOME:
            return terms.set_of([self.of.literal(terms, code - 1)] if code else [])
        if code and self.of is PLAIN:
            terms.calculated.add(UNKNOWN)
        return terms.set_of([self.of.literal(terms, i) for i in range(code.bit_length()) if code >> i & 1])

    def number(self, terms: Terms, value: int) -> Term:
        """Return a number, by its name if it has one."""
        place = value - self.low
        named = 0 <= place < len(self.names) and re.fullmatch(r"[A-Za-z]\w*", self.names[place])
        return terms.name(self.names[place]) if named else terms.number(value)

    def extent(self, terms: Terms) -> Term:
        """Return the set of all values."""
        if self.called:
            return terms.name(self.called)
        if self.what is What.TRUTH:
            return terms.name("BOOLEAN")
        if self.what is What.SET:
            assert self.of is not None
            return terms.call("SUBSET", self.of.extent(terms))
        if self.what is What.SOME:
            assert self.of is not None
            whole = self.of.extent(terms)
            variable = terms.variable("x", whole)
            singles = terms.make(Form.MAP, (whole, terms.set_of([terms.variable_name(variable)])), variable)
            return terms.infix("\\cup", singles, terms.set_of([terms.set_of([])]))
        if self.optional:
            assert self.of is not None
            return terms.infix("\\cup", self.of.extent(terms), terms.set_of([self.literal(terms, 0)]))
        return terms.infix("..", terms.number(self.low), terms.number(self.low + self.size - 1))

    def holding(self, of: Kind) -> Kind:
        """Return this kind of sets, with members of another kind."""
        return replace(self, of=of, called="")


PLAIN = Kind(What.NUMBER, 0)
"""Plain numbers: the code is the value."""

PLAIN_SET = Kind(What.SET, 0, of=PLAIN)
"""Sets of plain numbers."""


class Kinds:
    """The kinds of a model's cells, and the sorts and enumerations that occur in them.

    Args:
        bounds: the bounds of the model.
        name: maps a thing and the wanted name to a unique name of the module.

    Attributes:
        named: the names of the members of each sort or enumeration, by the name of its set.
        sorts: the sorts among these.
    """

    def __init__(self, bounds: BoundValues, name: Callable[[object, str], str]) -> None:
        self._bounds, self._name = bounds, name
        self.named: dict[str, tuple[str, ...]] = {}
        self.sorts: dict[str, type[Index]] = {}

    def of_scalar(self, domain: d.Scalar) -> Kind:
        """Return the kind of a domain of one cell."""
        return _KINDS[type(domain)](self, domain)

    def of_sort(self, sort: type[Index]) -> Kind:
        """Return the kind of the members of a sort."""
        size = sort.size(self._bounds)
        if issubclass(sort, Subset):
            return Kind(What.SET, size, of=self.of_sort(sort.of))
        called = self._name(sort, sort.__name__)
        self.sorts[called] = sort
        labels = [sort.show(number) for number in range(size)]
        return self._named(called, sort, labels)

    def of_enum(self, kind: type[PythonEnum]) -> Kind:
        """Return the kind of the members of an enumeration."""
        return self._named(self._name(kind, kind.__name__), kind, [member.name for member in kind])

    def _named(self, called: str, whose: type, labels: list[str]) -> Kind:
        names = tuple(
            self._name((whose, label), label) if re.fullmatch(r"[A-Za-z]\w*", label) else label for label in labels
        )
        self.named[called] = names
        return Kind(What.NUMBER, len(names), names=names, called=called)

    def _boolean(self, domain: d.Boolean) -> Kind:
        return Kind(What.TRUTH, 2)

    def _int(self, domain: d.Int) -> Kind:
        return Kind(What.NUMBER, domain.size, low=domain.lo)

    def _enum(self, domain: d.Enum) -> Kind:
        return self.of_enum(domain.kind)

    def _member(self, domain: d.Member) -> Kind:
        return self.of_sort(domain.sort)

    def _set(self, domain: d.Set) -> Kind:
        return Kind(What.SET, domain.size, of=self.of_scalar(domain.of))

    def _option(self, domain: d.OptionalScalar) -> Kind:
        of = self.of_scalar(domain.of)
        if of.what is not What.NUMBER:
            return Kind(What.SOME, domain.size, of=of)
        none = NONE if of.low == 0 else ""
        return Kind(What.NUMBER, domain.size, low=of.low - 1, names=(none, *of.names), of=of, optional=True)


_KINDS: dict[type[d.Scalar], Callable[[Kinds, Any], Kind]] = {
    d.Boolean: Kinds._boolean,
    d.Int: Kinds._int,
    d.Enum: Kinds._enum,
    d.Member: Kinds._member,
    d.Set: Kinds._set,
    d.OptionalScalar: Kinds._option,
}
assert set(_KINDS) == d.SCALARS


# Linear terms.


@dataclass(frozen=True, slots=True)
class Linear:
    """A number: a term plus a constant, or the constant alone.

    Attributes:
        term: the term, if any.
        more: the constant.
        kind: the kind of the values of the term, if known.
    """

    term: Term | None
    more: int
    kind: Kind | None = None

    def written(self, terms: Terms, more: int = 0, kind: Kind | None = None) -> Term:
        """Return this number plus `more` as one term; a constant is written by its name in `kind`."""
        if self.term is not None:
            if self.more + more and self.kind is not None:
                terms.calculated.add(self.kind.members_of)
            return terms.shifted(self.term, self.more + more)
        value = self.more + more
        return terms.number(value) if kind is None else kind.number(terms, value)


def aligned(terms: Terms, a: Linear, b: Linear, *, named: bool) -> tuple[Term, Term, int, Kind | None]:
    """Return two numbers as terms, the constant to be added to both, and the kind of both if they have one.

    Args:
        terms: the maker of terms.
        a: one number.
        b: the other.
        named: whether a constant is written by its name.
    """
    if a.term is None and b.term is None:
        return terms.number(a.more), terms.number(b.more), 0, None
    if a.term is None:
        second, first, more, kind = aligned(terms, b, a, named=named)
        return first, second, more, kind
    kind = a.kind if b.term is None else _kind_of_both(terms, a, b)
    return a.term, b.written(terms, -a.more, a.kind if named else None), a.more, kind


def _kind_of_both(terms: Terms, a: Linear, b: Linear) -> Kind | None:
    """Return the kind of two numbers; if they are members of different sets, note that these must stay numbers."""
    if a.kind is None or b.kind is None or a.kind.members_of != b.kind.members_of:
        calculated(terms, a, b)
        return None
    return b.kind if b.kind.optional else a.kind


def calculated(terms: Terms, *numbers: Linear) -> None:
    """Note that numbers are used in arithmetic, so that members of their sets must stay numbers."""
    terms.calculated.update(one.kind.members_of for one in numbers if one.kind is not None)
