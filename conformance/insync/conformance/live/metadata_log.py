"""The controller's own log of its decisions, folded into what became of one partition and of the brokers.

Source: QuorumController's replay of records: ReplicationControlManager.replay, ClusterControlManager.replay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from insync.conformance.live.wire.message_codec import Reader, decode
from insync.conformance.live.wire.message_schemas import Message, MessageSchemas
from insync.conformance.live.wire.record_batches import batches

__all__ = [
    "BrokerAt",
    "Decision",
    "MetadataRecord",
    "PartitionAt",
    "decisions",
    "first_on_disk",
    "metadata_records",
    "records_on_disk",
]

_LOG = "__cluster_metadata-0"
_NO_LEADER_CHANGE = -2
_IDS = {
    "isr": "Isr",
    "elr": "EligibleLeaderReplicas",
    "last_known": "LastKnownElr",
    "replicas": "Replicas",
    "adding": "AddingReplicas",
    "removing": "RemovingReplicas",
    "directories": "Directories",
}


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """A record of the metadata log.

    Attributes:
        offset: its place.
        batch: the place of the first one of its batch, which is committed as one.
        milliseconds: when the batch was made.
        name: what it is, such as `PartitionChangeRecord`.
        body: what it says.
    """

    offset: int
    batch: int
    milliseconds: int
    name: str
    body: Message


@dataclass(frozen=True, slots=True)
class PartitionAt:
    """A partition as the controller has decided it; -1 is nobody.

    `directories` are the ids of those of the replicas, in their order; none where the release does not assign them.
    """

    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    last_known: tuple[int, ...]
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    directories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BrokerAt:
    """A broker as the controller knows it: its epoch and incarnation, whether it is fenced, whether it is to stop."""

    epoch: int
    incarnation: str
    fenced: bool
    stopping: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """What the controller has decided at once, and what holds after it.

    Attributes:
        offset: the place of its last record.
        milliseconds: when it was written.
        kinds: what is in it: `created`, `changed`, and `registered 2`, `fenced 2`, `unfenced 2`, `stopping 2`.
        partition: the partition after it; None if it is not there.
        brokers: the brokers after it.
    """

    offset: int
    milliseconds: int
    kinds: tuple[str, ...]
    partition: PartitionAt | None
    brokers: Mapping[int, BrokerAt]


def records_on_disk(schemas: MessageSchemas, disk: Path) -> Iterator[MetadataRecord]:
    """Yield the records of the metadata log in a node's folder, also while the node runs."""
    for segment in sorted((disk / _LOG).glob("*.log")):
        yield from metadata_records(schemas, segment.read_bytes())


def first_on_disk(disk: Path) -> int:
    """Return where the oldest snapshot of the metadata in a node's folder ends, 0 if there is none.

    What is before it is deleted: who has not got it yet gets a snapshot.
    """
    return min((int(file.name.split("-")[0]) for file in (disk / _LOG).glob("*.checkpoint")), default=0)


def metadata_records(schemas: MessageSchemas, data: bytes) -> Iterator[MetadataRecord]:
    """Yield the records of a segment; those that Raft writes for itself and those of no known kind are left out."""
    for batch in batches(data):
        for record in () if batch.is_control else batch.records:
            reader = Reader(record.value or b"")
            reader.unsigned_varint()  # the version of the frame
            schema, version = schemas.records.get(reader.unsigned_varint()), reader.unsigned_varint()
            if schema is not None:
                body = decode(schema, version, reader)
                yield MetadataRecord(record.offset, batch.base, batch.milliseconds, schema.name, body)


def decisions(records: Iterable[MetadataRecord], topic: str, partition: int = 0) -> list[Decision]:
    """Return what was decided about a partition and about brokers.

    A batch may have several decisions: each has at most one record of the partition and one of a broker.

    Args:
        records: the whole metadata log.
        topic: the name of the topic.
        partition: the number of the partition.
    """
    fold = _Fold(topic, partition)
    made: list[Decision] = []
    batch = -1
    members: set[str] = set()
    for record in records:
        told = fold.take(record)
        if told is None:
            continue
        kind, about = told
        # The controller fences a broker after it has taken it out of the ISR: what follows is about somebody else.
        is_over = bool(made) and made[-1].kinds[-1].startswith("fenced")
        same = record.batch == batch and about not in members and made and not is_over
        if not same:
            members = set()
        batch = record.batch
        members.add(about)
        kinds = (*made.pop().kinds, kind) if same else (kind,)
        made.append(Decision(record.offset, record.milliseconds, kinds, fold.partition, dict(fold.brokers)))
    return made


class _Fold:
    """What holds after the records so far."""

    def __init__(self, topic: str, number: int) -> None:
        self._topic, self._number = topic, number
        self._id = ""
        self.partition: PartitionAt | None = None
        self.brokers: dict[int, BrokerAt] = {}

    def take(self, record: MetadataRecord) -> tuple[str, str] | None:
        """Take over a record, and return what has happened and to whom; None if that is nothing."""
        body = record.body
        if record.name == "TopicRecord" and body["Name"] == self._topic:
            self._id = body["TopicId"]
        elif record.name in ("PartitionRecord", "PartitionChangeRecord"):
            if body["TopicId"] == self._id and body["PartitionId"] == self._number:
                created = record.name == "PartitionRecord"
                self.partition = _created(body) if created or self.partition is None else _changed(self.partition, body)
                return ("created" if created else "changed"), "partition"
        elif record.name == "RegisterBrokerRecord":
            broker = body["BrokerId"]
            stopping = body.get("InControlledShutdown", False)
            self.brokers[broker] = BrokerAt(body["BrokerEpoch"], body["IncarnationId"], body["Fenced"], stopping)
            return f"registered {broker}", "broker"
        elif record.name == "BrokerRegistrationChangeRecord" and body["BrokerId"] in self.brokers:
            return self._registration_changed(body)
        return None

    def _registration_changed(self, body: Message) -> tuple[str, str] | None:
        broker = body["BrokerId"]
        fenced, stopping = body["Fenced"], body.get("InControlledShutdown", 0)
        if fenced:
            self.brokers[broker] = replace(self.brokers[broker], fenced=fenced > 0)
            return f"{'fenced' if fenced > 0 else 'unfenced'} {broker}", "broker"
        if stopping:
            self.brokers[broker] = replace(self.brokers[broker], stopping=True)
            return f"stopping {broker}", "broker"
        return None


def _created(body: Message) -> PartitionAt:
    ids = {name: tuple(body.get(field) or ()) for name, field in _IDS.items()}
    return PartitionAt(body["Leader"], body["LeaderEpoch"], body["PartitionEpoch"], **ids)


def _changed(former: PartitionAt, body: Message) -> PartitionAt:
    changes: dict[str, Any] = {"partition_epoch": former.partition_epoch + 1}
    if body["Leader"] != _NO_LEADER_CHANGE:
        changes |= {"leader": body["Leader"], "leader_epoch": former.leader_epoch + 1}
    for name, field in _IDS.items():
        if body.get(field) is not None:
            changes[name] = tuple(body[field])
    return replace(former, **changes)
