"""Lifted actions with reads of the state before the step alone, which TLA+ can name.

A read after assignments becomes a choice between the assigned values, by the equality of indexes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from insync.model.domains import composite as d
from insync.model.expressions.graph import Binder, Graph, Location, Node, Op, reachable
from insync.model.expressions.lifted import Action, Assign, LiftedGraph
from insync.model.expressions.simplify import apply, combine
from insync.model.expressions.store import conjuncts, selected

__all__ = ["Levels", "ReadAction", "read_before"]


@dataclass(frozen=True, slots=True)
class ReadAction:
    """An action whose nodes all read the state before the step.

    Attributes:
        action: the action.
        guard: the conditions that enable it.
        assigns: its assignments, which are made wherever the guard holds.
        checks: the conditions that make the assignments sound.
    """

    action: Action
    guard: tuple[Node, ...]
    assigns: tuple[Assign, ...]
    checks: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Level:
    """An array around a cell: the distance of its elements in cells, their number, and the element of the cell."""

    stride: int
    length: int
    place: int


class Levels:
    """The arrays around each cell of a state, the outermost first.

    Args:
        state: the domain of the state.
    """

    def __init__(self, state: d.State) -> None:
        self.of_cell = list(_levels(state, ()))

    def first(self, cell: int) -> int:
        """Return the corresponding cell of the elements with index 0."""
        return cell - sum(level.place * level.stride for level in self.of_cell[cell])

    def indexes(
        self, graph: Graph, cell: int, dims: Sequence[tuple[int, int]], indexes: Sequence[Node]
    ) -> tuple[Node, ...]:
        """Return the index at each level of a cell: symbolic, or the constant of the cell's element."""
        rest = list(zip(dims, indexes, strict=True))
        found = []
        for level in self.of_cell[cell]:
            symbolic = bool(rest) and rest[0][0] == (level.stride, level.length) and not level.place
            found.append(rest.pop(0)[1] if symbolic else graph.const(level.place))
        assert not rest, "every symbolic index is that of an array around the cell"
        return tuple(found)


def _levels(domain: d.Domain, around: tuple[Level, ...]) -> Iterator[tuple[Level, ...]]:
    if isinstance(domain, d.Record):
        for field in domain.fields.values():
            yield from _levels(field, around)
    elif isinstance(domain, d.Option):
        yield around
        yield from _levels(domain.of, around)
    elif isinstance(domain, d.Array):
        for place in range(len(domain.labels)):
            yield from _levels(domain.of, (*around, Level(domain.of.width, len(domain.labels), place)))
    else:
        yield from (around for _ in domain.cells(""))


def read_before(graph: LiftedGraph, levels: Levels, action: Action) -> ReadAction:
    """Return an action with its reads as reads of the state before the step.

    Args:
        graph: the graph of the action.
        levels: the arrays around the cells of the state.
        action: the action.
    """
    return _Reads(graph, levels).action(action)


Assigned = dict[int, list[tuple[tuple[Node, ...], Node]]]
"""The codes that were assigned so far, with their indexes, by the corresponding cell with index 0."""


class _Reads:
    """The reads of one action, and the assignments that they can read."""

    def __init__(self, graph: LiftedGraph, levels: Levels) -> None:
        self.graph, self.levels, self.begun = graph, levels, graph.cells()
        self.assigned: list[Assigned] = [{}]
        self.guard: list[Node] = []
        self._known: dict[int, Node] = {}

    def action(self, action: Action) -> ReadAction:
        every = [*action.guard, *(n for one in action.assigns for n in one.nodes)]
        every += [n for one in action.expects for n in (*one.where, one.condition)]
        for node in reachable(every):  # in the order in which they were made, so that equations keep their sides
            if not self.graph.version(node):
                self.rewritten(node)
        late = [node for node in action.guard if self.graph.version(node)]
        early = [self.rewritten(node) for node in action.guard if node not in late]
        self.guard += [part for node in early for part in conjuncts(node)]
        assigns = [assign for one in action.assigns if (assign := self._assign(one)) is not None]
        guard = dict.fromkeys(part for node in action.guard for part in conjuncts(self.rewritten(node)))
        guard.pop(self.graph.true, None)
        checks = []
        for one in action.expects:
            where = [apply(Op.NOT, self.rewritten(node)) for node in one.where]
            check = combine(self.graph, Op.OR, [*where, self.rewritten(one.condition)])
            checks += [] if check is self.graph.true else [check]
        return ReadAction(action, tuple(guard), tuple(assigns), tuple(checks))

    def _assign(self, one: Assign) -> Assign | None:
        """Return an assignment without conditions: where they do not hold it assigns what was there.

        It is None if they never hold.
        """
        graph, indexes = self.graph, tuple(map(self.rewritten, one.indexes))
        here = combine(graph, Op.AND, [self.rewritten(node) for node in one.where])
        if here is graph.false:
            self.assigned.append(self.assigned[-1])
            return None
        before, codes = len(self.assigned) - 1, []
        for offset, given in enumerate(one.codes):
            code = self.rewritten(given)
            old = self._load(one.base + offset, one.dims, indexes, before) if one.where else code
            codes.append(apply(Op.ITE, here, code, old))
        after = {cell: list(known) for cell, known in self.assigned[-1].items()}
        for offset, code in enumerate(codes):
            cell = one.base + offset
            mine = self.levels.indexes(graph, cell, one.dims, indexes)
            known = after.setdefault(self.levels.first(cell), [])
            known[:] = [(others, earlier) for others, earlier in known if others != mine]
            known.append((mine, code))
        self.assigned.append(after)
        return Assign(one.base, one.dims, indexes, (), tuple(codes))

    def rewritten(self, root: Node) -> Node:
        known, graph = self._known, self.graph
        for node in reachable([root]):
            if node.index in known:
                continue
            args = [known[arg.index] for arg in node.args]
            if isinstance(node.arg, Location):
                known[node.index] = self._load(node.arg.base, node.arg.dims, args, node.arg.version)
            elif isinstance(node.arg, Binder):
                known[node.index] = graph.node(Op.BIND, tuple(args), node.arg)
            elif node.op in (Op.AND, Op.OR):
                known[node.index] = combine(graph, node.op, args, node.quantifier)
            else:
                known[node.index] = apply(node.op, *args) if args else node
        return known[root.index]

    def _load(self, cell: int, dims: Sequence[tuple[int, int]], indexes: Sequence[Node], version: int) -> Node:
        found = selected(self.begun, cell, dims, indexes)
        mine = self.levels.indexes(self.graph, cell, dims, indexes)
        for theirs, code in self.assigned[version].get(self.levels.first(cell), ()):
            parts = [apply(Op.EQ, a, b) for a, b in zip(mine, theirs, strict=True)]
            never = any(apply(Op.NOT, part) in self.guard for part in parts)  # such as a guard `leader != follower`
            if not never and not _contradict(parts):
                same = combine(self.graph, Op.AND, [part for part in parts if part not in self.guard])
                found = apply(Op.ITE, same, code, found)
        return found


def _contradict(equalities: Sequence[Node]) -> bool:
    """Return whether some equalities equate one node with two constants."""
    said = {(node.args[0], node.args[1]) for node in equalities if node.op is Op.EQ and node.args[1].op is Op.CONST}
    return len(said) > len({one for one, _ in said})
