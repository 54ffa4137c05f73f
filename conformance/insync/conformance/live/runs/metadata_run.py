"""A run of a cluster that somebody else runs, from its metadata log alone: what the controller has decided."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from insync.conformance.live.metadata_log import BrokerAt, Decision, MetadataRecord, decisions, metadata_records
from insync.conformance.live.runs.run_events import BrokerRun, Decided
from insync.conformance.live.wire.message_schemas import MessageSchemas
from insync.conformance.live.wire.record_batches import no_batch_at
from insync.runtime.errors import UserError

__all__ = ["run_of_metadata"]

_TOPIC = 2
_ELR = "eligible.leader.replicas.version"
_MINIMUM, _UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"


def run_of_metadata(
    schemas: MessageSchemas, folder: Path, topic: str, partition: int = 0, min_insync: int | None = None
) -> BrokerRun:
    """Return what a metadata log says of a partition, from its creation on.

    Args:
        schemas: the messages of the release.
        folder: the folder `__cluster_metadata-0` of a controller, or a copy of it.
        topic: the topic.
        partition: the number of the partition.
        min_insync: min.insync.replicas, where that is not a configuration of the topic.

    Raises:
        UserError: there is no such log, it cannot be read, or it does not have the creation of the topic.
    """
    segments = sorted(folder.glob("*.log"))
    if not segments:
        message = f"{folder} has no segment of a metadata log. Name the folder __cluster_metadata-0 of a controller."
        raise UserError(message)
    records = [one for segment in segments for one in _read(schemas, segment)]
    made = decisions(records, topic, partition)
    first = next((place for place, one in enumerate(made) if "created" in one.kinds), None)
    if first is None:
        message = f"The log in {folder} lacks the creation of {topic}-{partition}. Name a topic that was created later."
        raise UserError(message)
    made = made[first:]
    settings = _settings(records, topic)
    begun = made[0].partition
    assert begun is not None
    ever = {broker for one in made if one.partition is not None for broker in one.partition.replicas}
    kept = [about for one in made if (about := _only(one, ever)).kinds]
    return BrokerRun(
        kafka=schemas.version,
        replicas=begun.replicas,
        spares=tuple(sorted(ever - set(begun.replicas))),
        min_insync=min_insync or int(settings.get(_MINIMUM, "1")),
        acks=-1,
        elr=_keeps_elr(records),
        unclean=settings.get(_UNCLEAN) == "true",
        events=tuple(Decided(one.milliseconds / 1000, one) for one in kept),
    )


def _read(schemas: MessageSchemas, segment: Path) -> list[MetadataRecord]:
    """Return the records of a segment."""
    try:
        data = segment.read_bytes()
    except OSError as error:
        message = f"{segment}: cannot be read ({error.strerror}). Name a folder that you may read, or a copy of it."
        raise UserError(message) from error
    place = no_batch_at(data)
    if place is not None:
        message = (
            f"{segment}: at byte {place} is no batch of records, so this is no metadata log, or a damaged one. "
            "Name the folder __cluster_metadata-0 of a controller, or copy it again."
        )
        raise UserError(message)
    try:
        return list(metadata_records(schemas, data))
    except (ValueError, LookupError, EOFError, struct.error) as error:
        message = (
            f"{segment}: a record cannot be read as one of Kafka {schemas.version}, so it is damaged, or of another "
            "release. Name the release that wrote it with --kafka, or copy it again."
        )
        raise UserError(message) from error


def _settings(records: Iterable[MetadataRecord], topic: str) -> dict[str, str]:
    """The configurations of a topic, as they are in the end."""
    told = [one.body for one in records if one.name == "ConfigRecord"]
    return {one["Name"]: one["Value"] for one in told if (one["ResourceType"], one["ResourceName"]) == (_TOPIC, topic)}


def _keeps_elr(records: Iterable[MetadataRecord]) -> bool:
    levels = [
        one.body["FeatureLevel"] for one in records if one.name == "FeatureLevelRecord" if one.body["Name"] == _ELR
    ]
    return bool(levels and levels[-1])


def _only(decision: Decision, brokers: set[int]) -> Decision:
    """A decision without what it says of brokers that never had a replica."""
    kinds = tuple(kind for kind in decision.kinds if " " not in kind or int(kind.split(" ")[1]) in brokers)
    known: dict[int, BrokerAt] = {broker: one for broker, one in decision.brokers.items() if broker in brokers}
    return replace(decision, kinds=kinds, brokers=known)
