"""Settings in the commands of a text: `kafka-topics --create`, `kafka-server-start --override`, KAFKA_CREATE_TOPICS."""

from __future__ import annotations

import re
from collections.abc import Iterator

from insync.kafka_questions.configs.entries import Declared, Place, Source

__all__ = ["in_command", "topics_listed"]

_COMMAND = re.compile(r"kafka-topics(?:\.sh)?\b(?P<options>[^;&|]*)")
_OVERRIDE = re.compile(r"--override[=\s]+[\"']?(?P<key>[a-z][\w.]*)=(?P<value>[^\s\"']+)")
_OPTION = re.compile(r"--(?P<name>topic|replication-factor|config)[=\s]+[\"']?(?P<value>[^\s\"']+)")


def in_command(text: str, place: Place) -> Iterator[Declared]:
    """Yield the settings that a broker is started with, and those of each topic that is created."""
    if "kafka-server-start" in text:
        for one in _OVERRIDE.finditer(text):
            yield Declared(None, one["key"], one["value"], place, scope="override")
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
