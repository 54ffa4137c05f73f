"""A voter's log: what is looked up in it, and how it is cut back.

Offsets begin with 1, as in the TLA+ module, so the end of a log is both how many records it has and the offset of the
last one. Kafka's end is the offset of the next record, which is the same number.
"""

from __future__ import annotations

from typing import Any

from insync.model import (
    NONE,
    And,
    Condition,
    If,
    Index,
    Int,
    Not,
    Num,
    Option,
    Or,
    Record,
    RecordView,
    record,
    when,
)

__all__ = [
    "append",
    "common_end",
    "end_of_epoch",
    "entry",
    "epoch_at",
    "is_later",
    "is_valid_position",
    "last_epoch",
    "truncate",
    "value_at",
]


def entry(value: type[Index], highest: int) -> Record:
    """The domain of a record: epoch 0 is none; a record without a value tells of a new leader (LeaderChange)."""
    return Record(epoch=Int(0, highest), value=Option(value))


def epoch_at(me: RecordView, offset: Num | int) -> Num | int:
    """The epoch of the record at an offset of a log, and 0 where there is none."""
    return me.log[offset - 1].epoch if _is_place(me, offset) else 0


def value_at(me: RecordView, offset: Num | int) -> Any:
    """The value of the record at an offset of a log, and NONE where there is none."""
    return me.log[offset - 1].value if _is_place(me, offset) else NONE


def _is_place(me: RecordView, offset: Num | int) -> bool:
    return not isinstance(offset, int) or 0 < offset <= len(me.log)


def last_epoch(me: RecordView) -> Num | int:
    """The epoch of the last record of a log, and 0 where it is empty (TLA+: LastEpoch)."""
    return epoch_at(me, me.end)


def is_later(epoch: Num | int, offset: Num | int, other_epoch: Num | int, other_offset: Num | int) -> Condition:
    """Whether one end of a log is later than another: by epoch, then by offset (TLA+: CompareEntries)."""
    return Or(epoch > other_epoch, And(epoch == other_epoch, offset > other_offset))


def end_of_epoch(me: RecordView, epoch: Num | int) -> Num | int:
    """The highest offset with a record of this epoch or a lower one, and 0 where there is none.

    TLA+: EndOffsetForEpoch, whose epoch is that of the record there. Kafka: ReplicatedLog.endOffsetForEpoch.
    """
    found: Num | int = 0
    for offset in _offsets(me):
        found = If(And(offset <= me.end, epoch_at(me, offset) <= epoch), offset, found)
    return found


def is_valid_position(me: RecordView, offset: Num | int, epoch: Num | int) -> Condition:
    """Whether a log that ends so is a prefix of this one (TLA+: ValidFetchPosition; Kafka: validateOffsetAndEpoch)."""
    end = end_of_epoch(me, epoch)
    return Or(And(offset == 0, epoch == 0), And(offset <= end, epoch == epoch_at(me, end)))


def common_end(me: RecordView, end: Num | int, epoch: Num | int) -> Num | int:
    """The highest offset whose record is not later than the end that a leader named (TLA+: HighestCommonOffset)."""
    found: Num | int = 0
    for offset in _offsets(me):
        later = is_later(epoch_at(me, offset), offset, epoch, end)
        found = If(And(offset <= me.end, Not(later)), offset, found)
    return found


def truncate(me: RecordView, end: Num | int) -> None:
    """Cut a log back (TLA+: TruncateLog)."""
    for offset in _offsets(me):
        with when(offset > end):
            me.log[offset - 1] = record(epoch=0, value=NONE)
    me.end = end


def append(me: RecordView, epoch: Num | int, value: Any) -> None:
    """Write a record behind the last one."""
    me.log[me.end] = record(epoch=epoch, value=value)
    me.end += 1


def agreed_end(me: RecordView, i: Index, has: dict[Any, Num], voters: int) -> Num | int:
    """The highest offset that a majority has, and 0 where there is none (TLA+: NewHighwaterMark, agreeOffsets)."""
    found: Num | int = 0
    for offset in _offsets(me):
        holders: Any = 1 + sum((If(And(j != i, end >= offset), 1, 0) for j, end in has.items()), start=0)
        found = If(And(offset <= me.end, 2 * holders > voters), offset, found)
    return found


def _offsets(me: RecordView) -> range:
    return range(1, len(me.log) + 1)
