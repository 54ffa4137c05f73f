"""The high watermark of a leader: which replicas it waits for, and what clients learn as it moves.

Kafka: Partition.maybeIncrementLeaderHW, checkEnoughReplicasReachOffset, DelayedProduce.
"""

from __future__ import annotations

from insync.kafka.cluster.configuration import Acks
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.releases import Counting, StrictMinimum
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Num, Or, SetValue, minimum, when

__all__ = ["HighWatermark"]


class HighWatermark(Part):
    """How a leader's high watermark rises, and what clients are told as it does."""

    def maximal_isr(self, s: ClusterState, leader: Replica) -> SetValue:
        """The members of the committed and of the proposed ISR (PartitionState.maximalIsr)."""
        return self.cluster.image.registration_of(s, leader).isr | s.broker[leader].pending_isr

    def counted(self, s: ClusterState, leader: Replica) -> SetValue:
        """The replicas that the high watermark waits for."""
        isr, pending = self.cluster.image.registration_of(s, leader).isr, s.broker[leader].pending_isr
        if self.guards.counting is Counting.COMMITTED:
            return isr
        if self.guards.counting is Counting.PROPOSED:
            return If(pending.is_empty(), isr, pending)
        return isr | pending

    def advance_watermark(
        self, s: ClusterState, leader: Replica, least: Num | None = None, asked_for: SetValue | None = None
    ) -> None:
        """Raise the high watermark of a leader to the least log end that it knows of those that count.

        It is tried after an append, after a fetch that shows another log end, and with each state of the partition that
        is committed: not with a proposal, a refusal, or a change of min.insync.replicas.
        Kafka: Partition.maybeIncrementLeaderHW, by appendRecordsToLeader, updateFollowerFetchState, makeLeader and
        handleAlterPartitionUpdate.

        Args:
            s: the state.
            leader: the leader.
            least: min.insync.replicas as it knows it at this moment, if that is not what its metadata says.
            asked_for: who counts although the leader has not asked for it yet.
        """
        l = s.broker[leader]
        least = self.cluster.topic_config.minimum_at(s, leader) if least is None else least
        counted = self.counted(s, leader) if asked_for is None else self.counted(s, leader) | asked_for
        ends = [
            If(And(is_other, counted.contains(f)), l.remote_replicas[f].leo.or_else(-1), l.leo)
            for f, is_other in self.beside(leader)
        ]
        reached = minimum(l.leo, *ends)
        with when(And(self.may_advance(s, leader, least), reached > l.hw)):
            # The leader has looked at a follower under a lock that keeps its own log and high watermark as they are.
            l.seen_in_sync = set()
            self.tell_clients(s, leader, reached, least)
            l.hw = reached

    def may_advance(self, s: ClusterState, leader: Replica, least: Num | None = None) -> Condition:
        """Whether the ISR is large enough for the high watermark to move, with a minimum or that of its metadata."""
        cluster = self.cluster
        if self.rules.strict_minimum is StrictMinimum.NO:
            return True
        maximal = self.rules.strict_minimum is StrictMinimum.MAXIMAL
        isr = self.maximal_isr(s, leader) if maximal else cluster.image.registration_of(s, leader).isr
        return isr.count() >= (cluster.topic_config.minimum_at(s, leader) if least is None else least)

    def tell_clients(self, s: ClusterState, leader: Replica, reached: Num, least: Num) -> None:
        """Note what clients learn as a leader's high watermark moves: records to be read, and acknowledgements.

        A record is acknowledged by the leader that has appended it, if that has led ever since and the ISR is large
        enough at that moment; else the answer is an error, NOT_ENOUGH_REPLICAS_AFTER_APPEND.
        Kafka: Partition.checkEnoughReplicasReachOffset, DelayedProduce.tryComplete.
        """
        l = s.broker[leader]
        enough = self.maximal_isr(s, leader).count() >= least
        for offset in range(self.b.records):
            record, passed = l.log[offset], And(l.hw <= offset, offset < reached)
            with when(And(passed, s.seen[offset].is_none())):
                s.seen[offset] = record
            with when(passed):
                l.coordinator_writes[offset] = None
            if self.acks is Acks.ALL:
                with when(And(passed, enough, l.led_since <= offset)):
                    s.acked |= {record}
                    # A lower min.insync.replicas demands fewer copies, also before the leader applies it.
                    needed = minimum(least, self.cluster.topic_config.needed_of(s.registrations[0]))
                    thin = self.copies(s, leader, offset) + s.spent.power_failures + s.spent.log_dir_losses < needed
                    s.acked_under_min_isr = Or(s.acked_under_min_isr, thin)

    def copies(self, s: ClusterState, leader: Replica, offset: int) -> Num:
        """How many replicas, running or not, have the leader's record at an offset."""
        record = s.broker[leader].log[offset]
        others = [
            And(is_other, self.cluster.log.holds(s, r, offset), s.broker[r].log[offset] == record)
            for r, is_other in self.beside(leader)
        ]
        return sum([If(has_it, 1, 0) for has_it in others], start=1)
