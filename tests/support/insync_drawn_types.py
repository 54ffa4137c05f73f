"""Domains and their values in plain Python: the first layer of the oracle, which shares no code with insync.

A value is a bool, a number (of an enumeration or a sort: the place of the member), None, a frozenset of numbers
(`Set`), a tuple (a record, an array, a `Seq`, a `Bag` in order) or a frozenset of values (`SetOf`). Equal values are
equal objects.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = [
    "BOOL",
    "COLLECTED",
    "NUM",
    "Type",
    "Value",
    "any_value",
    "domain_text",
    "every",
    "first",
    "fits",
    "key",
    "literal",
    "moved",
    "number_of_values",
    "shown",
]

Value = Any
"""A value of some domain; see above."""

COLLECTED = ("Seq", "Bag", "SetOf")


@dataclass(frozen=True, slots=True)
class Type:
    """A domain.

    Attributes:
        kind: the word of the language; `Sort`, `Enum` and `Range` are classes that have a name.
        name: of the class.
        lo, hi: the least and the greatest number.
        of: the domain of what is inside.
        fields: of a record.
        most: how many elements a collection has at most (a `SetOf` with 0: any number), or the places of an array.
        over: what an array has a value for each of; None for a number of places.
        names: the members of an enumeration.
    """

    kind: str
    name: str = ""
    lo: int = 0
    hi: int = 0
    of: Type | None = None
    fields: tuple[tuple[str, Type], ...] = ()
    most: int = 0
    over: Type | None = None
    names: tuple[str, ...] = ()

    @property
    def inner(self) -> Type:
        """The domain of what is inside, where there is one."""
        assert self.of is not None
        return self.of

    @property
    def places(self) -> int:
        """How many values an array has."""
        return self.most if self.over is None else self.over.hi - self.over.lo + 1

    @property
    def lowest(self) -> int:
        """The index of the first place of an array."""
        return 0 if self.over is None else self.over.lo

    def field(self, name: str) -> tuple[int, Type]:
        """Return the place and the domain of a field of a record."""
        return next((place, of) for place, (own, of) in enumerate(self.fields) if own == name)


BOOL = Type("Bool")
NUM = Type("Int")
"""The type of a whole number that is calculated; as a domain it is never used."""


def domain_text(of: Type) -> str:
    """Return how a domain is declared."""
    match of.kind:
        case "Int":
            return f"Int({of.lo}, {of.hi})"
        case "Sort" | "Enum" | "Range":
            return of.name
        case "Option" | "Set":
            return f"{of.kind}({domain_text(of.inner)})"
        case "Record":
            return f"Record({', '.join(f'{name}={domain_text(part)}' for name, part in of.fields)})"
        case "Array":
            return f"Array({of.most if of.over is None else of.over.name}, {domain_text(of.inner)})"
        case "Seq" | "Bag" | "SetOf":
            return f"{of.kind}({domain_text(of.inner)}{f', {of.most}' if of.most else ''})"
    return of.kind


@functools.cache
def first(of: Type) -> Value:
    """Return the value with which a field begins by default, and as which nothing reads."""
    match of.kind:
        case "Bool":
            return False
        case "Option":
            return None
        case "Set" | "SetOf":
            return frozenset()
        case "Record":
            return tuple(first(part) for _, part in of.fields)
        case "Array":
            return (first(of.inner),) * of.places
        case "Seq" | "Bag":
            return ()
    return of.lo


def fits(of: Type, value: Value) -> bool:
    """Return whether a value is one of the domain."""
    match of.kind:
        case "Bool":
            return True
        case "Option":
            return value is None or fits(of.inner, value)
        case "Record":
            return all(fits(part, own) for (_, part), own in zip(of.fields, value, strict=True))
        case "Array":
            return all(fits(of.inner, own) for own in value)
        case "Set":
            return all(fits(of.inner, member) for member in value)
        case "Seq" | "Bag" | "SetOf":
            roomy = of.kind == "SetOf" and not of.most
            return (roomy or len(value) <= of.most) and all(fits(of.inner, own) for own in value)
    return bool(of.lo <= value <= of.hi)


def key(of: Type, value: Value) -> tuple[int, ...]:
    """Return what the values of a domain are in order by: the elements of a bag stand in this order."""
    match of.kind:
        case "Option":
            if value is None:
                return (0, *(0 for _ in key(of.inner, first(of.inner))))
            return (1, *key(of.inner, value))
        case "Record":
            return tuple(itertools.chain(*(key(part, own) for (_, part), own in zip(of.fields, value, strict=True))))
        case "Array":
            return tuple(itertools.chain(*(key(of.inner, own) for own in value)))
        case "Set":
            return (sum(1 << member for member in value),)
        case "SetOf" if not of.most:
            return tuple(int(one in value) for one in every(of.inner))
        case "Seq" | "Bag" | "SetOf":
            elements = value if of.kind == "Seq" else sorted(value, key=lambda one: key(of.inner, one))
            blank = (0,) * len(key(of.inner, first(of.inner)))
            rows = [key(of.inner, one) for one in elements] + [blank] * (of.most - len(value))
            return (len(value), *itertools.chain(*rows))
    return (int(value) - of.lo,)


def number_of_values(of: Type) -> int:
    """Return how many values a domain has."""
    match of.kind:
        case "Bool":
            return 2
        case "Option":
            return 1 + number_of_values(of.inner)
        case "Set":
            return int(2 ** number_of_values(of.inner))
        case "Record":
            return functools.reduce(lambda total, part: total * number_of_values(part[1]), of.fields, 1)
        case "Array":
            return int(number_of_values(of.inner) ** of.places)
        case "SetOf" if not of.most:
            return int(2 ** number_of_values(of.inner))
        case "Seq" | "Bag" | "SetOf":
            return sum(int(number_of_values(of.inner) ** length) for length in range(of.most + 1))  # at least as many
    return of.hi - of.lo + 1


@functools.cache
def every(of: Type) -> tuple[Value, ...]:
    """Return all values of a domain in order."""
    found: list[Value]
    if not number_of_values(of):
        return ()
    match of.kind:
        case "Bool":
            return (False, True)
        case "Option":
            return (None, *every(of.inner))
        case "Record":
            return tuple(itertools.product(*(every(part) for _, part in of.fields)))
        case "Array":
            return tuple(itertools.product(every(of.inner) if of.places else (), repeat=of.places))
        case "Set" | "SetOf":
            most = of.most or number_of_values(of.inner)
            found = [frozenset(some) for n in range(most + 1) for some in itertools.combinations(every(of.inner), n)]
        case "Seq":
            found = [some for n in range(of.most + 1) for some in itertools.product(every(of.inner), repeat=n)]
        case "Bag":
            ways = itertools.combinations_with_replacement
            found = [some for n in range(of.most + 1) for some in ways(every(of.inner), n)]
        case _:
            return tuple(range(of.lo, of.hi + 1))
    return tuple(sorted(found, key=lambda value: key(of, value)))


def any_value(chance: random.Random, of: Type) -> Value:
    """Draw a value of a domain."""
    match of.kind:
        case "Bool":
            return chance.random() < 0.5
        case "Option":
            return None if chance.random() < 0.4 or not number_of_values(of.inner) else any_value(chance, of.inner)
        case "Record":
            return tuple(any_value(chance, part) for _, part in of.fields)
        case "Array":
            return tuple(any_value(chance, of.inner) for _ in range(of.places))
        case "Set":
            return frozenset(member for member in every(of.inner) if chance.random() < 0.5)
        case "Seq" | "Bag" | "SetOf":
            most = (of.most or 2) if number_of_values(of.inner) else 0
            found = [any_value(chance, of.inner) for _ in range(chance.randint(0, most))]
            if of.kind == "SetOf":
                return frozenset(found)
            return tuple(found if of.kind == "Seq" else sorted(found, key=lambda one: key(of.inner, one)))
    if of.hi < of.lo:
        return of.lo  # it is written where nothing comes, as in a loop over no members
    return chance.choice([of.lo, of.hi, chance.randint(of.lo, of.hi), chance.randint(of.lo, min(of.hi, of.lo + 3))])


def moved(of: Type, value: Value, swap: Mapping[str, Sequence[int]]) -> Value:
    """Return a value with the members of some sorts renamed: member i of sort n becomes `swap[n][i]`."""
    match of.kind:
        case "Sort":
            return swap[of.name][value] if swap.get(of.name) else value
        case "Option":
            return None if value is None else moved(of.inner, value, swap)
        case "Record":
            return tuple(moved(part, own, swap) for (_, part), own in zip(of.fields, value, strict=True))
        case "Set" | "SetOf":
            return frozenset(moved(of.inner, own, swap) for own in value)
        case "Seq":
            return tuple(moved(of.inner, own, swap) for own in value)
        case "Bag":
            return tuple(sorted((moved(of.inner, own, swap) for own in value), key=lambda one: key(of.inner, one)))
        case "Array":
            inside = [moved(of.inner, own, swap) for own in value]
            if of.over is not None and of.over.kind == "Sort" and of.over.name in swap:
                order = swap[of.over.name]
                inside = [inside[order.index(place)] for place in range(of.places)]
            return tuple(inside)
    return value


def shown(of: Type, value: Value) -> object:
    """Return a value as insync writes it into traces."""
    match of.kind:
        case "Bool":
            return bool(value)
        case "Enum":
            return of.names[value]
        case "Sort":
            return f"{of.name.lower()}{value + 1}"
        case "Option":
            return None if value is None else shown(of.inner, value)
        case "Record":
            return {name: shown(part, own) for (name, part), own in zip(of.fields, value, strict=True)}
        case "Array":
            inside = [shown(of.inner, own) for own in value]
            if of.over is None:
                return inside
            return {str(shown(of.over, at)): own for at, own in zip(every(of.over), inside, strict=True)}
        case "Set" | "SetOf" | "Bag":
            return [shown(of.inner, own) for own in sorted(value, key=lambda one: key(of.inner, one))]
        case "Seq":
            return [shown(of.inner, own) for own in value]
    return value


def literal(of: Type, value: Value) -> str:
    """Return how a value is written in a model."""
    match of.kind:
        case "Enum":
            return f"{of.name}.{of.names[value]}"
        case "Sort":
            return f"{of.name}({value})"
        case "Option":
            return "NONE" if value is None else literal(of.inner, value)
        case "Record":
            parts = zip(of.fields, value, strict=True)
            return f"record({', '.join(f'{name}={literal(part, own)}' for (name, part), own in parts)})"
        case "Set":
            return f"{{{', '.join(literal(of.inner, member) for member in sorted(value))}}}" if value else "set()"
        case "Array" | "Seq" | "Bag" | "SetOf":
            listed = sorted(value, key=lambda one: key(of.inner, one)) if of.kind == "SetOf" else value
            return f"[{', '.join(literal(of.inner, own) for own in listed)}]"
    return str(value)
