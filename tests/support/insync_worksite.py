"""A small model with everything in it that a search can leave unexercised."""

from __future__ import annotations

from insync.model import (
    And,
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
    Set,
    State,
    StateView,
    action,
    for_all,
    invariant,
    require,
    when,
)

__all__ = ["Digger", "Worksite"]


class Digger(Index):
    """Who digs."""

    label = "d"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return bounds.diggers


class Worksite(Model):
    """Somebody digs a hole, and nobody ever fills it again."""

    bounds = Bounds(diggers=Bound(2, 1, 3, "who digs"), depth=Bound(3, 1, 6, "how deep"))

    def declare(self, b: BoundValues) -> State:
        return State(depth=Int(0, b.depth), resting=Bool, fallen=Set(Digger), warned=Bool)

    @action
    def dig(self, s: StateView, digger: Digger) -> None:
        """Dig, unless it is deep enough."""
        require(s.depth < self.b.depth, Not(s.warned))
        require(self.all(Digger)[0] == digger)
        s.depth = If(s.resting, s.depth, s.depth + 1)
        with when(s.depth == 0):
            s.warned = True
        s.resting = False

    @action
    def rest(self, s: StateView) -> None:
        """Have a rest, with at least one digger."""
        require(And(s.depth > 0, s.fallen.count() < 2), s.depth >= 0)
        s.resting = True

    @invariant
    def fallen_are_deep(self, s: StateView) -> Condition:
        """Who has fallen is in a hole."""
        return for_all(s.fallen, lambda digger: s.depth > 0)

    @invariant
    def warned_in_time(self, s: StateView) -> Condition:
        """Who is warned has not begun."""
        return Implies(s.warned, s.depth == 0)

    @invariant
    def not_too_deep(self, s: StateView) -> Condition:
        """The hole ends where it must."""
        return And(s.depth <= 5)
