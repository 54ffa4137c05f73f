"""Paxos: the TLA+ module Paxos of "How to win a Turing award", by Leslie Lamport.

Messages are never lost, and may be received again, so what was sent is a set, one for each kind of message.
"""

from __future__ import annotations

from insync.model import And, Array, Bound, BoundValues, Bounds, Condition, If, Index, Model, Not, Num, Option, Or
from insync.model import Range, Record, RecordView, SetOf, State, StateView, Subset, action, bound, count, exists
from insync.model import for_all, invariant, max_of, record, require


class Acceptor(Index):
    """Somebody who votes."""

    size = bound("acceptors")


class Value(Index):
    """What may be chosen."""

    size = bound("inputs")


class Ballot(Range):
    """The number of a ballot, each of which has a leader of its own."""

    lo, hi = 0, bound("ballots")


class Quorum(Subset, of=Acceptor):
    """Any two quorums have a member in common."""


class Paxos(Model):
    """A leader asks a quorum what was accepted before, and proposes the latest of it."""

    bounds = Bounds(
        acceptors=Bound(3, 1, 5, "acceptors"),
        inputs=Bound(2, 1, 3, "values that may be chosen"),
        ballots=Bound(1, 0, 3, "the last ballot"),
    )
    headline = ("one_value_is_chosen",)

    def declare(self, b: BoundValues) -> State:
        vote = Record(ballot=Ballot, value=Value)
        return State(
            joined=Array(Acceptor, Option(Ballot)),  # the latest ballot
            voted=Array(Acceptor, Option(vote)),  # the latest vote
            # what was sent:
            asked=SetOf(Ballot),
            promised=SetOf(Record(by=Acceptor, ballot=Ballot, voted=Option(vote))),
            proposed=SetOf(vote),
            accepted=SetOf(Record(by=Acceptor, ballot=Ballot, value=Value)),
        )

    def majority(self) -> int:
        return self.b.acceptors // 2 + 1

    @action
    def ask(self, s: StateView, b: Ballot) -> None:
        """Phase 1a."""
        s.asked.add(b)

    @action
    def promise(self, s: StateView, a: Acceptor, b: Ballot) -> None:
        """Phase 1b."""
        require(s.asked.contains(b), s.joined[a].or_else(-1) < b)
        s.joined[a] = b
        s.promised.add(by=a, ballot=b, voted=s.voted[a])

    @action
    def propose(self, s: StateView, b: Ballot, v: Value) -> None:
        """Phase 2a."""
        require(for_all(s.proposed, lambda p: p.ballot != b))
        quorums = [q for q in self.all(Quorum) if q.count() == self.majority()]
        require(exists(quorums, lambda q: self.allows(s, q, b, v)))
        s.proposed.add(ballot=b, value=v)

    def allows(self, s: StateView, q: Quorum, b: Ballot, v: Value) -> Condition:
        """Whether a quorum has promised, and voted last for this value, if it has voted."""

        def of_quorum(p: RecordView) -> Condition:
            return And(p.ballot == b, q.contains(p.by))

        def last_vote(p: RecordView) -> Num:
            return If(And(of_quorum(p), p.voted.is_some()), p.voted.value.ballot, -1)

        latest = max_of(s.promised, last_vote, default=-1)
        return And(
            for_all(q, lambda a: exists(s.promised, lambda p: And(p.ballot == b, p.by == a))),
            Or(latest == -1, exists(s.promised, lambda p: And(last_vote(p) == latest, p.voted.value.value == v))),
        )

    @action
    def accept(self, s: StateView, a: Acceptor, b: Ballot, v: Value) -> None:
        """Phase 2b."""
        require(s.proposed.contains(ballot=b, value=v), s.joined[a].or_else(-1) <= b)
        s.joined[a] = b
        s.voted[a] = record(ballot=b, value=v)
        s.accepted.add(by=a, ballot=b, value=v)

    def chosen(self, s: StateView, v: Value) -> Condition:
        """Whether a majority has accepted a value in one ballot."""

        def votes(b: int) -> Num:
            return count(Acceptor, lambda a: s.accepted.contains(by=a, ballot=b, value=v))

        return exists(Ballot, lambda b: votes(b) >= self.majority())

    @invariant
    def one_value_is_chosen(self, s: StateView, v: Value, other: Value) -> Condition:
        """No two values are chosen."""
        return Or(v == other, Not(And(self.chosen(s, v), self.chosen(s, other))))
