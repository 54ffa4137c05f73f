"""What waits at a broker for a high watermark by its offset, where `waiting_writes_need_leader` says so (KAFKA-20634).

A group coordinator appends what it is asked to store, and answers when the high watermark passes that offset. It is
unloaded some time after its broker has begun to follow another. Here what waits is kept until the log is closed or the
broker leads again; that it is given up before is no step, as nothing is answered by that.

Kafka: CoordinatorRuntime, CoordinatorPartitionWriter.ListenerAdapter.
"""

from __future__ import annotations

from insync.kafka.cluster.configuration import Acks
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Num, when

__all__ = ["GroupCoordinator"]


class GroupCoordinator(Part):
    """Who has appended records and answers for them later."""

    def keep_back(self, s: ClusterState, leader: Replica, record: Num) -> None:
        """Keep back the answer for a record that is about to be appended at the log's end."""
        if not self.features.keeps_writes_waiting:
            return
        l = s.broker[leader]
        for offset in range(self.b.records):
            with when(l.leo == offset):
                l.coordinator_writes[offset] = record

    def answer_passed(self, s: ClusterState, replica: Replica, reached: Num) -> None:
        """Answer for what was appended at each offset that a follower's high watermark passes, whatever is there now.

        Kafka: CoordinatorRuntime.HighWatermarkListener, SnapshottableCoordinator.updateLastCommittedOffset.
        """
        if not self.features.keeps_writes_waiting:
            return
        b = s.broker[replica]
        for offset in range(self.b.records):
            with when(And(b.hw <= offset, offset < reached, b.coordinator_writes[offset].is_some())):
                if self.acks is Acks.ALL:
                    s.acked |= {b.coordinator_writes[offset].or_else(0)}
                b.coordinator_writes[offset] = None

    def give_up_waiting(self, s: ClusterState, replica: Replica) -> None:
        """Answer with an error, from which nobody can conclude anything.

        Kafka: CoordinatorRuntime.CoordinatorContext.unload.
        """
        for offset in range(self.b.records):
            s.broker[replica].coordinator_writes[offset] = None
