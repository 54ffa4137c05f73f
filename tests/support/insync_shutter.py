"""A model with each mistake that an annotation is about: of a state, a step, a run, a domain; and a suspicion."""

from __future__ import annotations

from insync.model import (
    And,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Implies,
    Int,
    Model,
    Not,
    State,
    StateView,
    action,
    invariant,
    require,
    step_invariant,
)
from insync.properties import eventually, sometimes

__all__ = ["Shutter", "Tired"]


class Shutter(Model):
    """A shutter that is pushed."""

    bounds = Bounds(most=Bound(3, 1, 9, "pushes that are counted"))
    headline = ("few",)

    def declare(self, b: BoundValues) -> State:
        return State(open=Bool, pushes=Int(0, b.most))

    @action
    def push(self, s: StateView) -> None:
        """Open it, or shut it."""
        s.open = Not(s.open)
        s.pushes += 1

    @action
    def stare(self, s: StateView) -> None:
        """Look at it."""
        s.pushes = s.pushes

    @invariant
    def few(self, s: StateView) -> Condition:
        """Few pushes, under 100%: or so, at
        most one."""
        few: Condition = s.pushes < 2
        return few

    @step_invariant
    def stays_open(self, before: StateView, after: StateView) -> Condition:
        return Implies(before.open, after.open)


class Tired(Shutter):
    """The same shutter, which gives way at the last push but one."""

    @action
    def push(self, s: StateView) -> None:
        """Shut it and open it as long as it is not worn."""
        require(s.pushes < self.b.most)
        s.open = Not(s.open)
        s.pushes += 1


@eventually(Tired, weak=("push",))
def is_shut_in_the_end(model: Tired, s: StateView) -> Condition:
    """It is pushed five times."""
    five: Condition = s.pushes == 5
    return five


@sometimes(Tired)
def is_shut_while_unused(model: Tired, s: StateView) -> Condition:
    """It may be open before anybody has pushed it."""
    return And(s.open, s.pushes == 0)
