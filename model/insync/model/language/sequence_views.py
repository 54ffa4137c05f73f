"""Views of sequences and bags, and what they share with sets that are stored as lists.

A part of an element of a sequence can be assigned, which replaces the element at its place. An addition records the
condition that there is room, as an assignment records the condition that the value fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from insync.model.domains import composite as d
from insync.model.domains.containers import Listed
from insync.model.domains.sorted_arrays import Arrangement
from insync.model.domains.values import Bool, Condition, Num, condition, number
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import apply, combine
from insync.model.expressions.store import Dimension, Environment, Place, replace_where, selections, split
from insync.model.language.container_views import BY_NAME, Collected
from insync.model.language.views import CODES, KNOWN_INDEX, VIEWS, ValueCells, View, codes_for, name_at, refuse, view
from insync.runtime.errors import ModelError, user_frame

__all__ = ["BagView", "ListedView", "SeqView"]


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
        message = (
            f"this {what} {self!r}, which has room for {most} element{'' if most == 1 else 's'} at most. Declare more "
            f"room, or require(...) first that there is some."
        )
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
            wants_last = node.lo == -1 and hasattr(type(self), "last")
            cure = f"The last element is {self!r}.last." if wants_last else KNOWN_INDEX
            message = f"{user_frame()}: {self!r} has no place {node.lo}; its {most} places are numbered from 0. {cure}"
            raise ModelError(message)
        return node, str(node.lo) if node.op is Op.CONST else name_at(node, (), most)

    def in_places(self) -> None:
        if not self.is_sequence:
            self._graph.by_place.setdefault(user_frame(), self._domain)

    def __getitem__(self, index: object) -> Any:
        node, label = self._index(index)
        self.in_places()
        return self._lifted(self._arrangement().at(node), f"{self!r}[{label}]")


class SeqView(ListedView):
    """A sequence."""

    __slots__ = ()
    _cells = ValueCells
    is_sequence = True

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


VIEWS.update({d.Seq: SeqView, d.Bag: BagView})
CODES.update({d.Seq: listed_codes, d.Bag: listed_codes, d.ListedSet: listed_codes})
