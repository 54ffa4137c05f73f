"""Records that an operator deletes, and when a leader says that they are gone: the low watermark of a partition.

A leader knows the log start of its followers by their fetches. It answers DeleteRecords when all replicas whose brokers
are not fenced have deleted the records: others may have them still. Kafka: Partition.lowWatermarkIfLeader,
DelayedDeleteRecords (KIP-107).
"""

from __future__ import annotations

from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import CLIENTS, Coded, arrow, operation, step
from insync.kafka.replica import Replica
from insync.model import And, Condition, Implies, Not, Num, Or, maximum, require, when

__all__ = ["DeleteRecords"]


class DeleteRecords(Part):
    """How records are deleted, what a leader knows of log starts, and when it answers."""

    @step(
        "{leader} deletes a record",
        needs=operation("a record is deleted at {leader}, by an operator or by age"),
        drawn=arrow(CLIENTS, "{leader}", "delete"),
        by_view=True,
        classes=Coded("`Partition.deleteRecordsOnLeader`"),
    )
    def delete_record(self, s: ClusterState, leader: Replica) -> None:
        """A leader deletes its first record, which is committed; an operator waits for the answer before the next one.

        A record that is deleted because it is old is deleted in the same way.
        Kafka: Partition.deleteRecordsOnLeader, ReplicaManager.deleteRecords, UnifiedLog.deleteOldSegments.
        """
        cluster = self.cluster
        l = s.broker[leader]
        require(s.spent.delete_records < self.b.delete_records, cluster.image.leads(s, leader), l.log_start < l.hw)
        require(l.deleting == 0)
        s.spent.delete_records += 1
        s.deleted |= {l.log[l.log_start]}
        cluster.log.raise_start(s, leader, l.log_start + 1)
        l.deleting = l.log_start
        self.answer_deletion(s, leader)

    def note_start(self, s: ClusterState, leader: Replica, follower: Replica) -> None:
        """A fetch says where the follower's log starts (Replica.updateFetchStateOrThrow)."""
        if self.features.deletes:
            s.broker[leader].remote_replicas[follower].log_start = s.broker[follower].log_start
            self.answer_deletion(s, leader)

    def answer_deletion(self, s: ClusterState, leader: Replica) -> None:
        """Answer an operator once the low watermark has reached what it asked for.

        It is looked at with every fetch. In Kafka only where that fetch, or a high watermark, has moved something: if
        a replica is fenced that it waits for, the answer may come later. The leader knows who is fenced if its
        metadata is the newest, and not a response; else it takes all for alive.
        Kafka: Partition.lowWatermarkIfLeader, DelayedDeleteRecords.tryComplete.
        """
        cluster = self.cluster
        l, view = s.broker[leader], cluster.image.registration_of(s, leader)
        end = l.deleting
        waits = []
        for follower, is_other in self.beside(leader):
            unknown = Or(cluster.quorum.is_late(s, leader), l.isr_from_response)
            alive = And(cluster.image.is_assigned(view, follower), Or(Not(self.counts_as_fenced(s, follower)), unknown))
            counts = alive if self.guards.low_watermark_counts_live else view.isr.contains(follower)
            if self.fixes.low_watermark_counts_electable:
                counts = Or(
                    counts,
                    cluster.high_watermark.maximal_isr(s, leader).contains(follower),
                    cluster.quorum.known_elr(s).contains(follower),
                )
            waits.append(Implies(And(is_other, counts), l.remote_replicas[follower].log_start >= end))
        with when(And(end > 0, *waits)):
            s.undone = Or(
                s.undone,
                *[
                    And(is_other, cluster.image.is_assigned(view, r), self.is_live_with(s, r, end))
                    for r, is_other in self.beside(leader)
                ],
            )
            s.deleted_below = maximum(s.deleted_below, end)
            l.deleting = 0

    def counts_as_fenced(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether brokers know a replica's broker as fenced: one that has asked to stop is not, until it has ended."""
        return And(self.cluster.quorum.known_fenced(s).contains(replica), Not(s.broker[replica].in_controlled_shutdown))

    def is_live_with(self, s: ClusterState, replica: Replica, end: Num) -> Condition:
        """Whether a replica that runs and is not fenced has a record below an offset."""
        cluster = self.cluster
        b = s.broker[replica]
        live = And(
            b.running,
            Not(cluster.quorum.known_fenced(s).contains(replica)),
            cluster.image.is_assigned(s.registrations[0], replica),
        )
        return And(live, b.log_start < end, b.log_start < b.leo)

    def forget_starts(self, s: ClusterState, leader: Replica) -> None:
        """Forget log starts and who waits for an answer: it gets NOT_LEADER_OR_FOLLOWER."""
        if self.features.deletes:
            s.broker[leader].deleting = 0
            for follower, is_other in self.beside(leader):
                with when(is_other):
                    s.broker[leader].remote_replicas[follower].log_start = 0
