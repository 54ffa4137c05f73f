"""Models that are allowed and hardly meant: every report of them has a warning."""

from __future__ import annotations

from insync.model import (
    Bool,
    BoundValues,
    Condition,
    Index,
    Int,
    Model,
    Option,
    State,
    StateView,
    action,
    invariant,
    require,
)
from insync.properties import sometimes

__all__ = ["Chance", "Inert", "Meant", "Nobody"]


class Process(Index):
    """Who may claim."""

    label = "p"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return 2


class Nobody(Model):
    """A claim that Python decides while the model is traced, and a property of nothing."""

    headline = ("fine",)

    def declare(self, b: BoundValues) -> State:
        return State(owner=Option(Process))

    @action
    def claim(self, s: StateView, p: Process) -> None:
        """Take it if nobody has it; this is what is wrong."""
        if s.owner is None:
            s.owner = p

    @invariant
    def fine(self, s: StateView) -> Condition:
        """Nothing at all."""
        return True


@sometimes(Nobody)
def taken(model: Nobody, s: StateView) -> Condition:
    """It is taken."""
    return s.owner.is_some()  # type: ignore[no-any-return]


class Inert(Model):
    """Nothing can happen."""

    headline = ("dark",)

    def declare(self, b: BoundValues) -> State:
        return State(on=Bool)

    @invariant
    def dark(self, s: StateView) -> Condition:
        """It is off."""
        return ~s.on  # type: ignore[no-any-return]


_throws = iter(range(1_000_000))


class Chance(Model):
    """An action that is another one each time it is traced."""

    def declare(self, b: BoundValues) -> State:
        return State(face=Int(0, 5))

    @action
    def throw(self, s: StateView) -> None:
        """Show a face."""
        s.face = next(_throws) % 6


class Meant(Model):
    """Nothing is wrong with it."""

    headline = ("small",)

    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 3))

    @action
    def count(self, s: StateView) -> None:
        """Count to two."""
        require(s.n < 2)
        s.n += 1

    @invariant
    def small(self, s: StateView) -> Condition:
        """The count is small."""
        return s.n < 3
