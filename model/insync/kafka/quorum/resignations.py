"""Leaders of the quorum that lead no longer, and tell the others so (EndQuorumEpoch).

Whoever hears it and knew no leader of the epoch follows the one that has resigned, and who follows it need not wait any
longer to stand for election. That is a timeout here, which may come at any time, so hearing of an end does what
hearing of a leader does. As of those, an end of an epoch that is over for its receiver is not there.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from insync.kafka.published.quorum.voter import QuorumActor, QuorumEpoch, Voter, VoterState
from insync.model import NONE, Absent, And, Array, Bool, BoundValues, Int, StateView, action, require, when

__all__ = ["ResignAs", "Resignations"]


class ResignAs(Enum):
    """What a leader is that resigns: one that has resigned, or one that has forgotten that it led and has voted."""

    KAFKA = "kafka"
    UNATTACHED = "unattached"


class Resignations(QuorumActor):
    """A leader resigns from which no majority fetches in time, which here may be at any time."""

    resign_as: ResignAs

    def resigning(self, b: BoundValues) -> dict[str, Any]:
        """Lay out how often a leader has resigned, and who is still to hear of it, first by who has."""
        return {
            "resignations": Absent.unless(b.resignations, Int(0, b.resignations)),
            "ends": Absent.unless(b.resignations, Array(Voter, Array(Voter, Array(QuorumEpoch, Bool)))),
        }

    @action(label="{i} resigns")
    def resign(self, s: StateView, i: Voter) -> None:
        """A leader leads no longer, and says so; it keeps its epoch and its log.

        Kafka: KafkaRaftClient.pollLeader (LeaderState.timeUntilCheckQuorumExpires), QuorumState.transitionToResigned.
        """
        me = s.server[i]
        require(s.resignations < self.b.resignations, self.leads(me))
        before = me.epoch
        s.resignations += 1
        self.forget(me)
        if self.resign_as is ResignAs.KAFKA:
            me.state = VoterState.RESIGNED
        else:
            me.state, me.leader, me.voted_for = VoterState.UNATTACHED, NONE, NONE
        self.tell_the_end(s, i)
        self.settle(s, i, before)

    @action(label="{i} hears that {leader} has resigned, which led epoch {epoch}")
    def handle_end_quorum(self, s: StateView, i: Voter, leader: Voter, epoch: QuorumEpoch) -> None:
        """A server hears who has led an epoch. Kafka: KafkaRaftClient.handleEndQuorumEpochRequest."""
        require(i != leader, s.ends[leader][i][epoch])
        before = s.server[i].epoch
        s.ends[leader][i][epoch] = False
        self.hear_of_leader(s.server[i], i, leader, epoch)
        self.settle(s, i, before)

    def tell_the_end(self, s: StateView, i: Voter) -> None:
        """Tell all others that are not in a later epoch. Kafka: KafkaRaftClient.pollResigned."""
        for j, is_other in self.beside(i):
            for epoch in self.all(QuorumEpoch):
                with when(And(is_other, s.server[i].epoch == epoch, s.server[j].epoch <= epoch)):
                    s.ends[i][j][epoch] = True

    def forget_ends(self, s: StateView, i: Voter) -> None:
        """Drop what was said of epochs that are over for who would hear it."""
        for over in self.all(QuorumEpoch):
            for j, is_other in self.beside(i):
                with when(And(is_other, over < s.server[i].epoch)):
                    s.ends[j][i][over] = False
