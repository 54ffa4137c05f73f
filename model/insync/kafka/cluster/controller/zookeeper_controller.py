"""Controllers of the ZooKeeper era that are deposed and do not know it, with `controller_failovers`.

ZooKeeper's session of a controller ends while it runs, and another broker becomes controller, with the next controller
epoch. What the old one still has in its queue it decides by the brokers that it takes for alive: it reads the
partition's state in ZooKeeper, writes the next, and sends that with its own controller epoch. Brokers that have learned
of the new controller refuse it (STALE_CONTROLLER_EPOCH), and the new one does not know what was written.

Kafka: KafkaController, PartitionStateMachine, KafkaZkClient, ReplicaManager.becomeLeaderOrFollower; by reading, 2.0.1
and 2.1.0.
"""

from __future__ import annotations

from dataclasses import replace

from insync.kafka.cluster.controller.metadata_log import Registration
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import Never, delay, nothing, step
from insync.kafka.releases import ControllerFence
from insync.kafka.replica import Replica
from insync.model import Not, require, when

__all__ = ["ZooKeeperController"]

_NO_ZOOKEEPER = Never("the controller is a KRaft quorum's here")
_NO_ZOOKEEPER_CLASSES = Never(
    "the controller is a KRaft quorum's here, and no release that is run has one of ZooKeeper's"
)


class ZooKeeperController(Part):
    """What a new controller and the one before it do."""

    @step(
        "another controller is elected",
        needs=delay("ZooKeeper's session of the controller ends though it runs, as in a long pause"),
        classes=_NO_ZOOKEEPER_CLASSES,
        brokers=_NO_ZOOKEEPER,
        on=lambda f: f.fails_over,
    )
    def fail_over(self, s: ClusterState) -> None:
        """A new controller has read what is in ZooKeeper, and the old one does not know of it.

        The new one sends all that it has read, so brokers will learn of what was decided before.
        Kafka: KafkaController.onControllerFailover.
        """
        require(s.spent.controller_failovers < self.b.controller_failovers)
        s.spent.controller_failovers += 1
        self.depose(s)

    def depose(self, s: ClusterState) -> None:
        """The controller is deposed and does not know it; what it knows is what holds now."""
        s.controller.stale_controller = True
        s.controller.stale_controller_fenced = s.controller.fenced
        s.controller.stale_controller_isr = s.registrations[0].isr
        for place in range(self.b.metadata_lag + 1):
            s.registrations[place].by_stale_controller = False
        for replica in self.all(Replica):
            s.broker[replica].controller_epoch_is_stale = s.broker[replica].running

    @step(
        "{replica} learns of the new controller",
        classes=_NO_ZOOKEEPER_CLASSES,
        brokers=_NO_ZOOKEEPER,
        on=lambda f: f.stale_controller_may_write,
    )
    def hear_of_controller(self, s: ClusterState, replica: Replica) -> None:
        """The first request of the new controller arrives, and with it its epoch.

        Kafka: ReplicaManager.maybeUpdateMetadataCache, becomeLeaderOrFollower.
        """
        require(s.broker[replica].controller_epoch_is_stale)
        s.broker[replica].controller_epoch_is_stale = False

    @step(
        "stale controller elects {replica}",
        needs=delay("the stale controller has not learned of the new one, and elects whom it was asked to before"),
        drawn=nothing,
        classes=_NO_ZOOKEEPER_CLASSES,
        brokers=_NO_ZOOKEEPER,
        on=lambda f: f.stale_controller_may_write,
    )
    def elect_as_stale_controller(self, s: ClusterState, replica: Replica) -> None:
        """The old controller makes another member of the ISR leader, as it was asked to before; once at most.

        It does not if a newer controller has written the state that it reads, and since KAFKA-6082 not at all.
        Kafka: PartitionStateMachine.doElectLeaderForPartitions, KafkaZkClient.updateLeaderAndIsr.
        """
        cluster = self.cluster
        require(self.b.metadata_lag > 1, s.controller.stale_controller, cluster.quorum.all_committed(s))
        blind, newest = self.rules.controller_fence is ControllerFence.NOTHING, s.registrations[0]
        isr = s.controller.stale_controller_isr if blind else newest.isr
        require(isr.contains(replica), Not(newest.leader == replica))
        require(Not(s.controller.stale_controller_fenced.contains(replica)))
        registration = replace(
            cluster.metadata_log.newest(s),
            leader=replica + 0,
            epoch=newest.epoch + 1,
            isr=isr,
            by_stale_controller=True,
        )
        require(cluster.metadata_log.has_room(s, registration))
        cluster.metadata_log.write_metadata(s, registration)
        cluster.quorum.commit_at_once(s)

    def outdate_stale_controller(self, s: ClusterState, registration: Registration) -> None:
        """A change is written after which a stale controller writes no more: its own, or one by the new controller.

        A leader that writes the ISR names the controller that has made it leader. Where nothing is compared, what the
        old controller would write is late only if the leader epoch has moved, for brokers look at that.
        """
        if not self.features.stale_controller_may_write:
            return
        if self.rules.controller_fence is ControllerFence.NOTHING:
            with when(Not(registration.epoch == s.registrations[0].epoch)):
                self._forget_stale_controller(s)
        elif registration.writer is None:
            self._forget_stale_controller(s)

    def _forget_stale_controller(self, s: ClusterState) -> None:
        s.controller.stale_controller = False
        s.controller.stale_controller_fenced = set()
        s.controller.stale_controller_isr = set()
