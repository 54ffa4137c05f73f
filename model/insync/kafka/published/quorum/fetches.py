"""How the quorum replicates: clients write to the leader, and followers fetch from it, a record at a time."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

from insync.kafka.published.quorum.transitions import become, heard
from insync.kafka.published.quorum.voter import QuorumActor, Value, Voter, VoterState, Written
from insync.kafka.published.quorum.voter_log import (
    agreed_end,
    append,
    common_end,
    end_of_epoch,
    epoch_at,
    is_valid_position,
    truncate,
    value_at,
)
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
    minimum,
    record,
    require,
    when,
)

__all__ = ["FetchReply", "Fetches", "Finding", "Result", "find"]


class Result(Enum):
    """What a fetch is answered with; the last three are errors."""

    RECORD = "record"
    EMPTY = "nothing new"
    DIVERGING = "diverging"
    NOT_LEADER = "not leader"
    FENCED = "fenced epoch"
    UNKNOWN = "unknown leader"


@dataclass(frozen=True, slots=True)
class FetchReply:
    """A response to a fetch; `record_epoch`, `value` and `end` say what came or where logs part, else 0 and NONE."""

    result: Any
    leader: Any
    epoch: Num | int
    high_watermark: Num | int
    record_epoch: Num | int
    value: Any
    end: Num | int

    @property
    def failed(self) -> Condition:
        """Whether it is an error."""
        return Or(*(self.result == error for error in (Result.NOT_LEADER, Result.FENCED, Result.UNKNOWN)))

    def message(self, request: Any) -> Any:
        """The response as a record with the request that it answers, for a network that keeps all of it."""
        return record(**{each.name: getattr(self, each.name) for each in fields(self)}, request=request)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a server finds where a fetch begins.

    Attributes:
        result: what it answers.
        accepted: whether it leads the epoch of the fetch, and the follower's log is the beginning of its own.
        new: whether it has a record more, too.
        diverging: whether the logs part before the end of the follower's.
        parting: where they do then.
    """

    result: Any
    accepted: Condition
    new: Condition
    diverging: Condition
    parting: Num | int


def find(me: RecordView, leads: Condition, epoch: int, position: Num | int, position_epoch: Num | int) -> Finding:
    """Look where a fetch begins (TLA+: ValidFetchPosition; Kafka: KafkaRaftClient.validateFetchOffsetAndEpoch)."""
    wrong = Or(Not(leads), me.epoch != epoch)
    error = If(leads, If(epoch < me.epoch, Result.FENCED, Result.UNKNOWN), Result.NOT_LEADER)
    diverging = And(Not(wrong), Not(is_valid_position(me, position, position_epoch)))
    accepted = And(Not(wrong), Not(diverging))
    new = And(accepted, position < me.end)
    result = If(wrong, error, If(diverging, Result.DIVERGING, If(new, Result.RECORD, Result.EMPTY)))
    return Finding(result, accepted, new, diverging, end_of_epoch(me, position_epoch))


class Fetches(QuorumActor):
    """The steps of replication, but for how a request or response is taken from the network."""

    def send_fetch(self, s: StateView, i: Voter, leader: Voter) -> None:
        """Send a fetch from the end of the follower's log, even if one like it was sent."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------------------- actions

    @action(label="client sends {value} to {i}")
    def client_request(self, s: StateView, i: Voter, value: Value) -> None:
        """A leader appends a client's value. TLA+: ClientRequest. Kafka: KafkaRaftClient.prepareAppend."""
        me = s.server[i]
        require(
            value < self.b.records,
            self.leads(me),
            s.written[value] == Written.NEVER,
            me.end < self.capacity,
        )
        append(me, me.epoch, value)
        s.written[value] = Written.ASKED

    @action(label="{i} fetches from {leader}")
    def send_fetch_request(self, s: StateView, i: Voter, leader: Voter) -> None:
        """A follower that waits for no answer fetches. TLA+: SendFetchRequest. Kafka: KafkaRaftClient.pollFollower."""
        me = s.server[i]
        require(i != leader, me.state == VoterState.FOLLOWER, me.leader == leader, me.pending.is_none())
        me.pending = record(epoch=me.epoch, to=leader)
        self.send_fetch(s, i, leader)

    # --------------------------------------------------------------------------------------------------------- rules

    def answer_fetch(
        self, s: StateView, i: Voter, follower: Voter, epoch: int, position: Num | int, position_epoch: Num | int
    ) -> FetchReply:
        """A server answers a fetch: with the next record, where the logs part, or why not.

        The leader learns how far the follower is, and may commit.
        TLA+: RejectFetchRequest, DivergingFetchRequest, AcceptFetchRequest.
        Kafka: KafkaRaftClient.tryCompleteFetchRequest.
        """
        me = s.server[i]
        found = find(me, self.leads(me), epoch, position, position_epoch)
        with when(found.accepted):
            me.fetched[follower] = position
            self.commit(s, i)
        return FetchReply(
            found.result,
            me.leader,
            me.epoch,
            If(found.accepted, minimum(me.high_watermark, position + 1), me.high_watermark),
            If(found.new, epoch_at(me, position + 1), If(found.diverging, epoch_at(me, found.parting), 0)),
            If(found.new, value_at(me, position + 1), NONE),
            If(found.diverging, found.parting, 0),
        )

    def commit(self, s: StateView, i: Voter) -> None:
        """A leader advances its high watermark to what a majority has, if that is of its own epoch.

        TLA+: NewHighwaterMark, acked. Kafka: LeaderState.maybeUpdateHighWatermark.
        """
        me = s.server[i]
        agreed = self.agreed(me, i)
        commits = And(agreed > 0, self.may_commit(me, agreed))
        for value in self.all(Value):
            acknowledged = [
                And(me.high_watermark < offset, offset <= agreed, self.answers_for(me, offset, value))
                for offset in range(1, self.capacity + 1)
            ]
            with when(And(commits, s.written[value] == Written.ASKED, Or(*acknowledged))):
                s.written[value] = Written.ACKNOWLEDGED
        with when(commits):
            me.high_watermark = agreed

    def agreed(self, me: RecordView, i: Voter) -> Num | int:
        """Up to where a leader knows a majority to have its log."""
        return agreed_end(me, i, {j: me.fetched[j] for j in self.all(Voter)}, self.b.servers)

    def answers_for(self, me: RecordView, offset: int, value: Value) -> Condition:
        """Whether a leader that commits an offset tells a client that its value is written."""
        return me.log[offset - 1].value == value

    def may_commit(self, me: RecordView, agreed: Num | int) -> Condition:
        """Whether the record up to which a majority has the log is of the leader's own epoch."""
        return epoch_at(me, agreed) == me.epoch

    def take_reply(self, me: RecordView, i: Voter, reply: FetchReply) -> None:
        """A follower takes the response to its fetch: a record, or where to cut its log, or a newer epoch or leader.

        TLA+: HandleSuccessFetchResponse, HandleDivergingFetchResponse, HandleErrorFetchResponse.
        Kafka: KafkaRaftClient.handleFetchResponse.
        """
        there, handled = heard(me, i, reply.leader, reply.epoch, reply.failed)
        self.follow(me, reply, Not(handled))
        me.pending = NONE
        with when(handled):
            become(me, there)

    def follow(self, me: RecordView, reply: FetchReply, is_meant: Condition) -> None:
        """Write what came, or cut the log where the leader's parts from it, if the response is meant for the log."""
        came, parts = reply.result == Result.RECORD, reply.result == Result.DIVERGING
        with when(And(is_meant, came)):
            append(me, reply.record_epoch, reply.value)
        with when(And(is_meant, Or(came, reply.result == Result.EMPTY))):
            me.high_watermark = reply.high_watermark
        with when(And(is_meant, parts)):
            truncate(me, common_end(me, reply.end, reply.record_epoch))
