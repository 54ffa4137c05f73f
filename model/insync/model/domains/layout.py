"""The packed layout of a state: its cells, their places in 64-bit words, and which codes are those of a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from insync.model.domains import composite as d
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import apply, combine

__all__ = ["WORD", "Cell", "Schema", "well_formed"]


WORD = 64


@dataclass(frozen=True, slots=True)
class Cell:
    """One packed field.

    Attributes:
        number: its place among the cells.
        path: its name, such as `replica[b1].log[0].epoch`.
        size: the number of its codes, 0 .. size-1.
        bits: the number of bits that it takes; 0 for a cell with one code.
        word, shift: the place of its lowest bit.
    """

    number: int
    path: str
    size: int
    bits: int
    word: int
    shift: int


class Celled(Protocol):
    """Anything with cells: the domain of a state, or the domains of two."""

    def cells(self, path: str) -> Iterable[tuple[str, int]]:
        """Return the path and the number of codes of each cell."""


class Schema:
    """The cells of a state in the order of declaration, each in the first word that has room for it.

    Attributes:
        cells: the cells.
        words: the number of 64-bit words of a packed state, at least 1.
    """

    def __init__(self, state: Celled) -> None:
        used: list[int] = [0]
        cells = []
        for number, (path, size) in enumerate(state.cells("")):
            bits = (size - 1).bit_length()
            word = next((w for w, taken in enumerate(used) if taken + bits <= WORD), len(used))
            if word == len(used):
                used.append(0)
            cells.append(Cell(number, path, size, bits, word, used[word] if bits else 0))
            used[word] += bits
        self.cells = tuple(cells)
        self._places = [(cell.word, cell.shift, (1 << cell.bits) - 1) for cell in cells]
        self.words = len(used)
        self.bits = sum(cell.bits for cell in cells)

    def pack(self, codes: Sequence[int]) -> tuple[int, ...]:
        """Return the words of a state with these codes."""
        words = [0] * self.words
        for (word, shift, _), code in zip(self._places, codes, strict=True):
            words[word] |= code << shift
        return tuple(words)

    def unpack(self, words: Sequence[int]) -> tuple[int, ...]:
        """Return the codes of the cells of a packed state."""
        return tuple([words[word] >> shift & mask for word, shift, mask in self._places])


# ---------------------------------------------------------------------------------------------------- well-formed codes
#
# Every value has exactly one row of codes, and assignments make no other rows.


def well_formed(domain: d.Domain, codes: Sequence[Node]) -> Iterator[Node]:
    """Yield the conditions under which codes in the ranges of their cells are those of a value of a bound domain."""
    return _CONDITIONS[type(domain)](domain, codes)


def _nothing(domain: d.Domain, codes: Sequence[Node]) -> Iterator[Node]:
    return iter(())


def _of_parts(domain: d.Record | d.Array, codes: Sequence[Node]) -> Iterator[Node]:
    for part in domain.parts():
        if part.domain is not None:
            yield from well_formed(part.domain, codes[part.offset :][: part.domain.width])


def _option_conditions(domain: d.Option, codes: Sequence[Node]) -> Iterator[Node]:
    there = apply(Op.EQ, codes[0], codes[0].graph.const(1))
    yield from _zero_unless(there, codes[1:])
    yield from well_formed(domain.of, codes[1:])


def _container_conditions(domain: d.Seq | d.Bag | d.ListedSet, codes: Sequence[Node]) -> Iterator[Node]:
    """Places past the end are 0; elements of a bag are sorted, and those of a set are sorted and distinct."""
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
    """Return whether codes are lexicographically less than others, or equal where `equal` allows it."""
    graph = one[0].graph
    result = graph.boolean(equal)
    for a, b in reversed(list(zip(one, other, strict=True))):
        same = combine(graph, Op.AND, [apply(Op.EQ, a, b), result])
        result = combine(graph, Op.OR, [apply(Op.LT, a, b), same])
    return result


_CONDITIONS: dict[type[d.Domain], Callable[[Any, Sequence[Node]], Iterator[Node]]] = {
    **dict.fromkeys(d.SCALARS, _nothing),
    d.Option: _option_conditions,
    d.Absent: _nothing,
    d.Record: _of_parts,
    d.State: _of_parts,
    d.Array: _of_parts,
    d.Seq: _container_conditions,
    d.Bag: _container_conditions,
    d.ListedSet: _container_conditions,
    d.BitSet: _nothing,
}
assert set(_CONDITIONS) == d.DOMAINS
