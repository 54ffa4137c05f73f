"""Random collections and operations on them: in the language, and on plain Python lists of codes."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from hypothesis import strategies as st

from insync.model import NONE, Bag, BoundValues, Enum, Index, Int, Option, Record, Seq, Set, SetOf, record
from insync.model.domains import composite as d
from insync.model.domains.composite import as_domain
from insync.model.domains.domain import Domain

__all__ = [
    "ELEMENTS",
    "KINDS",
    "Change",
    "Kind",
    "Site",
    "apply_to",
    "bound_element",
    "changed",
    "changes",
    "first_values",
    "literal",
    "made",
    "operand",
]


class Site(Index):
    """Where a message goes."""

    label = "w"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 2


class Kind(enum.Enum):
    """What a message says."""

    ASK = 0
    TELL = 1


ELEMENTS: tuple[Any, ...] = (
    Int(-1, 1),
    Site,
    Kind,
    Option(Site),
    Set(Site),
    Record(kind=Kind, to=Site),
    Record(to=Site, n=Option(Int(0, 1))),
    Record(inner=Record(kind=Enum(Kind)), last=Option(Record(to=Site))),
    Option(Record(to=Site)),
    Record(log=Seq(Site, 2)),
    Record(seen=SetOf(Kind)),
    Record(far=Int(0, 1 << 40), farther=Int(0, 1 << 40)),  # more than one key of a comparison
)
"""Domains of elements of many forms; all but the last have few values."""

KINDS = ("Seq", "Bag", "ListedSet", "BitSet")


def literal(domain: Domain, codes: Sequence[int]) -> Any:
    """Return the value of these codes as an author writes it."""
    match domain:
        case d.OptionalScalar():
            return NONE if codes[0] == 0 else literal(domain.of, [codes[0] - 1])
        case d.Set():
            return {i for i in range(domain.of.size) if codes[0] >> i & 1}
        case d.Enum():
            return list(domain.kind)[codes[0]]
        case d.Int():
            return domain.lo + codes[0]
        case d.Member():
            return domain.sort(codes[0])
        case d.Option():
            return literal(domain.of, codes[1:]) if codes[0] else NONE
        case d.Record():
            starts = {name: domain.offsets[name] for name in domain.fields}
            parts = {n: codes[at : at + domain.fields[n].width] for n, at in starts.items()}
            return record(**{name: literal(domain.fields[name], part) for name, part in parts.items()})
        case d.Seq():
            width = domain.of.width
            return [literal(domain.of, codes[1 + i * width : 1 + (i + 1) * width]) for i in range(codes[0])]
        case d.BitSet():
            return [literal(domain.of, codes) for codes, bit in zip(domain.members, codes, strict=True) if bit]
    raise AssertionError(domain)


@dataclass(frozen=True, slots=True)
class Change:
    """An operation: its name, what it is applied to (a field of the state, or codes), and whether a field allows it."""

    name: str
    operand: str | tuple[int, ...] = ()
    under: bool = False


_NAMES = {
    "Seq": ("append", "append", "append", "take_first", "clear", "assign"),
    "Bag": ("add", "add", "add", "remove", "clear"),
    "ListedSet": ("add", "add", "add", "remove", "join", "meet", "minus"),
    "BitSet": ("add", "add", "remove", "join", "meet", "minus", "clear"),
}


def changes(kind: str, pool: Sequence[tuple[int, ...]]) -> st.SearchStrategy[list[Change]]:
    """Return random operations on a collection of a kind, with fields or with elements of these codes."""
    operands = st.sampled_from(["a", "b"]) | st.sampled_from(pool)
    return st.lists(st.builds(Change, st.sampled_from(_NAMES[kind]), operands, st.booleans()), min_size=1, max_size=4)


def first_values(element: Domain) -> list[tuple[int, ...]]:
    """Return the codes of the first values of a bound domain; of a very large one, whose cells are free, some."""
    if element.number_of_values() < 10_000:
        return list(islice(element.values(), 40))
    return list(product(*((0, 1, size - 1) for _, size in element.cells(""))))


def operand(state: Any, element: Domain, change: Change) -> Any:
    """Return what a change is applied to, as an author writes it."""
    given = change.operand
    return getattr(state, given) if isinstance(given, str) else literal(element, given)


def made(kind: str, of: Any, most: int) -> Domain:
    """Return the domain of collections of a kind."""
    match kind:
        case "Seq":
            return Seq(of, most)
        case "Bag":
            return Bag(of, most)
        case "ListedSet":
            return SetOf(of, most)
    return SetOf(of)


def apply_to(collection: Any, change: Change, given: Any) -> Any:
    """Do what a change says in the language; return what is to be assigned to the field, None for nothing."""
    match change.name:
        case "append":
            collection.append(given)
        case "add":
            collection.add(given)
        case "remove":
            collection.remove(given)
        case "take_first":
            collection.take_first()
        case "clear":
            collection.clear()
        case "join":
            return collection | [given]
        case "meet":
            return collection & [given]
        case "minus":
            return collection - [given]
        case "assign":
            return [given]
    return None


def changed(
    elements: list[tuple[int, ...]], change: Change, given: tuple[int, ...], kind: str, most: int
) -> list[tuple[int, ...]] | None:
    """Return the elements after a change, in the order in which they are stored; None where it is refused."""
    now = list(elements)
    match change.name:
        case "append":
            now.append(given)
        case "add" | "join":
            if kind == "Bag" or given not in now:
                now.append(given)
        case "remove":
            if given in now:
                now.remove(given)
        case "take_first":
            if not now:
                return None
            del now[0]
        case "clear":
            now = []
        case "meet":
            now = [one for one in now if one == given]
        case "minus":
            now = [one for one in now if one != given]
        case "assign":
            now = [given]
    if kind != "BitSet" and len(now) > most:
        return None
    return now if kind == "Seq" else sorted(now)


def bound_element(of: Any) -> Domain:
    """Return the bound domain of elements."""
    return as_domain(of).bind(BoundValues({}))
