"""Views of sequences and bags: how an author reads and changes them while a model is traced.

Those of sets are in `set_views`. An element that is read is a value: it stays what it was, and cannot be assigned to.
What is added may be a value, or the fields of a record by name. That there is room for it is expected, as it is of any
assignment that it fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from insync.model.domains import composite as d
from insync.model.domains.containers import Listed
from insync.model.domains.sorted_arrays import Arrangement
from insync.model.domains.values import NONE, Bool, Num, number
from insync.model.errors import ModelError, user_frame
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply, combine
from insync.model.expressions.store import Environment, Place
from insync.model.language.views import KNOWN_INDEX, View, codes_for, refuse, view

__all__ = ["BY_NAME", "BagView", "Collected", "ListedView", "SeqView", "ValueCells", "listed_codes"]

BY_NAME = object()
"""Stands for an element that is given by the names of its fields."""


class ValueCells(Environment):
    """The cells of a value that is no part of the state."""

    unwritable = "it is a value, no part of the state: change what it was read from."


class Collected:
    """What views of sequences, bags and sets have in common."""

    __slots__ = ()
    _domain: Any
    _place: Place

    @property
    def length(self) -> Num:
        """How many elements there are."""
        raise NotImplementedError

    def members(self) -> list[tuple[Any, Bool]]:
        """Return all that may be an element, each with the condition that it is one."""
        raise NotImplementedError

    def labels(self) -> list[str]:
        """Return what each that may be an element is called, in the order of `members`."""
        raise NotImplementedError

    def contains(self, element: object = BY_NAME, /, **fields: object) -> Bool:
        """Return whether this is an element; what is not of the domain is none."""
        codes, fits = self._aside(element, fields)
        return Bool(combine(self._graph, Op.AND, [fits, self._holds(codes)]))

    def is_empty(self) -> Bool:
        """Return whether there is no element."""
        return self.length == 0

    def clear(self) -> None:
        """Take all elements away."""
        self._place.write([self._graph.const(0)] * self._domain.width)

    @property
    def _graph(self) -> Graph:
        return self._place.environment.graph

    def _holds(self, codes: Sequence[Node]) -> Node:
        raise NotImplementedError

    def _aside(self, element: object, fields: dict[str, object]) -> tuple[list[Node], Node]:
        """Return the codes of an element that need not be of the domain, and the condition that it is."""
        aside = Environment(self._graph, [])
        codes = self._element(aside, element, fields)
        return codes, combine(self._graph, Op.AND, [expected.node for expected in aside.expected])

    def _element(self, env: Environment, element: object, fields: dict[str, object]) -> list[Node]:
        """Return the codes of an element as it is given; fields that may be none may be left out."""
        of, path = self._domain.of, f"{self._place.path}[...]"
        if element is not BY_NAME and not fields:
            return codes_for(of, env, element, path)
        if element is not BY_NAME or not isinstance(of, d.Record):
            needed = "is given by itself or by the names of its fields" if isinstance(of, d.Record) else "has no fields"
            message = f"{user_frame()}: an element of {self!r} is {d.described(of)}; it {needed}."
            raise ModelError(message)
        optional = {n: NONE for n, field in of.fields.items() if isinstance(field, (d.Option, d.OptionalScalar))}
        return codes_for(of, env, optional | fields, path)

    def _lifted(self, codes: list[Node], path: str) -> Any:
        return view(self._domain.of, Place(ValueCells(self._graph, codes), 0, path))

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


_INTERNAL = {"members", "labels", "in_places", "compares_last", "in_subset"}


class ListedView(Collected, View):
    """A sequence, a bag, or a set of at most so many elements."""

    __slots__ = ()
    _domain: Listed

    def _arrangement(self) -> Arrangement:
        return Arrangement.read(self._domain.sizes, self._codes())

    def _write(self, changed: Arrangement) -> None:
        self._place.write(changed.codes())

    def _take_away(self, element: object, fields: dict[str, object]) -> None:
        """Take an element away once; what is not there, or is not of the domain, changes nothing."""
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

    def _index(self, index: object) -> Node:
        node, most = number(self._graph, index), self._domain.most
        if isinstance(index, int) and not 0 <= index < most:  # what the state says may be anything, as in an array
            message = (
                f"{user_frame()}: {self!r} has no place {node.lo}; its {most} places are numbered from 0. {KNOWN_INDEX}"
            )
            raise ModelError(message)
        return node

    def in_places(self) -> None:
        """Note that what is asked of the elements depends on how they are kept."""
        if not isinstance(self._domain, d.Seq):
            self._graph.by_place.setdefault(user_frame(), self._domain)

    def __getitem__(self, index: object) -> Any:
        node = self._index(index)
        self.in_places()
        label = str(node.lo) if node.op is Op.CONST else "..."
        return self._lifted(self._arrangement().at(node), f"{self!r}[{label}]")


class SeqView(ListedView):
    """A sequence."""

    __slots__ = ()

    @property
    def first(self) -> Any:
        """The first element; the first value of the domain where there is none."""
        return self[0]

    @property
    def last(self) -> Any:
        """The last element; the first value of the domain where there is none."""
        before = apply(Op.ADD, self._place.read(), self._graph.const(-1))
        return self._lifted(self._arrangement().at(before), f"{self!r}.last")

    def append(self, element: object = BY_NAME, /, **fields: object) -> None:
        """Add an element at the end."""
        codes = self._element(self._place.environment, element, fields)
        self._expect_room(self._room(), "appends to")
        self._write(self._arrangement().appended(codes))

    def take_first(self) -> Any:
        """Take the first element away, and return it."""
        taken, message = self.first, f"this takes the first element of {self!r}, which may be empty."
        self._place.environment.expect(apply(Op.LT, self._graph.const(0), self._place.read()), message)
        self._write(self._arrangement().shifted())
        return taken

    def take(self, index: object) -> Any:
        """Take the element at a place away, and return it; those behind it move up."""
        node, taken = self._index(index), self[index]
        inside = [apply(Op.LE, self._graph.const(0), node), apply(Op.LT, node, self._place.read())]
        message = f"this takes an element past the end of {self!r}."
        self._place.environment.expect(combine(self._graph, Op.AND, inside), message)
        self._write(self._arrangement().without_place(node))
        return taken

    def __setitem__(self, index: object, element: object) -> None:
        node, env = self._index(index), self._place.environment
        codes = codes_for(self._domain.of, env, element, f"{self!r}[...]")
        inside = [apply(Op.LE, self._graph.const(0), node), apply(Op.LT, node, self._place.read())]
        message = f"this assigns past the end of {self!r}; append() makes it longer."
        env.expect(combine(self._graph, Op.AND, inside), message)
        self._write(self._arrangement().replaced(node, codes))


class BagView(ListedView):
    """A bag."""

    __slots__ = ()

    def add(self, element: object = BY_NAME, /, **fields: object) -> None:
        """Add an element, once more if it is in the bag already."""
        codes = self._element(self._place.environment, element, fields)
        self._expect_room(self._room(), "adds to")
        self._write(self._arrangement().inserted(codes))

    def remove(self, element: object = BY_NAME, /, **fields: object) -> None:
        """Take an element away once; nothing changes where it is not in the bag, or is not of its domain."""
        self._take_away(element, fields)

    def count(self, element: object = BY_NAME, /, **fields: object) -> Num:
        """Return how often this is in the bag."""
        codes, fits = self._aside(element, fields)
        return Num(apply(Op.ITE, fits, self._arrangement().number_of(codes), self._graph.const(0)))


# ---------------------------------------------------------------------------------------------------------- assigning


def listed_codes(domain: Listed, env: Environment, value: object, path: str) -> list[Node]:
    """Return the codes of a value in a listed domain: a Python collection, or a view of one of another length."""
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
