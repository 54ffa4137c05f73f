"""Which cells of a state move when the members of symmetric sorts are permuted, read off the domains.

A cell may lie at members (`replica[b1].hw`), and its code may name some (a leader, an ISR). Cells that differ only in
the members they lie at are a `Family`. What is past the end of a collection, or in a record that is none, names
nobody, so a family says which cells tell whether it is there. The elements of bags and of sets stand in an order that
a permutation does not keep: an `Arranged` says which cells are to be brought into order again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from insync.model.domains import composite as d
from insync.model.domains.bounds import BoundValues
from insync.model.domains.containers import BitSet, Listed
from insync.model.domains.scalars import name_of
from insync.model.domains.sorts import Index, Subset
from insync.model.errors import ModelError

__all__ = ["Arranged", "Families", "Family", "Kind"]


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
        guards: for each cell the one that tells whether it is there, and names somebody; empty where all always are.
        above: what the codes of guards are greater than where it is there.
    """

    places: tuple[Kind, ...]
    cells: tuple[int, ...]
    value: Kind | None
    guards: tuple[int, ...] = ()
    above: int = 0

    @property
    def sorts(self) -> tuple[int, ...]:
        """The sorts that it speaks of, once for each time."""
        return tuple(kind.sort for kind in (*self.places, *([self.value] if self.value else ())))

    def shifted(self, by: int) -> Family:
        """Return it so many cells further."""
        return replace(self, cells=_moved(self.cells, by), guards=_moved(self.guards, by))

    def at(self, kind: Kind, length: int, width: int) -> Family:
        """Return it in an array over a symmetric sort, whose elements have so many cells."""
        starts = range(0, length * width, width)
        cells, guards = (tuple(s + c for s in starts for c in given) for given in (self.cells, self.guards))
        return replace(self, places=(kind, *self.places), cells=cells, guards=guards)

    def guarded(self, guard: int, above: int) -> Family:
        """Return it where it is there only if a cell says so; what lies inside knows better."""
        if self.value is None or self.guards:
            return self
        return replace(self, guards=(guard,) * len(self.cells), above=above)


@dataclass(frozen=True, slots=True)
class Arranged:
    """Collections whose elements stand in order, and that differ only in the members they lie at.

    Attributes:
        places: what they lie at, as of a family.
        lengths: for all values of the places, the cell that has the number of elements.
        rows: for all values of the places, the cells of each element.
        once: whether an element is in it only once.
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
        """Return it so many cells further."""
        rows = tuple(tuple(_moved(row, by) for row in own) for own in self.rows)
        return replace(self, lengths=_moved(self.lengths, by), rows=rows)

    def at(self, kind: Kind, length: int, width: int) -> Arranged:
        """Return it in an array over a symmetric sort, whose elements have so many cells."""
        each = [self.shifted(i * width) for i in range(length)]
        lengths = tuple(cell for one in each for cell in one.lengths)
        return Arranged((kind, *self.places), lengths, tuple(own for one in each for own in one.rows), self.once)

    def guarded(self, guard: int, above: int) -> Arranged:
        """Return it where it is there only if a cell says so: its length is 0 elsewhere."""
        return self

    def arrange(self, codes: list[int]) -> None:
        """Bring the elements into order."""
        for length, rows in zip(self.lengths, self.rows, strict=True):
            elements = sorted(tuple(codes[cell] for cell in row) for row in rows[: codes[length]])
            if self.once:
                elements = list(dict.fromkeys(elements))
            codes[length] = len(elements)
            for row, element in itertools.zip_longest(rows, elements, fillvalue=(0,) * len(rows[0])):
                for cell, code in zip(row, element, strict=True):
                    codes[cell] = code


Part = Family | Arranged


def _moved(cells: Iterable[int], by: int) -> tuple[int, ...]:
    return tuple(cell + by for cell in cells)


class Families:
    """Finds the families of a bound domain.

    Args:
        bounds: the model's; a sort that has one member under them has nothing to permute.
        permuted: the sorts whose members are permuted; None for those that are declared symmetric.

    Attributes:
        sorts: the number of each of them that was met.
    """

    def __init__(self, bounds: BoundValues, permuted: Container[type[Index]] | None = None) -> None:
        self._bounds, self._permuted = bounds, permuted
        self.sorts: dict[type[Index], int] = {}

    def of(self, domain: d.Domain, path: str) -> list[Part]:
        """Return the parts of a domain whose first cell is number 0, inner ones first; also those that speak of nobody.

        Raises:
            ModelError: a symmetric sort is used where a permutation of its members has no meaning yet.
        """
        return _RULES[type(domain)](self, domain, path)

    def _size(self, kind: Kind) -> int:
        count: int = next(sort for sort, number in self.sorts.items() if number == kind.sort).size(self._bounds)
        for _ in range(kind.height):
            count = 1 << count
        return count

    def _kind(self, sort: object) -> Kind | None:
        """Return how the numbers of a sort name members of a symmetric one; None also for what is no sort."""
        height = 0
        while isinstance(sort, type) and issubclass(sort, Subset):
            sort, height = sort.of, height + 1
        if not (isinstance(sort, type) and issubclass(sort, Index)) or sort.size(self._bounds) < 2:
            return None
        if not (sort.symmetric if self._permuted is None else sort in self._permuted):
            return None
        return Kind(self.sorts.setdefault(sort, len(self.sorts)), height)

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
        inner, kind = self.of(domain.of, f"{path}[...]"), self._kind(domain.over)
        if kind is None:
            return [part.shifted(i * width) for i in range(length) for part in inner]
        return [part.at(kind, length, width) for part in inner]

    def listed(self, domain: Listed, path: str) -> list[Part]:
        """A cell for the length, and the elements; those of a bag and of a set are in order."""
        width, inner = domain.of.width, self.of(domain.of, f"{path}[...]")
        starts = range(1, 1 + domain.most * width, width) if width else range(0)
        found: list[Part] = [Family((), (0,), None)]
        for place, start in enumerate(starts):
            found += [part.shifted(start).guarded(0, place) for part in inner]
        if any(part.sorts for part in inner) and domain.most and not isinstance(domain, d.Seq):
            rows = tuple(tuple(range(start, start + width)) for start in starts)
            found.append(Arranged((), (0,), (rows,), once=isinstance(domain, d.ListedSet)))
        return found

    def bit_set(self, domain: BitSet, path: str) -> list[Part]:
        """A cell for each value of a domain lies at the members that the value names."""
        inner = self.of(domain.of, f"{path}{{...}}")
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
        """Return the cells of the values that are alike but for whom they name: one may be met several times."""
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


def _named(families: Sequence[Family], codes: Sequence[int]) -> tuple[int | Kind, ...]:
    """Return the codes of a value with kinds in place of those that name somebody."""
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
