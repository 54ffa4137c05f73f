"""AlterPartition: the request for an ISR, its answer, and the request that comes again as its answer was lost.

With `late_alter_partition_responses` the response brings a leader its new ISR before the metadata does. Without it the
response arrives with the metadata and says the same. With `lost_alter_partition_responses` the leader sends a request
again until it is answered. Only a lost response to an accepted request needs steps of its own: a request or a refusal
that is lost has the effect of a request that the controller handles later. Before 2.7 a leader writes the ISR to
ZooKeeper itself, by compare-and-set.

Kafka: DefaultAlterPartitionManager, NodeToControllerChannelManager, Partition.submitAlterPartition and
handleAlterPartitionUpdate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from insync.kafka.cluster.controller.metadata_log import Registration
from insync.kafka.cluster.indices import RegistrationIndex
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import (
    CONTROLLER,
    Coded,
    Moment,
    Never,
    accepts_isr,
    delay,
    isr_in_words,
    step,
    upto_place,
)
from insync.kafka.releases import IsrWrite
from insync.kafka.replica import Replica
from insync.model import (
    And,
    Arrow,
    Condition,
    Drawn,
    Implies,
    Not,
    Or,
    SetValue,
    minimum,
    require,
    snapshot,
    when,
)

__all__ = ["AlterPartitionManager"]

_ANSWERS_ARE_HELD = Never("an answer of the controller is held here, and not lost")


def _draw_unheard(moment: Moment) -> Sequence[Drawn]:
    leader = moment.before["registrations"][0]["leader"]
    lost = [Arrow(CONTROLLER, leader, "accepted", reply=True, lost=True)] if leader else []
    return [*accepts_isr(moment), *lost]


def _draw_answer(moment: Moment) -> Sequence[Drawn]:
    isr = moment.before["registrations"][int(moment.given["place"])]["isr"]
    return [Arrow(CONTROLLER, moment.given["leader"], f"accepted: {isr_in_words(isr)}", reply=True)]


class AlterPartitionManager(Part):
    """How a leader proposes an ISR, and how it learns which one the controller has accepted."""

    @step(
        upto_place("{leader} receives the AlterPartition response", " of {place} changes ago"),
        drawn=_draw_answer,
        classes=Coded("the response arrives before the metadata that says the same"),
        on=lambda f: f.late_alter_partition_responses,
    )
    def receive_alter_partition_response(self, s: ClusterState, leader: Replica, place: RegistrationIndex) -> None:
        """A response brings the ISR and the partition epoch; it counts if the leader still waits for just that.

        A leader learns of a new epoch, or of other replicas, from metadata alone. It learns later of configuration
        that came before its ISR, and goes by the former min.insync.replicas until then.
        Kafka: Partition.submitAlterPartition, handleAlterPartitionUpdate.
        """
        cluster = self.cluster
        b, registration = s.broker[leader], s.registrations[place]
        follows = self.follows_but_for_configuration(s, leader, place)
        require(b.running, follows, registration.is_response, registration.leader == leader)
        require(cluster.quorum.may_hear(s, place, waits=self.guards.answers_wait_for_commit))
        view = cluster.image.registration_of(s, leader)
        require(view.leader == leader, view.epoch == registration.epoch, b.pending_isr == registration.isr)
        if self.features.reassigns:
            require(view.replicas == registration.replicas)
        if self.features.minimum_may_be_late:
            b.configs_behind = minimum(b.configs_behind + b.image_lag - place - 1, self.b.config_changes)
        cluster.unassigned.keep_list(s, leader, place)
        b.image_lag = place + 0
        b.isr_from_response = True
        b.pending_isr = set()
        cluster.high_watermark.advance_watermark(s, leader)
        cluster.metadata_log.forget_passed_registrations(s)

    @step(
        "{leader} applies metadata that it knows",
        classes=Coded("the metadata comes that says what the response has said"),
        on=lambda f: f.late_alter_partition_responses,
    )
    def apply_repeated_metadata(self, s: ClusterState, leader: Replica) -> None:
        """Metadata brings what a response has brought already, and the leader takes it for its state once more.

        By that it forgets a proposal that it has made since, which is still on its way.
        Kafka: Partition.makeLeader, updateAssignmentAndIsr: only a lower partition epoch is passed over.
        """
        cluster = self.cluster
        b = s.broker[leader]
        require(b.running, b.isr_from_response)
        least = (
            cluster.topic_config.minimum_while_applying(s, leader, cluster.image.registration_of(s, leader))
            if self.features.minimum_may_be_late
            else None
        )
        listed = cluster.unassigned.hears_list(s, leader, b.image_lag)
        b.isr_from_response = False
        b.configs_behind = 0
        b.seen_in_sync = set()
        if not self.fixes.metadata_keeps_proposal:
            b.pending_isr = set()
        cluster.high_watermark.advance_watermark(s, leader, least)
        cluster.unassigned.name_directory_late(s, leader, listed, cluster.image.registration_of(s, leader).replicas)
        cluster.unassigned.forget_lists(s)

    @step(
        "{leader} applies configuration from before its ISR",
        classes=Coded("of that metadata what was configured before it comes"),
        on=lambda f: f.minimum_may_be_late,
    )
    def apply_known_configuration(self, s: ClusterState, leader: Replica) -> None:
        """Metadata brings min.insync.replicas as it was before the ISR that a leader has from a response, and no more.

        The partition is not updated, so the high watermark stays.
        Kafka: BrokerMetadataPublisher.onMetadataUpdate, DynamicConfigPublisher.
        """
        b = s.broker[leader]
        require(b.running, b.configs_behind > 0)
        b.configs_behind -= 1

    def follows_but_for_configuration(self, s: ClusterState, leader: Replica, place: RegistrationIndex) -> Condition:
        """Whether a change is the next that a leader applies, configuration aside."""
        lag = s.broker[leader].image_lag
        if not self.features.minimum_may_be_late:
            return lag == place + 1
        between = range(1, self.b.metadata_lag)
        return And(
            lag > place, *[Implies(And(place < at, at < lag), s.registrations[at].configuration) for at in between]
        )

    @step(
        "controller accepts the ISR, and its response is lost",
        needs=delay("the connection to the controller breaks when it has written the ISR and not answered yet"),
        drawn=_draw_unheard,
        classes=Coded("the request is handled, and its response is dropped"),
        brokers=_ANSWERS_ARE_HELD,
    )
    def lose_alter_partition_response(self, s: ClusterState) -> None:
        """The controller writes a proposed ISR, and the connection breaks before the leader learns of it.

        The leader will send the same request again, unless another leader epoch has begun. Metadata tells it meanwhile.
        Kafka: ReplicationControlManager.alterPartition, DefaultAlterPartitionManager.maybePropagateIsrChanges.
        """
        require(
            s.spent.lost_alter_partition_responses < self.b.lost_alter_partition_responses,
            s.alter_partition_retry.isr.is_empty(),
        )
        s.spent.lost_alter_partition_responses += 1
        proposed, newest = snapshot(s.alter_partition), snapshot(s.registrations[0])
        self.cluster.replication_control.accept_alter_partition(s)
        if self.features.notes_responses:
            s.registrations[0].is_response = False
        with when(s.registrations[0].epoch == newest.epoch):
            s.alter_partition_retry.isr = proposed.isr
            s.alter_partition_retry.broker_epochs_are_current = proposed.broker_epochs_are_current

    @step(
        "controller receives the AlterPartition request again",
        classes=Coded("the request comes once more, is refused, and its sender learns that"),
        brokers=_ANSWERS_ARE_HELD,
    )
    def repeat_alter_partition(self, s: ClusterState) -> None:
        """The request has the partition epoch with which it was made, so it is refused (INVALID_UPDATE_VERSION).

        The leader then does nothing but wait for metadata. The controller of the ZooKeeper era compares the ISR first.
        If it is the same, the response has the partition's state (KafkaController.tryProcessAlterPartition, read in
        3.5.0), which metadata brings as well.
        Kafka: ReplicationControlManager.validateAlterPartitionData, Partition.handleAlterPartitionError.
        """
        cluster = self.cluster
        require(
            Not(s.alter_partition_retry.isr.is_empty()), cluster.quorum.is_active(s), cluster.quorum.all_committed(s)
        )
        if not (self.guards.retry_keeps_partition_epoch and self.guards.compare_partition_epoch):
            newest = s.registrations[0].leader
            knows = [
                Implies(newest == replica, cluster.metadata_log.knows_partition(s, replica))
                for replica in self.all(Replica)
            ]
            require(Not(cluster.replication_control.awaits_proposal(s)), *knows)
            s.alter_partition.isr = s.alter_partition_retry.isr
            s.alter_partition.broker_epochs_are_current = s.alter_partition_retry.broker_epochs_are_current
        self.forget_retry(s)
        self.cluster.quorum.forget_committed_retry(s)

    def propose(self, s: ClusterState, leader: Replica, isr: SetValue, current: Condition) -> None:
        """Ask for an ISR: of ZooKeeper, which answers at once, or of the controller.

        Each broker has one request on its way, and sends it again until it is answered. The controller refuses one that
        is late without any effect, so only one that it may accept is kept; there is never more than one of those.
        Kafka: AlterPartitionManager.submit, Partition.submitAlterPartition.
        """
        cluster = self.cluster
        view = cluster.image.registration_of(s, leader)
        up_to_date = cluster.metadata_log.knows_partition(s, leader)
        if self.rules.isr_write is IsrWrite.DIRECT:
            registration = replace(
                cluster.metadata_log.newest(s), leader=leader + 0, epoch=view.epoch, isr=isr, writer=leader
            )
            require(up_to_date, cluster.metadata_log.has_room(s, registration))
            cluster.metadata_log.write_metadata(s, registration)
            cluster.high_watermark.advance_watermark(s, leader)
            return
        newest = s.registrations[0]
        in_time = up_to_date
        if not self.guards.compare_partition_epoch:
            in_time = And(newest.leader == leader, newest.epoch == view.epoch)
        require(
            Or(Not(in_time), Not(cluster.replication_control.awaits_proposal(s))),
            self.may_ask(s, leader),
            cluster.quorum.may_propose(s, leader),
        )
        with when(in_time):
            s.alter_partition.isr = isr
            s.alter_partition.broker_epochs_are_current = current
        cluster.quorum.note_proposal(s, leader, isr, current)
        s.broker[leader].pending_isr = isr

    def may_ask(self, s: ClusterState, leader: Replica) -> Condition:
        """Whether a leader has no request on its way that will be sent again; the next one is not attempted then.

        Kafka: AlterPartitionManager.submit, which answers OPERATION_NOT_ATTEMPTED.
        """
        if not self.features.asks_again:
            return True
        return Or(s.alter_partition_retry.isr.is_empty(), Not(s.registrations[0].leader == leader))

    def outdate_retry(self, s: ClusterState, registration: Registration) -> None:
        """Forget a request that is late by its leader epoch; any controller refuses it."""
        if self.features.asks_again:
            with when(registration.epoch != s.registrations[0].epoch):
                self.forget_retry(s)

    def outdate_retry_of(self, s: ClusterState, replica: Replica) -> None:
        """A broker has registered again: it is another incarnation than a request names, or than has sent it."""
        if self.features.asks_again:
            with when(s.alter_partition_retry.isr.contains(replica)):
                s.alter_partition_retry.broker_epochs_are_current = False
            with when(s.registrations[0].leader == replica):
                self.forget_retry(s)

    def forget_retry(self, s: ClusterState) -> None:
        """No request will come again."""
        s.alter_partition_retry.isr = set()
        s.alter_partition_retry.broker_epochs_are_current = False
