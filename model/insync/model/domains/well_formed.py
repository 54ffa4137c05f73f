"""Which codes are those of a value: of every value there is one row of codes, and assignments make no others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from insync.model.domains import composite as d
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import apply, combine

__all__ = ["well_formed"]


def well_formed(domain: d.Domain, codes: Sequence[Node]) -> Iterator[Node]:
    """Yield the conditions that codes, each of which its cell can hold, are those of a value of a bound domain."""
    return _CONDITIONS[type(domain)](domain, codes)


def _nothing(domain: d.Domain, codes: Sequence[Node]) -> Iterator[Node]:
    return iter(())


def _record(domain: d.Record, codes: Sequence[Node]) -> Iterator[Node]:
    for name, field in domain.fields.items():
        yield from well_formed(field, codes[domain.offsets[name] :][: field.width])


def _array(domain: d.Array, codes: Sequence[Node]) -> Iterator[Node]:
    for place in range(len(domain.labels)):
        yield from well_formed(domain.of, codes[place * domain.of.width :][: domain.of.width])


def _option(domain: d.Option, codes: Sequence[Node]) -> Iterator[Node]:
    there = apply(Op.EQ, codes[0], codes[0].graph.const(1))
    yield from _zero_unless(there, codes[1:])
    yield from well_formed(domain.of, codes[1:])


def _listed(domain: d.Seq | d.Bag | d.ListedSet, codes: Sequence[Node]) -> Iterator[Node]:
    """Places past the end are 0; the elements of a bag or a set stand in order, those of a set once each."""
    graph, width = codes[0].graph, domain.of.width
    elements = [codes[1 + place * width :][:width] for place in range(domain.most)]
    there = [apply(Op.LT, graph.const(place), codes[0]) for place in range(domain.most)]
    for is_there, element in zip(there, elements, strict=True):
        yield from _zero_unless(is_there, element)
        yield from well_formed(domain.of, element)
    if not isinstance(domain, d.Seq):
        for is_there, (one, other) in zip(there[1:], pairwise(elements), strict=True):
            ordered = _before(one, other, equal=not isinstance(domain, d.ListedSet))
            yield combine(graph, Op.OR, [apply(Op.NOT, is_there), ordered])


def _zero_unless(there: Node, codes: Sequence[Node]) -> Iterator[Node]:
    graph = there.graph
    return (combine(graph, Op.OR, [there, apply(Op.EQ, code, graph.const(0))]) for code in codes)


def _before(one: Sequence[Node], other: Sequence[Node], *, equal: bool) -> Node:
    """Return whether codes are less than others, or equal to them, compared cell by cell."""
    graph = one[0].graph
    result = graph.boolean(equal)
    for a, b in reversed(list(zip(one, other, strict=True))):
        same = combine(graph, Op.AND, [apply(Op.EQ, a, b), result])
        result = combine(graph, Op.OR, [apply(Op.LT, a, b), same])
    return result


_CONDITIONS: dict[type[d.Domain], Callable[[Any, Sequence[Node]], Iterator[Node]]] = {
    **dict.fromkeys(d.SCALARS, _nothing),
    d.Option: _option,
    d.Absent: _nothing,
    d.Record: _record,
    d.State: _record,
    d.Array: _array,
    d.Seq: _listed,
    d.Bag: _listed,
    d.ListedSet: _listed,
    d.BitSet: _nothing,
}
assert set(_CONDITIONS) == d.DOMAINS
