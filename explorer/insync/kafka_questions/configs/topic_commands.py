"""Topics that a command creates: `kafka-topics --create` in a text, and KAFKA_CREATE_TOPICS of an image."""

from __future__ import annotations

import re
from collections.abc import Iterator

from insync.kafka_questions.configs.entries import Declared, Place, Source

__all__ = ["topics_created", "topics_listed"]

_COMMAND = re.compile(r"kafka-topics(?:\.sh)?\b(?P<options>[^;&|]*)")
_OPTION = re.compile(r"--(?P<name>topic|replication-factor|config)[=\s]+[\"']?(?P<value>[^\s\"']+)")


def topics_created(text: str, place: Place) -> Iterator[Declared]:
    """Yield the replication factor and the settings of each topic that `kafka-topics --create` makes in a text."""
    for command in _COMMAND.finditer(text):
        if "--create" not in command["options"]:
            continue
        options = [(one["name"], one["value"].rstrip("\\,")) for one in _OPTION.finditer(command["options"])]
        topic = next((value for name, value in options if name == "topic"), "")
        if not re.fullmatch(r"[\w.\-]+", topic):  # a variable of a loop
            continue
        for name, value in options:
            key, _, plain = value.partition("=")
            if name == "replication-factor":
                yield Declared(topic, "ReplicationFactor", value, place, Source.TOPIC)
            elif name == "config":
                yield Declared(topic, key, plain, place, Source.TOPIC)


def topics_listed(text: str, place: Place) -> Iterator[Declared]:
    """Yield the replication factor of each topic in KAFKA_CREATE_TOPICS: name:partitions:replicas, and a policy."""
    for one in re.split(r"[,\s]+", text.strip("\"' ")):
        name, *sizes = one.split(":")
        if len(sizes) > 1:
            yield Declared(name, "ReplicationFactor", sizes[1], place, Source.TOPIC)
