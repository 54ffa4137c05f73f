"""The log of a replica and its epoch cache: where epochs end, truncation, appending.

Kafka: UnifiedLog and LeaderEpochFileCache.
"""

from __future__ import annotations

from insync.kafka.cluster.settings import Flushing
from insync.kafka.cluster.state import ClusterState, Replica
from insync.model import And, Condition, If, Num, Or, StateView, maximum, minimum

__all__ = ["Logs"]


class Logs(ClusterState):
    """What brokers do with their logs."""

    name = "cluster_logs"

    def start_of(self, s: StateView, replica: Replica) -> Num | int:
        """The log start offset: records below it are deleted."""
        return s.broker[replica].start if self.b.deletions else 0

    def holds(self, s: StateView, replica: Replica, offset: int) -> Condition:
        """Whether a log has a record at an offset."""
        return And(self.start_of(s, replica) <= offset, offset < s.broker[replica].leo)

    def start_at(self, s: StateView, replica: Replica, start: Num | int) -> None:
        """Raise the log start offset, to no more than the high watermark (UnifiedLog.maybeIncrementLogStartOffset)."""
        b = s.broker[replica]
        b.start = maximum(b.start, start)
        for offset in range(self.b.records):
            b.log[offset] = If(offset < b.start, 0, b.log[offset])

    def end_of_epoch(self, s: StateView, replica: Replica, epoch: Num | int) -> Num | int:
        """The end of the records of this epoch and of all earlier ones.

        The cache answers with the start of the next larger epoch, or the log's end if there is none; that is the same,
        because the epochs of a log never fall. Kafka: LeaderEpochFileCache.endOffsetFor.
        """
        b = s.broker[replica]
        end: Num | int = 0
        for offset in range(self.b.records):
            earlier = Or(offset < self.start_of(s, replica), self.epoch_at(s, replica, offset) <= epoch)
            end = If(And(offset < b.leo, earlier), offset + 1, end)
        return end

    def floor_epoch(self, s: StateView, replica: Replica, epoch: Num) -> Num:
        """The largest epoch in the cache that is not above this one, -1 if there is none.

        Kafka: LeaderEpochFileCache.endOffsetFor.
        """
        b = s.broker[replica]
        floor: Num | int = -1
        for offset in range(self.b.records):
            found = self.epoch_at(s, replica, offset)
            floor = If(And(self.holds(s, replica, offset), found <= epoch), found, floor)
        return If(b.term <= epoch, maximum(b.term, floor), floor)

    def truncate(self, s: StateView, replica: Replica, end: Num | int) -> None:
        """Cut a log back to an end that is not beyond its own, the high watermark and the epoch cache with it.

        An epoch without records begins at the log's end, so the cache loses it in every truncation, also in one that
        removes no record. Kafka: UnifiedLog.truncateTo, LeaderEpochFileCache.truncateFromEnd.
        """
        b = s.broker[replica]
        newest: Num | int = -1
        for offset in range(self.b.records):
            kept = offset < end
            newest = If(And(kept, offset >= self.start_of(s, replica)), self.epoch_at(s, replica, offset), newest)
            b.log[offset] = If(kept, b.log[offset], 0)
        b.term = newest
        b.leo = end
        b.hw = minimum(b.hw, end)
        if self.b.deletions:
            b.start = minimum(b.start, end)
        if self.flushing is Flushing.SOMETIMES:
            b.flushed = minimum(b.flushed, end)
        if self.b.moves:
            b.copied = If(b.copied.is_some(), minimum(b.copied.or_else(0), end), None)

    def delete_log(self, s: StateView, replica: Replica, when: Condition) -> None:
        """Delete a replica that its broker no longer has, where `when` holds (LogManager.asyncDelete)."""
        b = s.broker[replica]
        for offset in range(self.b.records):
            b.log[offset] = If(when, 0, b.log[offset])
        b.leo = If(when, 0, b.leo)
        b.hw = If(when, 0, b.hw)
        b.term = If(when, -1, b.term)
        if self.b.deletions:
            b.start = If(when, 0, b.start)
        if self.flushing is Flushing.SOMETIMES:
            b.flushed = If(when, 0, b.flushed)
        if self.b.moves:
            b.copied = If(when, None, b.copied)

    def append(self, s: StateView, replica: Replica, record: Num, epoch: Num) -> None:
        """Add a record at the end; its epoch enters the cache unless a later one is there.

        Kafka: UnifiedLog.append, LeaderEpochFileCache.assign.
        """
        b = s.broker[replica]
        for offset in range(self.b.records):
            b.log[offset] = If(b.leo == offset, record, b.log[offset])
        b.leo += 1
        b.term = maximum(b.term, epoch)
