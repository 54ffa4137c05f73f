"""The symmetry group of a state: permutations of the members of scalarsets (Ip and Dill 1996), and their action.

A cell may lie at members of a sort, and its code may name members. A permutation moves such cells and maps such codes:
it permutes the elements of an `Array(Sort, ...)` and maps the value of a `Member(Sort)` and the bits of a `Set(Sort)`.
In options and containers it maps what they hold, and bags and sets are sorted again. `Families` finds these cells.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from insync.model.domains import composite as d
from insync.model.domains.bounds import BoundValues
from insync.model.domains.containers import BitSet, Listed
from insync.model.domains.scalars import name_of
from insync.model.domains.sorts import Index, Subset
from insync.runtime.errors import ModelError

__all__ = [
    "Arranged",
    "Families",
    "Family",
    "Kind",
    "Permutation",
    "Symmetry",
    "permuted_value",
    "symmetry_of",
]


Permutation = tuple[tuple[int, ...], ...]
"""For each symmetric sort, by its number, the image of each of its members."""


@dataclass(frozen=True)
class Symmetry:
    """The group of all permutations of some sorts, and its action on a state.

    Attributes:
        sorts: the symmetric sorts of the state.
        sizes: the number of members of each.
        families: all cells that move, or whose codes are mapped.
        arranged: the containers whose elements are sorted afterwards, inner ones first.
    """

    sorts: tuple[type[Index], ...]
    sizes: tuple[int, ...]
    families: tuple[Family, ...]
    arranged: tuple[Arranged, ...] = ()

    @property
    def order(self) -> int:
        """The number of permutations."""
        return math.prod(map(math.factorial, self.sizes))

    @cached_property
    def relational(self) -> tuple[int, ...]:
        """The sorts whose members the state relates to others. Of other sorts it has one column per member."""
        found: set[int] = set()
        for family in self.families:
            placed = any(place.height for place in family.places)
            named = family.value is not None and family.value.height > 1
            subset = family.value is not None and family.value.height == 1 and family.places
            within = family.guards or not self.in_order.isdisjoint(family.cells)
            if len(family.sorts) > 1 or placed or named or subset or within:
                found.update(family.sorts)
        return tuple(sorted(found))

    @cached_property
    def in_order(self) -> frozenset[int]:
        """The cells of elements that are sorted."""
        return frozenset(cell for group in self.arranged for rows in group.rows for row in rows for cell in row)

    def size(self, kind: Kind) -> int:
        """Return the number of members, or of sets, that a kind can name."""
        count = self.sizes[kind.sort]
        for _ in range(kind.height):
            count = 1 << count
        return count

    def indices(self, places: Sequence[Kind]) -> Iterator[tuple[int, ...]]:
        """Yield the place of each cell of a family with these places, in the order of its cells."""
        return itertools.product(*[range(self.size(place)) for place in places])

    def generators(self) -> Iterator[Permutation]:
        """Yield generators of the group: for each sort the swap of the first two members, and the cycle."""
        for number, size in enumerate(self.sizes):
            ordered = list(range(size))
            moves = [[1, 0, *ordered[2:]], [*ordered[1:], 0]][: size - 1]
            for moved in moves:
                yield tuple(tuple(moved) if n == number else tuple(range(s)) for n, s in enumerate(self.sizes))

    def permutations(self, numbers: Sequence[int] | None = None) -> Iterator[Permutation]:
        """Yield the permutations of some sorts that leave the others as they are; None is all sorts."""
        moved = range(len(self.sizes)) if numbers is None else numbers
        parts = [
            itertools.permutations(range(size)) if number in moved else (tuple(range(size)),)
            for number, size in enumerate(self.sizes)
        ]
        return itertools.product(*parts)

    def image(self, codes: Sequence[int], permutation: Permutation) -> tuple[int, ...]:
        """Return the codes of a permuted state."""
        moved = list(codes)
        for family in self.families:
            for i, (cell, to) in enumerate(zip(family.cells, self.destinations(family, permutation), strict=True)):
                there = not family.guards or codes[family.guards[i]] > family.above
                kind = family.value if there else None
                moved[to] = codes[cell] if kind is None else permuted_value(kind, codes[cell], permutation)
        for group in self.arranged:
            group.arrange(moved)
        return tuple(moved)

    def destinations(self, family: Family, permutation: Permutation) -> list[int]:
        """Return for each cell of a family the cell that its code moves to."""
        numbers = dict(zip(self.indices(family.places), family.cells, strict=True))
        return [
            numbers[tuple(permuted_value(p, i, permutation) for p, i in zip(family.places, index, strict=True))]
            for index in numbers
        ]


def permuted_value(kind: Kind, number: int, permutation: Permutation) -> int:
    """Return the image of a number that names members."""
    named = number - kind.offset
    if named < 0:
        return number
    return kind.offset + _moved(permutation[kind.sort], kind.height, named)


def _moved(members: tuple[int, ...], height: int, named: int) -> int:
    if not height:
        return members[named] if named < len(members) else named
    return sum(1 << _moved(members, height - 1, bit) for bit in range(named.bit_length()) if named >> bit & 1)


def symmetry_of(state: d.State, bounds: BoundValues, permuted: Container[type[Index]] | None = None) -> Symmetry | None:
    """Return the symmetry of a state; None if it has no symmetric sort with at least two members.

    Args:
        state: the bound domain of the state.
        bounds: the bounds of the model.
        permuted: the sorts whose members are permuted; None for those that are declared symmetric.

    Raises:
        ModelError: a symmetric sort is used where a permutation of its members has no meaning yet.
    """
    found = Families(bounds, permuted)
    if not any(map(found.permutes, _sorts_in(state))):
        return None
    parts = found.of(state, "")
    if not found.sorts:
        return None
    sorts = tuple(found.sorts)
    moving = tuple(part for part in parts if isinstance(part, Family) and part.sorts)
    arranged = tuple(part for part in parts if isinstance(part, Arranged))
    return Symmetry(sorts, tuple(sort.size(bounds) for sort in sorts), moving, arranged)


# ------------------------------------------------------------------------------------------------------ orbits of cells
#
# A cell may lie at members (`replica[b1].hw`), and its code may name some (a leader, an ISR). Cells that differ only in
# the members they lie at are an orbit, a `Family`. A cell past the end of a container, or in a record that is none,
# names nobody; the guards of a family determine whether its cells are present. A permutation does not keep the order of
# the elements of a bag or a set; an `Arranged` has the cells to sort again.


@dataclass(frozen=True, slots=True)
class Kind:
    """The way in which a number names members of a symmetric sort.

    Attributes:
        sort: the number of the sort.
        height: 0 for a member, 1 for a set of members as a mask, 2 for a set of such sets, ...
        offset: the number that stands for member 0, or for the empty set; lower numbers name nobody.
    """

    sort: int
    height: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Family:
    """An orbit of cells: they differ only in the members they lie at.

    Attributes:
        places: the kinds of members that the cells lie at, the outermost first.
        cells: the numbers of the cells, for all values of the places, the last place varying fastest.
        value: the kind of members that their codes name; None where they name nobody.
        guards: for each cell the cell that determines whether it is present; empty if all are always present.
        above: a cell is present where the code of its guard is above this number.
    """

    places: tuple[Kind, ...]
    cells: tuple[int, ...]
    value: Kind | None
    guards: tuple[int, ...] = ()
    above: int = 0

    @property
    def sorts(self) -> tuple[int, ...]:
        """The sort of each of its places, and that of its value; one that occurs twice is there twice."""
        return tuple(kind.sort for kind in (*self.places, *([self.value] if self.value else ())))

    def shifted(self, by: int) -> Family:
        """Return this orbit with its cell numbers shifted by `by`."""
        return Family(self.places, _shifted(self.cells, by), self.value, _shifted(self.guards, by), self.above)

    def at(self, kind: Kind, length: int, width: int) -> Family:
        """Return this orbit inside an array over a symmetric sort, whose elements have `width` cells."""
        starts = range(0, length * width, width)
        cells, guards = (tuple(s + c for s in starts for c in given) for given in (self.cells, self.guards))
        return Family((kind, *self.places), cells, self.value, guards, self.above)

    def guarded(self, guard: int, above: int) -> Family:
        """Return this orbit guarded by a cell; an existing guard, which is an inner one, is kept."""
        if self.value is None or self.guards:
            return self
        return Family(self.places, self.cells, self.value, (guard,) * len(self.cells), above)


@dataclass(frozen=True, slots=True)
class Arranged:
    """An orbit of sorted containers: they differ only in the members they lie at.

    Attributes:
        places: the kinds of members that they lie at, as of a family.
        lengths: for all values of the places, the cell of the number of elements.
        rows: for all values of the places, the cells of each element.
        once: whether elements are distinct, as in a set.
    """

    places: tuple[Kind, ...]
    lengths: tuple[int, ...]
    rows: tuple[tuple[tuple[int, ...], ...], ...]
    once: bool

    @property
    def sorts(self) -> tuple[int, ...]:
        """The sorts of its places."""
        return tuple(kind.sort for kind in self.places)

    def shifted(self, by: int) -> Arranged:
        """Return this orbit with its cell numbers shifted by `by`."""
        rows = tuple(tuple(_shifted(row, by) for row in own) for own in self.rows)
        return Arranged(self.places, _shifted(self.lengths, by), rows, self.once)

    def at(self, kind: Kind, length: int, width: int) -> Arranged:
        """Return this orbit inside an array over a symmetric sort, whose elements have `width` cells."""
        each = [self.shifted(i * width) for i in range(length)]
        lengths = tuple(cell for one in each for cell in one.lengths)
        return Arranged((kind, *self.places), lengths, tuple(own for one in each for own in one.rows), self.once)

    def guarded(self, guard: int, above: int) -> Arranged:
        """Return this orbit: it needs no guard, as the length of an absent container is 0."""
        return self

    def arrange(self, codes: list[int]) -> None:
        """Sort the elements in place."""
        for length, rows in zip(self.lengths, self.rows, strict=True):
            elements = sorted(tuple(codes[cell] for cell in row) for row in rows[: codes[length]])
            if self.once:
                elements = list(dict.fromkeys(elements))
            codes[length] = len(elements)
            for row, element in itertools.zip_longest(rows, elements, fillvalue=(0,) * len(rows[0])):
                for cell, code in zip(row, element, strict=True):
                    codes[cell] = code


Part = Family | Arranged


def _shifted(cells: tuple[int, ...], by: int) -> tuple[int, ...]:
    return tuple([cell + by for cell in cells]) if by else cells


class Families:
    """Finds the orbits of cells and of sorted containers in a bound domain.

    Args:
        bounds: the bounds of the model; a sort that has one member under them has nothing to permute.
        permuted: the sorts whose members are permuted; None for those that are declared symmetric.

    Attributes:
        sorts: the symmetric sorts found so far, with their numbers.
    """

    def __init__(self, bounds: BoundValues, permuted: Container[type[Index]] | None = None) -> None:
        self._bounds, self._permuted = bounds, permuted
        self.sorts: dict[type[Index], int] = {}

    def of(self, domain: d.Domain, path: str) -> list[Part]:
        """Return the orbits of a domain whose first cell is number 0, inner ones first, also those without members.

        Raises:
            ModelError: a symmetric sort is used where a permutation of its members has no meaning yet.
        """
        return _RULES[type(domain)](self, domain, path)

    def _size(self, kind: Kind) -> int:
        count: int = next(sort for sort, number in self.sorts.items() if number == kind.sort).size(self._bounds)
        for _ in range(kind.height):
            count = 1 << count
        return count

    def permutes(self, sort: object) -> bool:
        """Return whether the members of a sort are permuted."""
        if not (isinstance(sort, type) and issubclass(sort, Index)) or sort.size(self._bounds) < 2:
            return False
        return sort.symmetric if self._permuted is None else sort in self._permuted

    def _kind(self, sort: object) -> Kind | None:
        """Return the kind of the numbers of a sort; None if they name no members of a symmetric sort."""
        of, height = _without_subsets(sort)
        return Kind(self.sorts.setdefault(of, len(self.sorts)), height) if self.permutes(of) else None

    def plain(self, domain: d.Domain, path: str) -> list[Part]:
        return [Family((), (0,), None)]

    def member(self, domain: d.Member, path: str) -> list[Part]:
        return [Family((), (0,), self._kind(domain.sort))]

    def set(self, domain: d.Set, path: str) -> list[Part]:
        kind = self._kind(domain.of.sort)
        return [Family((), (0,), replace(kind, height=kind.height + 1) if kind else None)]

    def optional(self, domain: d.OptionalScalar, path: str) -> list[Part]:
        (inner,) = self.of(domain.of, path)
        assert isinstance(inner, Family)
        value = inner.value
        return [replace(inner, value=replace(value, offset=value.offset + 1) if value else None)]

    def option(self, domain: d.Option, path: str) -> list[Part]:
        return [Family((), (0,), None), *(part.shifted(1).guarded(0, 0) for part in self.of(domain.of, path))]

    def absent(self, domain: d.Absent, path: str) -> list[Part]:
        return []

    def record(self, domain: d.Record, path: str) -> list[Part]:
        found: list[Part] = []
        for name, field in domain.fields.items():
            found += [p.shifted(domain.offsets[name]) for p in self.of(field, f"{path}.{name}".lstrip("."))]
        return found

    def array(self, domain: d.Array, path: str) -> list[Part]:
        length, width = len(domain.labels), domain.of.width
        inner = self.of(domain.of, f"{path}[...]") if length else []
        if not inner:  # it has no cells, so it names no member
            return []
        kind = self._kind(domain.over)
        if kind is None:
            return [part.shifted(i * width) for i in range(length) for part in inner]
        return [part.at(kind, length, width) for part in inner]

    def listed(self, domain: Listed, path: str) -> list[Part]:
        """Return the orbits of the length and the elements; those of a bag or a set are also sorted."""
        width, inner = domain.of.width, self.of(domain.of, f"{path}[...]") if domain.most else []
        starts = range(1, 1 + domain.most * width, width) if width else range(0)
        found: list[Part] = [Family((), (0,), None)]
        for place, start in enumerate(starts):
            found += [part.shifted(start).guarded(0, place) for part in inner]
        if any(part.sorts for part in inner) and domain.most and not isinstance(domain, d.Seq):
            rows = tuple(tuple(range(start, start + width)) for start in starts)
            found.append(Arranged((), (0,), (rows,), once=isinstance(domain, d.ListedSet)))
        return found

    def bit_set(self, domain: BitSet, path: str) -> list[Part]:
        """Return the orbits of the cells: the cell of a possible element lies at the members that the element names."""
        inner = self.of(domain.of, f"{path}{{...}}") if domain.members else []
        families = [part for part in inner if isinstance(part, Family)]
        if any(family.places for family in families):
            message = (
                f"{path}: a SetOf of values with an array over a symmetric sort in them has cells that symmetry cannot "
                f"permute; say how many can be in it at once, as in SetOf({name_of(domain.of)}, 8), or take "
                f"symmetric=True off the sort."
            )
            raise ModelError(message)
        arranged = [part for part in inner if isinstance(part, Arranged)]
        alike = dict.fromkeys(_named(families, codes) for codes in domain.members)
        return [self._like(domain, arranged, like) for like in alike]

    def _like(self, domain: BitSet, arranged: Sequence[Arranged], like: Sequence[int | Kind]) -> Family:
        """Return the orbit of the elements that differ only in the members they name; a cell may occur repeatedly."""
        kinds = {cell: kind for cell, kind in enumerate(like) if isinstance(kind, Kind)}
        cells = []
        for index in itertools.product(*[range(self._size(kind)) for kind in kinds.values()]):
            codes = [0 if isinstance(code, Kind) else code for code in like]
            for (cell, kind), named in zip(kinds.items(), index, strict=True):
                codes[cell] = kind.offset + named
            for one in arranged:
                one.arrange(codes)
            cells.append(domain.number_of[tuple(codes)])
        return Family(tuple(replace(kind, offset=0) for kind in kinds.values()), tuple(cells), None)


def _without_subsets(sort: Any) -> tuple[Any, int]:
    """Return the sort whose members a sort of sets is made of, and how often sets are of sets."""
    height = 0
    while isinstance(sort, type) and issubclass(sort, Subset):
        sort, height = sort.of, height + 1
    return sort, height


def _sorts_in(domain: Any) -> Iterator[object]:
    """Yield the sorts of a bound domain: what its arrays lie at and its cells name."""
    if isinstance(domain, d.Record):
        for field in domain.fields.values():
            yield from _sorts_in(field)
    elif isinstance(domain, d.Member):
        yield _without_subsets(domain.sort)[0]
    elif not isinstance(domain, (d.Boolean, d.Int, d.Enum, d.Absent)):
        if isinstance(domain, d.Array):
            yield domain.over
        yield from _sorts_in(domain.of)


def _named(families: Sequence[Family], codes: Sequence[int]) -> tuple[int | Kind, ...]:
    """Return the codes of a value with kinds in place of the codes that name members."""
    like: list[int | Kind] = list(codes)
    for family in families:
        there = not family.guards or codes[family.guards[0]] > family.above
        if family.value is not None and there and codes[family.cells[0]] >= family.value.offset:
            like[family.cells[0]] = family.value
    return tuple(like)


_RULES: dict[type[d.Domain], Callable[[Families, Any, str], list[Part]]] = {
    **dict.fromkeys((d.Boolean, d.Int, d.Enum), Families.plain),
    d.Member: Families.member,
    d.Set: Families.set,
    d.OptionalScalar: Families.optional,
    d.Option: Families.option,
    d.Absent: Families.absent,
    d.Record: Families.record,
    d.State: Families.record,
    d.Array: Families.array,
    **dict.fromkeys((d.Seq, d.Bag, d.ListedSet), Families.listed),
    d.BitSet: Families.bit_set,
}
assert set(_RULES) == d.DOMAINS
