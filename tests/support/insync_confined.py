"""Small models that are confined, or come to an end, for the tests of every engine; their counts are done by hand."""

from __future__ import annotations

from insync.model import Bool, BoundValues, Condition, Int, Model, Not, State, StateView, action, invariant, require
from insync.model import step_invariant as steps
from insync.properties import eventually, lemma

__all__ = ["Ladder", "Mail", "Plane"]


class Plane(Model):
    """Two numbers that grow: within the triangle below the diagonal 3 there are 10 states, and 5 just outside.

    In the last of the 10, on the diagonal, each number may grow once more.
    """

    headline = ("below_five", "near")
    within = ("near",)

    def declare(self, b: BoundValues) -> State:
        return State(x=Int(0, 6), y=Int(0, 6))

    @action
    def right(self, s: StateView) -> None:
        require(s.x < 6)
        s.x += 1

    @action
    def up(self, s: StateView) -> None:
        require(s.y < 6)
        s.y += 1

    @invariant
    def near(self, s: StateView) -> Condition:
        """The sum is at most 3."""
        near: Condition = s.x + s.y <= 3
        return near

    @invariant
    def below_five(self, s: StateView) -> Condition:
        """The sum is below 5, as it is in all states that are seen."""
        below: Condition = s.x + s.y < 5
        return below

    @invariant
    def x_below_four(self, s: StateView) -> Condition:
        """The first is below 4, which fails in a state outside."""
        below: Condition = s.x < 4
        return below

    @steps
    def not_to_four(self, before: StateView, after: StateView) -> Condition:
        """No step leads to a sum of 4: those that do lead outside."""
        other: Condition = after.x + after.y != 4
        return other


@lemma(Plane)
def flat(model: Plane, s: StateView) -> Condition:
    """The second number is at most 1."""
    flat: Condition = s.y <= 1
    return flat


@eventually(Plane)
def far(model: Plane, s: StateView) -> Condition:
    """Some time the first number is 6, outside."""
    six: Condition = s.x == 6
    return six


class Ladder(Model):
    """A number that grows to 4 and stays there; at 2 it may be closed, where nothing happens either."""

    headline = ()

    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 4), closed=Bool)

    @action
    def climb(self, s: StateView) -> None:
        require(Not(s.closed), s.n < 4)
        s.n += 1

    @action
    def close(self, s: StateView) -> None:
        require(Not(s.closed), s.n == 2)
        s.closed = True

    @invariant
    def low(self, s: StateView) -> Condition:
        """The number is at most 2."""
        low: Condition = s.n <= 2
        return low


class Mail(Model):
    """Messages that are sent and lost; a step that would send an eighth one is no step but a violation of type_ok."""

    within = ("few",)

    def declare(self, b: BoundValues) -> State:
        return State(sent=Int(0, 7), lost=Int(0, 7))

    @action
    def send(self, s: StateView) -> None:
        s.sent += 1

    @action
    def lose(self, s: StateView) -> None:
        require(s.lost < s.sent)
        s.lost += 1

    @invariant
    def few(self, s: StateView) -> Condition:
        """At most two messages are under way."""
        few: Condition = s.sent - s.lost <= 2
        return few
