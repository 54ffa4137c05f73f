"""KRaft with pre-votes (KIP-996), as the module kraft_kip_996 of Vanlightly/kafka-tlaplus has it.

A response to a fetch that its sender has given up stays in the network (`message_sets`). The module also keeps which
messages were received, but no guard of what is here reads that.

What the module has beside that is left out: reconfiguration (KIP-853), servers that lose their disks for good, and
pairs of servers that cannot reach each other. To the others, a server that was cut off and is back is one that stopped
to wait for an answer to its fetch, which is what a disruption is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from insync.kafka.published.quorum.elections import Ballot
from insync.kafka.published.quorum.fetches import Fetches, FetchReply, Result
from insync.kafka.published.quorum.voter import Value, Voter, Voters
from insync.kafka.published.quorum.voter_log import epoch_at, last_epoch
from insync.model import (
    NONE,
    And,
    Bool,
    BoundValues,
    Condition,
    If,
    Int,
    Not,
    Num,
    Option,
    Or,
    Record,
    RecordView,
    State,
    StateView,
    action,
    minimum,
    record,
    require,
    when,
)
from insync_published_quorum.fetch_outcomes import FetchOutcomes
from insync_published_quorum.message_sets import LedEpoch, MessageSets, between, is_end
from insync_published_quorum.pre_voter import LogPlace, PreVoters, ReachedEpoch
from insync_published_quorum.pre_votes import PreVotes

__all__ = ["Kraft996"]


class Kraft996(PreVotes, FetchOutcomes, Fetches, MessageSets, PreVoters, Voters):
    """KIP-996 as published: who hears of no leader asks whether it would be elected, before it begins an epoch."""

    name = "kraft_996"
    headline = (
        "leader_has_all_acknowledged_values",
        "no_log_divergence",
        "never_two_leaders_in_an_epoch",
        "no_illegal_state",
        "acknowledged_values_last",
        "states_are_consistent",
    )

    def declare(self, b: BoundValues) -> State:
        """Lay out the state: the servers, and the messages by kind, sender and receiver."""
        epoch, offset = Int(0, b.epochs + 1), Int(0, self.capacity)
        position = Record(epoch=ReachedEpoch, offset=offset, last_epoch=epoch)
        ballot = Record(epoch=epoch, leader=Option(Voter), granted=Bool, fenced=Bool)
        reply = Record(
            result=Result,
            leader=Option(Voter),
            epoch=epoch,
            high_watermark=offset,
            record_epoch=epoch,
            value=Option(Value),
            end=offset,
            request=position,
        )
        return State(
            **self.voters(b),
            pre_vote_requests=between(position, self.rounds),
            vote_requests=between(position, b.epochs),
            pre_votes=between(ballot, self.rounds),
            votes=between(ballot, b.epochs + 1),
            begins=between(LedEpoch, b.epochs),
            fetches=between(position, self.rounds),
            replies=between(reply, self.rounds),
        )

    @property
    def rounds(self) -> int:
        """How many messages of a kind may be between two servers; more would be reported as a violation of type_ok."""
        return self.b.epochs + self.b.disruptions + self.b.restarts + 1

    # ----------------------------------------------------------------------------------------------------- elections

    def ask(self, s: StateView, i: Voter, *, pre_vote: bool) -> None:
        """Send a vote request to everybody else. TLA+: SendAll of RequestVoteRequest."""
        requests = s.pre_vote_requests if pre_vote else s.vote_requests
        for j, is_other in self.beside(i):
            with when(is_other):
                requests[i][j].add(self.position_of(s.server[i]))

    def is_asking(self, s: StateView, i: Voter, *, pre_vote: bool) -> Condition:
        """Whether vote requests of a server, or responses to it, are on their way."""
        requests, votes = (s.pre_vote_requests, s.pre_votes) if pre_vote else (s.vote_requests, s.votes)
        under_way = [
            And(is_other, Or(Not(requests[i][j].is_empty()), Not(votes[j][i].is_empty())))
            for j, is_other in self.beside(i)
        ]
        return Or(*under_way)

    def announce(self, s: StateView, i: Voter) -> None:
        """Tell everybody else who leads. TLA+: SendAllOnce of BeginQuorumEpochRequest."""
        for j, is_other in self.beside(i):
            with when(is_other):
                s.begins[i][j].add(s.server[i].epoch)

    @action(label="{i} tells {candidate}@{epoch} whether it would vote for it")
    def handle_pre_vote_request(
        self, s: StateView, i: Voter, candidate: Voter, epoch: ReachedEpoch, offset: LogPlace, record_epoch: LedEpoch
    ) -> None:
        """A server answers a pre-vote request. TLA+: HandleVoteRequest."""
        request = self.request(epoch, offset, record_epoch)
        self.receive(s, "pre_vote_requests", i, candidate, request)
        ballot = self.vote(s, i, candidate, epoch, offset, record_epoch, pre_vote=True)
        s.pre_votes[i][candidate].add(ballot.message)

    @action(label="{i} answers the vote request of {candidate}@{epoch}")
    def handle_vote_request(
        self, s: StateView, i: Voter, candidate: Voter, epoch: LedEpoch, offset: LogPlace, record_epoch: LedEpoch
    ) -> None:
        """A server answers a vote request. TLA+: HandleVoteRequest."""
        request = self.request(epoch, offset, record_epoch)
        self.receive(s, "vote_requests", i, candidate, request)
        ballot = self.vote(s, i, candidate, epoch, offset, record_epoch, pre_vote=False)
        s.votes[i][candidate].add(ballot.message)

    @action(label="{i} gets the pre-vote of {voter} for epoch {epoch}")
    def handle_pre_vote(self, s: StateView, i: Voter, voter: Voter, epoch: ReachedEpoch) -> None:
        """A server hears that another would vote for it. TLA+: HandleVoteResponse."""
        self.handle_ballot(s, i, voter, Ballot(epoch, NONE, True, False), pre_vote=True)

    @action(label="{i} gets the pre-vote of {voter} for epoch {epoch}, who knows that {leader} leads")
    def handle_pre_vote_naming(self, s: StateView, i: Voter, voter: Voter, epoch: ReachedEpoch, leader: Voter) -> None:
        """A server hears that another would vote for it, though it knows of a leader. TLA+: HandleVoteResponse."""
        self.handle_ballot(s, i, voter, Ballot(epoch, leader, True, False), pre_vote=True)

    @action(label="{i} hears of {voter} no pre-vote, epoch {epoch}")
    def handle_pre_refusal(self, s: StateView, i: Voter, voter: Voter, epoch: ReachedEpoch, fenced: bool) -> None:
        """A server hears that another would not vote for it. TLA+: HandleVoteResponse."""
        self.handle_ballot(s, i, voter, Ballot(epoch, NONE, False, fenced), pre_vote=True)

    @action(label="{i} hears of {voter} no pre-vote, epoch {epoch}, {leader} leads")
    def handle_pre_refusal_naming(
        self, s: StateView, i: Voter, voter: Voter, epoch: ReachedEpoch, fenced: bool, leader: Voter
    ) -> None:
        """A server hears that another would not vote for it, and who leads. TLA+: HandleVoteResponse."""
        self.handle_ballot(s, i, voter, Ballot(epoch, leader, False, fenced), pre_vote=True)

    @action(label="{i} gets the vote of {voter} for epoch {epoch}")
    def handle_vote(self, s: StateView, i: Voter, voter: Voter, epoch: LedEpoch) -> None:
        """A candidate hears that a server has voted for it. TLA+: HandleVoteResponse."""
        self.handle_ballot(s, i, voter, Ballot(epoch, NONE, True, False), pre_vote=False)

    @action(label="{i} hears of {voter} no vote, epoch {epoch}")
    def handle_refusal(self, s: StateView, i: Voter, voter: Voter, epoch: ReachedEpoch, fenced: bool) -> None:
        """A candidate hears that a server does not vote for it. TLA+: HandleVoteResponse."""
        self.handle_ballot(s, i, voter, Ballot(epoch, NONE, False, fenced), pre_vote=False)

    @action(label="{i} hears of {voter} no vote, epoch {epoch}, {leader} leads")
    def handle_refusal_naming(
        self, s: StateView, i: Voter, voter: Voter, epoch: ReachedEpoch, fenced: bool, leader: Voter
    ) -> None:
        """A candidate hears that a server does not vote for it, and who leads. TLA+: HandleVoteResponse."""
        self.handle_ballot(s, i, voter, Ballot(epoch, leader, False, fenced), pre_vote=False)

    def handle_ballot(self, s: StateView, i: Voter, voter: Voter, ballot: Ballot, *, pre_vote: bool) -> None:
        """Take a response to a vote request."""
        self.receive(s, "pre_votes" if pre_vote else "votes", i, voter, ballot.message)
        self.count_vote(s.server[i], i, voter, ballot, pre_vote=pre_vote)

    @action(label="{i} hears that {leader} leads epoch {epoch}")
    def handle_begin_quorum(self, s: StateView, i: Voter, leader: Voter, epoch: LedEpoch) -> None:
        """A server hears of a leader. TLA+: AcceptBeginQuorumRequest."""
        self.receive(s, "begins", i, leader, epoch)
        self.hear_of_leader(s, i, leader, epoch)

    # --------------------------------------------------------------------------------------------------- replication

    def send_fetch(self, s: StateView, i: Voter, leader: Voter) -> None:
        """Send a fetch, if one like it is not under way. TLA+: Send of FetchRequest."""
        s.fetches[i][leader].add(self.position_of(s.server[i]))

    @action(label="{i} answers {follower}'s fetch from {offset}@{record_epoch}, epoch {epoch}")
    def handle_fetch(
        self, s: StateView, i: Voter, follower: Voter, epoch: ReachedEpoch, offset: LogPlace, record_epoch: LedEpoch
    ) -> None:
        """A server answers a fetch. TLA+: RejectFetchRequest, DivergingFetchRequest, AcceptFetchRequest."""
        request = self.request(epoch, offset, record_epoch)
        self.receive(s, "fetches", i, follower, request)
        reply = self.answer_fetch(s, i, follower, epoch, offset, record_epoch)
        s.replies[i][follower].add(reply.message(request))

    @action(label="{i} receives {value}@{record_epoch} from {source}, HW {high_watermark}")
    def handle_record(
        self, s: StateView, i: Voter, source: Voter, high_watermark: LogPlace, record_epoch: LedEpoch, value: Value
    ) -> None:
        """A server appends a value. TLA+: HandleFetchResponse."""
        self.handle_accepted(s, i, source, Result.RECORD, high_watermark, record_epoch, value, 0)

    @action(label="{i} receives the record of the leader of epoch {record_epoch} from {source}, HW {high_watermark}")
    def handle_leader_change(
        self, s: StateView, i: Voter, source: Voter, high_watermark: LogPlace, record_epoch: LedEpoch
    ) -> None:
        """A server appends the record with which a leader began. TLA+: HandleFetchResponse."""
        self.handle_accepted(s, i, source, Result.RECORD, high_watermark, record_epoch, NONE, 0)

    @action(label="{i} receives nothing new from {source}, HW {high_watermark}")
    def handle_nothing(self, s: StateView, i: Voter, source: Voter, high_watermark: LogPlace) -> None:
        """A server hears of the high watermark. TLA+: HandleFetchResponse."""
        self.handle_accepted(s, i, source, Result.EMPTY, high_watermark, 0, NONE, 0)

    @action(label="{i} hears of {source} that logs part at {end}@{record_epoch}, HW {high_watermark}")
    def handle_diverging(
        self, s: StateView, i: Voter, source: Voter, high_watermark: LogPlace, record_epoch: LedEpoch, end: LogPlace
    ) -> None:
        """A server cuts its log. TLA+: HandleFetchResponse."""
        require(is_end(end, record_epoch))
        self.handle_accepted(s, i, source, Result.DIVERGING, high_watermark, record_epoch, NONE, end)

    @action(label="{i} hears that {source} does not lead, epoch {epoch}, HW {high_watermark}")
    def handle_not_leader(
        self, s: StateView, i: Voter, source: Voter, epoch: ReachedEpoch, high_watermark: LogPlace
    ) -> None:
        """A server asked one that does not lead and knows nobody who does. TLA+: HandleFetchResponse."""
        self.handle_reply(s, i, source, FetchReply(Result.NOT_LEADER, NONE, epoch, high_watermark, 0, NONE, 0))

    @action(label="{i} hears of {source} that {leader} leads, epoch {epoch}, HW {high_watermark}")
    def handle_other_leader(
        self, s: StateView, i: Voter, source: Voter, epoch: ReachedEpoch, high_watermark: LogPlace, leader: Voter
    ) -> None:
        """A server asked one that does not lead and knows who does, or did. TLA+: HandleFetchResponse."""
        self.handle_reply(s, i, source, FetchReply(Result.NOT_LEADER, leader, epoch, high_watermark, 0, NONE, 0))

    @action(label="{i} hears of {source} that its epoch is wrong, epoch {epoch}, HW {high_watermark}")
    def handle_wrong_epoch(
        self, s: StateView, i: Voter, source: Voter, epoch: LedEpoch, high_watermark: LogPlace, fenced: bool
    ) -> None:
        """A server asked the leader of another epoch. TLA+: HandleFetchResponse."""
        error = If(fenced, Result.FENCED, Result.UNKNOWN)
        self.handle_reply(s, i, source, FetchReply(error, source, epoch, high_watermark, 0, NONE, 0))

    def handle_accepted(
        self,
        s: StateView,
        i: Voter,
        source: Voter,
        result: Result,
        high_watermark: int,
        epoch: int,
        value: Any,
        end: int,
    ) -> None:
        """Take a response of the leader of the epoch in which the fetch was sent."""
        asked = s.server[i].pending.value.epoch
        self.handle_reply(s, i, source, FetchReply(result, source, asked, high_watermark, epoch, value, end))

    def handle_reply(self, s: StateView, i: Voter, source: Voter, reply: FetchReply) -> None:
        """Take the response to the fetch that is under way; others stay until the same fetch is under way again."""
        me = s.server[i]
        require(me.pending.is_some(), me.pending.value.to == source)
        self.receive(s, "replies", i, source, reply.message(self.fetch_of(me)))
        self.take_reply(me, i, reply)

    def fetch_of(self, me: RecordView) -> Any:
        """The fetch that a server has under way; its log ends where it did when the fetch was sent."""
        return record(epoch=me.pending.value.epoch, offset=me.end, last_epoch=last_epoch(me))

    # --------------------------------------------------------------------------------------------------------- rules

    def answers_for(self, me: RecordView, offset: int, value: Value) -> Condition:
        """Whether a leader that commits an offset tells a client: if it was written to it, and while it led.

        The clients of a leader that leads no longer were told that their writes failed (TLA+: pending_ack), and a
        leader has the records of its epoch from clients of its own.
        """
        return And(super().answers_for(me, offset, value), epoch_at(me, offset) == me.epoch)

    def answer_fetch(
        self, s: StateView, i: Voter, follower: Voter, epoch: int, position: Num | int, position_epoch: Num | int
    ) -> FetchReply:
        """As before; where an old fetch says that a follower has less, it is told of the less that a majority has.

        TLA+: HandleVoterFetch, whose response has new_hwm also where the leader's own high watermark is higher.
        """
        me = s.server[i]
        reply = super().answer_fetch(s, i, follower, epoch, position, position_epoch)
        agreed = self.agreed(me, i)
        known = If(And(agreed > 0, super().may_commit(me, agreed)), agreed, me.high_watermark)
        accepted = Or(reply.result == Result.RECORD, reply.result == Result.EMPTY)
        return replace(reply, high_watermark=If(accepted, minimum(known, position + 1), reply.high_watermark))

    def may_commit(self, me: RecordView, agreed: Num | int) -> Condition:
        """As before, but an old fetch, which says that a follower has less, takes nothing back."""
        return And(agreed > me.high_watermark, super().may_commit(me, agreed))
