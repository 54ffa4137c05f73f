"""How followers fetch since KIP-996: they remember how it went, and who knows no leader fetches from anybody."""

from __future__ import annotations

from insync.kafka.published.quorum.fetches import FetchReply, Result
from insync.kafka.published.quorum.voter import Voter
from insync.model import (
    NONE,
    And,
    If,
    Not,
    Or,
    RecordView,
    StateView,
    action,
    record,
    require,
)
from insync_published_quorum import pre_vote_transitions as to
from insync_published_quorum.actor import PublishedActor
from insync_published_quorum.pre_voter import PreVoterState

__all__ = ["FetchOutcomes"]


class FetchOutcomes(PublishedActor):
    """The two steps of a follower in which that shows, in place of those of `Fetches`."""

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
