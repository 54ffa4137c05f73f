"""Snapshots of the metadata: a late broker loads one in place of the changes that it lacks.

Kafka: MetadataLoader.handleLoadSnapshot, TopicsDelta.replay(TopicRecord), TopicDelta.localChanges (KIP-630).
"""

from __future__ import annotations

from insync.kafka.cluster.indices import RegistrationIndex
from insync.kafka.cluster.metadata_image import View
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import CONTROLLER, Coded, Never, arrow, delay, step, upto_place
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Not, Or, require, snapshot, when

__all__ = ["MetadataSnapshots"]


class MetadataSnapshots(Part):
    """How a broker loads a snapshot."""

    @step(
        upto_place("{replica} loads a snapshot of the metadata"),
        needs=delay("{replica} is so late that the metadata which it lacks is deleted, and gets a snapshot"),
        drawn=arrow(CONTROLLER, "{replica}", "snapshot"),
        classes=Coded(
            "`MetadataImage.write` makes a snapshot of the metadata log up to a place; its records go as "
            "bytes through `MetadataLoader.handleLoadSnapshot`, over what the broker has"
        ),
        brokers=Never("metadata is held here, and not deleted; `insync kafka scenario r-70` has a snapshot"),
        on=lambda f: f.loads_snapshots,
    )
    def load_snapshot(self, s: ClusterState, replica: Replica, place: RegistrationIndex) -> None:
        """A late broker loads the metadata as it was after a change, as the log with that change is deleted.

        Kafka compares each topic of a snapshot with an empty one. So a broker applies every partition in which it has
        a replica, even an unchanged one. It does not learn that it has lost a replica (KAFKA-16892), and goes on there
        as before.
        Kafka: MetadataLoader.handleLoadSnapshot, TopicsDelta.replay, TopicDelta.localChanges.
        """
        cluster = self.cluster
        b = s.broker[replica]
        require(s.spent.snapshots < self.b.snapshots)
        require(b.running, b.image_lag > place, cluster.quorum.may_hear(s, place, waits=True))
        s.spent.snapshots += 1
        old, loaded = snapshot(cluster.image.registration_of(s, replica)), s.registrations[place]
        compares = self.fixes.snapshot_tells_removals
        concerns = (
            Or(b.isr_from_response, cluster.publisher.concerns_partition(s, replica, place)) if compares else True
        )
        forgets: Condition = False
        if self.features.forgets_removals:
            forgets = And(cluster.image.is_assigned(old, replica), Not(cluster.image.is_assigned(loaded, replica)))
            answered = And(forgets, self.is_answered(s, replica, place, old))
            with when(forgets):
                b.kept.leader = old.leader
                b.kept.epoch = old.epoch
                b.kept.isr = If(answered, b.pending_isr, old.isr)
                b.kept.replicas = old.replicas
        cluster.publisher.take_view(s, replica, place, old, And(concerns, Not(forgets)))
        cluster.metadata_log.forget_passed_registrations(s)
        if self.features.forgets_removals:
            with when(answered):
                b.pending_isr = set()
                if self.rules.watermark_after_isr_reply:
                    cluster.high_watermark.advance_watermark(s, replica)

    def is_answered(self, s: ClusterState, leader: Replica, place: RegistrationIndex, view: View) -> Condition:
        """Whether the controller has accepted the ISR that a leader waits for, by a change that the snapshot covers.

        The leader learns that by the response, not by metadata. Kafka: Partition.handleAlterPartitionUpdate.
        """
        b, told = s.broker[leader], []
        for at in range(self.b.metadata_lag):
            registration = s.registrations[at]
            same = And(
                registration.leader == leader, registration.epoch == view.epoch, registration.isr == b.pending_isr
            )
            told.append(And(place <= at, b.image_lag > at, registration.is_response, same))
        return Or(*told)

    def is_told_of(self, s: ClusterState, replica: Replica, place: RegistrationIndex) -> Condition:
        """Whether a broker acts on a change: not if it keeps a former view and the change gives it no replica."""
        cluster = self.cluster
        return Or(Not(cluster.image.keeps_view(s, replica)), cluster.image.is_assigned(s.registrations[place], replica))

    def give_up_view(self, s: ClusterState, replica: Replica) -> None:
        """Drop the former view of a broker, so that its view is its metadata."""
        if not self.features.forgets_removals:
            return
        kept = s.broker[replica].kept
        kept.leader = None
        kept.epoch = 0
        kept.isr = set()
        kept.replicas = set()
