"""In which directory the controller takes a log to be, with `log_dir_moves` and `log_dir_failures` (KIP-858).

A copy takes the place of a log only when the controller has accepted its directory, so that a failure of one of the two
is understood. `elsewhere` says that the controller takes a log to be where it is not: where its accepted copy is, or
where it was before a move. A request to the controller and its answer are one step.

Kafka: ReplicaAlterLogDirsThread, AssignmentsManager, ReplicationControlManager.handleAssignReplicasToDirs.
"""

from __future__ import annotations

from dataclasses import replace

from insync.kafka.cluster.controller.reassignment import Assigned
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import Never, mark, step
from insync.kafka.replica import Replica
from insync.model import And, Condition, Implies, Not, Or, SetValue, require, set_of, when

__all__ = ["DirectoryAssignments"]

_DIRECTORIES_FAIL = Never("a directory that fails while its broker runs is not in our hands here")


class DirectoryAssignments(Part):
    """What the controller is told of directories, and what brokers hear of it."""

    @step(
        "{replica} names the directory of its log",
        drawn=mark("replica", "names its directory"),
        on=lambda f: f.names_directories,
    )
    def name_directory(self, s: ClusterState, replica: Replica) -> None:
        """The controller hears where a log is that began anew, or whose accepted copy was dropped.

        It is a change of the partition, in which the controller also looks at the leader, by the directory that it knew
        before: who names one is not elected by that. It may be unfenced first, or never have been fenced, and then
        nothing makes the controller look again (N-19).
        Kafka: ReplicaManager.maybeUpdateTopicAssignment, ReplicaAlterLogDirsThread.removePartitions,
        AssignmentsManager, ReplicationControlManager.handleAssignReplicasToDirs.
        """
        cluster = self.cluster
        b = s.broker[replica]
        require(cluster.quorum.is_active(s), b.running, b.untold, Or(Not(b.offline), b.elsewhere))
        require(
            cluster.image.is_assigned(cluster.image.view_of(s, replica), replica),
            cluster.image.is_assigned(s.changes[0], replica),
        )
        leads: Condition = And(s.changes[0].leader.is_none(), self.fixes.named_directory_may_lead)
        found = Or(Not(b.elsewhere), b.other_failed)
        with when(And(leads, found)):
            s.controller.without_directory -= {replica}
        made = cluster.builder.build_change(
            s, s.changes[0].isr, clean=True, knows_elr=not self.features.naming_clears_elr
        )
        require(cluster.reassignment.has_replica(s, made.change.leader), cluster.metadata_log.has_room(s, made.change))
        with when(found):
            s.controller.without_directory -= {replica}
        with when(b.offline):
            b.copied = None  # it is not where the controller takes the log to be any more
        b.untold = False
        b.elsewhere = False
        cluster.builder.write_change(
            s, replace(made, change=replace(made.change, listed=cluster.unassigned.every_listed(s)), differs=True)
        )
        cluster.quorum.commit_at_once(s)

    @step("controller accepts {replica}'s copy", brokers=_DIRECTORIES_FAIL, on=lambda f: f.directories_are_assigned)
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
        require(b.copied.is_some(), b.copied.or_else(0) == b.leo)
        require(Not(b.accepted), Not(b.untold), cluster.image.is_assigned(s.changes[0], replica))
        changes = Or(Not(b.elsewhere), self.naming_changes_elr(s))
        require(
            cluster.quorum.is_active(s),
            Implies(changes, cluster.metadata_log.has_room(s, cluster.metadata_log.newest(s))),
        )
        b.accepted = True
        with when(changes):
            b.elsewhere = True
            b.to_hear = True
            self.write_directory(s)
        if self.features.leaves_unassigned:
            s.controller.unassigned -= {replica}
            cluster.unassigned.forget_lists(s)

    @step("{replica} hears of its directory", brokers=_DIRECTORIES_FAIL, on=lambda f: f.directories_are_assigned)
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
        require(cluster.image.is_online(s, replica), b.to_hear, cluster.quorum.has_applied_all(s, replica))
        spared = b.accepted if self.fixes.accepted_copy_stays_accepted else False
        answers = And(b.elsewhere, Not(b.other_failed), Not(spared), cluster.image.is_assigned(s.changes[0], replica))
        require(
            Implies(
                answers,
                And(cluster.quorum.is_active(s), cluster.metadata_log.has_room(s, cluster.metadata_log.newest(s))),
            )
        )
        b.to_hear = answers
        b.accepted = And(b.accepted, b.elsewhere)
        b.untold = Or(b.untold, cluster.log_dirs.is_astray(s, replica))
        with when(answers):
            b.elsewhere = False
            b.untold = False
            self.write_directory(s)

    def naming_changes_elr(self, s: ClusterState) -> Condition:
        """Whether the ELR is another one after the controller has heard of a directory."""
        return Not(self.elr_when_named(s) == s.controller.elr) if self.features.named_elr_differs else False

    def elr_when_named(self, s: ClusterState) -> SetValue:
        """The ELR after the controller has heard of a directory.

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
        return cluster.builder.next_elr(s, s.changes[0].isr, set(), cluster.reassignment.assigned(s))

    def write_directory(self, s: ClusterState) -> None:
        """Write in which directory a log is: a change of the partition, though leader and ISR stay as they are."""
        cluster = self.cluster
        if self.features.named_elr_differs:
            s.controller.elr = self.elr_when_named(s)
        cluster.metadata_log.write_metadata(
            s, replace(cluster.metadata_log.newest(s), listed=cluster.unassigned.every_listed(s))
        )
        cluster.quorum.commit_at_once(s)

    def drop_accepted_copy(self, s: ClusterState, replica: Replica) -> None:
        """A copy is dropped that the controller may have accepted, and it is to be told where the log is.

        Kafka: ReplicaAlterLogDirsThread.removePartitions.
        """
        b = s.broker[replica]
        if self.rules.dropped_copy_is_taken_back:
            b.untold = Or(b.untold, And(b.accepted, b.elsewhere))
        b.accepted = False

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
        end = b.copied.or_else(0)
        takes: Condition = False
        if self.rules.start_takes_accepted_copy:
            whole = Or(b.offline, end == b.leo) if self.fixes.start_needs_whole_copy else True
            takes = And(b.copied.is_some(), b.elsewhere, whole)
            with when(takes):
                cluster.log.truncate(s, replica, end)
                b.base = b.start
        with when(And(b.elsewhere, b.offline, Not(takes))):
            cluster.log.delete_log(s, replica)
        b.copied = None
        stays = And(b.elsewhere, Not(takes), Not(b.offline))
        b.other_failed = Or(b.other_failed, And(b.offline, b.elsewhere))
        b.offline = And(b.offline, Not(b.elsewhere))
        b.elsewhere = stays
        b.untold = Or(b.untold, stays)

    def forget_untold(self, s: ClusterState, assigned: Assigned) -> None:
        """Nobody names the directory of a replica that is none any more; one that is added again is where it is.

        Kafka: AssignmentsManager, Assignment.valid; PartitionChangeBuilder.setAssignmentChanges.
        """
        if not (self.features.names_directories and self.features.reassigns):
            return
        for replica in self.all(Replica):
            b = s.broker[replica]
            with when(And(b.untold, Not(self.cluster.image.is_assigned(assigned, replica)))):
                with when(Not(b.offline)):
                    s.controller.without_directory -= {replica}
                b.untold = False
                b.elsewhere = False
