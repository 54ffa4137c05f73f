"""The directory of a log's copy fails, with `moves` and `directory_failures`; the log stays where it is.

Each broker has two directories here: that of the log, and another one for the copy. One that has failed stays away, so
the broker copies nothing any more; what would be in it if it came back is not modelled. A broker whose log's directory
fails as well has none left and ends, which is a crash.

Kafka: ReplicaManager.handleLogDirFailure, Partition.removeFutureLocalReplica.
"""

from __future__ import annotations

from insync.kafka.cluster.actor import Actor
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, Not, Or, action, require

__all__ = ["CopyDirectories"]


class CopyDirectories(Actor):
    """What becomes of a copy whose directory fails."""

    @action(label="the directory of {replica}'s copy fails")
    def fail_copy_directory(self, s: ClusterState, replica: Replica) -> None:
        """The directory to which a log is copied fails: the copy is dropped, and the broker goes on with the log.

        If the controller has accepted the copy it takes the log to be in the directory that has failed, until it hears
        where it is (`name_directory`); if it hears of the failure before that, it takes the replica for offline
        (`report_directory`). In 3.7.0, which does not take an accepted copy back, the broker has still to tell where
        its log is if it has heard that the controller takes it to be elsewhere.

        Kafka: ReplicaManager.handleLogDirFailure and maybeUpdateTopicAssignment,
        ReplicaAlterLogDirsThread.removePartitions.
        """
        b = s.broker[replica]
        require(self.features.copies_may_fail, s.spent.directory_failures < self.b.directory_failures)
        require(self.is_online(s, replica), b.copied.is_some())
        s.spent.directory_failures += 1
        b.copied = None
        if not self.rules.dropped_copy_is_taken_back:
            b.untold = Or(b.untold, And(b.to_hear, b.elsewhere, self.has_applied_all(s, replica)))
        self.drop_accepted_copy(s, replica)
        b.other_failed = True

    def is_astray(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether the controller takes a log to be in a directory that has failed, where it is not."""
        return And(s.broker[replica].elsewhere, s.broker[replica].other_failed)

    def has_other_directory(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether a broker has another directory than that of its log."""
        return Not(s.broker[replica].other_failed)
