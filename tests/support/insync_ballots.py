"""Toy models with the words for sorts, ranges and numbers, which every engine runs."""

from __future__ import annotations

import enum

from insync.model import (
    Array,
    Bound,
    Bounds,
    BoundValues,
    Index,
    Int,
    Model,
    Option,
    Range,
    State,
    StateView,
    action,
    bound,
    require,
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

    bounds = Bounds(voters=Bound(2, 1, 3, "voters"), more=Bound(1, 0, 3, "ballots more than voters"))

    def declare(self, b: BoundValues) -> State:
        return State(
            promised=Array(Voter, Option(Ballot)),
            last=Ballot,
            mood=Array(Seat, Mood),
            turn=Int(0, bound("more")),
        )

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
