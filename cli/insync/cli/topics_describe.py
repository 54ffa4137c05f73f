"""What `kafka-topics --describe` prints: a line for each topic, and one for each partition of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from insync.cli.declared import Declared, Place, mistake

__all__ = ["PARTITION", "is_topics_line", "topics_in"]

PARTITION = "replicas of partition "
"""What the key of a partition's number of replicas begins with; the number of the partition follows."""

_FIELDS = (
    "TopicId|PartitionCount|ReplicationFactor|Configs|Partition|Leader|Replicas|Isr|Offline|Adding Replicas"
    "|Removing Replicas|Elr|LastKnownElr|MarkedForDeletion"
)
_BETWEEN = re.compile(rf"(?<!Adding)(?<!Removing)\s+(?=(?:{_FIELDS}):)")
_NEXT_CONFIG = re.compile(r",(?=[a-z][a-z0-9.]*\.[a-z0-9.]+=)")
_CURE = "give its output as it is, without other lines"


def is_topics_line(line: str) -> bool:
    """Return whether a line is one of this format."""
    return re.match(r"\s*Topic:", line) is not None


def topics_in(file: str, lines: Sequence[str]) -> Iterator[Declared]:
    """Yield the replication factor and the settings of every topic, and how many replicas each partition has.

    Raises:
        UserError: a line of another form.
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield from _line(Place(file, number), line.strip())


def _line(place: Place, line: str) -> Iterator[Declared]:
    # Between two fields is a tab, or spaces where a terminal or an editor has made spaces of it.
    pairs = (field.partition(":") for field in _BETWEEN.split(line))
    fields = {name: value.strip() for name, _, value in pairs}
    topic = fields.get("Topic")
    if not topic or not ("ReplicationFactor" in fields or "Partition" in fields):
        raise mistake(place, line, "a line of kafka-topics --describe", _CURE)
    if "Partition" in fields:
        yield Declared(topic, f"{PARTITION}{_partition(place, fields)}", str(_replicas(place, fields)), place)
        return
    yield Declared(topic, "ReplicationFactor", fields["ReplicationFactor"], place)
    for pair in _NEXT_CONFIG.split(fields.get("Configs", "")):
        if pair:
            name, equals, value = pair.partition("=")
            if not equals:
                raise mistake(place, pair, "a setting", "write it as Kafka does, key=value")
            yield Declared(topic, name.strip(), value.strip(), place)


def _partition(place: Place, fields: dict[str, str]) -> int:
    number = fields["Partition"]
    if not (number.isascii() and number.isdigit()):
        raise mistake(place, number, "the number of a partition", _CURE)
    return int(number)


def _replicas(place: Place, fields: dict[str, str]) -> int:
    """How many there are but for those that a reassignment is about to add, as Kafka reckons the replication factor."""
    present = set(_brokers(fields.get("Replicas", ""))) - set(_brokers(fields.get("Adding Replicas", "")))
    if not present:
        raise mistake(place, fields.get("Replicas", ""), "a list of the replicas of a partition", _CURE)
    return len(present)


def _brokers(text: str) -> list[str]:
    return [broker.strip() for broker in text.split(",") if broker.strip()]
