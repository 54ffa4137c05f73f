"""min.insync.replicas, as the controller and the brokers know it, and its change.

Kafka: ReplicationControlManager.getTopicEffectiveMinIsr, Partition.effectiveMinIsr, BrokerMetadataPublisher.
"""

from __future__ import annotations

from dataclasses import replace

from insync.kafka.cluster.metadata_image import View
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import CLIENTS, CONTROLLER, Coded, arrow, operation, step
from insync.kafka.releases import MinimumChange
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Not, Num, Or, minimum, require, when

__all__ = ["TopicConfig"]


class TopicConfig(Part):
    """What min.insync.replicas is to the controller and to each broker, and how it changes."""

    @step(
        "min.insync.replicas changes",
        needs=operation("min.insync.replicas is changed"),
        drawn=arrow(CLIENTS, CONTROLLER, "min.insync.replicas"),
        classes=Coded("`incrementalAlterConfigs`, and at brokers `TopicConfigHandler`"),
        brokers=Coded("as an operator asks for it, where nobody is in the ELR"),
    )
    def change_minimum(self, s: ClusterState) -> None:
        """An operator sets min.insync.replicas to 1, or back; `MinimumChange` says how brokers learn it.

        Where it is 1 already that is no change: nothing is written.
        It empties the ELR and forgets the last known leader, which bumps the partition epoch if there was one of them.
        Kafka: ConfigurationControlManager.incrementalAlterConfigs, ReplicationControlManager.removeTopicElrs
        (KAFKA-16540).
        """
        cluster = self.cluster
        require(
            cluster.quorum.is_active(s), self.b.min_insync_replicas > 1, s.spent.config_changes < self.b.config_changes
        )
        s.spent.config_changes += 1
        controller = s.controller
        configuration: Condition = self.features.configures
        controller.minimum_is_one = Not(controller.minimum_is_one)
        if self.rules.minimum_change_clears_elr:
            spared = s.registrations[0].leader.is_none() if self.fixes.minimum_change_needs_leader else False
            clears = And(Or(Not(controller.elr.is_empty()), controller.last_known_leader.is_some()), Not(spared))
            configuration = And(self.features.configures, Not(clears))
            with when(clears):
                controller.elr = set()
                controller.last_known_leader = None
        registration = replace(cluster.metadata_log.newest(s), configuration=configuration)
        require(cluster.metadata_log.has_room(s, registration))
        cluster.metadata_log.write_metadata(s, registration)

    def minimum(self, s: ClusterState) -> Num:
        """min.insync.replicas as the controller knows it, but no more than partition 0 of the topic has replicas.

        Kafka: ReplicationControlManager.getTopicEffectiveMinIsr.
        """
        zero = self.b.partition_zero_replicas
        needed = min(self.b.min_insync_replicas, zero) if zero else self.needed_of(s.registrations[0])
        return If(s.controller.minimum_is_one, 1, needed)

    def minimum_at(self, s: ClusterState, replica: Replica) -> Num:
        """min.insync.replicas as a broker knows it; no more than there are replicas in releases that cap it.

        Kafka: Partition.effectiveMinIsr; before KAFKA-15583 its callers took LogConfig.minInSyncReplicas.
        """
        return self.minimum_by(s, replica, self.cluster.image.registration_of(s, replica).minimum_is_one)

    def minimum_by(self, s: ClusterState, replica: Replica, is_one: Condition) -> Num:
        """The same, by whether a change set it to 1; each earlier change that the broker lacks turns that round."""
        view = self.cluster.image.registration_of(s, replica)
        if self.features.minimum_may_be_late:
            is_one = Not(is_one == (s.broker[replica].configs_behind % 2 == 1))
        return If(is_one, 1, self.needed_of(view) if self.rules.minimum_is_capped else self.b.min_insync_replicas)

    def minimum_while_applying(self, s: ClusterState, replica: Replica, former: View) -> Num | None:
        """min.insync.replicas as a broker knows it while it acts on its new view; none if that is the new one's.

        It is the former view's where a broker takes the configuration of a batch after its topics.
        Kafka: BrokerMetadataPublisher.onMetadataUpdate, which calls ReplicaManager.applyDelta first.
        """
        if not self.features.configures or self.rules.minimum_change is not MinimumChange.AFTER_TOPICS:
            return None
        return self.minimum_by(s, replica, former.minimum_is_one)

    def needed_of(self, view: View) -> Num | int:
        """min.insync.replicas, but no more than there are replicas by some change."""
        if not self.features.reassigns:
            return min(self.needed, self.b.replicas - self.b.spares)
        return minimum(self.needed, view.replicas.count())
