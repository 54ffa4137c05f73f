"""Toy models with the words for sorts, ranges and numbers, which every engine runs."""

from __future__ import annotations

import enum

from insync.model import (
    And,
    Array,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Implies,
    Index,
    Int,
    Model,
    Option,
    Range,
    State,
    StateView,
    action,
    bound,
    count,
    for_all,
    invariant,
    max_of,
    require,
    sum_of,
    the,
)

__all__ = ["Ballot", "Mood", "Seat", "Voter", "Votes"]


class Voter(Index):
    """Somebody who votes."""

    size = bound("voters")


class Ballot(Range):
    """The number of a ballot."""

    lo, hi = 1, bound("voters") + bound("more")


class Seat(Index):
    """One of two seats."""

    size, label, first = 2, "seat", 0


class Mood(enum.Enum):
    """How a voter feels."""

    CALM = 0
    CROSS = 1


class Votes(Model):
    """Voters who promise to take part in ballots, each later than those before."""

    headline = ("in_order", "half_of_it")
    bounds = Bounds(voters=Bound(2, 1, 3, "voters"), more=Bound(1, 0, 3, "ballots more than voters"))

    def declare(self, b: BoundValues) -> State:
        return State(
            promised=Array(Voter, Option(Ballot)),
            last=Ballot,
            mood=Array(Seat, Mood),
            turn=Int(0, bound("more")),
            hand=Int(0, 4),
            half=Int(-2, 2),
        )

    def initial(self, s: StateView) -> None:
        s.half = -2

    @action
    def promise(self, s: StateView, voter: Voter, ballot: Ballot) -> None:
        """Take part in a ballot that is not before the last; plain Python decides with its number."""
        require(s.promised[voter].or_else(0) < ballot, ballot >= s.last)
        s.promised[voter] = ballot
        s.last = ballot
        if ballot > 2:
            s.mood[ballot % 2] = Mood.CROSS

    @action(label="calm down, {seat}")
    def calm(self, s: StateView, seat: Seat) -> None:
        """Be calm again."""
        require(s.mood[seat] == Mood.CROSS, s.turn < self.b.more)
        s.mood[seat] = Mood.CALM
        s.turn += 1

    @action
    def go_round(self, s: StateView, back: bool) -> None:
        """Turn the hand by a part of what was promised, forwards or backwards."""
        step = sum_of(s.promised, lambda ballot: ballot.or_else(0)) // 2
        s.hand = (s.hand - step) % 5 if back else (s.hand + step) % 5
        s.half = (s.hand - 3) // 2

    @action
    def hurry(self, s: StateView) -> None:
        """Let the most hesitant voter catch up, when more than one has promised something."""
        least = the(Voter, lambda v: for_all(Voter, lambda w: s.promised[v].or_else(0) <= s.promised[w].or_else(0)))
        require(count(Voter, lambda v: s.promised[v].is_some()) > 1, s.promised[least] != s.last)
        s.promised[least] = max_of(Voter, lambda v: s.promised[v].or_else(1))

    @invariant
    def in_order(self, s: StateView, voter: Voter, ballot: Ballot) -> Condition:
        """Nobody has promised to take part in a ballot after the last."""
        return Implies(s.promised[voter] == ballot, ballot <= s.last)

    @invariant
    def half_of_it(self, s: StateView) -> Condition:
        """The half is that of the hand, rounded down."""
        return And(s.hand - 4 <= 2 * s.half, 2 * s.half <= s.hand - 3)

    @invariant
    def different(self, s: StateView, first: Voter, second: Voter) -> Condition:
        """No two voters have promised the same; this fails."""
        return Implies(And(first != second, s.promised[first].is_some()), s.promised[first] != s.promised[second])
