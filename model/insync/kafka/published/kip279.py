"""KIP-279 (Kafka 2.0): truncation finds the last point at which both logs agree."""

from __future__ import annotations

from insync.kafka.published.replication import RecordOffset, Replica, Replication
from insync.model import If, Num, StateView, max_of

__all__ = ["Kip279"]


class Kip279(Replication):
    """KIP-279: a new follower truncates to just after the last record that it shares with the leader.

    The code gets there by asking again with an older epoch each time; the module compares both logs at once.
    """

    def truncation_offset(self, s: StateView, leader: Replica, follower: Replica) -> Num:
        """One more than the last offset at which both logs have the same record, or 0 where there is none.

        TLA+: FirstNonMatchingOffsetFromTail.
        """
        return max_of(RecordOffset, lambda offset: If(self.same_record(s, leader, follower, offset), offset + 1, 0))
