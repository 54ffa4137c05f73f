"""Models with several initial states: published ones, whose counts TLC has, and one with every way to say it."""

from __future__ import annotations

import enum
from typing import Any

from insync.model import (
    ANY,
    NONE,
    And,
    Array,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    If,
    Implies,
    Index,
    Int,
    Model,
    Not,
    Option,
    Or,
    Record,
    State,
    action,
    exists,
    for_all,
    initial,
    invariant,
    require,
)

__all__ = ["Cabinet", "Colour", "Drawer", "Probe", "RingNode", "SelfStabilizing"]


class RingNode(Index):
    """A node of a ring."""

    label = "n"
    first = 0

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return bounds.nodes


class SelfStabilizing(Model):
    """Dijkstra's token ring that finds back to one token from any state (EWD 426; tlaplus/Examples, ewd426)."""

    bounds = Bounds(nodes=Bound(6, 1, 6), most=Bound(6, 1, 6))

    def declare(self, b: BoundValues) -> State:
        return State(c=Array(RingNode, Int(0, b.most - 1)))

    @initial
    def anything(self, s: Any) -> None:
        s.c = ANY

    @action
    def create_token(self, s: Any) -> None:
        last = s.c[self.b.nodes - 1]
        require(s.c[0] == last)
        s.c[0] = If(last == self.b.most - 1, 0, last + 1)

    @action
    def pass_token(self, s: Any, node: RingNode) -> None:
        require(node != 0)
        require(s.c[node] != s.c[node - 1])
        s.c[node] = s.c[node - 1]


class Colour(enum.Enum):
    """Of a node and of the token."""

    WHITE = 0
    BLACK = 1


class Probe(Model):
    """Dijkstra's detection of termination (EWD 840; tlaplus/Examples, ewd840)."""

    bounds = Bounds(nodes=Bound(3, 1, 6))
    headline = ("detected_rightly", "dijkstra")

    def declare(self, b: BoundValues) -> State:
        return State(active=Array(RingNode, Bool), colour=Array(RingNode, Colour), token=RingNode, token_colour=Colour)

    @initial
    def anywhere(self, s: Any, at: RingNode) -> None:
        s.active, s.colour, s.token = ANY, ANY, at

    def initial(self, s: Any) -> None:
        s.token_colour = Colour.BLACK

    @action
    def initiate_probe(self, s: Any) -> None:
        require(s.token == 0, Or(s.token_colour == Colour.BLACK, s.colour[0] == Colour.BLACK))
        s.token, s.token_colour, s.colour[0] = self.b.nodes - 1, Colour.WHITE, Colour.WHITE

    @action
    def pass_token(self, s: Any, node: RingNode) -> None:
        black = s.colour[node] == Colour.BLACK
        require(node != 0, s.token == node)
        require(Or(Not(s.active[node]), black, s.token_colour == Colour.BLACK))
        s.token, s.token_colour = node - 1, If(black, Colour.BLACK, s.token_colour)
        s.colour[node] = Colour.WHITE

    @action
    def send(self, s: Any, node: RingNode, to: RingNode) -> None:
        require(node != to, s.active[node])
        s.active[to] = True
        s.colour[node] = Colour.BLACK if to > node else s.colour[node]

    @action
    def deactivate(self, s: Any, node: RingNode) -> None:
        require(s.active[node])
        s.active[node] = False

    @invariant
    def detected_rightly(self, s: Any) -> Condition:
        detected = And(s.token == 0, s.token_colour == Colour.WHITE, s.colour[0] == Colour.WHITE, Not(s.active[0]))
        return Implies(detected, for_all(self.all(RingNode), lambda n: Not(s.active[n])))

    @invariant
    def dijkstra(self, s: Any) -> Condition:
        nodes = self.all(RingNode)
        return Or(
            for_all(nodes, lambda n: Implies(s.token < n, Not(s.active[n]))),
            exists(nodes, lambda n: And(n <= s.token, s.colour[n] == Colour.BLACK)),
            s.token_colour == Colour.BLACK,
        )


class Drawer(Index):
    """A drawer of the cabinet."""

    label = "d"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 3


class Cabinet(Model):
    """Drawers with numbers: `nearly_full` fails after six steps, and first from one of several initial states."""

    headline = ("nearly_full",)

    def declare(self, b: BoundValues) -> State:
        return State(
            inside=Array(Drawer, Int(0, 3)), last=Option(Drawer), note=Option(Record(number=Int(0, 2), seen=Bool))
        )

    @initial
    def two_are_low(self, s: Any) -> None:
        s.inside = ANY
        require(s.inside[0] + s.inside[1] < 3)

    @initial(label="{drawer} is full")
    def one_is_full(self, s: Any, drawer: Drawer) -> None:
        s.last, s.note = drawer, ANY
        s.inside[0] = ANY
        require(s.inside[0] > 2)

    def initial(self, s: Any) -> None:
        s.last = Drawer(2)

    @action
    def put(self, s: Any, drawer: Drawer) -> None:
        require(s.inside[drawer] < 3)
        s.inside[drawer] += 1

    @action
    def look(self, s: Any, drawer: Drawer) -> None:
        require(s.last == drawer, s.note.is_some())
        s.last = NONE
        s.note.value.seen = True

    @invariant
    def nearly_full(self, s: Any) -> Condition:
        """The numbers come to less than 9."""
        below: Condition = s.inside[0] + s.inside[1] + s.inside[2] < 9
        return below
