"""What frames say of a partition, and of the metadata that a broker is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from insync.conformance.live.wire.record_batches import batches

__all__ = ["partition_parts", "sent_below"]


def partition_parts(body: Mapping[str, Any], field: str, topic: str | None = None) -> list[dict[str, Any]]:
    """Return the parts of a request or an answer about partition 0 of a topic, or about all there is.

    Args:
        body: the request or the answer.
        field: the field with its topics.
        topic: the id of the topic.
    """
    found = []
    for one in body.get(field) or ():
        if topic is None or one.get("TopicId") == topic:
            found += one["Partitions"]
    return [part for part in found if topic is None or part.get("Partition", part.get("PartitionIndex")) == 0]


def sent_below(part: Mapping[str, Any]) -> int:
    """Return the offset below which an answer brings all that is committed, 0 if it brings nothing."""
    ends = [batch.last + 1 for batch in batches(part.get("Records") or b"")]
    return min(max(ends, default=0), int(part["HighWatermark"]))
