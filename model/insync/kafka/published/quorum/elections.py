"""How the quorum elects: who stands, who votes for whom, who leads, and who learns of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from insync.kafka.published.quorum.transitions import (
    Transition,
    become,
    either,
    heard,
    maybe_transition,
    unattached,
    unchanged,
)
from insync.kafka.published.quorum.voter import QuorumActor, Voter, VoterState
from insync.kafka.published.quorum.voter_log import is_later, last_epoch
from insync.model import (
    NONE,
    And,
    Condition,
    If,
    Not,
    Num,
    Or,
    RecordView,
    StateView,
    action,
    one_of,
    record,
    require,
    when,
)

__all__ = ["Ballot", "Elections"]


@dataclass(frozen=True, slots=True)
class Ballot:
    """A response to a vote request: fenced where the request is of an earlier epoch than the voter is in."""

    epoch: Num | int
    leader: Any
    granted: Condition
    fenced: Condition

    @property
    def message(self) -> Any:
        """The response as a record, for a network that keeps all of it."""
        return record(epoch=self.epoch, leader=self.leader, granted=self.granted, fenced=self.fenced)


class Elections(QuorumActor):
    """The steps of an election, but for how a request or response is taken from the network."""

    # ------------------------------------------------------------------------------------------- what a network does

    def ask_for_votes(self, s: StateView, i: Voter) -> None:
        """Send a vote request with the candidate's epoch and log end to everybody else, unless one like it was sent."""
        raise NotImplementedError

    def announce(self, s: StateView, i: Voter) -> None:
        """Tell everybody else who leads the epoch, unless that was said."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------------------- actions

    @action(label="{i} stands for election")
    def request_vote(self, s: StateView, i: Voter) -> None:
        """A server that learns of no leader begins an epoch, votes for itself and asks the others.

        TLA+: RequestVote. Kafka: KafkaRaftClient.transitionToCandidate.
        """
        require(s.elections < self.b.elections, one_of(s.server[i].state, *self.may_stand()))
        self.stand(s, i)

    def stand(self, s: StateView, i: Voter) -> None:
        """Begin an epoch, vote for oneself and ask the others."""
        me = s.server[i]
        s.elections += 1
        me.epoch += 1
        me.state, me.leader, me.voted_for = VoterState.CANDIDATE, NONE, i
        me.votes = {i}
        me.pending = NONE
        self.ask_for_votes(s, i)

    @action(label="{i} leads")
    def become_leader(self, s: StateView, i: Voter) -> None:
        """A candidate with the votes of a majority leads, and says so.

        TLA+: BecomeLeader. Kafka: KafkaRaftClient.maybeTransitionToLeader.
        """
        me = s.server[i]
        require(me.state == VoterState.CANDIDATE, self.is_majority(me.votes))
        me.state, me.leader = VoterState.LEADER, i
        me.fetched = dict.fromkeys(self.all(Voter), 0)
        self.announce(s, i)

    # --------------------------------------------------------------------------------------------------------- rules

    def may_stand(self) -> tuple[VoterState, ...]:
        """In which states a timeout begins an election; in Voted too in Kafka, which the module leaves out."""
        return VoterState.FOLLOWER, VoterState.CANDIDATE, VoterState.UNATTACHED

    def vote(self, me: RecordView, candidate: Voter, epoch: int, end: Num | int, end_epoch: Num | int) -> Ballot:
        """A server answers a vote request: it votes once in an epoch, and for nobody whose log ends before its own.

        TLA+: HandleRequestVoteRequest. Kafka: KafkaRaftClient.handleVoteRequest.
        """
        fenced = epoch < me.epoch
        now = either(epoch > me.epoch, unattached(epoch), unchanged(me))
        free = Or(
            now.state == VoterState.UNATTACHED,
            And(now.state == VoterState.VOTED, me.voted_for == candidate),
        )
        behind = is_later(last_epoch(me), me.end, end_epoch, end)
        granted = And(Not(fenced), free, Not(behind))
        voted = either(And(granted, now.state == VoterState.UNATTACHED), Transition(VoterState.VOTED, epoch, NONE), now)
        ballot = Ballot(If(fenced, me.epoch, epoch), If(fenced, me.leader, voted.leader), granted, fenced)
        with when(Not(fenced)):
            with when(voted.state != me.state):
                me.pending = NONE
            become(me, voted)
            with when(granted):
                me.voted_for = candidate
        return ballot

    def count_vote(self, me: RecordView, i: Voter, voter: Voter, ballot: Ballot) -> Condition:
        """A candidate counts a vote, or learns of a newer epoch or of the leader; return whether it takes the response.

        TLA+: HandleRequestVoteResponse. Kafka: KafkaRaftClient.handleVoteResponse.
        """
        there, handled = heard(me, i, ballot.leader, ballot.epoch, ballot.fenced)
        taken = Or(handled, me.state == VoterState.CANDIDATE)
        counted = And(Not(handled), ballot.granted)
        with when(handled):
            become(me, there)
        with when(counted):
            me.votes = me.votes | {voter}
        return taken

    def hear_of_leader(self, me: RecordView, i: Voter, leader: Voter, epoch: int) -> Condition:
        """A server learns who leads an epoch, unless that is over; return whether it is.

        TLA+: HandleBeginQuorumRequest. Kafka: KafkaRaftClient.handleBeginQuorumEpochRequest.
        """
        fenced, forgets = epoch < me.epoch, self.forgets_fetch(me, leader, epoch)
        with when(Not(fenced)):
            become(me, maybe_transition(me, i, leader, epoch))
            with when(forgets):
                me.pending = NONE
        return fenced

    def forgets_fetch(self, me: RecordView, leader: Voter, epoch: int) -> Condition:
        """Whether who learns of a leader waits no longer for the answer to its fetch: always, as published."""
        return True
