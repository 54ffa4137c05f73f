"""How followers fetch since KIP-996: they remember how it went, and who knows no leader fetches from anybody."""

from __future__ import annotations

from dataclasses import replace

from insync.kafka.quorum import pre_vote_transitions as to
from insync.kafka.quorum.fetches import Fetches, FetchReply, Result
from insync.kafka.quorum.pre_voter import PreVoterState
from insync.kafka.quorum.voter import Value, Voter
from insync.kafka.quorum.voter_log import epoch_at
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
)

__all__ = ["FetchOutcomes"]


class FetchOutcomes(Fetches):
    """The steps of replication, but for how a request or response is taken from the network."""

    @action(label="{i} fetches from {leader}")
    def send_fetch_request(self, s: StateView, i: Voter, leader: Voter) -> None:
        """A server that waits for no answer fetches from its leader, or from anybody if it knows none.

        TLA+: SendFetchRequest. Kafka: KafkaRaftClient.pollFollowerAsVoter, pollUnattachedCommon.
        """
        me = s.server[i]
        follows = And(me.state == PreVoterState.FOLLOWER, me.leader == leader)
        require(i != leader, Or(follows, me.state == PreVoterState.UNATTACHED), me.pending.is_none())
        me.pending = record(epoch=me.epoch, to=leader)
        self.send_fetch(s, i, leader)

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

    def take_reply(self, me: RecordView, i: Voter, reply: FetchReply) -> None:
        """A server takes the response to its fetch: a record, where to cut its log, or a newer epoch or leader.

        TLA+: HandleFetchResponse. Kafka: KafkaRaftClient.handleFetchResponse.
        """
        wrong = Or(reply.result == Result.NOT_LEADER, reply.result == Result.FENCED)
        there, handled = to.heard(me, i, reply.leader, reply.epoch, wrong, reply.failed)
        self.follow(me, reply, Not(handled))
        me.answered = record(by=me.pending.value.to, error=If(reply.failed, reply.result, NONE))
        me.has_fetched = Or(me.has_fetched, Not(reply.failed))
        me.pending = NONE
        to.become(me, there)
