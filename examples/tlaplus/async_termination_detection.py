"""What termination detection is: the TLA+ module AsyncTerminationDetection of EWD998, by Stephan Merz."""

from __future__ import annotations

from insync.model import ANY, And, Array, Bool, Bound, BoundValues, Bounds, Condition, Implies, Index, Int, Model, Not
from insync.model import Or, State, StateView, action, bound, for_all, initial, invariant, require, step_invariant


class Node(Index, symmetric=True):
    """Somebody who works, and gives others work by messages."""

    first = 0
    size = bound("nodes")


class AsyncTerminationDetection(Model):
    """All nodes are passive and no message is on its way: this is noticed some time, and never too early."""

    bounds = Bounds(nodes=Bound(4, 1, 6, "nodes"), pending=Bound(3, 1, 6, "messages on their way to a node"))
    headline = ("detection_is_right", "termination_is_final")
    within = ("few_messages",)

    def declare(self, b: BoundValues) -> State:
        return State(active=Array(Node, Bool), pending=Array(Node, Int(0, b.pending + 1)), detected=Bool)

    def terminated(self, s: StateView) -> Condition:
        return for_all(Node, lambda n: And(Not(s.active[n]), s.pending[n] == 0))

    @initial
    def anybody_works(self, s: StateView, detected: bool) -> None:
        s.active = ANY
        require(Implies(detected, self.terminated(s)))
        s.detected = detected

    @action
    def rest(self, s: StateView, node: Node, detect: bool) -> None:
        """Who rests may notice that it was the last one."""
        require(s.active[node])
        s.active[node] = False
        require(Implies(detect, self.terminated(s)))
        s.detected = Or(s.detected, detect)

    @action
    def send(self, s: StateView, sender: Node, receiver: Node) -> None:
        require(s.active[sender])
        s.pending[receiver] += 1

    @action
    def receive(self, s: StateView, node: Node) -> None:
        require(s.pending[node] > 0)
        s.pending[node] -= 1
        s.active[node] = True

    @action
    def detect(self, s: StateView) -> None:
        require(self.terminated(s))
        s.detected = True

    @invariant
    def few_messages(self, s: StateView, node: Node) -> Condition:
        return s.pending[node] <= self.b.pending

    @invariant
    def detection_is_right(self, s: StateView) -> Condition:
        """What is detected is the case."""
        return Implies(s.detected, self.terminated(s))

    @step_invariant
    def termination_is_final(self, before: StateView, after: StateView) -> Condition:
        """Nobody works again once all have stopped."""
        return Implies(self.terminated(before), self.terminated(after))
