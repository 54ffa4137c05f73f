"""Kafka before KIP-101: a new follower truncates its log to its own high watermark."""

from __future__ import annotations

from insync.kafka.published.replication import Replica, Replication
from insync.model import Num, StateView, require

__all__ = ["TruncateToHighWatermark"]


class TruncateToHighWatermark(Replication):
    """Before KIP-101 (0.8 to 0.10): a new follower truncates to its own high watermark, whoever leads.

    That watermark lags behind the leader's by a fetch, so a follower may drop records that are committed.
    """

    def truncation_offset(self, s: StateView, leader: Replica, follower: Replica) -> Num:
        """The follower's high watermark."""
        f = s.replica[follower]
        require(f.hw <= f.leo)
        return f.hw
