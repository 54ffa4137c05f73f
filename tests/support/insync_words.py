"""A toy model with elements changed in place, choices, and members that are chosen, for any number of members."""

from __future__ import annotations

import enum

from insync.model import (
    NONE,
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
    Option,
    Range,
    Record,
    Seq,
    Set,
    State,
    StateView,
    action,
    any_of,
    bound,
    choose,
    count,
    filtered,
    for_all,
    invariant,
    require,
    when,
)

__all__ = ["Council"]


class Member(Index):
    """Somebody who votes."""

    label, size = "m", bound("members")


class Mood(enum.Enum):
    """What the council thinks."""

    GLAD = 0
    CROSS = 1


class Place(Range):
    """A place of the agenda."""

    lo, hi = 0, 1


class Council(Model):
    """Proposals are put on an agenda, voted on in place, and dropped."""

    bounds = Bounds(members=Bound(2, 0, 3, "members"))

    def declare(self, b: BoundValues) -> State:
        proposal = Record(votes=Array(Member, Bool), line=Seq(Member, 2), worth=Int(0, 2))
        return State(
            present=Set(Member), agenda=Seq(proposal, 2), mood=Option(Mood), chair=Option(Member), at=Int(0, 2)
        )

    @action
    def come(self, s: StateView) -> None:
        member = any_of(Member)
        require(Not(s.present.contains(member)))
        s.present |= {member}
        s.chair = choose(s.present, lambda one: True)

    @action
    def propose(self, s: StateView) -> None:
        require(s.agenda.length < 2)
        s.agenda.append(votes=dict.fromkeys(self.all(Member), False), line=[], worth=any_of(Place, "worth"))
        s.mood = NONE

    @action
    def vote(self, s: StateView, place: Place) -> None:
        voter = any_of(s.present, "voter")
        require(place < s.agenda.length, Not(s.agenda[place].votes[voter]))
        s.agenda[place].votes[voter] = True
        with when(s.agenda[place].line.length < 2):
            s.agenda[place].line.append(voter)
        s.at = place

    @action
    def raise_worth(self, s: StateView) -> None:
        require(s.at < s.agenda.length, s.agenda[s.at].worth < 2, s.mood.or_else(Mood.GLAD) == Mood.GLAD)
        s.agenda[s.at].worth += 1
        s.mood = any_of(Mood)

    @action
    def drop(self, s: StateView) -> None:
        s.agenda = filtered(s.agenda, lambda one: one.worth == 0)
        s.at = 0

    @invariant
    def chairs_are_present(self, s: StateView) -> Condition:
        return Implies(s.chair.is_some(), s.present.contains(s.chair.value))

    @invariant
    def those_in_line_have_voted(self, s: StateView) -> Condition:
        low = filtered(s.agenda, lambda one: one.worth < 2)
        return for_all(low, lambda one: count(Member, lambda member: one.votes[member]) >= one.line.length)
