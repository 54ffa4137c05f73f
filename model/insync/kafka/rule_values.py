"""The rules of Kafka's replication that have more than two ways: each way is a sentence."""

from __future__ import annotations

from enum import Enum

__all__ = [
    "ControllerFence",
    "Counting",
    "IsrWrite",
    "MinimumChange",
    "ReassignmentEnd",
    "StaleReply",
    "StrictMinimum",
    "Truncation",
]


class Truncation(Enum):
    """How a follower finds the end of what it shares with a new leader."""

    HIGH_WATERMARK = "it cuts its log back to its own high watermark (before KIP-101)"
    EPOCH_OFFSET = "it asks for the end of its last epoch and gets an offset (KIP-101, 0.11)"
    EPOCH_PAIR = "it gets the largest epoch up to its own with its end, and may ask again (KIP-279, 2.0)"
    ON_FETCH = "the fetch carries its last epoch, and the leader answers where they diverge (KAFKA-10554, 2.8)"

    @property
    def asks_first(self) -> bool:
        """Whether a follower asks for the end of an epoch before it fetches (OffsetsForLeaderEpoch)."""
        return self in (Truncation.EPOCH_OFFSET, Truncation.EPOCH_PAIR)


class IsrWrite(Enum):
    """How a leader changes the ISR."""

    DIRECT = "it writes to ZooKeeper itself, by compare-and-set, and knows the outcome at once"
    PROPOSED = "it sends AlterPartition to the controller and goes on meanwhile (KIP-497, 2.7)"


class Counting(Enum):
    """Which set a leader's high watermark waits for while its own proposal is pending (KIP-497)."""

    MAXIMAL = "every member of the committed or of the proposed ISR"
    COMMITTED = "the members of the committed ISR alone: an expansion does not count yet"
    PROPOSED = "the members of the proposed ISR alone: a shrink counts already"


class StrictMinimum(Enum):
    """Whether the high watermark stands still while the ISR is smaller than min.insync.replicas."""

    NO = "it moves with any ISR"
    COMMITTED = "it needs min.insync.replicas members of the committed ISR (KAFKA-15583, 3.7)"
    MAXIMAL = "it needs min.insync.replicas members of the maximal ISR"


class ControllerFence(Enum):
    """What keeps a deposed controller from writing: KafkaZkClient.updateLeaderAndIsr; with KRaft the log's epoch."""

    EPOCH = "each write is refused once there is another controller epoch (KAFKA-6082, 2.1)"
    VERSION = "a write is refused if the state has changed since it was read, or a newer controller has written it"
    NOTHING = "a write replaces what is there; no release does"


class ReassignmentEnd(Enum):
    """What a reassignment waits for before it removes anybody (PartitionReassignmentReplicas)."""

    ADDED = "all replicas that are added are in the ISR (3.0 to 3.7)"
    TARGETS = "all replicas that stay are in the ISR (KAFKA-15665, 3.8 to 4.2)"
    ADDED_UNLESS_FEWER = (
        "all replicas that are added are in the ISR, and where fewer are added than removed all that stay "
        "(KAFKA-19975, 4.3)"
    )


class MinimumChange(Enum):
    """How a change of min.insync.replicas reaches a broker; BrokerMetadataPublisher.onMetadataUpdate."""

    PARTITION = "as a change of the partition, which makes proposals of the ISR stale: a simplification before KRaft"
    BEFORE_TOPICS = "as configuration, which the broker takes before the topics of the same batch; no release does"
    AFTER_TOPICS = "as configuration, which the broker takes after the topics of the same batch (KRaft)"


class StaleReply(Enum):
    """Which replies to a fetch are dropped as too late; AbstractFetcherThread.processFetchRequest."""

    OTHER_LEADER_RECORDS = "as below, but for one that says where logs diverge: it truncates whatever the follower does"
    OTHER_LEADER = "those of a broker that the follower no longer follows (KAFKA-13207, 2.8.1)"
    OTHER_EPOCH = "those to a fetch in an earlier leader epoch (with KAFKA-18723, 3.9.1, 4.0.1, 4.1)"
