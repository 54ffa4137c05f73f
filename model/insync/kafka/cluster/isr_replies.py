"""The reply to an AlterPartition, with `isr_replies`: a leader hears of its new ISR before the metadata brings it.

Kafka: Partition.submitAlterPartition, handleAlterPartitionUpdate. Without the setting a reply says what the metadata
says, and comes with it.
"""

from __future__ import annotations

from insync.kafka.cluster.actor import Actor
from insync.kafka.cluster.indices import ChangeIndex
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, Implies, action, minimum, require

__all__ = ["IsrReplies"]


class IsrReplies(Actor):
    """How a leader hears twice of an ISR that it has asked for."""

    @action(label="{leader} is told of change {place}, its ISR")
    def receive_isr(self, s: ClusterState, leader: Replica, place: ChangeIndex) -> None:
        """A reply brings the ISR and the partition epoch; it counts if the leader still waits for just that.

        A leader that must hear of a new epoch or of other replicas with it learns that from metadata. Of configuration
        that came before its ISR it hears later: until then min.insync.replicas is to it what it was.
        Kafka: Partition.submitAlterPartition, handleAlterPartitionUpdate.
        """
        b, change = s.broker[leader], s.changes[place]
        follows = self.follows_but_for_configuration(s, leader, place)
        require(self.features.isr_replies, b.running, follows, change.replied, change.leader == leader)
        require(self.may_hear(s, place, waits=self.guards.answers_wait_for_commit))
        view = self.view_of(s, leader)
        require(view.leader == leader, view.epoch == change.epoch, b.pending == change.isr)
        if self.features.reassigns:
            require(view.replicas == change.replicas)
        if self.features.minimum_may_be_late:
            b.unheard = minimum(b.unheard + b.lag - place - 1, self.b.minimum_changes)
        self.keep_list(s, leader, place)
        b.lag = place + 0
        b.repeats = True
        b.pending = set()
        self.advance_watermark(s, leader)
        self.forget_passed_changes(s)

    @action(label="{leader} applies metadata that it knows")
    def apply_known_metadata(self, s: ClusterState, leader: Replica) -> None:
        """Metadata brings what a reply has brought already, and the leader takes it for its state once more.

        By that it forgets a proposal that it has made since, which is still on its way.
        Kafka: Partition.makeLeader, updateAssignmentAndIsr: only a lower partition epoch is passed over.
        """
        b = s.broker[leader]
        require(self.features.isr_replies, b.running, b.repeats)
        least = (
            self.minimum_while_adopting(s, leader, self.view_of(s, leader))
            if self.features.minimum_may_be_late
            else None
        )
        listed = self.hears_list(s, leader, b.lag)
        b.repeats = False
        b.unheard = 0
        b.joining = set()
        if not self.fixes.metadata_keeps_proposal:
            b.pending = set()
        self.advance_watermark(s, leader, least)
        self.name_directory_late(s, leader, listed, self.view_of(s, leader).replicas)
        self.forget_lists(s)

    @action(label="{leader} applies configuration from before its ISR")
    def apply_known_configuration(self, s: ClusterState, leader: Replica) -> None:
        """Metadata brings min.insync.replicas as it was set before the ISR that a reply has told a leader, and no more.

        The partition hears nothing of it: the high watermark stays.
        Kafka: BrokerMetadataPublisher.onMetadataUpdate, DynamicConfigPublisher.
        """
        b = s.broker[leader]
        require(self.features.minimum_may_be_late, b.running, b.unheard > 0)
        b.unheard -= 1

    def follows_but_for_configuration(self, s: ClusterState, leader: Replica, place: ChangeIndex) -> Condition:
        """Whether a change is the next of which a leader hears, configuration aside."""
        lag = s.broker[leader].lag
        if not self.features.minimum_may_be_late:
            return lag == place + 1
        between = range(1, self.b.metadata_lag)
        return And(lag > place, *[Implies(And(place < at, at < lag), s.changes[at].configuration) for at in between])
