"""A read that races with an append, where `reads_end_at_watermark` says that it may go beyond the high watermark.

The reader looks twice at how large the log's file is: whether it is to read to the end, and where that is. What is
appended between is then read too (KAFKA-9835).

Kafka: FileRecords.slice, before 2.5.1.
"""

from __future__ import annotations

from insync.kafka.cluster.actor import Actor
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import action, require

__all__ = ["RacingReads"]


class RacingReads(Actor):
    """What the consumer gets beside a write."""

    @action(label="the consumer reads from {replica} what is appended meanwhile")
    def consume_beyond(self, s: ClusterState, replica: Replica) -> None:
        """The consumer gets the last record below the high watermark, and the one that was appended as it was read.

        When it began to read, the log ended at the high watermark. Kafka: LogSegment.read, FileRecords.slice.
        """
        require(self.features.consumes, not self.rules.reads_end_at_watermark)
        c, r = s.consumer, s.broker[replica]
        require(self.serves_consumer(s, replica), r.start <= c.position, c.position + 1 == r.hw, r.hw + 1 == r.leo)
        self.take_record(s, replica)
        self.take_record(s, replica)
