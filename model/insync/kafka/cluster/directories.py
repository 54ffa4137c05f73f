"""The directories of a broker: moving a replica's log to another one (KIP-113), and losing the one it is in.

Kafka: ReplicaAlterLogDirsThread, LogManager.
"""

from __future__ import annotations

from insync.kafka.cluster.actor import Actor
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, If, Implies, Not, action, require, when

__all__ = ["Directories"]


class Directories(Actor):
    """What operators do to the logs of a broker."""

    @action(label="{replica} begins to copy its log")
    def start_move(self, s: ClusterState, replica: Replica) -> None:
        """An operator moves a replica to another directory of its broker: a future log begins, empty.

        Kafka: ReplicaManager.alterReplicaLogDirs, which answers REPLICA_NOT_AVAILABLE where there is no replica.
        """
        b = s.broker[replica]
        require(self.is_assigned(self.view_of(s, replica), replica))
        require(s.spent.moves < self.b.moves, self.is_online(s, replica), b.copied.is_none())
        require(self.has_other_directory(s, replica))
        s.spent.moves += 1
        b.copied = 0

    @action(label="{replica} copies a record")
    def copy_record(self, s: ClusterState, replica: Replica) -> None:
        """The future log gets the next record; it is cut back whenever the log is (`Logs.truncate`).

        Where it ends before the log begins, it begins anew there, and gets nothing yet.
        Kafka: ReplicaAlterLogDirsThread.processPartitionData, AbstractFetcherThread.fetchOffsetAndTruncate.
        """
        b = s.broker[replica]
        end = b.copied.or_else(0)
        require(self.is_online(s, replica), b.copied.is_some(), end < b.leo)
        b.copied = If(end < b.start, b.start, end + 1)

    @action(label="{replica} drops the copy of its log")
    def cancel_move(self, s: ClusterState, replica: Replica) -> None:
        """An operator takes a move back: the future log is deleted, and the log stays where it is.

        Kafka: ReplicaManager.alterReplicaLogDirs, Partition.removeFutureLocalReplica.
        """
        b = s.broker[replica]
        require(self.is_online(s, replica), b.copied.is_some())
        b.copied = None
        self.drop_accepted_copy(s, replica)

    @action(label="{replica} loses its directory")
    def lose_directory(self, s: ClusterState, replica: Replica) -> None:
        """While a broker is down the directory with its log is taken out of log.dirs; it will begin anew.

        Whether it was stopped cleanly is noted in each directory, and only those that are configured at the start are
        asked. A new disk in its place has no such note, so that counts as a crash; one that fails keeps the stop from
        counting, and one that is not formatted the broker from starting.
        Kafka: LogManager.readBrokerEpochFromCleanShutdownFiles, Partition.createLogInAssignedDirectoryId.
        """
        b = s.broker[replica]
        require(s.spent.directory_losses < self.b.directory_losses, Not(b.running), b.leo > 0)
        s.spent.directory_losses += 1
        require(Not(b.elsewhere))  # its copy would take the place of the log
        require(self.has_other_directory(s, replica))
        self.delete_log(s, replica)
        b.offline = False
        b.untold = True
        if self.fixes.clean_stop_names_directories:
            b.clean = False

    @action(label="{replica} replaces its log by the copy")
    def swap_log(self, s: ClusterState, replica: Replica) -> None:
        """The future log takes the place of the log, once it has all of it.

        Its epoch cache is made of its records, so an epoch without records is missing from it (KAFKA-20961).
        Kafka: Partition.maybeReplaceCurrentWithFutureReplica, LogManager.replaceCurrentWithFutureLog.
        """
        b = s.broker[replica]
        end = b.copied.or_else(0)
        require(b.running, b.copied.is_some(), end == b.leo if self.guards.swap_needs_whole_copy else True)
        if self.features.directories_are_assigned:
            require(b.accepted)
        else:
            require(Not(b.untold))  # as `accept_copy`
            changes = self.naming_changes_elr(s)  # the controller accepts the copy in this step
            require(Implies(changes, And(self.is_active(s), self.has_room(s, self.newest(s)))))
            with when(changes):
                self.write_directory(s)
        self.truncate(s, replica, end)
        b.base = b.start
        b.copied = None
        b.accepted = False
        b.elsewhere = Not(b.elsewhere)
