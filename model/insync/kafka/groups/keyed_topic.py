"""A topic whose producer chooses the partition of a record by its key."""

from __future__ import annotations

from enum import Enum
from typing import Any

from insync.model import (
    And,
    Array,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Index,
    Int,
    Model,
    Or,
    Range,
    Record,
    Seq,
    Setting,
    StateView,
    action,
    bound,
    require,
)

__all__ = ["PARTITIONER", "Key", "KeyedTopic", "Partitioner", "SentRecord", "TopicPartition"]


class TopicPartition(Index):
    """A partition of the topic, or one that it is given later."""

    size, label, first = bound("topic_partitions") + bound("additions"), "p", 0


class Key(Index):
    """A key of records."""

    size, label, first = bound("distinct_keys"), "k", 0


class SentRecord(Range):
    """The number of a record, in the order in which they are sent."""

    lo, hi = 0, bound("records") - 1


class Partitioner(Enum):
    """How a producer chooses the partition of a record."""

    BY_KEY = "by_key"
    ANY = "any"


PARTITIONER = Setting(Partitioner.BY_KEY, "how a producer chooses the partition of a record")


class KeyedTopic(Model):
    """A topic whose producer chooses the partition of a record by its key, and which may be given more partitions."""

    bounds = Bounds(
        topic_partitions=Bound(2, 1, 3, "partitions of the topic"),
        additions=Bound(0, 0, 2, "partitions that an operator adds"),
        distinct_keys=Bound(2, 1, 3, "keys that records have"),
        records=Bound(2, 1, 4, "records that are sent in all"),
    )

    def topic_fields(self, b: BoundValues) -> dict[str, Any]:
        """Lay out what there is of the topic: its partitions, those that the producer knows, logs, what was sent."""
        most = b.topic_partitions + b.additions
        return {
            "partitions": Int(b.topic_partitions, most),
            "known_partitions": Int(b.topic_partitions, most),
            "sent": Int(0, b.records),
            "records": Array(b.records, Record(key=Key, partition=TopicPartition)),
            "log": Array(TopicPartition, Seq(Int(0, b.records - 1), b.records)),
        }

    @action(label="a record with {key} is written to {partition}")
    def send(self, s: StateView, key: Key, partition: TopicPartition) -> None:
        """A producer's record is written: with a key to the partition that its hash says of the partitions it knows.

        Kafka: BuiltInPartitioner.partitionForKey by way of KafkaProducer.partition (4.1.2, read); a key of None, or
        partitioner.ignore.keys, takes any partition.
        """
        require(s.sent < self.b.records, int(partition) < s.known_partitions)
        if self.b.settings.partitioner is Partitioner.BY_KEY:
            require(
                Or(*(And(s.known_partitions == n, self.hash_of(key) % n == int(partition)) for n in self._numbers()))
            )
        s.records[s.sent].key = key
        s.records[s.sent].partition = partition
        s.log[partition].append(s.sent)
        s.sent += 1

    @action(label="operator adds a partition")
    def add_partition(self, s: StateView) -> None:
        """An operator adds a partition to the topic (CreatePartitions); records that are there stay where they are."""
        require(s.partitions < self._numbers()[-1])
        s.partitions += 1

    @action(label="producer learns of the new partition")
    def hear_of_partition(self, s: StateView) -> None:
        """The producer's metadata is refreshed (metadata.max.age.ms, or earlier)."""
        require(s.known_partitions < s.partitions)
        s.known_partitions = s.partitions

    def hash_of(self, key: Key) -> int:
        """The hash of a key, chosen so that the first partition that is added takes keys from others."""
        return int(key) + self.b.topic_partitions

    def _numbers(self) -> range:
        """How many partitions there may be."""
        return range(self.b.topic_partitions, self.b.topic_partitions + self.b.additions + 1)

    def of_one_key(self, s: StateView, first: SentRecord, second: SentRecord) -> Condition:
        """Whether two records were sent, one before the other, with the same key."""
        return And(first < second, second < s.sent, s.records[first].key == s.records[second].key)
