"""Definedness: whether an expression reads cells only where they are present.

The cells of a record that is none, and those past the end of a container, are 0, the code of the first member. An
expression that reads them there treats the first member differently from others. Conditions around the read can show
that the cells are present: `length > 2` in a conjunction, in a choice, or in a guard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from insync.model.expressions.graph import Node, Op, fold
from insync.model.expressions.simplify import apply, combine
from insync.model.symmetry.group import Symmetry

__all__ = ["Known", "Presence"]

_FAR = 2**62

Known = Mapping[int, tuple[int, int]]
"""The least and the greatest possible code of some guard cells."""


class Presence:
    """Shows that cells are present where they are read, from the known ranges of their guard cells.

    A guard is a cell, such as a length, that determines whether others are present.

    Args:
        symmetry: the symmetry of the state.
        sizes: the number of codes of each cell.

    Attributes:
        outside: SELECT nodes that give a member and whose index may be outside; `Renaming` finds them.
    """

    def __init__(self, symmetry: Symmetry, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self.outside: set[Node] = set()
        self._outside = 0
        self._guards = {
            cell: (guard, family.above)
            for family in symmetry.families
            for cell, guard in zip(family.cells, family.guards, strict=False)
        }
        self._telling = {guard for guard, _ in self._guards.values()}
        self._touching: dict[Node, bool] = {}
        self._trimmed: dict[Node, Node] = {}
        self._shown: set[tuple[int, tuple[tuple[int, tuple[int, int]], ...]]] = set()

    def guard(self, cell: int) -> tuple[int, int] | None:
        """Return the guard of a cell, and the number that the guard's code exceeds where the cell is present."""
        return self._guards.get(cell)

    def assumed(self, known: Known, conditions: Iterable[Node], holds: bool = True) -> Known:
        """Return the ranges where all of some conditions hold as well, or where none of them holds."""
        found = dict(known)
        for condition in conditions:
            self._assume(found, condition, holds)
        return found

    def trimmed(self, node: Node) -> Node:
        """Return a node without tests that absent cells are 0, which they always are."""
        if not self._guards:
            return node
        return fold([node], self._without_zeros, self._trimmed)[0]

    def _without_zeros(self, node: Node, args: list[Node]) -> Node:
        if not args or not self._touches(node) or node in node.graph.orders:
            return node
        if node.op not in (Op.AND, Op.OR):
            return apply(node.op, *args)
        if node.op is Op.AND:
            known = self.told(args)
            args = [node.graph.true if self._is_zero(arg, known) else arg for arg in args]
        return combine(node.graph, node.op, args)

    def _is_zero(self, condition: Node, known: Known) -> bool:
        if condition.op is not Op.EQ or condition.args[0].op is not Op.CELL or condition.args[1].op is not Op.CONST:
            return False
        guard = self._guards.get(condition.args[0].cell)
        return guard is not None and condition.args[1].lo == 0 and known.get(guard[0], (0, _FAR))[1] <= guard[1]

    def told(self, conditions: Iterable[Node]) -> Known:
        """Return the ranges where conditions hold, from the conditions on cells that are always present."""
        return self.assumed({}, [condition for condition in conditions if not self._touches(condition)])

    def reads_what_is_there(self, node: Node, known: Known) -> bool:
        """Return whether the value of a node does not depend on the codes of absent cells."""
        if len(self.outside) > self._outside:
            self._touching.clear()
            self._shown.clear()
            self._outside = len(self.outside)
        seen: set[tuple[int, tuple[tuple[int, tuple[int, int]], ...]]] = set()
        left = [(node, known)]
        while left:
            each, here = left.pop()
            key = each.index, tuple(sorted(here.items()))
            if key in self._shown or key in seen or not self._touches(each) or _impossible(here):
                continue
            seen.add(key)
            if each.op is Op.CELL:
                guard, above = self._guards[each.cell]
                if here.get(guard, (0, 0))[0] <= above:
                    return False
            if each in self.outside:
                low, high = self._range(here, each.args[0])
                if low < 0 or high >= len(each.args) - 1:
                    return False
            left += self._parts(each, here)
        self._shown |= seen
        return True

    def code_is_there(self, code: Node, guard: Node, above: int, known: Known) -> bool:
        """Return the same for the new code of a cell, where the new code of its guard makes it present."""
        if guard.hi <= above:
            return True
        if guard.op is Op.ITE:
            condition, *branches = guard.args
            chosen = code.args[1:] if code.op is Op.ITE and code.args[0] is condition else (code, code)
            return self.reads_what_is_there(condition, known) and all(
                self.code_is_there(one, branch, above, self.assumed(known, [condition], holds))
                for one, branch, holds in zip(chosen, branches, (True, False), strict=True)
            )
        found = dict(known)
        self._bound(found, guard, above + 1, _FAR)
        return self.reads_what_is_there(code, found)

    def _touches(self, node: Node) -> bool:
        """Return whether a node depends on a cell that may be absent."""
        if node not in self._touching:
            fold([node], self._touched, self._touching)
        return self._touching[node]

    def _touched(self, node: Node, args: list[bool]) -> bool:
        return any(args) or node in self.outside or (node.op is Op.CELL and node.cell in self._guards)

    def _parts(self, node: Node, known: Known) -> Iterator[tuple[Node, Known]]:
        """Yield the arguments of a node, each with the ranges where the node depends on it."""
        op, args = node.op, node.args
        if op in (Op.AND, Op.OR):  # an argument may assume the other arguments, but not itself
            telling = [arg for arg in args if not self._touches(arg)]
            for arg in args:
                yield arg, self.assumed(known, [other for other in telling if other is not arg], op is Op.AND)
        elif op is Op.ITE:
            yield args[0], known
            yield args[1], self.assumed(known, args[:1])
            yield args[2], self.assumed(known, args[:1], False)
        elif op is Op.SELECT:
            yield args[0], known
            for place, arg in enumerate(args[1:]):
                yield arg, self._where(known, args[0], place)
        else:
            for arg in args:
                yield arg, known

    def _where(self, known: Known, index: Node, place: int) -> Known:
        found = dict(known)
        self._bound(found, index, place, place)
        return found

    def _assume(self, known: dict[int, tuple[int, int]], condition: Node, holds: bool) -> None:
        op, args = condition.op, condition.args
        if op is Op.NOT:
            self._assume(known, args[0], not holds)
        elif op is (Op.AND if holds else Op.OR):
            for arg in args:
                self._assume(known, arg, holds)
        elif op in (Op.LT, Op.LE):
            strict = (op is Op.LT) == holds
            less, more = args if holds else reversed(args)
            self._bound(known, more, less.lo + strict, _FAR)
            self._bound(known, less, -_FAR, more.hi - strict)
        elif op is Op.EQ and args[1].op is Op.CONST:
            value = args[1].lo
            if holds:
                self._bound(known, args[0], value, value)
            else:
                low, high = self._range(known, args[0])
                self._bound(known, args[0], low + (low == value), high - (high == value))

    def _range(self, known: Mapping[int, tuple[int, int]], node: Node) -> tuple[int, int]:
        cell, added = _cell_and_number(node)
        if cell not in self._telling:
            return node.lo, node.hi
        low, high = known.get(cell, (0, self._sizes[cell] - 1))
        return low + added, high + added

    def _bound(self, known: dict[int, tuple[int, int]], node: Node, low: int, high: int) -> None:
        """Narrow the range of a guard cell by the range of a node."""
        cell, added = _cell_and_number(node)
        if cell in self._telling:
            least, greatest = known.get(cell, (0, self._sizes[cell] - 1))
            known[cell] = max(least, low - added), min(greatest, high - added)


def _cell_and_number(node: Node) -> tuple[int, int]:
    """Return (cell, number) for a node that is their sum; the cell is -1 for any other node."""
    added = 0
    if node.op is Op.ADD and node.args[1].op is Op.CONST:
        node, added = node.args[0], node.args[1].lo
    return (node.cell if node.op is Op.CELL else -1), added


def _impossible(known: Known) -> bool:
    return any(low > high for low, high in known.values())
