"""What the views of sequences, bags and sets have in common: elements are given, compared and counted.

An element that is read is a value: later changes do not affect it. An element is given as a value, or as the fields of
a record by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

from insync.model.domains import composite as d
from insync.model.domains.values import NONE, Bool, Condition, Num
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import combine
from insync.model.expressions.store import Environment, Place
from insync.model.language.views import ValueCells, codes_for, view
from insync.runtime.errors import ModelError, user_frame

__all__ = ["BY_NAME", "Collected"]


BY_NAME = object()
"""A default that marks an element given by its fields."""


class SortedCells(ValueCells):
    """The store of an element of a bag or of a set."""

    unwritable = "an element of a bag or a set has no place: remove it, and add the changed one."


class Collected:
    """The base of the views of sequences, bags and sets."""

    __slots__ = ()
    _domain: Any
    _place: Place
    _cells: ClassVar[type[ValueCells]] = SortedCells
    """The store of an element that is read."""
    is_sequence: ClassVar[bool] = False
    """Whether the elements are in the order in which the author put them there."""

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

    def in_places(self) -> None:
        """Record that the author reads the elements by their order, where the container sorts them."""

    def kept(self, conditions: Sequence[Condition]) -> Collected:
        """Return a sequence with the elements whose condition holds."""
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


_INTERNAL = {"members", "labels", "in_places", "is_sequence", "kept", "compares_last", "in_subset"}
