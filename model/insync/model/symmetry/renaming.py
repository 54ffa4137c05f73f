"""Renaming: an expression with its members permuted, and normal forms that compare expressions.

`Renaming` is the type check of scalarsets (Ip and Dill 1996). It shows which constants name members: those that are
compared with members, put into sets of them, and so on. It then permutes these constants, and the cells. An expression
that treats members as numbers has no renaming. `NormalForms` numbers expressions up to associativity and commutativity.
`permuted_cells` needs no type check: the same expression on the permuted cells is equivalent, and far larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from insync.model.expressions.graph import Graph, Node, Op, fold, reachable
from insync.model.expressions.simplify import apply, combine
from insync.model.symmetry.group import Kind, Permutation, Symmetry, permuted_value

__all__ = [
    "NormalForms",
    "NotRenamed",
    "Renaming",
    "cells_present",
    "permuted_cells",
    "permuted_code",
]


_LARGEST_TABLE = 64

_ANY = Kind(-1, 0)
"""The kind of a constant, or of a choice of constants; the node that uses it determines what it names."""

_ORDERS = frozenset({Op.LT, Op.LE})
_SETS = frozenset({Op.BITAND, Op.BITOR, Op.BITDIFF})


class NotRenamed(Exception):
    """An expression uses members as numbers, or these rules are too weak for it."""


@dataclass(frozen=True, slots=True)
class _Move:
    """The cell that a cell's code moves to, and the kind of members that the code names."""

    to: int
    kind: Kind | None


class Renaming:
    """Translates expressions on a state into expressions on the permuted state.

    Args:
        graph: the graph of the expressions.
        symmetry: the symmetry of the state.
        permutation: a permutation of the members of its sorts.
        present: cells that are known not to have code 0, such as options that have a value.
        outside: collects the SELECT nodes of members whose index may be outside; such a read gives 0, the first member.
    """

    def __init__(
        self,
        graph: Graph,
        symmetry: Symmetry,
        permutation: Permutation,
        present: frozenset[int] = frozenset(),
        outside: set[Node] | None = None,
    ) -> None:
        self._graph, self._symmetry, self._permutation = graph, symmetry, permutation
        self._present, self._outside = present, set[Node]() if outside is None else outside
        self._cells = [_Move(number, None) for number in range(len(graph.cell_sizes))]
        for family in symmetry.families:
            for cell, to in zip(family.cells, symmetry.destinations(family, permutation), strict=True):
                self._cells[cell] = _Move(to, family.value)
        self._kinds: dict[int, Kind | NotRenamed | None] = {}
        self._done: dict[tuple[int, Kind | None], Node] = {}

    def place(self, cell: int) -> int:
        """Return the cell that a cell's code moves to."""
        return self._cells[cell].to

    def kind(self, cell: int) -> Kind | None:
        """Return the kind of members that the code of a cell names."""
        return self._cells[cell].kind

    def of(self, node: Node, cell: int | None = None) -> Node:
        """Return the node whose value in the permuted state is the renamed value of this node in the state.

        Args:
            node: a condition, or a code.
            cell: the cell that the code is for; None for a condition.

        Raises:
            NotRenamed: these rules find no such node.
        """
        return self.named(node, None if cell is None else self._cells[cell].kind)

    def named(self, node: Node, wanted: Kind | None) -> Node:
        """Return the same for a value of a given kind.

        Raises:
            NotRenamed: these rules find no such node.
        """
        for each in reachable([node]):
            kind = self._kind(each)
            if kind is not _ANY:
                self._renamed(each, kind)
        found = self._kind(node)
        if found is not _ANY and found != wanted:
            raise NotRenamed
        return self._renamed(node, wanted)

    # ---------------------------------------------------------------------------------------------------------- kinds

    def _kind(self, node: Node) -> Kind | None:
        """Return the kind of a node's value: None names nobody, `_ANY` is open. Its arguments' kinds are known."""
        if node.index not in self._kinds:
            try:
                self._kinds[node.index] = self._kind_of(node)
            except NotRenamed as reason:
                self._kinds[node.index] = reason
        found = self._kinds[node.index]
        if isinstance(found, NotRenamed):
            raise found
        return found

    def _kind_of(self, node: Node) -> Kind | None:
        op, args = node.op, node.args
        if op is Op.CONST:
            return None if node.is_bool else _ANY
        if op is Op.CELL:
            return self._cells[node.cell].kind
        if op is Op.ITE:
            return self._common(args[1:])
        if op is Op.SELECT:
            return self._common(args[1:])
        if op is Op.ADD and args[1].op is Op.CONST:
            kind = self._kind(args[0])
            return replace(kind, offset=kind.offset + args[1].lo) if kind is not None and kind is not _ANY else None
        if op is Op.BIT:
            kind = self._kind(args[0])
            if kind is None or kind is _ANY:
                return None
            self._require(kind.offset == 0)
            return replace(kind, height=kind.height + 1)
        if op in _SETS:
            return self._common(args)
        if self._is_value(node):
            return self._kind(args[0])
        return None

    def _is_value(self, node: Node) -> bool:
        """Return whether a node is `.value` of an option that is known to be present."""
        if node.op is not Op.MAX or node.args[1].op is not Op.CONST or node.args[0].op is not Op.ADD:
            return False
        code, below = node.args[0].args
        cells = code.op is Op.CELL and code.cell in self._present
        return cells and node.args[1].lo == 0 and below.op is Op.CONST and below.lo == -1

    def _common(self, nodes: Sequence[Node]) -> Kind | None:
        """Return the common kind of some values."""
        kinds = {kind for kind in map(self._kind, nodes) if kind is not _ANY}
        self._require(len(kinds) <= 1)
        return kinds.pop() if kinds else _ANY

    def _require(self, condition: bool) -> None:
        if not condition:
            raise NotRenamed

    # ------------------------------------------------------------------------------------------------------- renaming

    def _renamed(self, node: Node, kind: Kind | None) -> Node:
        """Return the renamed node of a value of this kind."""
        if kind is _ANY:
            kind = None
        key = node.index, kind
        if key not in self._done:
            self._done[key] = self._make(node, kind)
        return self._done[key]

    def _make(self, node: Node, kind: Kind | None) -> Node:
        op, args, graph = node.op, node.args, self._graph
        if op is Op.CONST:
            return node if kind is None else graph.const(permuted_value(kind, node.lo, self._permutation))
        if op is Op.CELL:
            return graph.cell(self._cells[node.cell].to)
        if op in (Op.AND, Op.OR):
            return combine(graph, op, [self._renamed(arg, None) for arg in args])
        if op is Op.SELECT:
            return self._selected(node, kind)
        return apply(
            op, *[self._renamed(arg, of) for arg, of in zip(args, self._kinds_of_args(node, kind), strict=True)]
        )

    def _kinds_of_args(self, node: Node, kind: Kind | None) -> list[Kind | None]:
        op, args = node.op, node.args
        if op is Op.ITE:
            return [None, kind, kind]
        if op is Op.EQ:
            return [self._common(args)] * 2
        if op in _SETS:
            self._require(kind is None or (kind.height > 0 and kind.offset == 0))
            return [kind, kind]
        if op is Op.BIT:
            return [replace(kind, height=kind.height - 1) if kind is not None else None]
        if op is Op.TEST:
            return self._of_test(*args)
        if op is Op.COUNT:
            found = self._kind(args[0])
            self._require(found is None or found is _ANY or (found.height > 0 and found.offset == 0))
            return [found]
        if op is Op.ADD and args[1].op is Op.CONST and kind is not None:
            return [replace(kind, offset=kind.offset - args[1].lo), None]
        if self._is_value(node):
            return [kind, None]
        if op in _ORDERS and any(arg.op is Op.CONST for arg in args):
            return self._of_order(op, *args)
        for arg in args:
            self._require(self._kind(arg) in (None, _ANY))
        return [None] * len(args)

    def _of_test(self, mask: Node, member: Node) -> list[Kind | None]:
        of_mask, of_member = self._kind(mask), self._kind(member)
        if of_mask is not None and of_mask is not _ANY:
            self._require(of_mask.height > 0 and of_mask.offset == 0)
            wanted = replace(of_mask, height=of_mask.height - 1)
            self._require(of_member in (wanted, _ANY))
            return [of_mask, wanted]
        if of_member is not None and of_member is not _ANY:
            self._require(of_mask is _ANY and of_member.offset == 0)
            return [replace(of_member, height=of_member.height + 1), of_member]
        return [None, None]

    def _of_order(self, op: Op, left: Node, right: Node) -> list[Kind | None]:
        """Return the kinds in a comparison of a member with a number that has all members on one side, such as none."""
        constant, other = (left, right) if left.op is Op.CONST else (right, left)
        kind = self._kind(other)
        if kind is None or kind is _ANY:
            return [None, None]
        border = constant.lo + ((op is Op.LE) == (constant is right))  # the comparison is equivalent to other < border
        self._require(border <= kind.offset or border >= kind.offset + self._symmetry.size(kind))
        return [None, kind] if constant is left else [kind, None]

    def _selected(self, node: Node, kind: Kind | None) -> Node:
        index, *elements = node.args
        if kind is not None and not kind.height and not kind.offset and not 0 <= index.lo <= index.hi < len(elements):
            self._outside.add(node)
        of_index = self._kind(index)
        made = [self._renamed(element, kind) for element in elements]
        if of_index is not None and of_index is not _ANY:
            size = self._symmetry.size(of_index)
            self._require(of_index.offset >= 0 and of_index.offset + size <= len(elements) and size <= _LARGEST_TABLE)
            moved = list(made)
            for place, element in enumerate(made):
                moved[
                    permuted_value(of_index, place, self._permutation) if place < of_index.offset + size else place
                ] = element
            made = moved
        return apply(Op.SELECT, self._renamed(index, of_index), *made)


def cells_present(guard: Sequence[Node]) -> frozenset[int]:
    """Return the cells whose code is not 0 wherever conditions hold, as far as the form of the conditions shows it."""
    found = set()
    for condition in guard:
        negated = condition.op is Op.NOT
        equal = condition.args[0] if negated else condition
        if equal.op is not Op.EQ or equal.args[0].op is not Op.CELL or equal.args[1].op is not Op.CONST:
            continue
        if (equal.args[1].lo == 0) == negated:
            found.add(equal.args[0].cell)
    return frozenset(found)


class NormalForms:
    """Numbers for expressions, equal for expressions that are equal up to associativity and commutativity."""

    _FREE = frozenset({Op.AND, Op.OR, Op.ADD, Op.MIN, Op.MAX, Op.BITAND, Op.BITOR})
    _ONCE = _FREE - {Op.ADD}

    def __init__(self) -> None:
        self._numbers: dict[Node, int] = {}
        self._parts: dict[int, tuple[Op, tuple[int, ...]]] = {}
        self._forms: dict[object, int] = {}

    def of(self, node: Node) -> int:
        """Return the number of an expression."""
        if node not in self._numbers:
            fold([node], self._number, self._numbers)
        return self._numbers[node]

    def _number(self, node: Node, parts: list[int]) -> int:
        if node.op in self._FREE:
            flat = [part for own in parts for part in self._flat(node.op, own)]
            parts = sorted(set(flat) if node.op in self._ONCE else flat)
        elif node.op is Op.EQ:
            parts.sort()
        arg = (node.arg, node.is_bool) if node.op in (Op.CONST, Op.CELL) else None
        if len(parts) == 1 and node.op in self._ONCE:
            return parts[0]
        number = self._forms.setdefault((node.op, arg, *parts), len(self._forms))
        self._parts.setdefault(number, (node.op, tuple(parts)))
        return number

    def _flat(self, op: Op, number: int) -> tuple[int, ...]:
        own, parts = self._parts[number]
        return parts if own is op else (number,)


def permuted_cells(graph: Graph, symmetry: Symmetry, permutation: Permutation) -> list[Node]:
    """Return the codes of the permuted state's cells as nodes on the state; bags and sets are not sorted again."""
    cells = [graph.cell(number) for number in range(len(graph.cell_sizes))]
    moved = list(cells)
    for family in symmetry.families:
        for at, (cell, to) in enumerate(zip(family.cells, symmetry.destinations(family, permutation), strict=True)):
            guard = cells[family.guards[at]] if family.guards else None
            moved[to] = permuted_code(cells[cell], family.value, symmetry, permutation, guard, family.above)
    return moved


def permuted_code(
    code: Node,
    kind: Kind | None,
    symmetry: Symmetry,
    permutation: Permutation,
    guard: Node | None = None,
    above: int = 0,
) -> Node:
    """Return the image of a code that names members, as a node; the code itself where its guard makes it absent."""
    graph = code.graph
    if kind is None:
        return code
    if guard is not None:
        there = apply(Op.LT, graph.const(above), guard)
        return apply(Op.ITE, there, permuted_code(code, kind, symmetry, permutation), code)
    if code.hi < _LARGEST_TABLE:
        return apply(Op.SELECT, code, *(graph.const(permuted_value(kind, c, permutation)) for c in range(code.hi + 1)))
    below = replace(kind, height=kind.height - 1, offset=0)
    named, moved = apply(Op.ADD, code, graph.const(-kind.offset)), graph.const(0)
    for bit in range(symmetry.size(below)):
        target = graph.const(1 << permuted_value(below, bit, permutation))
        held = apply(Op.TEST, named, graph.const(bit))
        moved = apply(Op.BITOR, moved, apply(Op.ITE, held, target, graph.const(0)))
    nobody = apply(Op.LT, code, graph.const(kind.offset))
    return apply(Op.ITE, nobody, code, apply(Op.ADD, moved, graph.const(kind.offset)))
