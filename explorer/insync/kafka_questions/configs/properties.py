"""Java properties, such as server.properties, and files of environment variables: `key=value` on each line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from insync.kafka_questions.configs.entries import Declared, Place, Source, kafka_key, may_be_kafkas, mistake
from insync.runtime.errors import UserError

__all__ = ["from_environment", "properties_in", "properties_within"]

_PAIR = re.compile(r"(?:export\s+)?(%?[A-Za-z0-9._\-]+)\s*(?:[=:]\s*|\s+)(.*)", re.DOTALL)
_VARIABLE = re.compile(r"KAFKA_[A-Z0-9_]+")
_OF_A_PRODUCER = re.compile(
    r"(?:.*[._])?producers?(?:\.\w+)?[._]acks|mp\.messaging\.outgoing\..+\.acks|request\.required\.acks", re.IGNORECASE
)
"""Acks as programs spell it: spring.kafka.producer.acks, KAFKA_PRODUCER_ACKS, those of MicroProfile, of librdkafka."""
_OF_SPRING = re.compile(r"spring\.kafka\.(?:producer\.)?properties\.")
_PROFILE = re.compile(r"%[\w,-]+\.")
"""The profile that a property of Quarkus is for."""


def properties_in(file: str, lines: Sequence[str], *, first: int = 1, scope: str = "") -> Iterator[Declared]:
    """Yield every property, as an entry for all topics.

    Args:
        file: the name of the file.
        lines: its lines, or those of a part of it.
        first: the number of the first of these lines.
        scope: the part of the file that they are.

    Raises:
        UserError: a line is no property.
    """
    number, count = 0, len(lines)
    while number < count:
        place, text = Place(file, number + first), lines[number].strip()
        number += 1
        if not text or text[0] in "#!":
            continue
        if text.startswith(("{%", "{{", "<%", "${")):
            message = f"{place}: {text[:60]!r} is an instruction of a template; give the file that is made of it."
            raise UserError(message)
        while text.endswith("\\") and number < count:
            text = text[:-1] + lines[number].strip()
            number += 1
        pair = _PAIR.fullmatch(text)
        if pair is None:
            raise mistake(place, text, "a property", "write key=value, or # before a comment")
        yield from_environment(Declared(None, pair[1], pair[2].strip(), place, scope=scope))


def properties_within(file: str, text: str, topic: str | None, first: int) -> Iterator[Declared]:
    """Yield the properties that may be Kafka's in a text of several lines; other lines are skipped.

    Args:
        file: the name of the file.
        text: the text.
        topic: the topic that it is about; None for all.
        first: the number of its first line.
    """
    for number, line in enumerate(text.splitlines()):
        if re.match(r"\s*[A-Za-z][A-Za-z0-9._]*\s*[=:]", line):
            for found in properties_in(file, [line.rstrip("\\")], first=first + number, scope=f"text {first}"):
                if may_be_kafkas(found.key):
                    yield replace(found, topic=topic, source=Source.in_file(topic))


def from_environment(found: Declared) -> Declared:
    """Return an entry under Kafka's key if it is a variable such as KAFKA_MIN_INSYNC_REPLICAS; else the entry.

    Acks under different keys, as of several profiles, are those of several producers.
    """
    spelled = found.key
    found = replace(found, key=_OF_SPRING.sub("", _PROFILE.sub("", spelled)))
    if _OF_A_PRODUCER.fullmatch(found.key):
        value = found.value.strip("\"'")
        return replace(found, key="acks", value=value, scope=found.scope or spelled, spelled=spelled)
    if _VARIABLE.fullmatch(found.key) is None:
        return found
    key = kafka_key(found.key) or re.sub(r"^kafka_(?:cfg_)?", "", found.key.lower()).replace("_", ".")
    value = found.value.split(" #", 1)[0].strip().strip("\"'")
    return replace(found, key=key, value=value, spelled=spelled) if may_be_kafkas(key) else found
