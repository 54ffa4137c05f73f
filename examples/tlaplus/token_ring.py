"""A token ring that stabilizes: the TLA+ module TokenRing, after Dijkstra's EWD426.

Whatever the counters are in the beginning, after some time exactly one node has the token.
"""

from __future__ import annotations

from insync.model import ANY, Array, Bound, BoundValues, Bounds, Condition, Index, Int, Model, State, StateView
from insync.model import action, bound, exists, for_all, initial, require
from insync.properties import eventually_always, initially_always


class Node(Index):
    """A member of the ring; the first one makes tokens."""

    first = 0
    size = bound("nodes")


class TokenRing(Model):
    """Each node has a counter. A node other than the first one has the token if its counter is not that before it."""

    bounds = Bounds(
        nodes=Bound(6, 2, 8, "members of the ring"), highest=Bound(5, 1, 7, "the highest value of a counter")
    )

    def declare(self, b: BoundValues) -> State:
        return State(counter=Array(Node, Int(0, b.highest)))

    @initial
    def anything(self, s: StateView) -> None:
        s.counter = ANY

    @action
    def create_token(self, s: StateView) -> None:
        last = s.counter[self.b.nodes - 1]
        require(s.counter[0] == last)
        s.counter[0] = (last + 1) % (self.b.highest + 1)

    @action
    def pass_token(self, s: StateView, node: Node) -> None:
        require(node > 0)
        require(s.counter[node] != s.counter[node - 1])
        s.counter[node] = s.counter[node - 1]

    def one_token(self, s: StateView) -> Condition:
        """Up to some node all counters are that of the first one, behind it one less."""
        first, values = s.counter[0], self.b.highest + 1
        return exists(
            range(self.b.nodes + 1),
            lambda i: for_all(Node, lambda n: s.counter[n] == (first if n < i else (first + values - 1) % values)),
        )


@eventually_always(TokenRing, weak=("create_token", "pass_token"))
def stabilizes(model: TokenRing, s: StateView) -> Condition:
    """There comes to be one token, and stays one."""
    return model.one_token(s)


@initially_always(TokenRing)
def stays_stable(model: TokenRing, s: StateView) -> tuple[Condition, Condition]:
    """Where there is one token at first, there is always one."""
    return model.one_token(s), model.one_token(s)
