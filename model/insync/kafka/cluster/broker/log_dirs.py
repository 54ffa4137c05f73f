"""The directories of a broker: a log that moves to another one, one that is gone, and directories that fail.

Each broker has two directories here: that of the log, and another one for a copy. With `log_dir_failures` one may be
gone when the broker starts, or fail while it runs; it goes on with the other (KIP-112, and KIP-858 with KRaft). The
replica is offline then: it is not led, followed or read there until the broker starts again, and of metadata about it
nothing is applied. The controller hears of it later, takes it out of the ISR, and elects another leader. The directory
of a copy may fail too: the log stays where it is, and the broker copies nothing any more; what would be in the
directory if it came back is not modelled. A broker whose other directory fails as well has none left and ends, which is
a crash.

Kafka: ReplicaAlterLogDirsThread, LogManager, ReplicaManager.handleLogDirFailure, BrokerLifecycleManager,
ReplicationControlManager.handleDirectoriesOffline, Partition.removeFutureLocalReplica (KIP-113).
"""

from __future__ import annotations

from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import Never, failure, mark, operation, step
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Implies, MarkKind, Not, Or, require, when

__all__ = ["LogDirs"]

_DIRECTORIES_FAIL = Never("a directory that fails while its broker runs is not in our hands here")


class LogDirs(Part):
    """What becomes of a broker's log directories: logs that move, and directories that fail or are gone."""

    @step(
        "{replica} begins to copy its log",
        needs=operation("{replica} is moved to another directory"),
        drawn=mark("replica", "copies its log"),
    )
    def start_move(self, s: ClusterState, replica: Replica) -> None:
        """An operator moves a replica to another directory of its broker: a future log begins, empty.

        Kafka: ReplicaManager.alterReplicaLogDirs, which answers REPLICA_NOT_AVAILABLE where there is no replica.
        """
        cluster = self.cluster
        b = s.broker[replica]
        require(cluster.image.is_assigned(cluster.image.view_of(s, replica), replica))
        require(s.spent.log_dir_moves < self.b.log_dir_moves, cluster.image.is_online(s, replica), b.copied.is_none())
        require(self.has_other_directory(s, replica))
        s.spent.log_dir_moves += 1
        b.copied = 0

    @step("{replica} copies a record", drawn=mark("replica", "copies a record"))
    def copy_record(self, s: ClusterState, replica: Replica) -> None:
        """The future log gets the next record; it is cut back whenever the log is (`UnifiedLog.truncate`).

        Where it ends before the log begins, it begins anew there, and gets nothing yet.
        Kafka: ReplicaAlterLogDirsThread.processPartitionData, AbstractFetcherThread.fetchOffsetAndTruncate.
        """
        b = s.broker[replica]
        end = b.copied.or_else(0)
        require(self.cluster.image.is_online(s, replica), b.copied.is_some(), end < b.leo)
        b.copied = If(end < b.start, b.start, end + 1)

    @step(
        "{replica} drops the copy of its log",
        needs=operation("the move of {replica} to another directory is taken back"),
        drawn=mark("replica", "drops the copy"),
    )
    def cancel_move(self, s: ClusterState, replica: Replica) -> None:
        """An operator takes a move back: the future log is deleted, and the log stays where it is.

        Kafka: ReplicaManager.alterReplicaLogDirs, Partition.removeFutureLocalReplica.
        """
        cluster = self.cluster
        b = s.broker[replica]
        require(cluster.image.is_online(s, replica), b.copied.is_some())
        b.copied = None
        cluster.assignments.drop_accepted_copy(s, replica)

    @step(
        "{replica} loses its directory",
        needs=operation("the directory of {replica} with the log is taken out of log.dirs"),
        drawn=mark("replica", "loses its log", MarkKind.CUT),
    )
    def lose_directory(self, s: ClusterState, replica: Replica) -> None:
        """While a broker is down the directory with its log is taken out of log.dirs; it will begin anew.

        Whether it was stopped cleanly is noted in each directory, and only those that are configured at the start are
        asked. A new disk in its place has no such note, so that counts as a crash; one that fails keeps the stop from
        counting, and one that is not formatted the broker from starting. A directory that failed while the broker ran
        may be gone in this way too, which is no further failure.
        Kafka: LogManager.readBrokerEpochFromCleanShutdownFiles, Partition.createLogInAssignedDirectoryId.
        """
        b, spent = s.broker[replica], s.spent
        require(Or(b.offline, self.may_fail(s)), Not(b.running), b.leo > 0)
        spent.log_dir_failures -= If(b.offline, 1, 0)
        spent.log_dir_losses += 1
        require(Not(b.elsewhere))  # its copy would take the place of the log
        require(self.has_other_directory(s, replica))
        self.cluster.log.delete_log(s, replica)
        b.offline = False
        b.untold = True
        if self.fixes.clean_stop_names_directories:
            b.clean = False

    @step("{replica} replaces its log by the copy", drawn=mark("replica", "swaps in the copy"))
    def swap_log(self, s: ClusterState, replica: Replica) -> None:
        """The future log takes the place of the log, once it has all of it.

        Its epoch cache is made of its records, so an epoch without records is missing from it (KAFKA-20961).
        Kafka: Partition.maybeReplaceCurrentWithFutureReplica, LogManager.replaceCurrentWithFutureLog.
        """
        cluster = self.cluster
        b = s.broker[replica]
        end = b.copied.or_else(0)
        require(b.running, b.copied.is_some(), end == b.leo if self.guards.swap_needs_whole_copy else True)
        if self.features.directories_are_assigned:
            require(b.accepted)
        else:
            require(Not(b.untold))  # as `accept_copy`
            changes = cluster.assignments.naming_changes_elr(s)  # the controller accepts the copy in this step
            require(
                Implies(
                    changes,
                    And(cluster.quorum.is_active(s), cluster.metadata_log.has_room(s, cluster.metadata_log.newest(s))),
                )
            )
            with when(changes):
                cluster.assignments.write_directory(s)
        cluster.log.truncate(s, replica, end)
        b.base = b.start
        b.copied = None
        b.accepted = False
        b.elsewhere = Not(b.elsewhere)

    @step(
        "{replica}'s directory fails",
        needs=failure("the directory of {replica} with the log fails, and it runs on"),
        drawn=mark("replica", "disk fails", MarkKind.DOWN),
        brokers=_DIRECTORIES_FAIL,
        on=lambda f: f.directories_fail,
    )
    def fail_directory(self, s: ClusterState, replica: Replica) -> None:
        """The directory with the log fails; the broker goes on without it, and a copy elsewhere is dropped.

        What is in it stays there: whether it can be read again is seen at the next start.
        Kafka: ReplicaManager.handleLogDirFailure, Partition.markOffline.
        """
        cluster = self.cluster
        b = s.broker[replica]
        require(self.may_fail(s))
        require(
            cluster.image.is_online(s, replica), cluster.image.is_assigned(cluster.image.view_of(s, replica), replica)
        )
        require(self.has_other_directory(s, replica))
        s.spent.log_dir_failures += 1
        cluster.lifecycle.close_log(s, replica)
        with when(Not(b.elsewhere)):
            b.copied = None
        cluster.assignments.drop_accepted_copy(s, replica)
        b.to_hear = False
        b.offline = True
        cluster.metadata_log.forget_passed_changes(s)

    @step(
        "controller hears of {replica}'s failed directory", brokers=_DIRECTORIES_FAIL, on=lambda f: f.directories_fail
    )
    def report_directory(self, s: ClusterState, replica: Replica) -> None:
        """A heartbeat says which directories have failed: who is in one leaves the ISR, and may not be elected.

        The controller decides about every partition that, by its own record, has a replica in the failed directory, in
        the ISR or not (directoriesToPartitions). That record lacks removed replicas, and added ones that have not named
        their directory (N-18). A controller with ZooKeeper requests the state of the broker's replicas instead.
        Kafka: ReplicationControlManager.handleDirectoriesOffline, KafkaController.processLogDirEventNotification.
        """
        cluster = self.cluster
        b, controller = s.broker[replica], s.controller
        told = self.rules.failed_directory_is_told and self.guards.failed_directory_report_arrives
        require(told, b.running)
        require(Or(And(b.offline, Not(b.elsewhere)), self.is_astray(s, replica)))
        require(cluster.quorum.is_active(s), Not(controller.without_directory.contains(replica)))
        if self.features.leaves_unassigned:
            require(Not(controller.unassigned.contains(replica)))
        controller.without_directory |= {replica}
        if self.rules.controller_in_zookeeper:
            cluster.replication_control.take_out(s, replica)
            return
        change, assigned = (
            cluster.builder.build_change(s, s.changes[0].isr - {replica}),
            cluster.image.is_assigned(s.changes[0], replica),
        )
        require(Implies(assigned, cluster.builder.can_write(s, change)))
        with when(assigned):
            cluster.builder.write_change(s, change)

    @step(
        "{replica}'s directory works again",
        needs=operation("the directory of {replica} that has failed is mended before it starts"),
        drawn=mark("replica", "disk works again", MarkKind.UP),
        brokers=_DIRECTORIES_FAIL,
        on=lambda f: f.directories_fail,
    )
    def repair_directory(self, s: ClusterState, replica: Replica) -> None:
        """A directory that has failed can be read when its broker starts again; it has no note of a clean stop.

        One that stays away is `lose_directory`. Kafka: LogManager.shutdown, which leaves out what is not live.
        """
        b = s.broker[replica]
        require(Not(b.running), b.offline)
        b.offline = False
        b.clean = False

    def register_directory(self, s: ClusterState, replica: Replica) -> None:
        """A broker that registers says which directories it has; with ZooKeeper all count as there until asked.

        Where the one with its log is gone, it may not be elected until it names another (`name_directory`).

        Kafka: BrokerRegistration.hasOnlineDir, KafkaController.onBrokerStartup.
        """
        cluster = self.cluster
        if not (self.features.directories_fail or self.features.names_directories):
            return
        cluster.unassigned.name_at_start(s, replica)
        b, away = s.broker[replica], s.controller.without_directory
        known = False if self.rules.controller_in_zookeeper else And(b.offline, Not(b.elsewhere))
        known = Or(known, self.is_astray(s, replica))
        if self.features.names_directories:
            known = Or(known, And(b.untold, Not(b.elsewhere), cluster.image.is_assigned(s.changes[0], replica)))
        s.controller.without_directory = If(known, away | {replica}, away - {replica})

    @step(
        "the directory of {replica}'s copy fails",
        needs=failure("the directory to which {replica} copies fails, and it runs on"),
        drawn=mark("replica", "other disk fails", MarkKind.DOWN),
        brokers=_DIRECTORIES_FAIL,
        on=lambda f: f.copies_may_fail,
    )
    def fail_copy_directory(self, s: ClusterState, replica: Replica) -> None:
        """The directory to which a log is copied fails: the copy is dropped, and the broker goes on with the log.

        If the controller has accepted the copy it takes the log to be in the directory that has failed, until it hears
        where it is (`name_directory`); if it hears of the failure before that, it takes the replica for offline
        (`report_directory`). In 3.7.0, which does not take an accepted copy back, the broker has still to tell where
        its log is if it has heard that the controller takes it to be elsewhere.

        Kafka: ReplicaManager.handleLogDirFailure and maybeUpdateTopicAssignment,
        ReplicaAlterLogDirsThread.removePartitions.
        """
        cluster = self.cluster
        b = s.broker[replica]
        require(self.may_fail(s))
        require(cluster.image.is_online(s, replica), b.copied.is_some())
        s.spent.log_dir_failures += 1
        b.copied = None
        if not self.rules.dropped_copy_is_taken_back:
            b.untold = Or(b.untold, And(b.to_hear, b.elsewhere, cluster.quorum.has_applied_all(s, replica)))
        cluster.assignments.drop_accepted_copy(s, replica)
        b.other_failed = True

    def may_fail(self, s: ClusterState) -> Condition:
        """Whether the budget has room for another directory that fails, for good or not."""
        return s.spent.log_dir_failures + s.spent.log_dir_losses < self.b.log_dir_failures

    def is_astray(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether the controller takes a log to be in a directory that has failed, where it is not."""
        return And(s.broker[replica].elsewhere, s.broker[replica].other_failed)

    def has_other_directory(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether a broker has another directory than that of its log."""
        return Not(s.broker[replica].other_failed)
