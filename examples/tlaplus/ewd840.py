"""Termination detection in a ring: the TLA+ module EWD840, after Dijkstra, Feijen and van Gasteren."""

from __future__ import annotations

import enum

from insync.model import ANY, And, Array, Bool, Bound, BoundValues, Bounds, Condition, If, Implies, Index, Model, Not
from insync.model import Or, State, StateView, action, bound, exists, for_all, initial, invariant, require
from insync.properties import leads_to


class Node(Index):
    """A member of the ring; the first one begins the probes."""

    first = 0
    size = bound("nodes")


class Color(enum.Enum):
    """Black is whoever may have woken a node that the token has passed."""

    WHITE = 0
    BLACK = 1


class Ewd840(Model):
    """A token goes round from the last node to the first, and turns black if there may be work behind it."""

    bounds = Bounds(nodes=Bound(3, 1, 6, "members of the ring"))
    headline = ("detection_is_right", "inductive")

    def declare(self, b: BoundValues) -> State:
        return State(active=Array(Node, Bool), color=Array(Node, Color), token=Node, token_color=Color)

    @initial
    def anywhere(self, s: StateView) -> None:
        s.active = s.color = s.token = ANY
        s.token_color = Color.BLACK

    @action
    def start_probe(self, s: StateView) -> None:
        require(s.token == 0, Or(s.token_color == Color.BLACK, s.color[0] == Color.BLACK))
        s.token = Node(self.b.nodes - 1)
        s.token_color = s.color[0] = Color.WHITE

    @action
    def pass_token(self, s: StateView, node: Node) -> None:
        require(node > 0, s.token == node)
        require(Or(Not(s.active[node]), s.color[node] == Color.BLACK, s.token_color == Color.BLACK))
        s.token = Node(node - 1)
        s.token_color = If(s.color[node] == Color.BLACK, Color.BLACK, s.token_color)
        s.color[node] = Color.WHITE

    @action
    def wake(self, s: StateView, node: Node, other: Node) -> None:
        """A message wakes another node at once."""
        require(node != other, s.active[node])
        s.active[other] = True
        if other > node:
            s.color[node] = Color.BLACK

    @action
    def rest(self, s: StateView, node: Node) -> None:
        require(s.active[node])
        s.active[node] = False

    def terminated(self, s: StateView) -> Condition:
        return for_all(Node, lambda n: Not(s.active[n]))

    def detected(self, s: StateView) -> Condition:
        """Whether the first node, passive and white, has a white token."""
        return And(s.token == 0, s.token_color == Color.WHITE, s.color[0] == Color.WHITE, Not(s.active[0]))

    @invariant
    def detection_is_right(self, s: StateView) -> Condition:
        """Where termination is detected, all nodes are passive."""
        return Implies(self.detected(s), self.terminated(s))

    @invariant
    def inductive(self, s: StateView) -> Condition:
        """All behind the token are passive, unless it is black or will become so."""
        return Or(
            for_all(Node, lambda n: Implies(s.token < n, Not(s.active[n]))),
            exists(Node, lambda n: And(n <= s.token, s.color[n] == Color.BLACK)),
            s.token_color == Color.BLACK,
        )


@leads_to(Ewd840, weak=("start_probe", "pass_token"))
def termination_is_detected(model: Ewd840, s: StateView) -> tuple[Condition, Condition]:
    """Once all nodes are passive, the first one comes to know it."""
    return model.terminated(s), model.detected(s)
