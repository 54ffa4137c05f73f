"""Controllers of the ZooKeeper era that are deposed and do not know it, with `controller_failovers`.

ZooKeeper's session of a controller ends while it runs, and another broker becomes controller, with the next controller
epoch. What the old one still has in its queue it decides by the brokers that it takes for alive: it reads the
partition's state in ZooKeeper, writes the next, and sends that with its own controller epoch. Brokers that have heard
of the new controller refuse it (STALE_CONTROLLER_EPOCH), and the new one does not know what was written.

Kafka: KafkaController, PartitionStateMachine, KafkaZkClient, ReplicaManager.becomeLeaderOrFollower; by reading, 2.0.1
and 2.1.0.
"""

from __future__ import annotations

from dataclasses import replace

from insync.kafka.cluster.controller.metadata_log import Change
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

        The new one sends all that it has read, so brokers will hear of what was decided before.
        Kafka: KafkaController.onControllerFailover.
        """
        require(s.spent.controller_failovers < self.b.controller_failovers)
        s.spent.controller_failovers += 1
        self.depose(s)

    def depose(self, s: ClusterState) -> None:
        """The controller is deposed and does not know it; what it knows is what holds now."""
        s.controller.deposed = True
        s.controller.deposed_fenced = s.controller.fenced
        s.controller.deposed_isr = s.changes[0].isr
        for place in range(self.b.metadata_lag + 1):
            s.changes[place].by_deposed = False
        for replica in self.all(Replica):
            s.broker[replica].unaware = s.broker[replica].running

    @step(
        "{replica} hears of the new controller",
        classes=_NO_ZOOKEEPER_CLASSES,
        brokers=_NO_ZOOKEEPER,
        on=lambda f: f.deposed_may_write,
    )
    def hear_of_controller(self, s: ClusterState, replica: Replica) -> None:
        """The first request of the new controller arrives, and with it its epoch.

        Kafka: ReplicaManager.maybeUpdateMetadataCache, becomeLeaderOrFollower.
        """
        require(s.broker[replica].unaware)
        s.broker[replica].unaware = False

    @step(
        "deposed controller elects {replica}",
        needs=delay("the deposed controller has not heard of the new one, and elects whom it was asked to before"),
        drawn=nothing,
        classes=_NO_ZOOKEEPER_CLASSES,
        brokers=_NO_ZOOKEEPER,
        on=lambda f: f.deposed_may_write,
    )
    def elect_as_deposed(self, s: ClusterState, replica: Replica) -> None:
        """The old controller makes another member of the ISR leader, as it was asked to before; once at most.

        It does not if a newer controller has written the state that it reads, and since KAFKA-6082 not at all.
        Kafka: PartitionStateMachine.doElectLeaderForPartitions, KafkaZkClient.updateLeaderAndIsr.
        """
        cluster = self.cluster
        require(self.b.metadata_lag > 1, s.controller.deposed, cluster.quorum.all_committed(s))
        blind, newest = self.rules.controller_fence is ControllerFence.NOTHING, s.changes[0]
        isr = s.controller.deposed_isr if blind else newest.isr
        require(isr.contains(replica), Not(newest.leader == replica))
        require(Not(s.controller.deposed_fenced.contains(replica)))
        change = replace(
            cluster.metadata_log.newest(s), leader=replica + 0, epoch=newest.epoch + 1, isr=isr, by_deposed=True
        )
        require(cluster.metadata_log.has_room(s, change))
        cluster.metadata_log.write_metadata(s, change)
        cluster.quorum.commit_at_once(s)

    def outdate_deposed(self, s: ClusterState, change: Change) -> None:
        """A change is written after which a deposed controller writes no more: its own, or one by the new controller.

        A leader that writes the ISR names the controller that has made it leader. Where nothing is compared, what the
        old controller would write is late only if the leader epoch has moved, for brokers look at that.
        """
        if not self.features.deposed_may_write:
            return
        if self.rules.controller_fence is ControllerFence.NOTHING:
            with when(Not(change.epoch == s.changes[0].epoch)):
                self._forget_deposed(s)
        elif change.writer is None:
            self._forget_deposed(s)

    def _forget_deposed(self, s: ClusterState) -> None:
        s.controller.deposed = False
        s.controller.deposed_fenced = set()
        s.controller.deposed_isr = set()
