"""Views of arrays of open length, and the store in which their places are read and assigned.

Each cell of such an array is a function of a place. The graph treats a read as opaque: a cell beyond those of the
state. The store keeps assignments in order, and a read records how many of them came before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import insync.model.language.container_views  # noqa: F401 -- its rules are complete before one is added
from insync.model.domains import composite as d
from insync.model.domains.open_bounds import OpenArray, OpenGraph
from insync.model.domains.sorts import Index
from insync.model.domains.values import number
from insync.model.expressions.graph import Node, Op
from insync.model.expressions.simplify import apply, combine
from insync.model.expressions.store import Dimension, Environment, Place
from insync.model.language.views import VIEWS, ArrayView
from insync.runtime.errors import ModelError, user_frame

__all__ = ["OpenArrayView", "OpenEnvironment", "PlaceRead", "PlaceWrite", "Places"]


@dataclass(frozen=True, slots=True)
class PlaceRead:
    """A read at a place of an array, for which a cell beyond those of the state stands.

    Attributes:
        cell: the array's cell.
        places: the indexes, the outermost first; the code is 0 where one is outside.
        writes: the number of the environment's assignments that came before.
    """

    cell: int
    places: tuple[Node, ...]
    writes: int


@dataclass(frozen=True, slots=True)
class PlaceWrite:
    """An assignment to a place of an array, or to all places from one on.

    Attributes:
        cell: the array's cell.
        places: the indexes, the outermost first.
        where: the condition under which it happens.
        code: the new code.
        onwards: whether the code is assigned to all places from the last index on.
    """

    cell: int
    places: tuple[Node, ...]
    where: Node
    code: Node
    onwards: bool = False


@dataclass(slots=True)
class Places:
    """The reads at places of arrays, by the cells that stand for them."""

    graph: OpenGraph
    reads: dict[int, PlaceRead] = field(default_factory=dict)
    known: dict[tuple[PlaceRead, int], Node] = field(default_factory=dict)

    def read(self, read: PlaceRead, environment: int) -> Node:
        """Return the node of a read; `environment` is the number of the store whose assignments came before."""
        found = self.known.get((read, environment))
        if found is None:
            cell = len(self.graph.cell_sizes)
            self.graph.cell_sizes = (*self.graph.cell_sizes, self.graph.cell_sizes[read.cell])
            self.reads[cell] = read
            found = self.known[read, environment] = self.graph.node(Op.CELL, arg=cell)
        return found


class OpenEnvironment(Environment):
    """The store of a state with arrays of open length.

    Args:
        places: the reads of those arrays.
        cells: the nodes of the other cells; entries of those arrays are not used.
        number: 0 for a state without assignments, else a number that no other store has.

    Attributes:
        writes: the assignments to places of those arrays, in order.
    """

    def __init__(self, places: Places, cells: list[Node], number: int = 0) -> None:
        super().__init__(places.graph, cells, writable=number > 0, guarded=number > 0)
        self.places, self.number = places, number
        self.writes: list[PlaceWrite] = []

    def load(self, cell: int, dimensions: tuple[Dimension, ...]) -> Node:
        if not dimensions or dimensions[0].stride:
            return super().load(cell, dimensions)
        indexes = _places(dimensions)
        written = len(self.writes)
        return self.places.read(PlaceRead(cell, indexes, written), self.number if written else 0)

    def _store(self, cell: int, dimensions: tuple[Dimension, ...], chosen: list[Node], code: Node) -> None:
        if not dimensions or dimensions[0].stride:
            super()._store(cell, dimensions, chosen, code)
        else:
            here = combine(self.graph, Op.AND, chosen)
            self.writes.append(PlaceWrite(cell, _places(dimensions), here, code))

    def blank(self, base: int, width: int, dimensions: tuple[Dimension, ...]) -> None:
        """Assign the first value of the domain to all places from the last index on."""
        here = combine(self.graph, Op.AND, self.where)
        for cell in range(base, base + width):
            zero = self.graph.const(0)
            self.writes.append(PlaceWrite(cell, _places(dimensions), here, zero, onwards=True))

    def snapshot(self) -> Environment:
        copy = OpenEnvironment(self.places, list(self.cells), self.number)
        copy.writes, copy.writable, copy.guarded = list(self.writes), False, False
        return copy


def _places(dimensions: Sequence[Dimension]) -> tuple[Node, ...]:
    if any(one.stride for one in dimensions):
        message = f"{user_frame()}: an array with an open length cannot be indexed by a symbolic member further inside."
        raise ModelError(message)
    return tuple(one.index for one in dimensions)


class OpenArrayView(ArrayView):
    """An array of the state with an open length."""

    __slots__ = ()

    def __len__(self) -> int:
        return self._no_end()

    def __iter__(self) -> Iterator[Any]:
        self._no_end()

    def _no_end(self) -> NoReturn:
        message = (
            f"{user_frame()}: how long {self!r} is is left open, so Python cannot go through it. Quantify over its "
            f"places: for_all(Offset, lambda offset: ...) with a sort or a Range."
        )
        raise ModelError(message)

    def _element(self, index: object) -> tuple[d.Domain, Place]:
        domain, place = self._domain, self._place
        sort = domain.over if isinstance(domain.over, type) and issubclass(domain.over, Index) else None
        graph = place.environment.graph
        node = apply(Op.ADD, number(graph, index, sort), graph.const(-domain.lowest))
        return domain.of, place.indexed(node, domain.length, 0, f"{place.path}[...]")

    def clear_from(self, first: object) -> None:
        domain, place = self._element(first)
        place.environment.blank(place.base, domain.width, place.dimensions)  # type: ignore[attr-defined]


VIEWS[OpenArray] = OpenArrayView
