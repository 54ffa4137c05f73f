"""Small models with step invariants, for the tests of every engine; their counts are worked out by hand."""

from __future__ import annotations

from insync.model import (
    And,
    Array,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Implies,
    Index,
    Int,
    Model,
    Not,
    Or,
    State,
    StateView,
    action,
    for_all,
    invariant,
    require,
    step_invariant,
)
from insync.properties import step_invariant as beside

__all__ = ["Careful", "Counter", "Sealed", "Voters", "Votes"]


class Voters(Index):
    """Somebody with a term."""

    label = "v"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        return bounds.voters


class Votes(Model):
    """Voters whose terms grow, until one of them forgets: after two votes of its own, at the earliest."""

    bounds = Bounds(voters=Bound(2, 1, 3, "who has a term"), top=Bound(2, 1, 4, "the greatest term"))
    headline = ("terms_grow",)

    def declare(self, b: BoundValues) -> State:
        return State(term=Array(Voters, Int(0, b.top)))

    @action(label="{voter} votes")
    def vote(self, s: StateView, voter: Voters) -> None:
        require(s.term[voter] < self.b.top)
        s.term[voter] += 1

    @action(label="{voter} forgets")
    def forget(self, s: StateView, voter: Voters) -> None:
        require(s.term[voter] == 2)
        s.term[voter] = 0

    @step_invariant
    def terms_grow(self, before: StateView, after: StateView, voter: Voters) -> Condition:
        """No term becomes smaller."""
        grows: Condition = after.term[voter] >= before.term[voter]
        return grows

    @invariant
    def low(self, s: StateView) -> Condition:
        """No term is above 1."""
        return for_all(self.all(Voters), lambda voter: s.term[voter] <= 1)


class Careful(Votes):
    """Nobody forgets."""

    forget = None  # type: ignore[assignment]


@beside(Votes)
def one_at_a_time(model: Votes, before: StateView, after: StateView, a: Voters, b: Voters) -> Condition:
    """At most one term changes."""
    return Or(a == b, after.term[a] == before.term[a], after.term[b] == before.term[b])


@beside(Votes, because=lambda failing: f"{failing.before} becomes {failing.state}")
def moves_on(model: Votes, before: StateView, after: StateView) -> Condition:
    """A step leads to another state: so says every step that changes one."""
    voters = model.all(Voters)
    same: Condition = for_all(voters, lambda voter: after.term[voter] == before.term[voter])
    return same == False  # noqa: E712 -- a condition, not a truth value


class Counter(Model):
    """A counter that goes up by one, by two from 3 on, and beyond its domain at last; nothing happens at rest."""

    headline = ("by_one", "ordered")

    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 6), twice=Int(0, 1))

    @action
    def up(self, s: StateView) -> None:
        require(s.n < 5)
        s.n += 1

    @action
    def leap(self, s: StateView) -> None:
        require(s.n >= 3)
        s.n += 2
        s.twice = 1

    @action
    def rest(self, s: StateView) -> None:
        s.n = s.n * 1

    @step_invariant
    def by_one(self, before: StateView, after: StateView) -> Condition:
        """It goes up by exactly one, so a step that changes nothing must not count."""
        up: Condition = after.n == before.n + 1
        return up

    @step_invariant
    def ordered(self, before: StateView, after: StateView) -> Condition:
        """It never goes down."""
        return And(after.n > before.n, Implies(before.twice == 1, after.twice == 1))


class Sealed(Model):
    """A number that nobody changes once it is sealed: all states are reached, so only steps show that."""

    headline = ("seal_is_kept",)

    def declare(self, b: BoundValues) -> State:
        return State(n=Int(0, 2), sealed=Bool)

    @action
    def seal(self, s: StateView) -> None:
        require(Not(s.sealed))
        s.sealed = True

    @action
    def up(self, s: StateView) -> None:
        require(Not(s.sealed), s.n < 2)
        s.n += 1

    @step_invariant
    def seal_is_kept(self, before: StateView, after: StateView) -> Condition:
        """What is sealed stays as it is."""
        same: Condition = And(after.n == before.n, after.sealed)
        return Implies(before.sealed, same)
