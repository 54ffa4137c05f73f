"""Leader election in a ring: the TLA+ module ChangRoberts, after Chang and Roberts."""

from __future__ import annotations

import enum

from insync.model import ANY, And, Array, Bool, Bound, BoundValues, Bounds, Condition, If, Implies, Index, Model, Not
from insync.model import Or, Set, State, StateView, action, bound, exists, initial, invariant, require, when
from insync.properties import leads_to


class Node(Index):
    """A member of the ring, whose number is its identity: the lowest one wins."""

    size = bound("nodes")


class Standing(enum.Enum):
    """What a node knows of the election."""

    LOST = 0
    CANDIDATE = 1
    WON = 2


class ChangRoberts(Model):
    """Candidates send their identity round the ring, and drop the higher ones that pass."""

    bounds = Bounds(nodes=Bound(3, 1, 5, "members of the ring"))
    headline = ("lowest_candidate_wins",)

    def declare(self, b: BoundValues) -> State:
        return State(
            inbox=Array(Node, Set(Node)),
            started=Array(Node, Bool),
            initiator=Array(Node, Bool),
            standing=Array(Node, Standing),
        )

    @initial
    def any_initiators(self, s: StateView) -> None:
        s.initiator = ANY
        for n in self.all(Node):
            s.standing[n] = If(s.initiator[n], Standing.CANDIDATE, Standing.LOST)

    def after(self, node: Node) -> Node:
        return Node((node + 1) % self.b.nodes)

    @action
    def start(self, s: StateView, node: Node) -> None:
        require(Not(s.started[node]))
        s.started[node] = True
        with when(s.initiator[node]):
            s.inbox[self.after(node)] |= {node}

    @action
    def receive(self, s: StateView, node: Node, candidate: Node) -> None:
        require(s.started[node], s.inbox[node].contains(candidate))
        s.inbox[node] -= {candidate}
        passes = Or(s.standing[node] == Standing.LOST, candidate < node)
        with when(passes):
            s.inbox[self.after(node)] |= {candidate}
            s.standing[node] = Standing.LOST
        if candidate == node:
            with when(Not(passes)):
                s.standing[node] = Standing.WON

    @invariant
    def lowest_candidate_wins(self, s: StateView, node: Node, other: Node) -> Condition:
        """Whoever wins was a candidate, and the others have lost, all higher ones if they were candidates."""
        if node == other:
            return Implies(s.standing[node] == Standing.WON, s.initiator[node])
        beaten = And(s.standing[other] == Standing.LOST, Implies(s.initiator[other], other > node))
        return Implies(s.standing[node] == Standing.WON, beaten)


@leads_to(ChangRoberts, weak=("start(node)", "receive(node)"))
def somebody_wins(model: ChangRoberts, s: StateView) -> tuple[Condition, Condition]:
    """Where there is a candidate, there is a winner in the end."""
    candidates = exists(Node, lambda n: s.standing[n] == Standing.CANDIDATE)
    return candidates, exists(Node, lambda n: s.standing[n] == Standing.WON)
