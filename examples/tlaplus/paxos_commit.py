"""Paxos Commit: the TLA+ module PaxosCommit, by Jim Gray and Leslie Lamport.

Each resource manager's vote, whether it is prepared, is decided by an instance of Paxos among acceptors, so that no
single process is needed for a decision. Messages are never lost, and may be received again, so what was sent is a set.
"""

from __future__ import annotations

import enum

from insync.model import And, Array, Bool, Bound, BoundValues, Bounds, Condition, If, Index, Model, Option, Or, Range
from insync.model import Record, State, StateView, Subset, action, bound, count, exists, for_all, invariant, max_of
from insync.model import record, require, when


class Manager(Index, symmetric=True):
    """A resource manager, which takes part in the transaction."""

    size = bound("managers")


class Acceptor(Index):
    """Somebody who remembers votes."""

    size = bound("acceptors")


class Ballot(Range):
    """The number of a ballot: in 0 the managers vote themselves, in later ones a leader votes for them."""

    lo, hi = 0, bound("ballots")


class Quorum(Subset, of=Acceptor):
    """Any two quorums have a member in common."""


class Phase(enum.Enum):
    """How far a resource manager is."""

    WORKING = 0
    PREPARED = 1
    COMMITTED = 2
    ABORTED = 3


class Vote(enum.Enum):
    """What is decided of a manager."""

    PREPARED = 0
    ABORTED = 1


class PaxosCommit(Model):
    """All managers commit if all were prepared, as decided by a quorum of acceptors."""

    bounds = Bounds(
        managers=Bound(2, 1, 3, "resource managers"),
        acceptors=Bound(3, 1, 5, "acceptors"),
        ballots=Bound(1, 0, 3, "the last ballot"),
    )
    headline = ("consistent",)

    def declare(self, b: BoundValues) -> State:
        last_vote = Option(Record(ballot=Ballot, vote=Vote))
        return State(
            phase=Array(Manager, Phase),
            acceptor=Array(Manager, Array(Acceptor, Record(ballot=Ballot, last=last_vote))),
            # what was sent:
            asked=Array(Manager, Array(Ballot, Bool)),  # 1a
            promised=Array(Manager, Array(Acceptor, Array(Ballot, Option(Record(last=last_vote))))),  # 1b
            proposed=Array(Manager, Array(Ballot, Option(Vote))),  # 2a
            accepted=Array(Manager, Array(Acceptor, Array(Ballot, Option(Vote)))),  # 2b
            commit=Bool,
            abort=Bool,
        )

    def majority(self) -> int:
        return self.b.acceptors // 2 + 1

    # the resource managers

    @action
    def prepare(self, s: StateView, m: Manager) -> None:
        require(s.phase[m] == Phase.WORKING)
        s.phase[m] = Phase.PREPARED
        s.proposed[m][0] = Vote.PREPARED

    @action
    def give_up(self, s: StateView, m: Manager) -> None:
        require(s.phase[m] == Phase.WORKING)
        s.phase[m] = Phase.ABORTED
        s.proposed[m][0] = Vote.ABORTED

    @action
    def obey_commit(self, s: StateView, m: Manager) -> None:
        require(s.commit)
        s.phase[m] = Phase.COMMITTED

    @action
    def obey_abort(self, s: StateView, m: Manager) -> None:
        require(s.abort)
        s.phase[m] = Phase.ABORTED

    # whoever leads a ballot

    @action
    def ask(self, s: StateView, b: Ballot, m: Manager) -> None:
        require(b > 0)
        s.asked[m][b] = True

    @action
    def propose(self, s: StateView, b: Ballot, m: Manager, q: Quorum) -> None:
        """Propose what the quorum accepted last, or that the manager aborts."""
        require(b > 0, q.count() == self.majority(), s.proposed[m][b].is_none())
        require(for_all(q, lambda a: s.promised[m][a][b].is_some()))
        last = {a: s.promised[m][a][b].value.last for a in q}
        latest = max_of(q, lambda a: If(last[a].is_some(), last[a].value.ballot, -1))
        s.proposed[m][b] = Vote.ABORTED
        for a in q:
            with when(And(last[a].is_some(), last[a].value.ballot == latest)):
                s.proposed[m][b] = last[a].value.vote

    def decided(self, s: StateView, m: Manager, vote: Vote) -> Condition:
        return exists(Ballot, lambda b: count(Acceptor, lambda a: s.accepted[m][a][b] == vote) >= self.majority())

    @action
    def decide_commit(self, s: StateView) -> None:
        require(for_all(Manager, lambda m: self.decided(s, m, Vote.PREPARED)))
        s.commit = True

    @action
    def decide_abort(self, s: StateView, m: Manager) -> None:
        require(self.decided(s, m, Vote.ABORTED))
        s.abort = True

    # the acceptors

    @action
    def promise(self, s: StateView, m: Manager, a: Acceptor, b: Ballot) -> None:
        mine = s.acceptor[m][a]
        require(s.asked[m][b], mine.ballot < b)
        mine.ballot = b
        s.promised[m][a][b] = record(last=mine.last)

    @action
    def accept(self, s: StateView, m: Manager, a: Acceptor, b: Ballot) -> None:
        mine, vote = s.acceptor[m][a], s.proposed[m][b]
        require(vote.is_some(), mine.ballot <= b)
        mine.ballot = b
        mine.last = record(ballot=b, vote=vote.value)
        s.accepted[m][a][b] = vote

    @invariant
    def consistent(self, s: StateView, a: Manager, c: Manager) -> Condition:
        """No two managers end differently."""
        return Or(s.phase[a] != Phase.ABORTED, s.phase[c] != Phase.COMMITTED)
