"""Voting: the TLA+ module Voting of "How to win a Turing award", by Leslie Lamport.

Acceptors vote in numbered ballots, and what a quorum votes for in one ballot is chosen. How they learn of each other's
votes is left out; module Paxos says it.
"""

from __future__ import annotations

from insync.model import And, Array, Bound, BoundValues, Bounds, Condition, Implies, Index, Model, Not, Option, Or
from insync.model import Range, State, StateView, Subset, action, bound, count, exists, for_all, invariant, require
from insync.model import step_invariant


class Acceptor(Index, symmetric=True):
    """Somebody who votes."""

    size = bound("acceptors")


class Value(Index, symmetric=True):
    """What may be chosen."""

    size = bound("inputs")


class Ballot(Range):
    """The number of a ballot."""

    lo, hi = 0, bound("ballots")


class Quorum(Subset, of=Acceptor):
    """Any two quorums have a member in common."""


class Voting(Model):
    """An acceptor votes for a value that is safe: nothing else was or will be chosen in an earlier ballot."""

    bounds = Bounds(
        acceptors=Bound(3, 1, 5, "acceptors"),
        inputs=Bound(2, 1, 3, "values that may be chosen"),
        ballots=Bound(2, 0, 3, "the last ballot"),
    )
    headline = ("one_value_is_chosen", "choice_is_final", "votes_are_safe", "one_value_in_a_ballot")

    def declare(self, b: BoundValues) -> State:
        return State(
            vote=Array(Acceptor, Array(Ballot, Option(Value))),
            ballot=Array(Acceptor, Option(Ballot)),  # the highest in which the acceptor has taken part
        )

    def majority(self) -> int:
        return self.b.acceptors // 2 + 1

    def shows_safe(self, s: StateView, q: Quorum, b: Ballot, v: Value) -> Condition:
        """Whether a quorum shows that a value is safe: its last votes before the ballot are for it, if any."""

        def silent_from(first: int) -> Condition:
            return for_all(q, range(first, b), lambda a, d: s.vote[a][d].is_none())

        last_vote = exists(range(b), lambda c: And(exists(q, lambda a: s.vote[a][c] == v), silent_from(c + 1)))
        return And(for_all(q, lambda a: s.ballot[a].or_else(-1) >= b), Or(silent_from(0), last_vote))

    @action
    def enter(self, s: StateView, a: Acceptor, b: Ballot) -> None:
        require(s.ballot[a].or_else(-1) < b)
        s.ballot[a] = b

    @action
    def vote_for(self, s: StateView, a: Acceptor, b: Ballot, v: Value) -> None:
        require(s.ballot[a].or_else(-1) <= b, s.vote[a][b].is_none())
        require(for_all(Acceptor, lambda c: Or(s.vote[c][b].is_none(), s.vote[c][b] == v)))
        quorums = [q for q in self.all(Quorum) if q.count() == self.majority()]
        require(exists(quorums, lambda q: self.shows_safe(s, q, b, v)))
        s.vote[a][b] = v
        s.ballot[a] = b

    def chosen(self, s: StateView, v: Value) -> Condition:
        return exists(Ballot, lambda b: count(Acceptor, lambda a: s.vote[a][b] == v) >= self.majority())

    @invariant
    def one_value_is_chosen(self, s: StateView, v: Value, w: Value) -> Condition:
        """No two values are chosen."""
        return Or(v == w, Not(And(self.chosen(s, v), self.chosen(s, w))))

    @step_invariant
    def choice_is_final(self, before: StateView, after: StateView, v: Value) -> Condition:
        """What is chosen stays chosen."""
        return Implies(self.chosen(before, v), self.chosen(after, v))

    @invariant
    def votes_are_safe(self, s: StateView, a: Acceptor, b: Ballot, v: Value) -> Condition:
        """Where somebody votes for a value, nothing else was chosen before, nor will be."""

        def only_choice(c: int) -> Condition:
            passed = [And(s.ballot[d].or_else(-1) > c, s.vote[d][c].is_none()) for d in self.all(Acceptor)]
            return count(Acceptor, lambda d: Or(s.vote[d][c] == v, passed[d])) >= self.majority()

        return Implies(s.vote[a][b] == v, for_all(range(b), only_choice))

    @invariant
    def one_value_in_a_ballot(self, s: StateView, a: Acceptor, c: Acceptor, b: Ballot) -> Condition:
        """No two acceptors vote for different values in a ballot."""
        return Or(s.vote[a][b].is_none(), s.vote[c][b].is_none(), s.vote[a][b] == s.vote[c][b])
