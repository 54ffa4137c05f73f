"""What a node reads: the part of the state that it is, where it is a cell or chooses one of several like cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from insync.explorer.export.tla.state import PathStep, PlacedCell
from insync.explorer.export.tla.values import Kind
from insync.model.expressions.graph import Node, Op

__all__ = ["Paths", "StatePath"]


@dataclass(frozen=True, slots=True)
class StatePath:
    """A part of the state.

    Attributes:
        steps: on the way to it.
        indexes: for each step the node of its place; None where the step has it.
        kind: of the values there.
        outside: indexes that may be outside of so many places; what is read there is code 0.
    """

    steps: tuple[PathStep, ...]
    indexes: tuple[Node | None, ...]
    kind: Kind
    outside: tuple[tuple[Node, int], ...] = ()

    def below(self, number: int) -> tuple[PathStep, ...]:
        """Return the steps after the first ones, with the fixed places among them."""
        return self.steps[number:]


class Paths:
    """The parts of the state that nodes read, each found once.

    Args:
        cells: where each cell lies.
    """

    def __init__(self, cells: Sequence[PlacedCell]) -> None:
        self._cells = cells
        self._known: dict[int, StatePath | None] = {}

    def of(self, node: Node) -> StatePath | None:
        """Return the part of the state that a node reads; None where it reads none, or several."""
        if node.index not in self._known:
            self._known[node.index] = self._found(node)
        return self._known[node.index]

    def _found(self, node: Node) -> StatePath | None:
        if node.op is Op.CELL:
            assert isinstance(node.arg, int)
            if node.arg >= len(self._cells):
                return None
            cell = self._cells[node.arg]
            return StatePath(cell.steps, (None,) * len(cell.steps), cell.kind)
        if node.op is not Op.SELECT:
            return None
        elements = [self.of(element) for element in node.args[1:]]
        found = [element for element in elements if element is not None]
        return self._joined(node.args[0], found) if found and len(found) == len(elements) else None

    def _joined(self, index: Node, found: Sequence[StatePath]) -> StatePath | None:
        """Return what several parts are that differ in one place alone, which an index chooses."""
        first, length = found[0], len(found)
        if any(len(one.steps) != len(first.steps) or one.outside != first.outside for one in found):
            return None
        if any(one.indexes != first.indexes for one in found):
            return None
        different = [at for at in range(len(first.steps)) if any(one.steps[at] != first.steps[at] for one in found)]
        outside = first.outside
        if index.lo < 0 or index.hi >= length:
            outside = (*outside, (index, length))
        if not different:
            return replace(first, outside=outside) if length == 1 else None
        (at, *more) = different
        axis = first.steps[at].axis
        alike = axis is not None and all(one.steps[at].axis is axis for one in found)
        if more or not alike or axis is None or first.indexes[at] is not None:
            return None
        if [one.steps[at].place for one in found] != list(range(len(axis))):
            return None
        indexes = (*first.indexes[:at], index, *first.indexes[at + 1 :])
        return replace(first, indexes=indexes, outside=outside)
