"""The directories of a broker: logs that move, directories that fail or are gone, and which the controller knows.

Each broker has two directories here: that of the log, and another one for a copy. With `log_dir_failures` one may be
gone when the broker starts, or fail while it runs; it goes on with the other (KIP-112, and KIP-858 with KRaft). The
replica is offline then: it is not led, followed or read there until the broker starts again, and of metadata about it
nothing is applied. The controller learns of it later, takes it out of the ISR, and elects another leader. The directory
of a copy may fail too: the log stays where it is, and the broker copies nothing any more; what would be in the
directory if it came back is not modelled. A broker whose other directory fails as well has none left and ends, which is
a crash.

With KRaft (KIP-858, 3.7) the controller knows in which directory a log is. A future log takes the place of a log only
when the controller has accepted its directory, so that a failure of one of the two is understood. A request to the
controller and its answer are one step.

Kafka: ReplicaAlterLogDirsThread, LogManager, ReplicaManager.handleLogDirFailure, BrokerLifecycleManager,
ReplicationControlManager.handleDirectoriesOffline, Partition.removeFutureLocalReplica (KIP-113); AssignmentsManager,
ReplicationControlManager.handleAssignReplicasToDirs.
"""

from __future__ import annotations

from dataclasses import replace

from insync.kafka.cluster.broker_state import DirectoryId, FailedLogDir, ReassignmentState
from insync.kafka.cluster.controller.reassignment import Assigned
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import Coded, Never, failure, mark, operation, step
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Implies, MarkKind, Not, Or, SetValue, require, set_of, when

__all__ = ["DirectoryAssignments", "LogDirs"]

_DIRECTORIES_FAIL = Never("nothing here makes a directory fail while its broker runs")


class LogDirs(Part):
    """What becomes of a broker's log directories: logs that move, and directories that fail or are gone."""

    @step(
        "{replica} begins to copy its log",
        needs=operation("{replica} is moved to another directory"),
        drawn=mark("replica", "copies its log"),
        classes=Coded("`ReplicaManager.alterReplicaLogDirs` to the other directory"),
    )
    def start_move(self, s: ClusterState, replica: Replica) -> None:
        """An operator moves a replica to another directory of its broker: a future log begins, empty.

        Kafka: ReplicaManager.alterReplicaLogDirs, which answers REPLICA_NOT_AVAILABLE where there is no replica.
        """
        cluster = self.cluster
        b = s.broker[replica]
        require(cluster.image.is_assigned(cluster.image.registration_of(s, replica), replica))
        require(
            s.spent.log_dir_moves < self.b.log_dir_moves, cluster.image.is_online(s, replica), b.future_leo.is_none()
        )
        require(self.has_other_directory(s, replica))
        s.spent.log_dir_moves += 1
        b.future_leo = 0

    @step(
        "{replica} copies a record",
        drawn=mark("replica", "copies a record"),
        classes=Coded(
            "rounds of `ReplicaAlterLogDirsThread.doWork`. A copy that may take the log's place does so "
            "with its last record, which is then a step *by Kafka itself*"
        ),
    )
    def copy_record(self, s: ClusterState, replica: Replica) -> None:
        """The future log gets the next record; it is cut back whenever the log is (`UnifiedLog.truncate`).

        Where it ends before the log begins, it begins anew there, and gets nothing yet.
        Kafka: ReplicaAlterLogDirsThread.processPartitionData, AbstractFetcherThread.fetchOffsetAndTruncate.
        """
        b = s.broker[replica]
        end = b.future_leo.or_else(0)
        require(self.cluster.image.is_online(s, replica), b.future_leo.is_some(), end < b.leo)
        b.future_leo = If(end < b.log_start, b.log_start, end + 1)

    @step(
        "{replica} drops the copy of its log",
        needs=operation("the move of {replica} to another directory is taken back"),
        drawn=mark("replica", "drops the copy"),
        classes=Coded("`ReplicaManager.alterReplicaLogDirs` back to the log's directory"),
    )
    def cancel_move(self, s: ClusterState, replica: Replica) -> None:
        """An operator takes a move back: the future log is deleted, and the log stays where it is.

        Kafka: ReplicaManager.alterReplicaLogDirs, Partition.removeFutureLocalReplica.
        """
        cluster = self.cluster
        b = s.broker[replica]
        require(cluster.image.is_online(s, replica), b.future_leo.is_some())
        b.future_leo = None
        cluster.assignments.drop_accepted_copy(s, replica)

    @step(
        "{replica} loses its directory",
        needs=operation("the directory of {replica} with the log is taken out of log.dirs"),
        drawn=mark("replica", "loses its log", MarkKind.CUT),
        classes=Coded("the directory with the log is in `log.dirs` no more at the next start"),
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
        failed = self.is_offline(s, replica)
        require(Or(failed, self.may_fail(s)), Not(b.running), b.leo > 0)
        spent.log_dir_failures -= If(failed, 1, 0)
        spent.log_dir_losses += 1
        require(Not(b.directory == DirectoryId.FUTURE_LOG))  # its copy would take the place of the log
        require(self.has_other_directory(s, replica))
        self.cluster.log.delete_log(s, replica)
        b.failed_log_dir = FailedLogDir.NONE
        b.to_assign = True
        if self.fixes.clean_stop_names_directories:
            b.clean_shutdown = False

    @step(
        "{replica} replaces its log by the copy",
        drawn=mark("replica", "swaps in the copy"),
        classes=Coded("rounds of `ReplicaAlterLogDirsThread.doWork`"),
    )
    def swap_log(self, s: ClusterState, replica: Replica) -> None:
        """The future log takes the place of the log, once it has all of it.

        Its epoch cache is made of its records, so an epoch without records is missing from it (KAFKA-20961).
        Kafka: Partition.maybeReplaceCurrentWithFutureReplica, LogManager.replaceCurrentWithFutureLog.
        """
        cluster = self.cluster
        b = s.broker[replica]
        end = b.future_leo.or_else(0)
        require(b.running, b.future_leo.is_some(), end == b.leo if self.guards.swap_needs_whole_copy else True)
        if self.features.directories_are_assigned:
            require(b.promotion == ReassignmentState.ACCEPTED)
        else:
            require(Not(b.to_assign))  # as `accept_copy`
            changes = cluster.assignments.naming_changes_elr(s)  # the controller accepts the copy in this step
            require(Implies(changes, cluster.assignments.can_write_directory(s)))
            with when(changes):
                cluster.assignments.write_directory(s)
        cluster.log.truncate(s, replica, end)
        b.segment_base = b.log_start
        b.future_leo = None
        b.promotion = ReassignmentState.NONE
        # The controller names the same directory as before.
        there, other = DirectoryId.LOG, DirectoryId.FUTURE_LOG
        b.directory = If(b.directory == there, other, If(b.directory == other, there, b.directory))

    @step(
        "{replica}'s directory fails",
        needs=failure("the directory of {replica} with the log fails, and it runs on"),
        drawn=mark("replica", "disk fails", MarkKind.DOWN),
        classes=Coded("`ReplicaManager.handleLogDirFailure`"),
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
            cluster.image.is_online(s, replica),
            cluster.image.is_assigned(cluster.image.registration_of(s, replica), replica),
        )
        require(self.has_other_directory(s, replica))
        s.spent.log_dir_failures += 1
        cluster.lifecycle.close_log(s, replica)
        with when(Not(b.directory == DirectoryId.FUTURE_LOG)):
            b.future_leo = None
        cluster.assignments.drop_accepted_copy(s, replica)
        b.directory_to_hear = False
        b.failed_log_dir = FailedLogDir.LOG
        cluster.metadata_log.forget_passed_registrations(s)

    @step(
        "controller learns of {replica}'s failed directory",
        classes=Coded(
            "a heartbeat with what the broker's `DirectoryEventHandler` was told, of which "
            "`ReplicationControlManager.handleDirectoriesOffline` makes a change"
        ),
        brokers=_DIRECTORIES_FAIL,
        on=lambda f: f.directories_fail,
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
        require(self.is_taken_to_be_in_failed(s, replica))
        require(cluster.quorum.is_active(s), Not(controller.offline_replicas.contains(replica)))
        controller.offline_replicas |= {replica}
        if self.rules.controller_in_zookeeper:
            cluster.replication_control.take_out(s, replica)
            return
        change = cluster.builder.build_change(s, s.registrations[0].isr - {replica})
        assigned = cluster.image.is_assigned(s.registrations[0], replica)
        require(Implies(assigned, cluster.builder.can_write(s, change)))
        with when(assigned):
            cluster.builder.write_change(s, change)

    @step(
        "{replica}'s directory works again",
        needs=operation("the directory of {replica} that has failed is mended before it starts"),
        drawn=mark("replica", "disk works again", MarkKind.UP),
        classes=Coded("the directory is there at the next start"),
        brokers=_DIRECTORIES_FAIL,
        on=lambda f: f.directories_fail,
    )
    def repair_directory(self, s: ClusterState, replica: Replica) -> None:
        """A directory that has failed can be read when its broker starts again; it has no note of a clean stop.

        One that stays away is `lose_directory`. Kafka: LogManager.shutdown, which leaves out what is not live.
        """
        b = s.broker[replica]
        require(Not(b.running), self.is_offline(s, replica))
        b.failed_log_dir = FailedLogDir.NONE
        b.clean_shutdown = False

    def register_directory(self, s: ClusterState, replica: Replica) -> None:
        """A broker that registers says which directories it has; with ZooKeeper all count as there until asked.

        Where the one with its log is gone, it may not be elected until it names another (`name_directory`).

        Kafka: BrokerRegistration.hasOnlineDir, KafkaController.onBrokerStartup.
        """
        cluster = self.cluster
        if not (self.features.directories_fail or self.features.names_directories):
            return
        cluster.unassigned.name_at_start(s, replica)
        b, away = s.broker[replica], s.controller.offline_replicas
        known = False if self.rules.controller_in_zookeeper else self.is_taken_to_be_in_failed(s, replica)
        if self.features.names_directories:
            gone = And(b.to_assign, b.directory == DirectoryId.LOG)
            known = Or(known, And(gone, cluster.image.is_assigned(s.registrations[0], replica)))
        s.controller.offline_replicas = If(known, away | {replica}, away - {replica})

    @step(
        "the directory of {replica}'s copy fails",
        needs=failure("the directory to which {replica} copies fails, and it runs on"),
        drawn=mark("replica", "other disk fails", MarkKind.DOWN),
        classes=Coded("`ReplicaManager.handleLogDirFailure`"),
        brokers=_DIRECTORIES_FAIL,
        on=lambda f: f.copies_may_fail,
    )
    def fail_copy_directory(self, s: ClusterState, replica: Replica) -> None:
        """The directory to which a log is copied fails: the copy is dropped, and the broker goes on with the log.

        If the controller has accepted the copy it takes the log to be in the directory that has failed, until it learns
        where it is (`name_directory`); if it learns of the failure before that, it takes the replica for offline
        (`report_directory`). In 3.7.0, which does not take an accepted copy back, the broker has still to tell where
        its log is if it has learned that the controller takes it to be elsewhere.

        Kafka: ReplicaManager.handleLogDirFailure and maybeUpdateTopicAssignment,
        ReplicaAlterLogDirsThread.removePartitions.
        """
        cluster = self.cluster
        b = s.broker[replica]
        require(self.may_fail(s))
        require(cluster.image.is_online(s, replica), b.future_leo.is_some())
        s.spent.log_dir_failures += 1
        b.future_leo = None
        if not self.rules.dropped_copy_is_taken_back:
            elsewhere = And(b.directory_to_hear, b.directory == DirectoryId.FUTURE_LOG)
            b.to_assign = Or(b.to_assign, And(elsewhere, cluster.quorum.has_applied_all(s, replica)))
        cluster.assignments.drop_accepted_copy(s, replica)
        b.failed_log_dir = FailedLogDir.FUTURE_LOG

    def may_fail(self, s: ClusterState) -> Condition:
        """Whether the budget has room for another directory that fails, for good or not."""
        return s.spent.log_dir_failures + s.spent.log_dir_losses < self.b.log_dir_failures

    def is_offline(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether the directory with a broker's log has failed."""
        return s.broker[replica].failed_log_dir == FailedLogDir.LOG if self.features.directories_fail else False

    def has_other_directory(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether a broker has another directory than that of its log."""
        if not self.features.directories_fail:
            return True
        return Not(s.broker[replica].failed_log_dir == FailedLogDir.FUTURE_LOG)

    def is_astray(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether the controller takes a log to be in a directory that has failed, where it is not."""
        return And(s.broker[replica].directory == DirectoryId.FUTURE_LOG, Not(self.has_other_directory(s, replica)))

    def is_taken_to_be_in_failed(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether the directory has failed in which the controller takes a log to be."""
        there = s.broker[replica].directory == DirectoryId.LOG
        return Or(And(self.is_offline(s, replica), there), self.is_astray(s, replica))


class DirectoryAssignments(Part):
    """What the controller is told of directories, and what brokers learn of it."""

    @step(
        "{replica} names the directory of its log",
        drawn=mark("replica", "names its directory"),
        classes=Coded(
            "what the broker has to tell of its log's directory goes to `handleAssignReplicasToDirs`, and "
            "the answer back"
        ),
        on=lambda f: f.names_directories,
    )
    def name_directory(self, s: ClusterState, replica: Replica) -> None:
        """The controller learns where a log is that began anew, or whose accepted copy was dropped.

        It is a change of the partition, in which the controller also looks at the leader, by the directory that it knew
        before: who names one is not elected by that. It may be unfenced first, or never have been fenced, and then
        nothing makes the controller look again (N-19).
        Kafka: ReplicaManager.maybeUpdateTopicAssignment, ReplicaAlterLogDirsThread.removePartitions,
        AssignmentsManager, ReplicationControlManager.handleAssignReplicasToDirs.
        """
        cluster = self.cluster
        b = s.broker[replica]
        require(cluster.quorum.is_active(s), b.running, b.to_assign)
        offline, elsewhere = cluster.log_dirs.is_offline(s, replica), b.directory == DirectoryId.FUTURE_LOG
        require(Or(Not(offline), elsewhere))
        require(
            cluster.image.is_assigned(cluster.image.registration_of(s, replica), replica),
            cluster.image.is_assigned(s.registrations[0], replica),
        )
        leads: Condition = And(s.registrations[0].leader.is_none(), self.fixes.named_directory_may_lead)
        found = Or(Not(elsewhere), cluster.log_dirs.is_astray(s, replica))
        with when(And(leads, found)):
            s.controller.offline_replicas -= {replica}
        made = cluster.builder.build_change(
            s, s.registrations[0].isr, clean=True, knows_elr=not self.features.naming_clears_elr
        )
        require(
            cluster.reassignment.has_replica(s, made.registration.leader),
            cluster.metadata_log.has_room(s, made.registration),
        )
        with when(found):
            s.controller.offline_replicas -= {replica}
        with when(offline):
            b.future_leo = None  # it is not where the controller takes the log to be any more
        b.to_assign = False
        b.directory = DirectoryId.LOG
        registration = replace(made.registration, listed=cluster.unassigned.every_listed(s))
        cluster.builder.write_change(s, replace(made, registration=registration, differs=True))
        cluster.quorum.commit_at_once(s)

    @step(
        "controller accepts {replica}'s copy",
        classes=Coded(
            "a round in which the copy has caught up; `handleAssignReplicasToDirs`. The answer arrives "
            "when the broker learns of its directory, or before the copy takes the log's place"
        ),
        brokers=_DIRECTORIES_FAIL,
        on=lambda f: f.directories_are_assigned,
    )
    def accept_copy(self, s: ClusterState, replica: Replica) -> None:
        """A copy has caught up, and the controller is told of its directory; it may fall behind again before the swap.

        It is a change of the partition, though leader and ISR stay as they are, unless the controller takes the log to
        be there already. Of who is a replica no more it takes nothing, and what is to be told of the log comes first.
        Kafka: ReplicaAlterLogDirsThread.maybePromoteFutureReplica,
        ReplicationControlManager.handleAssignReplicasToDirs.
        """
        cluster = self.cluster
        b = s.broker[replica]
        require(cluster.image.is_online(s, replica))
        require(b.future_leo.is_some(), b.future_leo.or_else(0) == b.leo)
        require(
            b.promotion == ReassignmentState.NONE,
            Not(b.to_assign),
            cluster.image.is_assigned(s.registrations[0], replica),
        )
        changes = Or(Not(b.directory == DirectoryId.FUTURE_LOG), self.naming_changes_elr(s))
        require(
            cluster.quorum.is_active(s),
            Implies(changes, cluster.metadata_log.has_room(s, cluster.metadata_log.newest(s))),
        )
        b.promotion = ReassignmentState.ACCEPTED
        with when(changes):
            b.directory = DirectoryId.FUTURE_LOG
            b.directory_to_hear = True
            self.write_directory(s)
        cluster.unassigned.forget_lists(s)

    @step(
        "{replica} learns of its directory",
        classes=Coded(
            "the metadata, then that answer, then what `maybeUpdateTopicAssignment` has to say goes to "
            "the controller, and its answer back"
        ),
        brokers=_DIRECTORIES_FAIL,
        on=lambda f: f.directories_are_assigned,
    )
    def hear_directory(self, s: ClusterState, replica: Replica) -> None:
        """Metadata names a directory; a broker whose log is not there tells the controller where it is.

        It comes in its place among the changes of the partition, so that those are applied first. The broker does not
        look whether a copy is there that is about to take the log's place. It makes the copy ask anew, unless the
        controller's answer comes only after it, as it may the first time: what says that the log has not moved was
        asked for after that answer.
        Kafka: ReplicaManager.maybeUpdateTopicAssignment and maybeAddLogDirFetchers, which calls
        ReplicaAlterLogDirsThread.addPartitions.
        """
        cluster = self.cluster
        b = s.broker[replica]
        require(cluster.image.is_online(s, replica), b.directory_to_hear, cluster.quorum.has_applied_all(s, replica))
        elsewhere, accepted = b.directory == DirectoryId.FUTURE_LOG, b.promotion == ReassignmentState.ACCEPTED
        astray = cluster.log_dirs.is_astray(s, replica)
        spared = accepted if self.fixes.accepted_copy_stays_accepted else False
        answers = And(elsewhere, Not(astray), Not(spared), cluster.image.is_assigned(s.registrations[0], replica))
        require(Implies(answers, self.can_write_directory(s)))
        b.directory_to_hear = answers
        with when(Not(elsewhere)):
            b.promotion = ReassignmentState.NONE
        b.to_assign = Or(b.to_assign, astray)
        with when(answers):
            b.directory = DirectoryId.LOG
            b.to_assign = False
            self.write_directory(s)

    def naming_changes_elr(self, s: ClusterState) -> Condition:
        """Whether the ELR is another one after the controller has learned of a directory."""
        return Not(self.elr_when_named(s) == s.controller.elr) if self.features.named_elr_differs else False

    def elr_when_named(self, s: ClusterState) -> SetValue:
        """The ELR after the controller has learned of a directory.

        Before 4.3 that change is made as if there were no eligible leader replicas, and so forgets them (N-17). From
        then on they are reckoned anew: those stay who were eligible, unless min.insync.replicas is less than when they
        were reckoned, or partition 0 has fewer replicas than then, and the ISR is large enough.
        Kafka: PartitionChangeBuilder.maybePopulateTargetElr, maybeUpdateRecordElr.
        """
        cluster = self.cluster
        if not self.features.named_elr_differs:
            return s.controller.elr
        if not self.rules.named_directory_keeps_elr:
            return set_of([])
        return cluster.builder.next_elr(s, s.registrations[0].isr, set(), cluster.reassignment.assigned(s))

    def can_write_directory(self, s: ClusterState) -> Condition:
        """Whether a controller is active, and brokers are not too late for another registration."""
        log = self.cluster.metadata_log
        return And(self.cluster.quorum.is_active(s), log.has_room(s, log.newest(s)))

    def write_directory(self, s: ClusterState) -> None:
        """Write in which directory a log is: a change of the partition, though leader and ISR stay as they are."""
        cluster = self.cluster
        if self.features.named_elr_differs:
            s.controller.elr = self.elr_when_named(s)
        registration = replace(cluster.metadata_log.newest(s), listed=cluster.unassigned.every_listed(s))
        cluster.metadata_log.write_metadata(s, registration)
        cluster.quorum.commit_at_once(s)

    def drop_accepted_copy(self, s: ClusterState, replica: Replica) -> None:
        """A copy is dropped that the controller may have accepted, and it is to be told where the log is.

        Kafka: ReplicaAlterLogDirsThread.removePartitions.
        """
        b = s.broker[replica]
        if self.rules.dropped_copy_is_taken_back:
            told = And(b.promotion == ReassignmentState.ACCEPTED, Not(b.directory == DirectoryId.LOG))
            b.to_assign = Or(b.to_assign, told)
        b.promotion = ReassignmentState.NONE

    def take_accepted_copy(self, s: ClusterState, replica: Replica) -> None:
        """A broker that starts takes an accepted copy for its log, or is to tell the controller where the log is.

        It does not compare the two. Where the directory with the log has failed, it is that copy, or begins anew, in
        the directory in which the controller takes it to be.
        Kafka: LogManager.recoverAbandonedFutureLogs, Partition.createLogInAssignedDirectoryId.
        """
        cluster = self.cluster
        if not self.features.directories_are_assigned:
            return
        b = s.broker[replica]
        end, elsewhere = b.future_leo.or_else(0), b.directory == DirectoryId.FUTURE_LOG
        offline = cluster.log_dirs.is_offline(s, replica)
        takes: Condition = False
        if self.rules.start_takes_accepted_copy:
            whole = Or(offline, end == b.leo) if self.fixes.start_needs_whole_copy else True
            takes = And(b.future_leo.is_some(), elsewhere, whole)
            with when(takes):
                cluster.log.truncate(s, replica, end)
                b.segment_base = b.log_start
        with when(And(elsewhere, offline, Not(takes))):
            cluster.log.delete_log(s, replica)
        b.future_leo = None
        stays = And(elsewhere, Not(takes), Not(offline))
        with when(And(elsewhere, offline)):
            b.failed_log_dir = FailedLogDir.FUTURE_LOG  # the log is in the other one now
        with when(And(elsewhere, Not(stays))):
            b.directory = DirectoryId.LOG
        b.to_assign = Or(b.to_assign, stays)

    def forget_untold(self, s: ClusterState, assigned: Assigned) -> None:
        """Nobody names the directory of a replica that is none any more; one that is added again is where it is.

        Kafka: AssignmentsManager, Assignment.valid; PartitionChangeBuilder.setAssignmentChanges.
        """
        if not (self.features.names_directories and self.features.reassigns):
            return
        for replica in self.all(Replica):
            b = s.broker[replica]
            with when(Not(self.cluster.image.is_assigned(assigned, replica))):
                with when(And(b.to_assign, Not(self.cluster.log_dirs.is_offline(s, replica)))):
                    s.controller.offline_replicas -= {replica}
                b.to_assign = False
                b.directory = DirectoryId.LOG
