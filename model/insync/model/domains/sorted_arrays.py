"""Symbolic arrays of elements: append, insert into a sorted array, and remove, on the codes of a listed domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from insync.model.expressions.graph import Made, Node, Op
from insync.model.expressions.simplify import apply, combine

__all__ = ["Arrangement", "made_of", "under"]

_KEY_BITS = 62  # nodes stay within +-2^62
_MOST_CHOICES = 4  # the depth of nested choices that `made_of` looks into


class Arrangement:
    """The elements of a container one after another, and places past the end, whose codes are all 0.

    Methods that change the elements return another arrangement with as many places. What falls off the end is lost:
    the caller checks that there is room.

    Args:
        sizes: the number of codes of each cell of an element.
        length: the number of elements.
        elements: the codes of each place.
    """

    __slots__ = ("elements", "graph", "length", "sizes")

    def __init__(self, sizes: Sequence[int], length: Node, elements: Sequence[Sequence[Node]]) -> None:
        self.sizes, self.length, self.elements = sizes, length, [list(element) for element in elements]
        self.graph = length.graph

    @classmethod
    def read(cls, sizes: Sequence[int], codes: Sequence[Node]) -> Arrangement:
        """Return the arrangement with the codes of a listed domain: the length, then the places."""
        width, places = len(sizes), (len(codes) - 1) // len(sizes) if sizes else 0
        return cls(sizes, codes[0], [codes[1 + i * width : 1 + (i + 1) * width] for i in range(places)])

    @classmethod
    def empty(cls, sizes: Sequence[int], places: int, zero: Node) -> Arrangement:
        """Return an arrangement without elements."""
        return cls(sizes, zero, [[zero] * len(sizes)] * places)

    def codes(self) -> list[Node]:
        """Return the codes of the listed domain."""
        return [self.length, *(code for element in self.elements for code in element)]

    def there(self, place: int) -> Node:
        """Return whether a place has an element."""
        return apply(Op.LT, self.graph.const(place), self.length)

    def at(self, index: Node) -> list[Node]:
        """Return the codes at an index, 0 where it is outside."""
        return [apply(Op.SELECT, index, *column) for column in zip(*self.elements, strict=True)] or (
            [self.graph.const(0)] * len(self.sizes)
        )

    def places_of(self, element: Sequence[Node]) -> list[Node]:
        """Return for each place whether it holds this element."""
        return [
            combine(self.graph, Op.AND, [self.there(place), *map(_equal, own, element)])
            for place, own in enumerate(self.elements)
        ]

    def holds(self, element: Sequence[Node]) -> Node:
        """Return whether some place holds this element."""
        graph, made = self.graph, self._made()
        if made is None or made.how == "removed":
            return combine(graph, Op.OR, self.places_of(element))
        before = self._of(made.first).holds(element)
        if made.how == "added":
            return combine(graph, Op.OR, [combine(graph, Op.AND, [*map(_equal, made.other, element)]), before])
        other = self._of(made.other).holds(element)
        if made.condition is not None:
            sides = [[made.condition, before], [apply(Op.NOT, made.condition), other]]
            return combine(graph, Op.OR, [combine(graph, Op.AND, side) for side in sides])
        if made.how == "joined":
            return combine(graph, Op.OR, [before, other])
        return combine(graph, Op.AND, [before, other if made.how == "met" else apply(Op.NOT, other)])

    def _of(self, codes: Sequence[Node]) -> Arrangement:
        return Arrangement.read(self.sizes, codes)

    def noted(self, how: str, first: Arrangement, other: Sequence[Node], condition: Node | None = None) -> Arrangement:
        """Return this arrangement, and record in its graph how it was made."""
        codes, made = tuple(self.codes()), Made(how, tuple(first.codes()), tuple(other), condition)
        if _newest(codes) > max(_newest(made.first), _newest(made.other)):  # so that records have no cycles
            self.graph.made.setdefault(codes, made)
        return self

    def number_of(self, element: Sequence[Node]) -> Node:
        """Return the number of places that hold this element."""
        total, zero, one = self.graph.const(0), self.graph.const(0), self.graph.const(1)
        for found in self.places_of(element):
            total = apply(Op.ADD, total, apply(Op.ITE, found, one, zero))
        return total

    def appended(self, element: Sequence[Node]) -> Arrangement:
        """Return the arrangement with an element appended."""
        return self._longer(1, self.replaced(self.length, element).elements)

    def replaced(self, index: Node, element: Sequence[Node | None]) -> Arrangement:
        """Return the arrangement with the codes of the element at an index replaced; None keeps a code."""
        graph, elements = self.graph, []
        for place, own in enumerate(self.elements):
            here = apply(Op.EQ, index, graph.const(place))
            pairs = zip(element, own, strict=True)
            elements.append([old if new is None else apply(Op.ITE, here, new, old) for new, old in pairs])
        return Arrangement(self.sizes, self.length, elements)

    def shifted(self) -> Arrangement:
        """Return the arrangement without its first element."""
        return self._longer(-1, [*self.elements[1:], *self._past(self.elements[:1])])

    def without_place(self, index: Node) -> Arrangement:
        """Return the arrangement without the element at an index; later elements move up."""
        following = [*self.elements[1:], *self._past(self.elements[:1])]
        elements = []
        for place, (own, after) in enumerate(zip(self.elements, following, strict=True)):
            stays = apply(Op.LT, self.graph.const(place), index)
            elements.append([_choose(stays, old, new) for old, new in zip(own, after, strict=True)])
        return self._longer(-1, elements)

    def inserted(self, element: Sequence[Node]) -> Arrangement:
        """Return the sorted arrangement with an element inserted, before the first one that is not less."""
        elements, earlier = [], self.graph.true
        less = self._less(element)
        for place, own in enumerate(self.elements):
            moved = own if place == 0 else self.elements[place - 1]
            placed = zip(own, element, moved, strict=True)
            elements.append([_choose(less[place], old, _choose(earlier, new, left)) for old, new, left in placed])
            earlier = less[place]
        return self._longer(1, elements).noted("added", self, element)

    def with_one(self, element: Sequence[Node]) -> Arrangement:
        """Return the sorted arrangement with an element inserted unless it is there already."""
        return self.where(self.holds(element), self.inserted(element)).noted("added", self, element)

    def without(self, element: Sequence[Node]) -> Arrangement:
        """Return the sorted arrangement with one occurrence of the element removed, if there is one."""
        graph, elements = self.graph, []
        less, found = self._less(element), self.holds(element)
        absent = apply(Op.NOT, found)
        following = [*self.elements[1:], *self._past(self.elements[:1])]
        for place, (own, after) in enumerate(zip(self.elements, following, strict=True)):
            stays = combine(graph, Op.OR, [absent, less[place]])
            elements.append([_choose(stays, old, new) for old, new in zip(own, after, strict=True)])
        length = apply(Op.ITE, found, apply(Op.ADD, self.length, graph.const(-1)), self.length)
        return Arrangement(self.sizes, length, elements).noted("removed", self, element)

    def where(self, condition: Node, otherwise: Arrangement) -> Arrangement:
        """Return this arrangement where a condition holds, elsewhere another one with as many places."""
        pairs = zip(self.codes(), otherwise.codes(), strict=True)
        return Arrangement.read(self.sizes, [_choose(condition, a, b) for a, b in pairs])

    def resized(self, places: int) -> Arrangement:
        """Return the arrangement with another number of places; elements beyond them are lost, the length stays."""
        zero = self.graph.const(0)
        more = [[zero] * len(self.sizes)] * (places - len(self.elements))
        resized, made = Arrangement(self.sizes, self.length, [*self.elements[:places], *more]), self._made()
        if made is not None:
            resized.noted(made.how, self._of(made.first), made.other, made.condition)
        return resized

    def _made(self) -> Made | None:
        return made_of(tuple(self.codes()))

    def _longer(self, by: int, elements: Sequence[Sequence[Node]]) -> Arrangement:
        return Arrangement(self.sizes, apply(Op.ADD, self.length, self.graph.const(by)), elements)

    def _past(self, like: Sequence[Sequence[Node]]) -> list[list[Node]]:
        return [[self.graph.const(0)] * len(self.sizes) for _ in like]

    def _less(self, element: Sequence[Node]) -> list[Node]:
        """Return for each place whether it holds an element that is less than this one."""
        theirs = self._keys(element)
        less = [self._before(self._keys(own), theirs) for own in self.elements]
        self.graph.orders.update(one for one in less if one.op is not Op.CONST)
        return [combine(self.graph, Op.AND, [self.there(place), one]) for place, one in enumerate(less)]

    def _before(self, one: Sequence[Node], other: Sequence[Node]) -> Node:
        found = self.graph.false
        for a, b in reversed(list(zip(one, other, strict=True))):
            later = combine(self.graph, Op.AND, [apply(Op.EQ, a, b), found])
            found = combine(self.graph, Op.OR, [apply(Op.LT, a, b), later])
        return found

    def _keys(self, codes: Sequence[Node]) -> list[Node]:
        """Return numbers with the lexicographic order of the codes; each holds as many codes as it has room for."""
        graph, keys, room = self.graph, list[Node](), 0
        for code, size in zip(codes, self.sizes, strict=True):
            bits = (size - 1).bit_length()
            low = _clamped(code, size)
            if keys and bits <= room:
                keys[-1] = apply(Op.ADD, apply(Op.MUL, keys[-1], graph.const(1 << bits)), low)
                room -= bits
            else:
                keys.append(low)
                room = _KEY_BITS - bits
        return keys


def _equal(a: Node, b: Node) -> Node:
    return apply(Op.EQ, a, b)


def made_of(codes: tuple[Node, ...], choices: int = _MOST_CHOICES) -> Made | None:
    """Return the recorded operation that made the codes of a container; it looks into choices (ITE) between codes."""
    made = codes[0].graph.made
    found = made.get(codes)
    if found is not None or not choices:
        return found
    conditions = [code.args[0] for code in codes if code.op is Op.ITE]
    for condition in list(dict.fromkeys(conditions))[:3]:
        one, other = (tuple(under(code, {condition: holds}) for code in codes) for holds in (True, False))
        if any(made_of(side, choices - 1) is not None for side in (one, other)):
            return Made("chosen", one, other, condition)
    return None


def under(code: Node, assumed: Mapping[Node, bool]) -> Node:
    """Return a code under assumptions: outermost choices by assumed conditions are decided."""
    while code.op is Op.ITE and code.args[0] in assumed:
        code = code.args[1 if assumed[code.args[0]] else 2]
    return code


def _newest(codes: Sequence[Node]) -> int:
    return max((code.index for code in codes if code.op is not Op.CONST), default=-1)


def _choose(condition: Node, then: Node, otherwise: Node) -> Node:
    return apply(Op.ITE, condition, then, otherwise)


def _clamped(code: Node, size: int) -> Node:
    """Return a code clamped to its cell, so that keys built from it stay within 64 bits."""
    graph = code.graph
    return apply(Op.MIN, apply(Op.MAX, code, graph.const(0)), graph.const(size - 1))
