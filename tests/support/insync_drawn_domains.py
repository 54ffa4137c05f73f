"""Drawing the domains of fields at random, from a seeded source of choices."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from itertools import permutations

from insync_drawn_types import BOOL, COLLECTED, Type, Value, every, moved, number_of_values

__all__ = ["Domains"]

EMPTY_SITE, EMPTY_NODE = Type("Sort", "Site", hi=-1), Type("Sort", "Node", hi=-1)

MOST_VALUES = 2**70
"""How many values a field may have."""


def width(of: Type) -> int:
    """Return how many cells a value has."""
    match of.kind:
        case "Record":
            return sum(width(part) for _, part in of.fields)
        case "Array":
            return of.places * width(of.inner)
        case "SetOf" if not of.most:
            return len(every(of.inner))
    return 1


class Domains:
    """Draws domains over some classes.

    Args:
        chance: makes the choices.
        alike: whether the members of the first sort are alike.
        words: words of the language that are drawn only where they are wanted; see `insync_drawn`.
    """

    def __init__(self, chance: random.Random, alike: bool, words: frozenset[str] = frozenset()) -> None:
        self.chance, self.words = chance, words
        self.most_values = chance.choice([40, 40, 1_000, MOST_VALUES])
        self.site = Type("Sort", "Site", hi=chance.choice([1, 2, 2] if alike else [1, 1, 2]))
        self.node = Type("Sort", "Node", hi=1)
        kinds = ("ASK", "TELL", "NACK")[: chance.choice([2, 3])]
        self.kind = Type("Enum", "Kind", hi=len(kinds) - 1, names=kinds)
        low = chance.choice([-1, 0, 1])
        self.turn = Type("Range", "Turn", lo=low, hi=low + chance.choice([1, 2]))
        self.symmetric: tuple[Type, ...] = (self.site,) if alike else ()
        if alike and chance.random() < 0.25:
            self.symmetric = (self.site, self.node)
        if "empty" in words:
            self.site, self.node = chance.choice(
                [(EMPTY_SITE, self.node), (self.site, EMPTY_NODE), (EMPTY_SITE, EMPTY_NODE)]
            )
            alike_names = {one.name for one in self.symmetric}
            self.symmetric = tuple(one for one in (self.site, self.node) if one.name in alike_names)

    @property
    def classes(self) -> tuple[Type, ...]:
        """All classes of the model."""
        return self.site, self.node, self.kind, self.turn

    def speaks(self, of: Type) -> bool:
        """Return whether a value can say something of a member of a symmetric sort."""
        inside = [part for _, part in of.fields] + [one for one in (of.of, of.over) if one is not None]
        return of in self.symmetric or any(map(self.speaks, inside))

    def placed(self, of: Type) -> bool:
        """Return whether an array over a symmetric sort is in a value, of which a `SetOf` needs a `most`."""
        inside = [part for _, part in of.fields] + ([of.of] if of.of is not None else [])
        return of.over in self.symmetric or any(map(self.placed, inside))

    def kept(self, of: Type, value: Value) -> bool:
        """Return whether a value stays the same whoever is who."""
        for sort in self.symmetric:
            for order in permutations(range(sort.hi + 1)):
                if moved(of, value, {sort.name: order}) != value:
                    return False
        return True

    def scalar(self) -> Type:
        """Draw a domain of one cell that is no option."""
        low = self.chance.choice([-2, -1, 0, 0, 1, 5])
        number = Type("Int", lo=low, hi=low + self.chance.choice([1, 2, 2, 3]))
        if self.chance.random() < 0.1:
            number = Type(
                "Int", lo=low, hi=low + (1 << self.chance.choice([5, 8, 31, 32, 40])) - self.chance.choice([0, 1])
            )
        return self.chance.choice([BOOL, number, number, self.kind, self.site, self.site, self.node, self.turn])

    def small(self) -> Type:
        """Draw what stands within something else."""
        draw = self.chance.random()
        if draw < 0.7:
            return self.scalar()
        if draw < 0.85:
            return Type("Option", of=self.scalar())
        return Type("Set", of=self.chance.choice([self.site, self.node]))

    def record(self, inner: Callable[[], Type] | None = None) -> Type:
        """Draw a record of one to three fields."""
        count = self.chance.choice([1, 2, 2, 3])
        return Type("Record", fields=tuple((name, (inner or self.small)()) for name in "abc"[:count]))

    def over(self) -> tuple[Type | None, int]:
        """Draw what an array is over, or how many places it has."""
        over = self.chance.choice([self.site, self.site, self.node, self.kind, self.turn, None, None])
        return over, 0 if over is not None else self.chance.choice([1, 2, 3, 4])

    def field(self) -> Type:
        """Draw the domain of a field that has not too many values."""
        least = 1 if "empty" in self.words else 2
        while True:
            found = self._field(2)
            if least <= number_of_values(found) <= self.most_values and self.declarable(found):
                return found

    def declarable(self, of: Type) -> bool:
        """Return whether a domain can be declared: records in options have values, listed elements cells."""
        if of.kind == "Option" and of.inner.kind == "Record" and not number_of_values(of.inner):
            return False
        if of.kind in COLLECTED and (of.kind != "SetOf" or of.most) and not width(of.inner):
            return False
        return all(map(self.declarable, [part for _, part in of.fields] + ([of.of] if of.of is not None else [])))

    def of_word(self, word: str) -> Type | None:
        """Draw the domain of a field that a word is about; None where it is about no domain."""
        match word:
            case "in_place":
                draw: list[Callable[[], Type]] = [self.record, self.record, self._optional]
                draw += [lambda: Type("Seq", of=self.small(), most=2), lambda: Type("Array", of=self.small(), most=2)]
                found = Type("Seq", of=self.chance.choice(draw)(), most=self.chance.choice([1, 2, 2]))
            case "filtered":
                element = self.chance.choice([self.scalar, self.record])()
                found = Type("Seq", of=element, most=self.chance.choice([2, 3]))
            case "or_else":
                of = self.chance.choice([lambda: self.kind, lambda: self.kind, lambda: BOOL, self.record, self._set])()
                found = Type("Option", of=of)
            case "choose":
                found = Type("Option", of=self.chance.choice([self.site, self.node, self.kind, self.turn]))
            case "any_of":
                found = Type("Set", of=self.chance.choice([self.site, self.node]))
            case _:
                return None
        return found if number_of_values(found) <= MOST_VALUES else None

    def _field(self, depth: int) -> Type:
        deeper = depth > 1 and self.chance.random() < 0.3
        inner: Callable[[], Type] = partial(self._field, depth - 1) if deeper else self.small
        kind = self.chance.choice(
            [
                "scalar",
                "scalar",
                "scalar",
                "Option",
                "Option",
                "Set",
                "Record",
                "Array",
                "Array",
                *COLLECTED,
                *COLLECTED,
            ]
        )
        match kind:
            case "scalar":
                return self.scalar()
            case "Option":
                of = self.chance.choice([self.scalar, self.scalar, self.record, self._set])()
                return Type("Option", of=of)
            case "Set":
                return self._set()
            case "Record":
                return self.record(inner)
            case "Array":
                over, places = self.over()
                return Type("Array", of=inner(), over=over, most=places)
        draw: list[Callable[[], Type]] = [inner, self.record, self._optional]
        element = self.chance.choice(draw)()
        most = self.chance.choice([1, 2, 2, 3])
        few = kind == "SetOf" and self.chance.random() < 0.5 and number_of_values(element) <= 6
        if few and not self.placed(element):
            most = 0
        return Type(kind, of=element, most=most)

    def _optional(self) -> Type:
        return Type("Option", of=self.record())

    def _set(self) -> Type:
        return Type("Set", of=self.chance.choice([self.site, self.site, self.node]))
