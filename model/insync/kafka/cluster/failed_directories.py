"""Directories that fail while their broker runs, with `directory_failures` (KIP-112, and KIP-858 with KRaft).

The broker runs on with its other directories. The replica is offline: it is not led, followed or read there until the
broker starts again, and of metadata about it nothing is applied. The controller hears of it later, takes it out of the
ISR, and elects another leader.

Kafka: ReplicaManager.handleLogDirFailure, BrokerLifecycleManager, ReplicationControlManager.handleDirectoriesOffline.
"""

from __future__ import annotations

from insync.kafka.cluster.actor import Actor
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, If, Implies, Not, Or, action, require, when

__all__ = ["FailedDirectories"]


class FailedDirectories(Actor):
    """What becomes of a log whose directory fails."""

    @action(label="{replica}'s directory fails")
    def fail_directory(self, s: ClusterState, replica: Replica) -> None:
        """The directory with the log fails; the broker goes on without it, and a copy elsewhere is dropped.

        What is in it stays there: whether it can be read again is seen at the next start.
        Kafka: ReplicaManager.handleLogDirFailure, Partition.markOffline.
        """
        b = s.broker[replica]
        require(self.features.directories_fail, s.spent.directory_failures < self.b.directory_failures)
        require(self.is_online(s, replica), self.is_assigned(self.view_of(s, replica), replica))
        require(self.has_other_directory(s, replica))
        s.spent.directory_failures += 1
        self.close_log(s, replica)
        with when(Not(b.elsewhere)):
            b.copied = None
        self.drop_accepted_copy(s, replica)
        b.to_hear = False
        b.offline = True
        self.forget_passed_changes(s)

    @action(label="controller hears of {replica}'s failed directory")
    def report_directory(self, s: ClusterState, replica: Replica) -> None:
        """A heartbeat says which directories have failed: who is in one leaves the ISR, and may not be elected.

        The controller goes by the directory in which it takes the log to be, and decides about every partition of which
        a replica is there, in the ISR or not; one that was removed is in none (directoriesToPartitions), nor is one
        that was added and has not named its directory (N-18). With ZooKeeper
        it asks the broker for its replicas, and hears which are offline.
        Kafka: ReplicationControlManager.handleDirectoriesOffline, KafkaController.processLogDirEventNotification.
        """
        b, controller = s.broker[replica], s.controller
        told = self.rules.failed_directory_is_told and self.guards.failed_directory_report_arrives
        require(self.features.directories_fail, told, b.running)
        require(Or(And(b.offline, Not(b.elsewhere)), self.is_astray(s, replica)))
        require(self.is_active(s), Not(controller.without_directory.contains(replica)))
        if self.features.leaves_unassigned:
            require(Not(controller.unassigned.contains(replica)))
        controller.without_directory |= {replica}
        if self.rules.controller_in_zookeeper:
            self.take_out(s, replica)
            return
        change, assigned = self.build_change(s, s.changes[0].isr - {replica}), self.is_assigned(s.changes[0], replica)
        require(Implies(assigned, self.can_write(s, change)))
        with when(assigned):
            self.write_change(s, change)

    @action(label="{replica}'s directory works again")
    def repair_directory(self, s: ClusterState, replica: Replica) -> None:
        """A directory that has failed can be read when its broker starts again; it has no note of a clean stop.

        One that stays away is `lose_directory`. Kafka: LogManager.shutdown, which leaves out what is not live.
        """
        b = s.broker[replica]
        require(self.features.directories_fail, Not(b.running), b.offline)
        b.offline = False
        b.clean = False

    def register_directory(self, s: ClusterState, replica: Replica) -> None:
        """A broker that registers says which directories it has; with ZooKeeper all count as there until asked.

        Where the one with its log is gone, it may not be elected until it names another (`name_directory`).

        Kafka: BrokerRegistration.hasOnlineDir, KafkaController.onBrokerStartup.
        """
        if not (self.features.directories_fail or self.features.names_directories):
            return
        self.name_at_start(s, replica)
        b, away = s.broker[replica], s.controller.without_directory
        known = False if self.rules.controller_in_zookeeper else And(b.offline, Not(b.elsewhere))
        known = Or(known, self.is_astray(s, replica))
        if self.features.names_directories:
            known = Or(known, And(b.untold, Not(b.elsewhere), self.is_assigned(s.changes[0], replica)))
        s.controller.without_directory = If(known, away | {replica}, away - {replica})
