"""A model with a setting, whose every result and file must name it as the user does."""

from __future__ import annotations

from enum import Enum

from insync.model import (
    And,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Int,
    Model,
    Setting,
    Settings,
    State,
    StateView,
    Switch,
)

from insync.model import action, invariant, require, sometimes  # isort: skip

__all__ = ["Guarded", "Pace"]


class Pace(Enum):
    """How far a step goes; the default is the second one, so that its place is not 0."""

    TWO = "two at a time"
    ONE = "one at a time"


class Guarded(Model):
    """A counter that goes up to its top; without the guard it goes beyond the limit."""

    bounds = Bounds(top=Bound(3, 1, 9, "where the counter ends"))
    settings = Settings(
        guard=Setting(Switch.OFF, "whether the counter stops at the limit"),
        pace=Setting(Pace.ONE, "how far a step goes"),
    )
    headline = ("low",)

    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 2 * b.top + 2))

    @action
    def count(self, s: StateView) -> None:
        require(s.n < self.b.top)
        if self.b.settings.guard:
            require(s.n < 2)
        s.n += 1 if self.b.settings.pace is Pace.ONE else 2

    @invariant
    def low(self, s: StateView) -> Condition:
        """The counter does not pass two."""
        most = 2 if self.b.settings.pace is Pace.ONE else 3
        return And(s.n <= most)

    @sometimes
    def begun(self, s: StateView) -> Condition:
        """The counter counts."""
        counts: Condition = s.n > 0
        return counts
