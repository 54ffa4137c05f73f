"""What `kafka-topics --describe` prints: a line for each topic, and one for each partition of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from insync.cli.configs.declared import Declared, Place, mistake

__all__ = ["is_topics_line", "topics_in"]

_FIELD = re.compile(r"(Topic|TopicId|PartitionCount|ReplicationFactor|Configs|Partition|Replicas):[ ]?([^\t]*)")
_NEXT_CONFIG = re.compile(r",(?=[a-z][a-z0-9.]*\.[a-z0-9.]+=)")


def is_topics_line(line: str) -> bool:
    """Return whether a line is one of this format."""
    return re.match(r"\s*Topic:", line) is not None


def topics_in(file: str, lines: Sequence[str]) -> Iterator[Declared]:
    """Yield the replication factor and the settings of every topic, and the factor of a partition that differs.

    Raises:
        UserError: a line of another form.
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield from _line(Place(file, number), line)


def _line(place: Place, line: str) -> Iterator[Declared]:
    fields = {name: value.strip() for name, value in _FIELD.findall(_tabbed(line))}
    if not fields.get("Topic") or not ("ReplicationFactor" in fields or "Partition" in fields):
        raise mistake(
            place, line.strip(), "a line of kafka-topics --describe", "give its output as it is, without other lines"
        )
    topic = fields["Topic"]
    if "Partition" in fields:
        if "Replicas" in fields:
            replicas = [broker for broker in fields["Replicas"].split(",") if broker.strip()]
            key = f"{topic}-{fields['Partition']}"
            yield Declared(topic, f"replicas of {key}", str(len(replicas)), place)
        return
    yield Declared(topic, "ReplicationFactor", fields["ReplicationFactor"], place)
    for pair in _NEXT_CONFIG.split(fields.get("Configs", "")):
        if pair:
            name, equals, value = pair.partition("=")
            if not equals:
                raise mistake(place, pair, "a setting", "write it as Kafka does, key=value")
            yield Declared(topic, name.strip(), value.strip(), place)


def _tabbed(line: str) -> str:
    """Put a tab before each field, where a terminal or an editor has made spaces of them."""
    return re.sub(
        r"\s+(?=(?:TopicId|PartitionCount|ReplicationFactor|Configs|Partition|Leader|Replicas|Isr|Elr|LastKnownElr):)",
        "\t",
        line.strip(),
    )
