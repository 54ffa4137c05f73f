"""Small models whose runs are easy to think about, for the tests of liveness."""

from __future__ import annotations

from insync.model import (
    And,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Index,
    Int,
    Model,
    Not,
    Set,
    State,
    StateView,
    action,
    require,
)
from insync.properties import eventually, leads_to, sometimes

__all__ = ["Crossing", "Person", "Round"]


class Person(Index):
    """Somebody who wants to cross."""

    label = "p"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return bounds.people


class Crossing(Model):
    """A light changes for ever; who waits may cross while it is green. Nobody is first."""

    bounds = Bounds(people=Bound(2, 1, 4, "people"), trips=Bound(1, 1, 3, "how often each may ask"))

    def declare(self, b: BoundValues) -> State:
        return State(green=Bool, waiting=Set(Person), closed=Bool, asked=Int(0, b.people * b.trips))

    @action
    def change(self, s: StateView) -> None:
        """The light changes."""
        require(Not(s.closed))
        s.green = Not(s.green)

    @action(label="{who} asks")
    def ask(self, s: StateView, who: Person) -> None:
        """Somebody wants to cross."""
        require(Not(s.waiting.contains(who)), s.asked < self.b.people * self.b.trips)
        s.waiting |= {who}
        s.asked += 1

    @action(label="{who} crosses")
    def cross(self, s: StateView, who: Person) -> None:
        """Somebody crosses."""
        require(s.green, s.waiting.contains(who))
        s.waiting -= {who}

    @action
    def look(self, s: StateView) -> None:
        """Nothing changes."""
        s.green = s.green

    @action
    def close(self, s: StateView) -> None:
        """Works begin at a red light, and there is no way to end them: every run that is not careful gets stuck."""
        require(Not(s.green), Not(s.waiting.is_empty()), self.b.trips == 3)
        s.closed = True


@sometimes(Crossing)
def everybody_waits(model: Crossing, s: StateView) -> Condition:
    """All people wait at once."""
    return And(s.waiting.count() == len(model.all(Person)))


@sometimes(Crossing)
def somebody_waits_twice(model: Crossing, s: StateView, who: Person) -> Condition:
    """Somebody waits at green, twice asked."""
    return And(s.waiting.contains(who), s.asked > model.b.people * model.b.trips)


@eventually(Crossing, weak=("change",))
def turns_green(model: Crossing, s: StateView) -> Condition:
    """The light is green some time."""
    return And(s.green)


@leads_to(Crossing, weak=("change",), strong=("cross(who)",))
def gets_across(model: Crossing, s: StateView, who: Person) -> tuple[Condition, Condition]:
    """Who waits gets across."""
    waits = s.waiting.contains(who)
    return waits, Not(waits)


class Round(Model):
    """Three places in a round, from the first of which a way leads out."""

    def declare(self, b: BoundValues) -> State:
        return State(at=Int(0, 3))

    @action
    def go(self, s: StateView) -> None:
        require(s.at < 3)
        s.at = (s.at + 1) % 3

    @action
    def leave(self, s: StateView) -> None:
        require(s.at == 0)
        s.at = 3


@eventually(Round, weak=("go",))
def comes_by(model: Round, s: StateView, out: bool) -> Condition:
    """It goes out, and it comes to the second place."""
    there: Condition = s.at == (3 if out else 1)
    return there
