"""A model whose property needs two good states in a row to be inductive, for the tests of proofs."""

from __future__ import annotations

from insync.model import Condition, Int, Model, State, StateView, action, invariant, require

__all__ = ["Corridor"]


class Corridor(Model):
    """Rooms 0 and 1 lead to each other, 2 leads to the trap 3, and nothing leads to 2."""

    headline = ("never_trapped",)

    def declare(self, b: object) -> State:
        return State(room=Int(0, 3))

    @action
    def walk(self, s: StateView) -> None:
        """Go on from one of the first rooms."""
        require(s.room < 2)
        s.room = 1 - s.room

    @action
    def fall(self, s: StateView) -> None:
        """Fall into the trap."""
        require(s.room == 2)
        s.room = 3

    @invariant
    def never_trapped(self, s: StateView) -> Condition:
        """Nobody is in the trap."""
        free: Condition = s.room != 3
        return free

    @invariant
    def near_the_door(self, s: StateView) -> Condition:
        """Everybody is in one of the first two rooms."""
        near: Condition = s.room < 2
        return near

    @invariant
    def at_the_door(self, s: StateView) -> Condition:
        """Everybody is in the first room, which is true at first only."""
        first: Condition = s.room == 0
        return first
