"""Symmetry: what a permutation of the members of sorts does to a state.

A cell may lie at members, and its code may name some: both move with the members, as `families` reads off the domains.
`Array(Sort, ...)` permutes its elements, `Member(Sort)` maps its value, `Set(Sort)` its bits, an option what it holds,
a collection its elements; those of a bag, or of a set of at most so many, are brought into order again.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from insync.model.domains import composite as d
from insync.model.domains.bounds import BoundValues
from insync.model.domains.sorts import Index
from insync.model.symmetry.families import Arranged, Families, Family, Kind

__all__ = ["Arranged", "Family", "Kind", "Permutation", "Symmetry", "permuted_value", "symmetry_of"]

Permutation = tuple[tuple[int, ...], ...]
"""For each symmetric sort, by its number, where each of its members goes."""


@dataclass(frozen=True)
class Symmetry:
    """The group of all permutations of some sorts, and what it does to a state.

    Attributes:
        sorts: the symmetric sorts that the state speaks of.
        sizes: how many members each has.
        families: all cells that move, or whose codes do.
        arranged: the collections whose elements are brought into order afterwards, inner ones first.
    """

    sorts: tuple[type[Index], ...]
    sizes: tuple[int, ...]
    families: tuple[Family, ...]
    arranged: tuple[Arranged, ...] = ()

    @property
    def order(self) -> int:
        """How many permutations there are."""
        return math.prod(map(math.factorial, self.sizes))

    @cached_property
    def relational(self) -> tuple[int, ...]:
        """The sorts of which the state says more than a column for each member: it relates members to others."""
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
        """The cells of elements that are brought into order."""
        return frozenset(cell for group in self.arranged for rows in group.rows for row in rows for cell in row)

    def size(self, kind: Kind) -> int:
        """Return how many members, or sets, a kind can name."""
        count = self.sizes[kind.sort]
        for _ in range(kind.height):
            count = 1 << count
        return count

    def indices(self, places: Sequence[Kind]) -> Iterator[tuple[int, ...]]:
        """Yield what each cell of a family lies at that has these places, in the order of its cells."""
        return itertools.product(*[range(self.size(place)) for place in places])

    def generators(self) -> Iterator[Permutation]:
        """Yield permutations that make all: for each sort the swap of the first two members, and the cycle."""
        for number, size in enumerate(self.sizes):
            ordered = list(range(size))
            moves = [[1, 0, *ordered[2:]], [*ordered[1:], 0]][: size - 1]
            for moved in moves:
                yield tuple(tuple(moved) if n == number else tuple(range(s)) for n, s in enumerate(self.sizes))

    def permutations(self, numbers: Sequence[int] | None = None) -> Iterator[Permutation]:
        """Yield the permutations of some sorts, all if none are named; the others stay as they are."""
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

    def least_image(self, codes: Sequence[int], pack: Callable[[Sequence[int]], tuple[int, ...]]) -> tuple[int, ...]:
        """Return the codes of the image whose packed form is least: for small groups."""
        return min((self.image(codes, each) for each in self.permutations()), key=pack)


def permuted_value(kind: Kind, number: int, permutation: Permutation) -> int:
    """Return what a number that names members becomes."""
    named = number - kind.offset
    if named < 0:
        return number
    return kind.offset + _moved(permutation[kind.sort], kind.height, named)


def _moved(members: tuple[int, ...], height: int, named: int) -> int:
    if not height:
        return members[named] if named < len(members) else named
    return sum(1 << _moved(members, height - 1, bit) for bit in range(named.bit_length()) if named >> bit & 1)


def symmetry_of(state: d.State, bounds: BoundValues, permuted: Container[type[Index]] | None = None) -> Symmetry | None:
    """Return the permutations of sorts and what they do to a state; None if it speaks of none with two members.

    Args:
        state: the bound domain of the state.
        bounds: the model's.
        permuted: the sorts whose members are permuted; None for those that are declared symmetric.

    Raises:
        ModelError: a symmetric sort is used where a permutation of its members has no meaning yet.
    """
    found = Families(bounds, permuted)
    parts = found.of(state, "")
    if not found.sorts:
        return None
    sorts = tuple(found.sorts)
    moving = tuple(part for part in parts if isinstance(part, Family) and part.sorts)
    arranged = tuple(part for part in parts if isinstance(part, Arranged))
    return Symmetry(sorts, tuple(sort.size(bounds) for sort in sorts), moving, arranged)
