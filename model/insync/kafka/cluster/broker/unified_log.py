"""The log of a replica and its epoch cache: where epochs end, truncation, appending.

Kafka: UnifiedLog and LeaderEpochFileCache.
"""

from __future__ import annotations

from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Num, Or, maximum, minimum, when

__all__ = ["UnifiedLog"]


class UnifiedLog(Part):
    """What brokers do with their logs."""

    def holds(self, s: ClusterState, replica: Replica, offset: int) -> Condition:
        """Whether a log has a record at an offset."""
        b = s.broker[replica]
        return And(b.log_start <= offset, offset < b.leo)

    def epoch_at(self, s: ClusterState, replica: Replica, offset: Num | int) -> Num:
        """The leader epoch of the record at an offset below the log's end; every record is written in one epoch."""
        return s.epoch_of[s.broker[replica].log[offset]]

    def raise_start(self, s: ClusterState, replica: Replica, start: Num | int) -> None:
        """Delete the records below an offset (UnifiedLog.maybeIncrementLogStartOffset)."""
        b = s.broker[replica]
        b.log_start = maximum(b.log_start, start)
        for offset in range(self.b.records):
            with when(offset < b.log_start):
                b.log[offset] = 0

    def end_of_epoch(self, s: ClusterState, replica: Replica, epoch: Num | int) -> Num:
        """The end of the records of this epoch and of all earlier ones.

        The cache answers with the start of the next larger epoch, or the log's end if there is none; that is the same,
        because the epochs of a log never fall. Kafka: LeaderEpochFileCache.endOffsetFor.
        """
        b = s.broker[replica]

        def end(offset: int) -> Num:
            deleted = offset < b.log_start
            within = And(offset < b.leo, Or(deleted, self.epoch_at(s, replica, offset) <= epoch))
            return If(within, offset + 1, 0)

        return maximum(0, *map(end, range(self.b.records)))

    def floor_epoch(self, s: ClusterState, replica: Replica, epoch: Num) -> Num:
        """The largest epoch in the cache that is not above this one, -1 if there is none.

        Kafka: LeaderEpochFileCache.endOffsetFor.
        """
        b = s.broker[replica]
        floor: Num | int = -1
        for offset in range(self.b.records):
            found = self.epoch_at(s, replica, offset)
            floor = If(And(self.holds(s, replica, offset), found <= epoch), found, floor)
        return If(b.latest_epoch <= epoch, maximum(b.latest_epoch, floor), floor)

    def truncate(self, s: ClusterState, replica: Replica, end: Num | int) -> None:
        """Cut a log back to an end that is not beyond its own, the high watermark and the epoch cache with it.

        An epoch without records begins at the log's end, so the cache loses it in every truncation, also in one that
        removes no record. Kafka: UnifiedLog.truncateTo, LeaderEpochFileCache.truncateFromEnd.
        """
        b = s.broker[replica]
        b.latest_epoch = If(end > b.log_start, self.epoch_at(s, replica, maximum(end - 1, 0)), -1)
        for offset in range(self.b.records):
            with when(offset >= end):
                b.log[offset] = 0
        b.leo = end
        b.hw = minimum(b.hw, end)
        b.log_start = minimum(b.log_start, end)
        b.segment_base = minimum(b.segment_base, end)
        b.flushed = minimum(b.flushed, end)
        with when(b.future_leo.is_some()):
            b.future_leo = minimum(b.future_leo.or_else(0), end)

    def delete_log(self, s: ClusterState, replica: Replica) -> None:
        """Delete a replica that its broker no longer has (LogManager.asyncDelete)."""
        b = s.broker[replica]
        for offset in range(self.b.records):
            b.log[offset] = 0
        b.leo = 0
        b.hw = 0
        b.latest_epoch = -1
        b.log_start = 0
        b.segment_base = 0
        b.flushed = 0
        b.future_leo = None
        b.to_assign = False

    def append(self, s: ClusterState, replica: Replica, record: Num, epoch: Num) -> None:
        """Add a record at the end; its epoch enters the cache unless a later one is there.

        Kafka: UnifiedLog.append, LeaderEpochFileCache.assign.
        """
        b = s.broker[replica]
        for offset in range(self.b.records):
            with when(b.leo == offset):
                b.log[offset] = record
        b.leo += 1
        b.latest_epoch = maximum(b.latest_epoch, epoch)
