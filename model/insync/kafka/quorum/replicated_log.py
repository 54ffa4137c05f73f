"""A server's log: what is looked up in it, and how it grows and is cut (Kafka: ReplicatedLog, since 4.3 RaftLog)."""

from __future__ import annotations

from insync.kafka.quorum.part import Part
from insync.kafka.quorum.state import LogEntry, ServerState, Some
from insync.model import (
    NONE,
    And,
    Condition,
    If,
    Not,
    Num,
    Or,
    record,
    when,
)

__all__ = ["ReplicatedLog", "common_end", "end_of_epoch", "epoch_at", "is_later", "is_valid_position", "last_epoch"]


class ReplicatedLog(Part):
    """How logs grow and are cut."""

    def append(
        self,
        me: ServerState,
        *,
        epoch: Num | int | None = None,
        value: Some = NONE,
        added: Some = NONE,
        removed: Some = NONE,
    ) -> None:
        """Write a record behind the last one; of a leader it is of its epoch."""
        its = me.epoch if epoch is None else epoch
        me.log[me.end] = record(epoch=its, value=value, added=added, removed=removed)
        me.end += 1

    def record_after(self, me: ServerState, offset: Num | int) -> LogEntry:
        """Return the record behind an offset; behind the last place of a log any, which nobody reads."""
        last = self.quorum.capacity - 1
        return me.log[min(offset, last) if isinstance(offset, int) else offset]

    def truncate(self, me: ServerState, end: Num | int) -> None:
        """Cut a log back. Kafka: RaftLog.truncateToEndOffset."""
        for offset in offsets(me):
            with when(offset > end):
                me.log[offset - 1] = record(epoch=0, value=NONE, added=NONE, removed=NONE)
        me.end = end


def epoch_at(me: ServerState, offset: Num | int) -> Num | int:
    """Return the epoch of the record at an offset of a log, and 0 where there is none."""
    return me.log[offset - 1].epoch if _is_place(me, offset) else 0


def _is_place(me: ServerState, offset: Num | int) -> bool:
    return not isinstance(offset, int) or 0 < offset <= len(me.log)


def last_epoch(me: ServerState) -> Num | int:
    """Return the epoch of the last record of a log, and 0 where it is empty."""
    return epoch_at(me, me.end)


def is_later(epoch: Num | int, offset: Num | int, other_epoch: Num | int, other_offset: Num | int) -> Condition:
    """Return whether one end of a log is later than another: by epoch, then by offset. Kafka: OffsetAndEpoch."""
    return Or(epoch > other_epoch, And(epoch == other_epoch, offset > other_offset))


def end_of_epoch(me: ServerState, epoch: Num | int) -> Num | int:
    """Return the highest offset with a record of this epoch or a lower one, and 0 where there is none.

    Kafka: RaftLog.endOffsetForEpoch.
    """
    found: Num | int = 0
    for offset in offsets(me):
        found = If(And(offset <= me.end, epoch_at(me, offset) <= epoch), offset, found)
    return found


def is_valid_position(me: ServerState, offset: Num | int, epoch: Num | int) -> Condition:
    """Return whether a log that ends so is a prefix of this one. Kafka: RaftLog.validateOffsetAndEpoch."""
    end = end_of_epoch(me, epoch)
    return Or(And(offset == 0, epoch == 0), And(offset <= end, epoch == epoch_at(me, end)))


def common_end(me: ServerState, end: Num | int, epoch: Num | int) -> Num | int:
    """Return the highest offset whose record is not later than the end that a leader named."""
    found: Num | int = 0
    for offset in offsets(me):
        later = is_later(epoch_at(me, offset), offset, epoch, end)
        found = If(And(offset <= me.end, Not(later)), offset, found)
    return found


def offsets(me: ServerState) -> range:
    """Return the offsets that a log can have."""
    return range(1, len(me.log) + 1)
