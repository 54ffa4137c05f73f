"""The symbolic store of an action or property while it is traced, and places in it.

As in symbolic execution (King 1976): a node for each cell, the path condition, and the assignments so far.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple

from insync.model.expressions.graph import Graph, Location, Node, Op
from insync.model.expressions.lifted import Assign, LiftedGraph
from insync.model.expressions.simplify import apply, combine
from insync.model.expressions.source import noted
from insync.runtime.errors import Insistent, ModelError, user_frame

__all__ = [
    "AssignedCells",
    "Dimension",
    "Environment",
    "Expected",
    "LiftedStore",
    "Nowhere",
    "Place",
    "Unreachable",
    "conjuncts",
    "current",
    "graph_of_condition",
    "reached",
    "replace_where",
    "selected",
    "selections",
    "split",
    "traced_graph",
]


class Unreachable(Insistent):
    """The guard is false for this binding of the parameters, so its tracing ends here."""


current: ContextVar[Environment | None] = ContextVar("current", default=None)
"""The environment of the action or initial method that is being traced."""


graph_of_condition: ContextVar[Graph | None] = ContextVar("graph_of_condition", default=None)
"""The graph of the property that is being traced."""


def traced_graph() -> Graph:
    """Return the graph of what is being traced.

    Raises:
        ModelError: nothing is.
    """
    environment = current.get()
    graph = graph_of_condition.get() if environment is None else environment.graph
    if graph is None:
        message = f"{user_frame()}: the state has no values here; use this in an action or a property."
        raise ModelError(message)
    return graph


def conjuncts(condition: Node) -> tuple[Node, ...]:
    """Return the conjuncts of a condition; an AND that a quantifier made is one conjunct."""
    return condition.args if condition.op is Op.AND and condition.arg is None else (condition,)


class Environment:
    """A symbolic store: the node of every cell, the guard so far, and the conditions that make its assignments sound.

    Args:
        graph: the graph of the nodes.
        cells: the node of each cell.
        writable: whether assignments are allowed; a property must not assign.
        guarded: whether `require` is allowed; only an action has a guard.

    Attributes:
        guard: the conditions that were required.
        where: the conditions of the open `when` blocks: an assignment happens where all of them hold.
        unopened: the `when` blocks that no `with` has opened, and the source line of each.
        expected: the conditions that make the assignments sound.
        replaced: the assignments to a whole record, array or container, in order.
        unwritable: why an assignment is refused, for messages.
    """

    unwritable: str = "only an action (or `initial`) changes the state."

    def __init__(self, graph: Graph, cells: list[Node], *, writable: bool = False, guarded: bool = False) -> None:
        self.graph, self.cells, self.writable, self.guarded = graph, cells, writable, guarded
        self.guard: list[Node] = []
        self.where: list[Node] = []
        self.unopened: dict[object, str] = {}
        self.expected: list[Expected] = []
        self.replaced: list[Any] = []

    def require(self, condition: Node) -> None:
        """Add a condition to the guard, its conjuncts one by one."""
        if condition is self.graph.false:
            raise Unreachable
        self.guard += [p for p in conjuncts(condition) if p is not self.graph.true and p not in self.guard]

    def expect(self, condition: Node, message: str) -> None:
        """Record a condition that must hold wherever the guard and open blocks hold, with the message if it fails."""
        if condition is not self.graph.true and self.graph.false not in self.where:
            self.expected.append(Expected(tuple(self.where), condition, message, user_frame()))

    def load(self, cell: int, dimensions: tuple[Dimension, ...]) -> Node:
        """Return the code of the cell that symbolic indexes select from a base; 0 where one is outside its array."""
        dims, indexes = split(dimensions)
        return selected(self.cells, cell, dims, indexes)

    def assign(
        self, base: int, dimensions: tuple[Dimension, ...], codes: Sequence[Node], *, onwards: bool = False
    ) -> None:
        """Assign the codes of a value where the conditions of the open blocks hold.

        Args:
            base: the first cell where all symbolic indexes are 0.
            dimensions: the symbolic indexes.
            codes: the codes of the value.
            onwards: whether they are assigned to all places from the last index on, in an array of open length.
        """
        assert not onwards, "only a lifted store has arrays of open length"
        dims, indexes = split(dimensions)
        for cell, chosen, _ in selections(self.graph, base, dims, indexes, self.where):
            replace_where(self.cells, cell, chosen, codes)

    def snapshot(self) -> Environment:
        """Return a read-only copy that later assignments do not change."""
        return Environment(self.graph, list(self.cells))

    def progress(self) -> tuple[int, ...]:
        """Return how much was expected, required and assigned so far."""
        return len(self.expected), len(self.guard)

    def forget(self, before: tuple[int, ...] | None) -> None:
        """Forget what was expected since then.

        Raises:
            ModelError: more was required or assigned since then, which cannot be undone.
        """
        if before is None or self.progress()[1:] != before[1:]:
            message = f"{user_frame()}: a quantifier is about a condition; it must not assign or require anything."
            raise ModelError(message)
        del self.expected[before[0] :]


class AssignedCells(Environment):
    """A store whose codes are 0 at first.

    Attributes:
        assigned: the cells that some assignment may have changed.
    """

    def __init__(self, graph: Graph, size: int) -> None:
        super().__init__(graph, [graph.const(0)] * size, writable=True)
        self.assigned: set[int] = set()

    def assign(
        self, base: int, dimensions: tuple[Dimension, ...], codes: Sequence[Node], *, onwards: bool = False
    ) -> None:
        cells = reached(base, split(dimensions)[0])
        self.assigned |= {cell + offset for cell in cells for offset in range(len(codes))}
        super().assign(base, dimensions, codes, onwards=onwards)


# ---------------------------------------------------------------------------------------------------------- indexes
#
# An array of open length has the cells of one element, and its stride is 0: each cell is a function of the place.


def split(dimensions: Sequence[Dimension]) -> tuple[tuple[tuple[int, int], ...], tuple[Node, ...]]:
    """Return strides and lengths, and the indexes."""
    return tuple((one.stride, one.length) for one in dimensions), tuple(one.index for one in dimensions)


def reached(cell: int, dims: Sequence[tuple[int, int]]) -> list[int]:
    """Return the cells that symbolic indexes can select from a base."""
    found = [cell]
    for stride, length in dims:
        if stride:
            found = [one + place * stride for one in found for place in range(length)]
    return found


def selected(
    cells: Sequence[Node],
    cell: int,
    dims: Sequence[tuple[int, int]],
    indexes: Sequence[Node],
    read: Callable[[int, tuple[Node, ...]], Node] | None = None,
    places: tuple[Node, ...] = (),
) -> Node:
    """Return the code of the cell that indexes select from a base; 0 where one is outside its array.

    Args:
        cells: the node of each cell.
        cell: the base.
        dims: stride and length for each index.
        indexes: the indexes.
        read: returns the code of a cell at places of arrays of open length.
        places: the indexes of such arrays before these.
    """
    if not dims:
        return cells[cell] if read is None or not places else read(cell, places)
    (stride, length), index = dims[0], indexes[0]
    if not stride:
        return selected(cells, cell, dims[1:], indexes[1:], read, (*places, index))
    if index.op is Op.CONST:
        if not 0 <= index.lo < length:
            return index.graph.const(0)
        return selected(cells, cell + index.lo * stride, dims[1:], indexes[1:], read, places)
    elements = [selected(cells, cell + place * stride, dims[1:], indexes[1:], read, places) for place in range(length)]
    return apply(Op.SELECT, index, *elements)


def selections(
    graph: Graph, base: int, dims: Sequence[tuple[int, int]], indexes: Sequence[Node], where: Sequence[Node]
) -> list[tuple[int, list[Node], tuple[Node, ...]]]:
    """Return the first cell of each place that indexes may select, the conditions for it, and places in open arrays."""
    found: list[tuple[int, list[Node], tuple[Node, ...]]] = [(base, [*where], ())]
    for (stride, length), index in zip(dims, indexes, strict=True):
        if not stride:
            found = [(cell, chosen, (*places, index)) for cell, chosen, places in found]
        elif index.op is Op.CONST:
            inside = 0 <= index.lo < length
            at = index.lo * stride
            found = [(cell + at, chosen, places) for cell, chosen, places in found] if inside else []
        else:
            equal = [apply(Op.EQ, index, graph.const(place)) for place in range(length)]
            found = [
                (cell + place * stride, [*chosen, same], places)
                for cell, chosen, places in found
                for place, same in enumerate(equal)
                if same is not graph.false
            ]
    return found


def replace_where(cells: list[Node], cell: int, chosen: list[Node], codes: Sequence[Node]) -> None:
    """Replace the codes from a cell on by others where all of some conditions hold."""
    if not chosen:
        cells[cell : cell + len(codes)] = codes
        return
    here = combine(chosen[0].graph, Op.AND, chosen)
    for number, code in enumerate(codes, start=cell):
        cells[number] = apply(Op.ITE, here, code, cells[number])


class LiftedStore(Environment):
    """The store of an action that is traced for all values of its parameters; it keeps assignments as they are made.

    A read at symbolic indexes is a `READ`; so is a read of a cell that an assignment at symbolic indexes may have
    changed. A cell whose assignments have known places has its code in `cells`, as in any store.

    Args:
        graph: the graph of the nodes.
        number: a number that no other store of the graph has, from 1.

    Attributes:
        assigns: the assignments so far.
    """

    graph: LiftedGraph

    def __init__(self, graph: LiftedGraph, number: int) -> None:
        super().__init__(graph, graph.cells(), writable=True, guarded=True)
        self.number = number
        self.assigns: list[Assign] = []
        self._changed: dict[int, _Changed] = {}

    def load(self, cell: int, dimensions: tuple[Dimension, ...]) -> Node:
        symbolic, changed = dimensions, self._changed
        if dimensions:
            at = self._resolved(cell, dimensions)
            if at is None:
                return self.graph.const(0)
            cell, symbolic = at
        if not symbolic and (cell not in changed or changed[cell].known):
            return self.cells[cell]
        dims, indexes = split(symbolic)
        cells = reached(cell, dims)
        lo, hi, version = 0, self.graph.cell_sizes[cell] - 1, 0
        behind: dict[Node, None] = {}
        for one in cells:
            own = changed.get(one)
            if own is not None:
                lo, hi, version = min(lo, own.lo), max(hi, own.hi), max(version, own.version)
            while own is not None:
                behind.update(dict.fromkeys(own.nodes))
                own = own.before
        location = Location(cell, dims, version, self.number if version else 0, lo, hi)
        if not version:
            return self.graph.node(Op.READ, indexes, location)
        free = self.graph.kept(frozenset().union(*map(self.graph.free, behind)))
        read = self.graph.node(Op.READ, indexes, location)
        self.graph.behind[read] = free
        return read

    def _resolved(self, cell: int, dimensions: tuple[Dimension, ...]) -> tuple[int, tuple[Dimension, ...]] | None:
        """Return the base and the indexes that are no constants; None where a constant index is outside."""
        symbolic = []
        for one in dimensions:
            if one.index.op is not Op.CONST or not one.stride:
                symbolic.append(one)
            elif 0 <= one.index.lo < one.length:
                cell += one.index.lo * one.stride
            else:
                return None
        return cell, tuple(symbolic)

    def assign(
        self, base: int, dimensions: tuple[Dimension, ...], codes: Sequence[Node], *, onwards: bool = False
    ) -> None:
        at = self._resolved(base, dimensions)
        if at is None or not codes:
            return
        base, symbolic = at
        dims, indexes = split(symbolic) if symbolic else ((), ())
        self.assigns.append(Assign(base, dims, indexes, tuple(self.where), tuple(codes), onwards))
        version, changed = len(self.assigns), self._changed
        if not symbolic:
            here = combine(self.graph, Op.AND, self.where)
            for cell, code in enumerate(codes, start=base):
                new = apply(Op.ITE, here, code, self.load(cell, ())) if self.where else code
                self.cells[cell] = new
                changed[cell] = _Changed(True, version, new.lo, new.hi, (new,), None)
            return
        chosen = (*self.where, *indexes)
        for offset, code in enumerate(codes):
            nodes = (*chosen, code)
            for cell in reached(base + offset, dims):
                old = changed.get(cell)
                lo, hi = (0, self.graph.cell_sizes[cell] - 1) if old is None else (old.lo, old.hi)
                changed[cell] = _Changed(False, version, min(lo, code.lo), max(hi, code.hi), nodes, old)

    def results(self) -> tuple[tuple[int, Node], ...] | None:
        """Return the new code of each cell that was assigned to; None if symbolic indexes selected some of them."""
        if any(one.dims for one in self.assigns):
            return None
        return tuple((cell, self.cells[cell]) for cell in self._changed)

    def snapshot(self) -> Environment:
        copy = LiftedStore(self.graph, self.number)
        copy.cells, copy._changed = list(self.cells), dict(self._changed)
        copy.guard, copy.writable, copy.guarded = self.guard, False, False
        return copy

    def progress(self) -> tuple[int, ...]:
        return *super().progress(), len(self.assigns)


class _Changed(NamedTuple):
    """The present code of a cell that was assigned to.

    Attributes:
        known: whether `LiftedStore.cells` has its code.
        version: the number of assignments up to the last one that may have changed it.
        lo, hi: the least and greatest code that it can have.
        nodes: the nodes on which its code depends since that assignment.
        before: what was known of it then; None where its code does not depend on that.
    """

    known: bool
    version: int
    lo: int
    hi: int
    nodes: tuple[Node, ...]
    before: _Changed | None


class Expected(NamedTuple):
    """A condition that makes an assignment sound, and the message for a state in which it fails.

    Attributes:
        where: the conditions under which the assignment happens.
        condition: the condition that must hold there.
        message: what is wrong where the condition fails.
        place: the author's file and line.
    """

    where: tuple[Node, ...]
    condition: Node
    message: str
    place: str

    @property
    def recorded(self) -> str:
        """The message for traces, with the file's name alone: a trace is read on other machines."""
        return f"{os.path.basename(self.place)}: {self.message}"

    @property
    def node(self) -> Node:
        """The implication from `where` to the condition."""
        graph = self.condition.graph
        return combine(graph, Op.OR, [*(apply(Op.NOT, where) for where in self.where), self.condition])


class Nowhere(Environment):
    """The store of an absent field: every cell reads as 0, and assignments have no effect.

    Args:
        graph: the graph of the nodes.
        width: the number of cells that the field would have.
    """

    def __init__(self, graph: Graph, width: int, *, writable: bool) -> None:
        super().__init__(graph, [graph.const(0)] * width, writable=writable)
        self.where.append(graph.false)


@dataclass(frozen=True, slots=True)
class Dimension:
    """One symbolic index of a place: the index, the array's length, and the distance of its elements in cells."""

    index: Node
    length: int
    stride: int


@dataclass(slots=True, eq=False)  # made for each field that is read; a frozen class takes three times as long
class Place:
    """The location of a value in a store: its first cell, plus the offset of each symbolic index.

    Attributes:
        environment: the store.
        base: the first cell where all symbolic indexes are 0.
        path: the name of the value, for messages.
        dimensions: the symbolic indexes, the outermost first.
        options: the places of the optional records around this place; an assignment needs all of them to be present.
    """

    environment: Environment
    base: int
    path: str
    dimensions: tuple[Dimension, ...] = ()
    options: tuple[Place, ...] = ()

    def at(self, offset: int, path: str) -> Place:
        """Return the place `offset` cells further."""
        return Place(self.environment, self.base + offset, path, self.dimensions, self.options)

    def indexed(self, index: Node, length: int, stride: int, path: str) -> Place:
        """Return the place of the array element that a symbolic index selects."""
        dimensions = (*self.dimensions, Dimension(index, length, stride))
        return Place(self.environment, self.base, path, dimensions, self.options)

    def inside(self) -> Place:
        """Return the place of the record in the optional record that lies here."""
        return Place(self.environment, self.base + 1, self.path, self.dimensions, (*self.options, self))

    def read(self, offset: int = 0) -> Node:
        """Return the code of a cell of this place; 0 where an index is outside its array."""
        return self.environment.load(self.base + offset, self.dimensions)

    def write(self, codes: list[Node]) -> None:
        """Assign the codes of a value to the cells of this place.

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
