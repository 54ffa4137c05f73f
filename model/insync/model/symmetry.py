"""Symmetry: what a permutation of the members of sorts does to a state, read off the domains.

A cell may lie at members (`replica[b1].hw`), and its code may name some (a leader, an ISR): both move with the members.
`Array(Sort, ...)` permutes its elements, `Member(Sort)` maps its value, `Set(Sort)` its bits, an option what it holds.
Cells that differ only in the members they lie at are a family.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from insync.model import domains as d
from insync.model.bounds import BoundValues
from insync.model.collected import BitSet
from insync.model.errors import ModelError
from insync.model.sorts import Index, Subset

__all__ = ["Family", "Kind", "Permutation", "Symmetry", "permuted_value", "symmetry_of"]

Permutation = tuple[tuple[int, ...], ...]
"""For each symmetric sort, by its number, where each of its members goes."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How a number names members of a symmetric sort.

    Attributes:
        sort: the number of the sort.
        height: 0 for a member, 1 for a set of members as a mask, 2 for a set of those, ...
        offset: the number that stands for member 0, or for the empty set; lesser ones name nobody.
    """

    sort: int
    height: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Family:
    """Cells that differ only in the members they lie at.

    Attributes:
        places: what they lie at, the outermost first.
        cells: their numbers, for all values of the places, the last place varying fastest.
        value: what their codes name; None where they name nobody.
    """

    places: tuple[Kind, ...]
    cells: tuple[int, ...]
    value: Kind | None

    @property
    def sorts(self) -> tuple[int, ...]:
        """The sorts that it speaks of, once for each time."""
        return tuple(kind.sort for kind in (*self.places, *([self.value] if self.value else ())))


@dataclass(frozen=True)
class Symmetry:
    """The group of all permutations of some sorts, and what it does to a state.

    Attributes:
        sorts: the symmetric sorts that the state speaks of.
        sizes: how many members each has.
        families: all cells that move, or whose codes do.
    """

    sorts: tuple[type[Index], ...]
    sizes: tuple[int, ...]
    families: tuple[Family, ...]

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
            if len(family.sorts) > 1 or placed or named or subset:
                found.update(family.sorts)
        return tuple(sorted(found))

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
            for cell, to in zip(family.cells, self.destinations(family, permutation), strict=True):
                code = codes[cell]
                moved[to] = code if family.value is None else permuted_value(family.value, code, permutation)
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


def symmetry_of(state: d.State, bounds: BoundValues) -> Symmetry | None:
    """Return the symmetry that the sorts of a state declare; None if none with two members does.

    Args:
        state: the bound domain of the state.
        bounds: the model's.

    Raises:
        ModelError: a symmetric sort is used where a permutation of its members has no meaning yet.
    """
    walk = _Walk(bounds)
    families = walk.families(state, "")
    if not walk.sorts:
        return None
    sorts = tuple(walk.sorts)
    moving = tuple(family for family in families if family.sorts)
    made = Symmetry(sorts, tuple(sort.size(bounds) for sort in sorts), moving)
    for family in moving:
        if len(family.cells) != math.prod(map(made.size, family.places)):
            path = [path for path, _ in state.cells("")][family.cells[0]]
            message = f"{path}: symmetry does not cover optional records in a set; take symmetric=True off the sort."
            raise ModelError(message)
    return made


class _Walk:
    """Finds the families of a bound domain.

    Args:
        bounds: the model's; a sort that has one member under them has nothing to permute.

    Attributes:
        sorts: the number of each symmetric sort that was met.
    """

    def __init__(self, bounds: BoundValues) -> None:
        self._bounds = bounds
        self.sorts: dict[type[Index], int] = {}

    def families(self, domain: d.Domain, path: str) -> list[Family]:
        """Return the families of a domain whose first cell is number 0; also those that speak of nobody."""
        rule = _RULES.get(type(domain))
        if rule is not None:
            return rule(self, domain, path)
        if self._mentioned(domain.shape()):
            raise _not_covered(domain, path)
        return [Family((), (number,), None) for number in range(domain.width)]

    def kind(self, sort: object) -> Kind | None:
        """Return how the numbers of a sort name members of a symmetric one; None also for what is no sort."""
        height = 0
        while isinstance(sort, type) and issubclass(sort, Subset):
            sort, height = sort.of, height + 1
        if not (isinstance(sort, type) and issubclass(sort, Index) and sort.symmetric) or sort.size(self._bounds) < 2:
            return None
        return Kind(self.sorts.setdefault(sort, len(self.sorts)), height)

    def _mentioned(self, shape: object) -> bool:
        """Return whether a symmetric sort is in what says which values a domain has."""
        if isinstance(shape, tuple):
            return any(map(self._mentioned, shape))
        return self.kind(shape) is not None

    def plain(self, domain: d.Domain, path: str) -> list[Family]:
        return [Family((), (0,), None)]

    def member(self, domain: d.Member, path: str) -> list[Family]:
        return [Family((), (0,), self.kind(domain.sort))]

    def set(self, domain: d.Set, path: str) -> list[Family]:
        kind = self.kind(domain.of.sort)
        return [Family((), (0,), replace(kind, height=kind.height + 1) if kind else None)]

    def optional(self, domain: d.OptionalScalar, path: str) -> list[Family]:
        (inner,) = self.families(domain.of, path)
        value = inner.value
        return [replace(inner, value=replace(value, offset=value.offset + 1) if value else None)]

    def option(self, domain: d.Option, path: str) -> list[Family]:
        return [Family((), (0,), None), *_shifted(self.families(domain.of, path), 1)]

    def absent(self, domain: d.Absent, path: str) -> list[Family]:
        return []

    def record(self, domain: d.Record, path: str) -> list[Family]:
        found: list[Family] = []
        for name, field in domain.fields.items():
            found += _shifted(self.families(field, f"{path}.{name}".lstrip(".")), domain.offsets[name])
        return found

    def bit_set(self, domain: BitSet, path: str) -> list[Family]:
        """A cell for each value of a domain lies at the members that the value names."""
        inner = self.families(domain.of, f"{path}{{...}}")
        if any(family.places for family in inner):
            raise _not_covered(domain, path)
        kinds = {cell: family.value for family in inner for cell in family.cells}
        groups: dict[tuple[object, ...], dict[tuple[int, ...], int]] = {}
        for number, codes in enumerate(domain.members):
            named = {cell: kind for cell, code in enumerate(codes) if (kind := kinds[cell]) and code >= kind.offset}
            like = tuple(named.get(cell, code) for cell, code in enumerate(codes))
            groups.setdefault(like, {})[tuple(codes[cell] - kind.offset for cell, kind in named.items())] = number
        return [
            Family(
                tuple(replace(kind, offset=0) for kind in like if isinstance(kind, Kind)),
                tuple(cells[index] for index in sorted(cells)),
                None,
            )
            for like, cells in groups.items()
        ]

    def array(self, domain: d.Array, path: str) -> list[Family]:
        length, width = len(domain.labels), domain.of.width
        inner = self.families(domain.of, f"{path}[...]")
        kind = self.kind(domain.over)
        if kind is None:
            return [family for i in range(length) for family in _shifted(inner, i * width)]
        return [
            Family(
                (kind, *family.places), tuple(i * width + c for i in range(length) for c in family.cells), family.value
            )
            for family in inner
        ]


def _shifted(families: list[Family], by: int) -> list[Family]:
    return [replace(family, cells=tuple(cell + by for cell in family.cells)) for family in families]


def _not_covered(domain: d.Domain, path: str) -> ModelError:
    message = (
        f"{path}: a symmetric sort is used inside {d.described(domain)}, which symmetry does not cover yet; take "
        f"symmetric=True off the sort, or use an Array, a Set, a SetOf of records or an Option here."
    )
    return ModelError(message)


_RULES: dict[type[d.Domain], Callable[[_Walk, Any, str], list[Family]]] = {
    d.Boolean: _Walk.plain,
    d.Int: _Walk.plain,
    d.Enum: _Walk.plain,
    d.Member: _Walk.member,
    d.Set: _Walk.set,
    d.OptionalScalar: _Walk.optional,
    d.Option: _Walk.option,
    d.Absent: _Walk.absent,
    d.Record: _Walk.record,
    d.State: _Walk.record,
    d.Array: _Walk.array,
    BitSet: _Walk.bit_set,
}
