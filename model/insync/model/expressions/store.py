"""The symbolic state while an action or property is traced, and places in it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import ClassVar

from insync.model.errors import ModelError, user_frame
from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply, combine
from insync.model.expressions.source import noted

__all__ = ["Dimension", "Environment", "Expected", "Nowhere", "Place", "Unreachable", "conjuncts", "current"]


class Unreachable(Exception):
    """The guard has become false for this binding of the parameters; tracing it further is pointless."""


current: ContextVar[Environment | None] = ContextVar("current", default=None)
"""The environment of the action, or of `initial`, that is being traced."""


def conjuncts(condition: Node) -> tuple[Node, ...]:
    """Return the conditions of which one is the conjunction as it was written: the parts of a guard."""
    return condition.args if condition.op is Op.AND and condition.arg is None else (condition,)


class Environment:
    """The value of every cell as a node, the guard so far, and what assignments need to be sound.

    Args:
        graph: where the nodes live.
        cells: the node of each cell.
        writable: whether assignments are allowed; a property must not assign.
        guarded: whether `require` is allowed; only an action has a guard.

    Attributes:
        guard: the conditions that were required.
        where: the conditions of the `when` blocks that are open: assignments happen where all of them hold.
        unopened: the `when` blocks that were made and not opened by `with`, and where.
        expected: what must hold for assignments to be sound.
        unwritable: why it takes no assignment, for messages.
    """

    unwritable: ClassVar[str] = "only an action (or `initial`) changes the state."

    def __init__(self, graph: Graph, cells: list[Node], *, writable: bool = False, guarded: bool = False) -> None:
        self.graph, self.cells, self.writable, self.guarded = graph, cells, writable, guarded
        self.guard: list[Node] = []
        self.where: list[Node] = []
        self.unopened: dict[object, str] = {}
        self.expected: list[Expected] = []

    def require(self, condition: Node) -> None:
        """Add a condition to the guard, its conjuncts one by one."""
        if condition is self.graph.false:
            raise Unreachable
        self.guard += [p for p in conjuncts(condition) if p is not self.graph.true and p not in self.guard]

    def expect(self, condition: Node, message: str) -> None:
        """Note what must hold wherever guard and open blocks do; the message says what is wrong where it does not."""
        if condition is not self.graph.true and self.graph.false not in self.where:
            self.expected.append(Expected(tuple(self.where), condition, message, user_frame()))

    def load(self, cell: int, dimensions: tuple[Dimension, ...]) -> Node:
        """Return the code of a cell, or of that which symbolic indexes select; 0 where one is outside its array."""
        if not dimensions:
            return self.cells[cell]
        first, rest = dimensions[0], dimensions[1:]
        elements = [self.load(cell + i * first.stride, rest) for i in range(first.length)]
        return apply(Op.SELECT, first.index, *elements)

    def assign(self, base: int, dimensions: tuple[Dimension, ...], codes: Sequence[Node]) -> None:
        """Assign the codes of a value to the cells from a base on, where the open blocks let it happen.

        Args:
            base: the first cell, where all symbolic indexes are 0.
            dimensions: these indexes.
            codes: of the value.
        """
        for offset, code in enumerate(codes):
            self._store(base + offset, dimensions, self.where, code)

    def _store(self, cell: int, dimensions: tuple[Dimension, ...], chosen: list[Node], code: Node) -> None:
        if not dimensions:
            here = combine(self.graph, Op.AND, chosen)
            self.cells[cell] = apply(Op.ITE, here, code, self.cells[cell])
            return
        first, rest = dimensions[0], dimensions[1:]
        for i in range(first.length):
            is_chosen = apply(Op.EQ, first.index, self.graph.const(i))
            self._store(cell + i * first.stride, rest, [*chosen, is_chosen], code)

    def snapshot(self) -> Environment:
        """Return a copy that later assignments do not change and that takes none itself."""
        return Environment(self.graph, list(self.cells))


@dataclass(frozen=True, slots=True)
class Expected:
    """What must hold for an assignment to be sound, and the message for where it does not.

    Attributes:
        where: the conditions under which the assignment happens.
        condition: what must hold there.
        message: what is wrong where it does not.
        place: the author's file and line.
    """

    where: tuple[Node, ...]
    condition: Node
    message: str
    place: str

    @property
    def recorded(self) -> str:
        """The message for traces, with the name of the file alone: a trace goes to other machines."""
        return f"{os.path.basename(self.place)}: {self.message}"

    @property
    def node(self) -> Node:
        """The whole of it as one condition."""
        graph = self.condition.graph
        return combine(graph, Op.OR, [*(apply(Op.NOT, where) for where in self.where), self.condition])


class Nowhere(Environment):
    """What an absent field stands on: it reads as 0 everywhere, and swallows what is assigned.

    Args:
        graph: where the nodes live.
        width: how many cells the field would have.
    """

    def __init__(self, graph: Graph, width: int, *, writable: bool) -> None:
        super().__init__(graph, [graph.const(0)] * width, writable=writable)
        self.where.append(graph.false)


@dataclass(frozen=True, slots=True)
class Dimension:
    """One symbolic index of a place: which element of how many, and how many cells apart they lie."""

    index: Node
    length: int
    stride: int


@dataclass(slots=True, eq=False)  # one is made for each field that is read: a frozen one takes three times as long
class Place:
    """Where a value lies: the first of its cells, plus the offset of each symbolic index.

    Attributes:
        environment: the values of the cells.
        base: the first cell, where all symbolic indexes are 0.
        path: what lies there, for messages.
        dimensions: the symbolic indexes, the outermost first.
        options: the places of the optional records that this place lies in; an assignment needs them to be there.
    """

    environment: Environment
    base: int
    path: str
    dimensions: tuple[Dimension, ...] = ()
    options: tuple[Place, ...] = ()

    def at(self, offset: int, path: str) -> Place:
        """Return the place this many cells further."""
        return Place(self.environment, self.base + offset, path, self.dimensions, self.options)

    def indexed(self, index: Node, length: int, stride: int, path: str) -> Place:
        """Return the place of the element that a symbolic index selects."""
        return replace(self, path=path, dimensions=(*self.dimensions, Dimension(index, length, stride)))

    def inside(self) -> Place:
        """Return the place of the record in the optional record that lies here."""
        return replace(self, base=self.base + 1, options=(*self.options, self))

    def read(self, offset: int = 0) -> Node:
        """Return the code of a cell of this place; 0 where an index is outside its array."""
        return self.environment.load(self.base + offset, self.dimensions)

    def write(self, codes: list[Node]) -> None:
        """Assign the codes of the value at this place.

        Raises:
            ModelError: properties and snapshots cannot be assigned to.
        """
        environment = self.environment
        if not environment.writable:
            message = f"{user_frame()}: {self.path} cannot be assigned here; {environment.unwritable}"
            raise ModelError(message)
        graph = environment.graph
        for option in self.options:
            there = apply(Op.EQ, option.read(), graph.const(1))
            environment.expect(there, f"this assigns to a part of {option.path}, which is none.")
        for dimension in self.dimensions:
            inside = [
                apply(Op.LE, graph.const(0), dimension.index),
                apply(Op.LT, dimension.index, graph.const(dimension.length)),
            ]
            places = f"{dimension.length} place{'' if dimension.length == 1 else 's'}"
            what = f"this assigns outside {self.path}, which has {places}."
            environment.expect(combine(graph, Op.AND, inside), what)
        if graph.false not in environment.where:
            if (notes := noted.get()) is not None:
                notes.assign(environment.where)
            environment.assign(self.base, self.dimensions, codes)
