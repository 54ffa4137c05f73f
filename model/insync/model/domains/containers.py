"""Containers: sequences, bags and sets of values of any domain.

All but `BitSet` are listed: a cell with the length, then `most` elements, those past the end all 0. The elements of a
bag or a set are sorted by their codes, compared cell by cell, so that equal values have equal codes. A `BitSet` has one
cell for each possible element, in the same order. `bind` turns a `SetOf` into a `ListedSet` or a `BitSet`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement, product
from typing import ClassVar, Self

from insync.model.domains.bounds import BoundTerm, BoundValues, is_whole, value_of
from insync.model.domains.domain import Domain, DomainLike, Element, Holds, Length, Part, Readable, plain
from insync.model.domains.scalars import Int, as_domain, name_of
from insync.runtime.errors import ModelError, user_frame

__all__ = ["MOST_BITS", "Bag", "BitSet", "Listed", "ListedSet", "Seq", "SetOf"]

MOST_BITS = 1024
"""The most values of a domain for a `SetOf` without `most`; for a larger domain an author must give `most`."""


def _element(called: str, of: DomainLike) -> Domain:
    element = as_domain(of)
    if name_of(element) == "Absent":
        message = f"{user_frame()}: {called}(Absent(...)): a field is absent as a whole; write Absent({called}(...))."
        raise ModelError(message)
    return element


def _checked(domain: Listed | SetOf, most: object, place: str) -> int:
    """Check the largest number of elements of a container and return it."""
    if not is_whole(most) or most < 0:
        message = (
            f"{place}: {domain.called}({name_of(domain.of)}, {most!r}): the second argument must be a whole "
            f"number, of the elements that there can be at once."
        )
        raise ModelError(message)
    return most


def _with_cells(domain: Listed | SetOf, element: Domain, bounds: BoundValues) -> Domain:
    """Return the bound domain of the elements of a container.

    Raises:
        ModelError: they have no cell.
    """
    if not element.width:
        message = (
            f"{domain.place}: the elements of this {domain.called} have no cell under {dict(bounds)}, so all of them "
            f"are the same. Count them by an Int, or use larger bounds."
        )
        raise ModelError(message)
    return element


class Listed(Domain):
    """A container that stores its length and its elements one after another.

    Attributes:
        of: the domain of the elements.
        most: the largest number of elements.
        sizes: the number of codes of each cell of an element, after `bind`.
    """

    called: ClassVar[str]
    order: ClassVar[str] = ""

    most: int

    def __init__(self, of: DomainLike, most: int | BoundTerm) -> None:
        self.of, self.given, self.place = _element(self.called, of), most, user_frame()
        self.sizes: tuple[int, ...] = ()
        if not isinstance(most, BoundTerm):
            self.most = _checked(self, most, self.place)

    def bind(self, bounds: BoundValues) -> Domain:
        most = _checked(self, value_of(self.given, bounds), self.place)
        return self.bound_to(_with_cells(self, self.of.bind(bounds), bounds), most)

    @classmethod
    def bound_to(cls, of: Domain, most: int) -> Self:
        """Return the bound domain of at most `most` elements of a bound domain; none where that has no value."""
        bound = cls(of, most if of.without_members() is None else 0)
        bound.sizes = tuple(size for _, size in of.cells(""))
        bound.width = 1 + bound.most * of.width
        return bound

    def shape(self) -> tuple[object, ...]:
        return (type(self), self.most, *self.of.shape())

    def parts(self) -> tuple[Part, ...]:
        width = self.of.width
        elements = (Part(Element(place, str(place)), self.of, 1 + place * width) for place in range(self.most))
        return Part(Length(), Int(0, self.most, place=self.place), 0), *elements

    def decode(self, codes: Sequence[int], at: int) -> list[Readable]:
        width = self.of.width
        return [self.of.decode(codes, at + 1 + place * width) for place in range(codes[at])]

    def encode(self, value: Readable, path: str) -> list[int]:
        if not isinstance(value, list) or len(value) > self.most:
            self._reject(value, path, f"a list of at most {self.most} values")
        rows = [tuple(self.of.encode(one, f"{path}[{place}]")) for place, one in enumerate(value)]
        if rows != self.arranged(rows):
            self._reject(value, path, f"a list {self.order}, as {self._decoded(self.arranged(rows))!r}")
        padding = [0] * ((self.most - len(rows)) * self.of.width)
        return [len(rows), *(code for row in rows for code in row), *padding]

    def canonical(self, elements: Sequence[Readable]) -> list[Readable]:
        """Return the readable value with these elements."""
        return self._decoded(self.arranged([tuple(self.of.encode(one, "")) for one in elements]))

    def _decoded(self, rows: Sequence[tuple[int, ...]]) -> list[Readable]:
        return [self.of.decode(row, 0) for row in rows]

    def arranged(self, rows: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Return the codes of elements in the order in which they are stored."""
        return list(rows)

    def choices(self, length: int) -> Iterator[tuple[tuple[int, ...], ...]]:
        """Yield, in ascending order, every choice of `length` elements as they are stored."""
        return product(self.of.values(), repeat=length)

    def values(self) -> Iterator[tuple[int, ...]]:
        for length in range(self.most + 1):
            padding = (0,) * ((self.most - length) * self.of.width)
            for rows in self.choices(length):
                yield (length, *(code for row in rows for code in row), *padding)


class Seq(Listed):
    """A sequence of at most `most` values, such as a channel that keeps the order, or a log."""

    called = "Seq"

    def number_of_values(self) -> int:
        each = self.of.number_of_values()
        return sum(each**length for length in range(self.most + 1))


class SetOf(Domain):
    """A set of values of any domain.

    Args:
        of: the domain of the elements.
        most: the most elements at once; None for any number, if the domain has at most `MOST_BITS` values.
    """

    called: ClassVar[str] = "SetOf"

    def __init__(self, of: DomainLike, most: int | BoundTerm | None = None) -> None:
        self.of, self.most, self.place = _element(self.called, of), most, user_frame()
        if most is not None and not isinstance(most, BoundTerm):
            _checked(self, most, self.place)

    def bind(self, bounds: BoundValues) -> Domain:
        element = self.of.bind(bounds)
        if self.most is not None:
            most = _checked(self, value_of(self.most, bounds), self.place)
            return ListedSet.bound_to(_with_cells(self, element, bounds), most)
        number = element.number_of_values()
        if number > MOST_BITS:
            named = name_of(self.of)
            message = (
                f"{self.place}: SetOf({named}) ranges over {number} values under {dict(bounds)}, and at most "
                f"{MOST_BITS} are possible. Say how many can be in it at once, as in SetOf({named}, 8), or use smaller "
                f"bounds."
            )
            raise ModelError(message)
        return BitSet(element)


class ListedSet(Listed):
    """A set of at most `most` values, stored as a sorted list."""

    called = "SetOf"
    order = "in ascending order, each value once"

    def arranged(self, rows: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        return sorted(set(rows))

    def choices(self, length: int) -> Iterator[tuple[tuple[int, ...], ...]]:
        return combinations(self.of.values(), length)

    def number_of_values(self) -> int:
        total, ways, each = 0, 1, self.of.number_of_values()
        for length in range(self.most + 1):
            total += ways
            ways = ways * max(each - length, 0) // (length + 1)
        return total


class BitSet(Domain):
    """A set with one cell for each possible element.

    Args:
        of: the bound domain of the elements.

    Attributes:
        members: the codes of each possible element, in order.
        number_of: the number of the cell of an element, by its codes.
        texts: the text of each possible element.
    """

    called: ClassVar[str] = "SetOf"

    def __init__(self, of: Domain) -> None:
        self.of, self.members = of, list(of.values())
        self.number_of = {codes: number for number, codes in enumerate(self.members)}
        self.texts = [plain(of.decode(codes, 0)) for codes in self.members]
        self.width = len(self.members)

    def bind(self, bounds: BoundValues) -> Domain:
        return self

    def shape(self) -> tuple[object, ...]:
        return (BitSet, *self.of.shape())

    def parts(self) -> tuple[Part, ...]:
        return tuple(Part(Holds(place, text), None, place) for place, text in enumerate(self.texts))

    def decode(self, codes: Sequence[int], at: int) -> list[Readable]:
        return [self.of.decode(member, 0) for number, member in enumerate(self.members) if codes[at + number]]

    def encode(self, value: Readable, path: str) -> list[int]:
        if not isinstance(value, list):
            self._reject(value, path, "a list of values")
        rows = [tuple(self.of.encode(one, f"{path}[{place}]")) for place, one in enumerate(value)]
        arranged = sorted(set(rows))
        if rows != arranged:
            shown = [self.of.decode(row, 0) for row in arranged]
            self._reject(value, path, f"a list {ListedSet.order}, as {shown!r}")
        codes = [0] * self.width
        for row in rows:
            codes[self.number_of[row]] = 1
        return codes


class Bag(Listed):
    """A bag (multiset) of at most `most` values: it matters how often a value occurs, and not in which order."""

    called = "Bag"
    order = "in ascending order"

    def arranged(self, rows: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        return sorted(rows)

    def choices(self, length: int) -> Iterator[tuple[tuple[int, ...], ...]]:
        return combinations_with_replacement(self.of.values(), length)

    def number_of_values(self) -> int:
        total, ways, each = 0, 1, self.of.number_of_values()
        for length in range(self.most + 1):
            total += ways
            ways = ways * (each + length) // (length + 1)
        return total
