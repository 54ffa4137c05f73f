"""How near a condition is to failing: whether one comparison in it, coming out the other way, would make it fail."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply, combine

__all__ = ["comparisons", "one_from_failing"]

_CONNECTIVES = {Op.AND, Op.OR, Op.NOT}


def comparisons(root: Node) -> list[Node]:
    """Return the conditions that a condition is made of by and, or and not, those of constants left out."""
    return [node for node in _conditions(root) if node.op not in _CONNECTIVES and node.op is not Op.CONST]


def one_from_failing(root: Node) -> Node:
    """Return the condition that another holds, and would fail if one of its comparisons came out the other way.

    A comparison that stands in several places is taken for as many: each could come out by itself.
    """
    graph = root.graph
    near: dict[int, tuple[Node, Node]] = {}  # holds and one from failing; fails and one from holding
    for node in _conditions(root):
        parts = [near[arg.index] for arg in node.args] if node.op in _CONNECTIVES else []
        if node.op is Op.NOT:
            near[node.index] = (parts[0][1], parts[0][0])
        elif node.op is Op.AND:
            all_hold = combine(graph, Op.AND, [node, combine(graph, Op.OR, [holds for holds, _ in parts])])
            near[node.index] = (all_hold, _one_alone(graph, [fails for _, fails in parts], node.args))
        elif node.op is Op.OR:
            negated = [apply(Op.NOT, arg) for arg in node.args]
            some = combine(graph, Op.OR, [fails for _, fails in parts])
            none_holds = combine(graph, Op.AND, [apply(Op.NOT, node), some])
            near[node.index] = (_one_alone(graph, [holds for holds, _ in parts], negated), none_holds)
        elif node.op is Op.CONST:
            near[node.index] = (graph.false, graph.false)
        else:
            near[node.index] = (node, apply(Op.NOT, node))
    return near[root.index][0]


def _one_alone(graph: Graph, ones: Sequence[Node], others: Sequence[Node]) -> Node:
    """Return the condition that one of some conditions holds where the others' conditions of all other places do."""

    def both(left: Node, right: Node) -> Node:
        return combine(graph, Op.AND, [left, right])

    before = list(accumulate(others[:-1], both, initial=graph.true))
    after = list(accumulate(reversed(others[1:]), both, initial=graph.true))[::-1]
    places = zip(ones, before, after, strict=True)
    return combine(graph, Op.OR, [combine(graph, Op.AND, list(place)) for place in places])


def _conditions(root: Node) -> list[Node]:
    """Return a condition and what it is made of by and, or and not, arguments before users."""
    seen: dict[int, Node] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if node.index not in seen:
            seen[node.index] = node
            stack.extend(node.args if node.op in _CONNECTIVES else ())
    return [seen[index] for index in sorted(seen)]
