"""Views of sequences, bags and sets: how an author reads and changes containers while a model is traced.

An element that is read is a value: later changes do not affect it. A part of an element of a sequence can be assigned,
which replaces the element at its place. An element is given as a value, or as the fields of a record by name. An
addition records the condition that there is room, as an assignment records the condition that the value fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NoReturn

from insync.model.domains import composite as d
from insync.model.domains.containers import Listed
from insync.model.domains.open_bounds import OpenArray
from insync.model.domains.sorted_arrays import Arrangement
from insync.model.domains.values import NONE, Bool, Condition, Num, condition, number
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply, combine
from insync.model.expressions.store import Dimension, Environment, Place, replace_where, selections, split
from insync.model.language.views import CODES, KNOWN_INDEX, VIEWS, ValueCells, View, codes_for, name_at, refuse, view
from insync.runtime.errors import ModelError, user_frame

__all__ = [
    "BagView",
    "Collected",
    "ListedView",
    "SeqView",
    "SetOfView",
]


BY_NAME = object()
"""A default that marks an element given by its fields."""


class SortedCells(ValueCells):
    """The store of an element of a bag or of a set."""

    unwritable = "an element of a bag or a set has no place: remove it, and add the changed one."


class ElementCells(Environment):
    """The store of an element of a sequence: it has the codes that were read, and an assignment changes the sequence.

    The checks and the conditions of open blocks are those of the store of the sequence.

    Args:
        of: the sequence.
        index: the place of the element.
        codes: the codes of the element.
        read: the codes of the sequence from which they were read.
    """

    def __init__(self, of: SeqView, index: Node, codes: list[Node], read: list[Node]) -> None:
        around = of._place.environment
        super().__init__(around.graph, codes, writable=around.writable)
        self.unwritable = around.unwritable
        self.where, self.expected = around.where, around.expected
        self._of, self._index, self._read = of, index, read

    def assign(
        self, base: int, dimensions: tuple[Dimension, ...], codes: Sequence[Node], *, onwards: bool = False
    ) -> None:
        """Assign the codes of a part of the element, in the sequence too.

        Raises:
            ModelError: the sequence was changed since the element was read, so that another one may be in its place.
        """
        if self._of._codes() != self._read:
            message = (
                f"{user_frame()}: {self._of!r} was changed after this element of it was read, so another one may be "
                f"in its place. Read it again where it is assigned, as in {self._of!r}[i].field = value."
            )
            raise ModelError(message)
        new = list(self.cells)
        for cell, chosen, _ in selections(self.graph, base, *split(dimensions), ()):
            replace_where(new, cell, chosen, codes)
        changed = [None if code is old else code for code, old in zip(new, self.cells, strict=True)]
        super().assign(base, dimensions, codes)
        self._of._replace(self._index, changed)
        self._read = self._of._codes()


class Collected:
    """The base of the views of sequences, bags and sets."""

    __slots__ = ()
    _domain: Any
    _place: Place
    _cells: ClassVar[type[ValueCells]] = SortedCells
    """The store of an element that is read."""

    @property
    def length(self) -> Num:
        """The number of elements."""
        raise NotImplementedError

    def members(self) -> list[tuple[Any, Bool]]:
        """Return each possible element with the condition that it is one."""
        raise NotImplementedError

    def labels(self) -> list[str]:
        """Return the names of the possible elements, in the order of `members`."""
        raise NotImplementedError

    def contains(self, element: object = BY_NAME, /, **fields: object) -> Bool:
        """Return whether a value is an element; a value outside the domain is not."""
        codes, fits = self._aside(element, fields)
        return Bool(combine(self._graph, Op.AND, [fits, self._holds(codes)]))

    def is_empty(self) -> Bool:
        """Return whether there is no element."""
        return self.length == 0

    def clear(self) -> None:
        """Remove all elements."""
        self._place.write([self._graph.const(0)] * self._domain.width)

    @property
    def _graph(self) -> Graph:
        return self._place.environment.graph

    def _holds(self, codes: Sequence[Node]) -> Node:
        raise NotImplementedError

    def _aside(self, element: object, fields: dict[str, object]) -> tuple[list[Node], Node]:
        """Return the codes of an element that may be outside the domain, and the condition that it is not."""
        aside = Environment(self._graph, [])
        codes = self._element(aside, element, fields)
        return codes, combine(self._graph, Op.AND, [expected.node for expected in aside.expected])

    def _element(self, env: Environment, element: object, fields: dict[str, object]) -> list[Node]:
        """Return the codes of a given element; optional fields may be left out."""
        of, path = self._domain.of, f"{self._place.path}[...]"
        if element is not BY_NAME and not fields:
            return codes_for(of, env, element, path)
        if element is not BY_NAME or not isinstance(of, d.Record):
            needed = "has no fields: give the element itself, without a name"
            if isinstance(of, d.Record):
                needed = "is given by itself or by the names of its fields"
            message = f"{user_frame()}: an element of {self!r} is {d.described(of)}; it {needed}."
            raise ModelError(message)
        optional = {n: NONE for n, field in of.fields.items() if isinstance(field, (d.Option, d.OptionalScalar))}
        return codes_for(of, env, optional | fields, path)

    def _lifted(self, codes: list[Node], path: str) -> Any:
        return view(self._domain.of, Place(self._cells(self._graph, codes), 0, path))

    def __iter__(self) -> NoReturn:
        message = (
            f"{user_frame()}: what is in {self!r} is known only when the model runs. "
            f"Write for_all({self!r}, lambda x: ...) or exists(...)."
        )
        raise ModelError(message)

    def __contains__(self, element: object) -> NoReturn:
        message = (
            f"{user_frame()}: Python's `in` needs an answer while the model is traced. "
            f"Write {self!r}.contains(element)."
        )
        raise ModelError(message)

    def __len__(self) -> int:
        message = (
            f"{user_frame()}: how many elements {self!r} has is known only when the model runs. Write {self!r}.length."
        )
        raise ModelError(message)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        message = (
            f"{user_frame()}: {self!r} has no {name!r}: it is {d.described(self._domain)}; it has {self._words()}."
        )
        raise ModelError(message)

    def __setattr__(self, name: str, value: object) -> None:
        message = f"{user_frame()}: {self!r}.{name} cannot be assigned; {self!r} is {d.described(self._domain)}."
        raise ModelError(message)

    def _words(self) -> str:
        return ", ".join(sorted(name for name in dir(type(self)) if not name.startswith("_") and name not in _INTERNAL))


_INTERNAL = {"members", "labels", "in_places", "kept", "compares_last", "in_subset"}


class ListedView(Collected, View):
    """A view of a sequence, a bag, or a set that is stored as a list."""

    __slots__ = ()
    _domain: Listed

    def _arrangement(self) -> Arrangement:
        return Arrangement.read(self._domain.sizes, self._codes())

    def _write(self, changed: Arrangement) -> None:
        self._place.write(changed.codes())

    def _take_away(self, element: object, fields: dict[str, object]) -> None:
        """Remove an element once; nothing changes if it is not there, or is outside the domain."""
        codes, fits = self._aside(element, fields)
        arranged = self._arrangement()
        without = arranged.without(codes)
        self._write(without if fits is self._graph.true else without.where(fits, arranged))

    def _expect_room(self, condition: Node, what: str) -> None:
        most = self._domain.most
        message = f"this {what} {self!r}, which has room for {most} element{'' if most == 1 else 's'} at most."
        self._place.environment.expect(condition, message)

    def _room(self) -> Node:
        return apply(Op.LT, self._place.read(), self._graph.const(self._domain.most))

    @property
    def length(self) -> Num:
        return Num(self._place.read())

    def members(self) -> list[tuple[Any, Bool]]:
        arranged = self._arrangement()
        return [
            (self._lifted(codes, label), Bool(arranged.there(place)))
            for place, (codes, label) in enumerate(zip(arranged.elements, self.labels(), strict=True))
        ]

    def labels(self) -> list[str]:
        return [f"{self!r}[{place}]" for place in range(self._domain.most)]

    def _holds(self, codes: Sequence[Node]) -> Node:
        return self._arrangement().holds(codes)

    def _index(self, index: object) -> tuple[Node, str]:
        """Return an index, and its name."""
        node, most = number(self._graph, index), self._domain.most
        known = isinstance(index, int) and self._domain.of.without_members() is None
        if known and not 0 <= node.lo < most:  # a symbolic index may be outside, as in an array
            message = (
                f"{user_frame()}: {self!r} has no place {node.lo}; its {most} places are numbered from 0. {KNOWN_INDEX}"
            )
            raise ModelError(message)
        return node, str(node.lo) if node.op is Op.CONST else name_at(node, (), most)

    def in_places(self) -> None:
        """Record that the author reads a sorted container by the order of its elements."""
        if not isinstance(self._domain, d.Seq):
            self._graph.by_place.setdefault(user_frame(), self._domain)

    def __getitem__(self, index: object) -> Any:
        node, label = self._index(index)
        self.in_places()
        return self._lifted(self._arrangement().at(node), f"{self!r}[{label}]")


class SeqView(ListedView):
    """A sequence."""

    __slots__ = ()
    _cells = ValueCells

    @property
    def first(self) -> Any:
        """The first element; the first value of the domain where there is none."""
        return self._at(self._graph.const(0), f"{self!r}[0]")

    @property
    def last(self) -> Any:
        """The last element; the first value of the domain where there is none."""
        return self._at(apply(Op.ADD, self._place.read(), self._graph.const(-1)), f"{self!r}.last")

    def __getitem__(self, index: object) -> Any:
        node, label = self._index(index)
        return self._at(node, f"{self!r}[{label}]")

    def _at(self, index: Node, path: str) -> Any:
        """Return the element at a place; its parts can be assigned."""
        read = self._codes()
        codes = Arrangement.read(self._domain.sizes, read).at(index)
        if isinstance(self._domain.of, d.Scalar):
            return self._domain.of.lift(codes[0])
        return view(self._domain.of, Place(ElementCells(self, index, codes, read), 0, path))

    def _replace(self, index: Node, codes: Sequence[Node | None]) -> None:
        """Replace the codes of the element at a place; None keeps a code."""
        inside = [apply(Op.LE, self._graph.const(0), index), apply(Op.LT, index, self._place.read())]
        message = f"this assigns past the end of {self!r}; append() makes it longer."
        self._place.environment.expect(combine(self._graph, Op.AND, inside), message)
        self._write(self._arrangement().replaced(index, codes))

    def kept(self, conditions: Sequence[Condition]) -> SeqView:
        """Return the sequence of the elements whose condition holds."""
        arranged, graph = self._arrangement(), self._graph
        kept = Arrangement.empty(self._domain.sizes, self._domain.most, graph.const(0))
        for place, (codes, one) in enumerate(zip(arranged.elements, conditions, strict=True)):
            passes = combine(graph, Op.AND, [arranged.there(place), condition(graph, one)])
            kept = kept.appended(codes).where(passes, kept)
        return SeqView(self._domain, Place(ValueCells(graph, kept.codes()), 0, "this sequence"))

    def append(self, element: object = BY_NAME, /, **fields: object) -> None:
        """Append an element."""
        codes = self._element(self._place.environment, element, fields)
        self._expect_room(self._room(), "appends to")
        self._write(self._arrangement().appended(codes))

    def take_first(self) -> Any:
        """Remove the first element and return it."""
        taken, message = self.first, f"this takes the first element of {self!r}, which may be empty."
        self._place.environment.expect(apply(Op.LT, self._graph.const(0), self._place.read()), message)
        self._write(self._arrangement().shifted())
        return taken

    def take(self, index: object) -> Any:
        """Remove the element at a place and return it; later elements move up."""
        (node, _), taken = self._index(index), self[index]
        inside = [apply(Op.LE, self._graph.const(0), node), apply(Op.LT, node, self._place.read())]
        message = f"this takes an element past the end of {self!r}."
        self._place.environment.expect(combine(self._graph, Op.AND, inside), message)
        self._write(self._arrangement().without_place(node))
        return taken

    def __setitem__(self, index: object, element: object) -> None:
        (node, _), env = self._index(index), self._place.environment
        self._replace(node, codes_for(self._domain.of, env, element, f"{self!r}[...]"))

    def __setattr__(self, name: str, value: object) -> None:
        places = {"first": "0", "last": f"{self!r}.length - 1"}
        if name in places:
            message = f"{user_frame()}: {self!r}.{name} cannot be assigned; write {self!r}[{places[name]}] = element."
            raise ModelError(message)
        super().__setattr__(name, value)


class BagView(ListedView):
    """A bag."""

    __slots__ = ()

    def add(self, element: object = BY_NAME, /, **fields: object) -> None:
        """Add an element, once more if it is in the bag already."""
        codes = self._element(self._place.environment, element, fields)
        self._expect_room(self._room(), "adds to")
        self._write(self._arrangement().inserted(codes))

    def remove(self, element: object = BY_NAME, /, **fields: object) -> None:
        """Remove an element once; nothing changes if it is not in the bag, or is outside its domain."""
        self._take_away(element, fields)

    def count(self, element: object = BY_NAME, /, **fields: object) -> Num:
        """Return how often an element is in the bag."""
        codes, fits = self._aside(element, fields)
        return Num(apply(Op.ITE, fits, self._arrangement().number_of(codes), self._graph.const(0)))


# ---------------------------------------------------------------------------------------------------------- assigning


def listed_codes(domain: Listed, env: Environment, value: object, path: str) -> list[Node]:
    """Return the codes of a value in a listed domain: a Python collection, or a view whose `most` differs."""
    graph = env.graph
    if isinstance(value, ListedView) and _alike(domain, value._domain):
        fits = apply(Op.LE, value._place.read(), graph.const(domain.most))
        env.expect(fits, f"the value assigned to {path} has more than {domain.most} elements.")
        return value._arrangement().resized(domain.most).codes()
    kinds = (list, tuple, set, frozenset) if isinstance(domain, d.ListedSet) else (list, tuple)
    if not isinstance(value, kinds):
        refuse(domain, value, path)
    arranged = Arrangement.empty(domain.sizes, domain.most, graph.const(0))
    for place, element in enumerate(value):
        codes = codes_for(domain.of, env, element, f"{path}[{place}]")
        known = arranged.holds(codes) if isinstance(domain, d.ListedSet) else graph.false
        room = apply(Op.LT, arranged.length, graph.const(domain.most))
        fits = combine(graph, Op.OR, [room, known])
        env.expect(fits, f"the value assigned to {path} has more than {domain.most} elements.")
        if isinstance(domain, d.ListedSet):
            arranged = arranged.with_one(codes)
        else:
            arranged = arranged.appended(codes) if isinstance(domain, d.Seq) else arranged.inserted(codes)
    return arranged.codes()


def _alike(one: Listed, other: Listed) -> bool:
    return type(one) is type(other) and one.of.shape() == other.of.shape()


# ----------------------------------------------------------------------------------------------------------------- sets


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


VIEWS.update({d.Seq: SeqView, d.Bag: BagView, d.ListedSet: ListedSetView, d.BitSet: BitSetView})
CODES.update({d.Seq: listed_codes, d.Bag: listed_codes, d.ListedSet: listed_codes, d.BitSet: _bit_codes})
assert set(CODES) == d.DOMAINS == set(VIEWS) - {OpenArray}, "an array of open length is not assigned as a whole"
