"""Conditions of which it is asked in how many states they hold, each asked once, and the answers by condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from insync.model.expressions.graph import Graph, Node, Op
from insync.model.expressions.simplify import apply, combine

__all__ = ["Answers", "Questions"]


class Answers:
    """In how many states each condition that was asked of holds.

    Args:
        states: how many states there are.
        counts: in how many of them each condition holds.
    """

    def __init__(self, states: int, counts: Mapping[Node, int]) -> None:
        self.states, self._counts = states, counts

    def __getitem__(self, condition: Node) -> int:
        if condition.op is Op.CONST:
            return self.states if condition is condition.graph.true else 0
        return self._counts[condition]


class Questions:
    """The conditions that are asked of.

    Args:
        graph: whose conditions they are.
        inside: what holds in the states that are counted over.

    Attributes:
        nodes: for each condition what must hold in a state for it to count: the condition, inside.
    """

    def __init__(self, graph: Graph, inside: Node) -> None:
        self.graph, self.inside = graph, inside
        self.nodes: dict[Node, Node] = {}

    def ask(self, conditions: Sequence[Node]) -> Node:
        """Ask in how many states all of some conditions hold; return the condition by which the answer is found."""
        condition = combine(self.graph, Op.AND, list(conditions))
        if condition.op is not Op.CONST:
            self.nodes[condition] = combine(self.graph, Op.AND, [self.inside, condition])
        return condition

    def ask_some(self, alternatives: Sequence[Sequence[Node]]) -> Node:
        """Ask in how many states all conditions of some alternative hold."""
        each = [combine(self.graph, Op.AND, list(conditions)) for conditions in alternatives]
        return self.ask([combine(self.graph, Op.OR, each)])

    def not_all(self, conditions: Sequence[Node]) -> Node:
        """Return the condition that some of these do not hold."""
        return apply(Op.NOT, combine(self.graph, Op.AND, list(conditions)))
