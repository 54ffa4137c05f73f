"""Views of sets of values: one is stored as a sorted list, or has a cell for each possible element."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from insync.model.domains import composite as d
from insync.model.domains.open_bounds import OpenArray
from insync.model.domains.sorted_arrays import Arrangement
from insync.model.domains.values import Bool, Num
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import apply, combine
from insync.model.expressions.store import Environment, Place
from insync.model.language.container_views import BY_NAME, Collected
from insync.model.language.sequence_views import ListedView
from insync.model.language.views import CODES, VIEWS, ValueCells, View, codes_for, refuse
from insync.runtime.errors import ModelError, user_frame

__all__ = ["SetOfView"]


class SetOfView(Collected):
    """The base of the views of `ListedSet` and `BitSet`."""

    __slots__ = ()

    def add(self, element: object = BY_NAME, /, **fields: object) -> None:
        """Add an element."""
        raise NotImplementedError

    def remove(self, element: object = BY_NAME, /, **fields: object) -> None:
        """Remove an element; nothing changes if it is not in the set, or is outside its domain."""
        raise NotImplementedError

    def is_subset(self, other: object) -> Bool:
        """Return whether every element is in the other set."""
        raise NotImplementedError

    def count(self) -> Num:
        """Return the number of elements; the same method as that of a `Set` of members."""
        return self.length

    def _join(self, other: Any) -> Any:
        raise NotImplementedError

    def _meet(self, other: Any) -> Any:
        raise NotImplementedError

    def _minus(self, other: Any) -> Any:
        raise NotImplementedError

    def _other(self, other: object, *, keeping: bool = True) -> Any:
        """Return another set as a view like this one.

        Args:
            other: a view or a Python collection.
            keeping: whether the result may contain its elements, so that each must be in the domain. Otherwise elements
                outside the domain are left out, as this set has none of them.
        """
        raise NotImplementedError

    def __or__(self, other: object) -> Any:
        return self._join(self._other(other))

    def __and__(self, other: object) -> Any:
        return self._meet(self._other(other, keeping=False))

    def __sub__(self, other: object) -> Any:
        return self._minus(self._other(other, keeping=False))

    def __rsub__(self, other: object) -> Any:
        return self._other(other)._minus(self)

    __ror__, __rand__ = __or__, __and__


class ListedSetView(SetOfView, ListedView):
    """A view of a set that is stored as a sorted list."""

    __slots__ = ()
    _domain: d.ListedSet

    def add(self, element: object = BY_NAME, /, **fields: object) -> None:
        codes = self._element(self._place.environment, element, fields)
        arranged = self._arrangement()
        self._expect_room(combine(self._graph, Op.OR, [self._room(), arranged.holds(codes)]), "adds to")
        self._write(arranged.with_one(codes))

    def remove(self, element: object = BY_NAME, /, **fields: object) -> None:
        self._take_away(element, fields)

    def is_subset(self, other: object) -> Bool:
        arranged, theirs = self._arrangement(), self._other(other, keeping=False)._arrangement()
        parts = [
            combine(self._graph, Op.OR, [apply(Op.NOT, arranged.there(place)), theirs.holds(codes)])
            for place, codes in enumerate(arranged.elements)
        ]
        return Bool(combine(self._graph, Op.AND, parts))

    def _other(self, other: object, *, keeping: bool = True) -> ListedSetView:
        if isinstance(other, ListedSetView) and other._domain.of.shape() == self._domain.of.shape():
            return other
        if isinstance(other, BitSetView):
            message = (
                f"{user_frame()}: {self!r} has at most {self._domain.most} elements, and {other!r} any number; "
                f"declare both alike to join them."
            )
            raise ModelError(message)
        if not isinstance(other, (list, tuple, set, frozenset)):
            refuse(self._domain, other, f"a set beside {self!r}")
        domain = d.ListedSet.bound_to(self._domain.of, len(other))
        env = self._place.environment if keeping else Environment(self._graph, [])
        codes = codes_for(domain, env, other, f"a set beside {self!r}")
        found = Arrangement.read(domain.sizes, codes)
        if not keeping and env.expected:
            found = Arrangement.empty(domain.sizes, domain.most, self._graph.const(0))
            for element, fits in (self._aside(one, {}) for one in other):
                found = found.with_one(element).where(fits, found)
        return self._valued(domain, found)

    def _valued(self, domain: d.ListedSet, arranged: Arrangement) -> ListedSetView:
        return ListedSetView(domain, Place(ValueCells(self._graph, arranged.codes()), 0, "this set"))

    def _join(self, other: ListedSetView) -> ListedSetView:
        domain = d.ListedSet.bound_to(self._domain.of, self._domain.most + other._domain.most)
        joined, theirs = self._arrangement().resized(domain.most), other._arrangement()
        for place, codes in enumerate(theirs.elements):
            skipped = apply(Op.NOT, theirs.there(place))
            joined = joined.where(skipped, joined.with_one(codes))
        mine = self._arrangement().resized(domain.most)
        return self._valued(domain, joined.noted("joined", mine, theirs.codes()))

    def _meet(self, other: ListedSetView) -> ListedSetView:
        theirs = other._arrangement()
        return self._kept("met", theirs, theirs.holds)

    def _minus(self, other: ListedSetView) -> ListedSetView:
        theirs = other._arrangement()
        return self._kept("without", theirs, lambda codes: apply(Op.NOT, theirs.holds(codes)))

    def _kept(self, how: str, theirs: Arrangement, test: Callable[[list[Node]], Node]) -> ListedSetView:
        """Return the elements that pass a test; they stay sorted."""
        arranged, domain = self._arrangement(), self._domain
        kept = Arrangement.empty(domain.sizes, domain.most, self._graph.const(0))
        for place, codes in enumerate(arranged.elements):
            passes = combine(self._graph, Op.AND, [arranged.there(place), test(codes)])
            kept = kept.appended(codes).where(passes, kept)
        return self._valued(domain, kept.noted(how, arranged, theirs.codes()))


class BitSetView(SetOfView, View):
    """A view of a set that has a cell for each possible element."""

    __slots__ = ()
    _domain: d.BitSet

    @property
    def length(self) -> Num:
        total = self._graph.const(0)
        for code in self._codes():
            total = apply(Op.ADD, total, code)
        return Num(total)

    def is_empty(self) -> Bool:
        zero = self._graph.const(0)
        return Bool(combine(self._graph, Op.AND, [apply(Op.EQ, code, zero) for code in self._codes()]))

    def members(self) -> list[tuple[Any, Bool]]:
        return [(self._member(codes), Bool(self._bit(number))) for number, codes in enumerate(self._domain.members)]

    def labels(self) -> list[str]:
        return self._domain.texts

    def add(self, element: object = BY_NAME, /, **fields: object) -> None:
        self._put(1, self._element(self._place.environment, element, fields))

    def remove(self, element: object = BY_NAME, /, **fields: object) -> None:
        self._put(0, *self._aside(element, fields))

    def is_subset(self, other: object) -> Bool:
        pairs = zip(self._codes(), self._other(other, keeping=False)._codes(), strict=True)
        return Bool(combine(self._graph, Op.AND, [apply(Op.LE, a, b) for a, b in pairs]))

    def __getitem__(self, index: object) -> NoReturn:
        message = (
            f"{user_frame()}: {self!r} has no order, so it has no places; an action may have the fields of an element "
            f"as its parameters and require {self!r}.contains(...). A set that is declared SetOf(..., most) has places."
        )
        raise ModelError(message)

    def _put(self, code: int, element: list[Node], fits: Node | None = None) -> None:
        """Assign a code to the cell of an element, or to each cell that may be its cell if it is symbolic.

        Args:
            code: 1 to add the element, 0 to remove it.
            element: the codes of the element.
            fits: the condition that the element is in the domain; None where it must be.
        """
        known, always = _known(element), fits is None or fits is self._graph.true
        if fits is self._graph.false:
            return
        if known is not None and always:
            number = self._domain.number_of.get(known)
            if number is not None:
                self._place.at(number, self._place.path).write([self._graph.const(code)])
            return
        codes, new = self._codes(), self._graph.const(code)
        for number, chosen in self._matching(element):
            here = chosen if fits is None else combine(self._graph, Op.AND, [fits, chosen])
            codes[number] = apply(Op.ITE, here, new, codes[number])
        self._place.write(codes)

    def _holds(self, codes: Sequence[Node]) -> Node:
        known = _known(codes)
        if known is not None:
            number = self._domain.number_of.get(known)
            return self._graph.false if number is None else self._bit(number)
        found = [combine(self._graph, Op.AND, [self._bit(n), chosen]) for n, chosen in self._matching(codes)]
        return combine(self._graph, Op.OR, found)

    def _matching(self, element: Sequence[Node]) -> list[tuple[int, Node]]:
        """Return the number of each possible element that may equal this one, with the condition that it does."""
        graph, found = self._graph, []
        for place, codes in enumerate(self._domain.members):
            same = [apply(Op.EQ, node, graph.const(code)) for node, code in zip(element, codes, strict=True)]
            if graph.false not in same:
                found.append((place, combine(graph, Op.AND, same)))
        return found

    def _bit(self, number: int) -> Node:
        return apply(Op.EQ, self._place.read(number), self._graph.const(1))

    def _member(self, codes: Sequence[int]) -> Any:
        plain = _PLAIN.get(type(self._domain.of))
        if plain is not None:
            return plain(self._domain.of, codes[0])
        return self._lifted([self._graph.const(code) for code in codes], f"an element of {self!r}")

    def _other(self, other: object, *, keeping: bool = True) -> BitSetView:
        if isinstance(other, BitSetView) and other._domain.shape() == self._domain.shape():
            return other
        if not keeping and isinstance(other, (list, tuple, set, frozenset)):
            return self._of_domain(other)
        codes = codes_for(self._domain, self._place.environment, other, f"a set beside {self!r}")
        return self._valued(codes)

    def _of_domain(self, elements: Iterable[object]) -> BitSetView:
        """Return the set of the given elements that are in the domain."""
        zeros = [self._graph.const(0)] * self._domain.width
        found = BitSetView(self._domain, Place(ValueCells(self._graph, zeros, writable=True), 0, "this set"))
        for element in elements:
            found._put(1, *self._aside(element, {}))
        return found

    def _valued(self, codes: list[Node]) -> BitSetView:
        return BitSetView(self._domain, Place(ValueCells(self._graph, codes), 0, "this set"))

    def _each(self, other: BitSetView, how: Callable[[Node, Node], Node]) -> BitSetView:
        return self._valued([how(a, b) for a, b in zip(self._codes(), other._codes(), strict=True)])

    def _join(self, other: BitSetView) -> BitSetView:
        return self._each(other, lambda a, b: apply(Op.BITOR, a, b))

    def _meet(self, other: BitSetView) -> BitSetView:
        return self._each(other, lambda a, b: apply(Op.BITAND, a, b))

    def _minus(self, other: BitSetView) -> BitSetView:
        return self._each(other, lambda a, b: apply(Op.BITDIFF, a, b))


def _known(codes: Sequence[Node]) -> tuple[int, ...] | None:
    """Return the codes as numbers if all of them are constants, else None."""
    return tuple(node.lo for node in codes) if all(node.op is Op.CONST for node in codes) else None


_PLAIN: dict[type[d.Domain], Callable[[Any, int], Any]] = {
    d.Boolean: lambda domain, code: bool(code),
    d.Int: lambda domain, code: domain.lo + code,
    d.Enum: lambda domain, code: list(domain.kind)[code],
    d.Member: lambda domain, code: domain.sort(code),
}
"""The plain Python value of a constant code, for each domain of one cell that has one."""


def _bit_codes(domain: d.BitSet, env: Environment, value: object, path: str) -> list[Node]:
    graph = env.graph
    target = BitSetView(domain, Place(ValueCells(graph, [graph.const(0)] * domain.width, writable=True), 0, path))
    if isinstance(value, ListedSetView) and value._domain.of.shape() == domain.of.shape():
        arranged = value._arrangement()
        return [
            apply(Op.ITE, arranged.holds([graph.const(code) for code in member]), graph.const(1), graph.const(0))
            for member in domain.members
        ]
    if not isinstance(value, (list, tuple, set, frozenset)):
        refuse(domain, value, path)
    for place, element in enumerate(value):
        target._put(1, codes_for(domain.of, env, element, f"{path}[{place}]"))
    return target._codes()


VIEWS.update({d.ListedSet: ListedSetView, d.BitSet: BitSetView})
CODES.update({d.BitSet: _bit_codes})
assert set(CODES) == d.DOMAINS == set(VIEWS) - {OpenArray}, "an array of open length is not assigned as a whole"
