"""Terraform: `server_properties` of Amazon MSK, and topics of providers for Kafka. A small part of HCL is read.

What is read: assignments of texts, numbers, true and false, texts of several lines (heredocs), and blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from insync.kafka_questions.configs.entries import (
    BROKERS,
    KRAFTS,
    MANAGED,
    VERSION,
    ZOOKEEPERS,
    Declared,
    Place,
    Source,
    kafka_key,
    may_be_kafkas,
    setting_name,
)
from insync.kafka_questions.configs.properties import properties_in
from insync.runtime.errors import UserError

__all__ = ["is_terraform", "terraform_in"]

_BLOCK = re.compile(r"\s*(?P<kind>resource|module|variable|locals|data|provider|terraform|output)\b.*\{\s*")
_RESOURCE = re.compile(r'\s*resource\s+"(?P<kind>[^"]+)"\s+"(?P<name>[^"]+)"\s*\{')
_HEREDOC = re.compile(r'\s*"?(?P<key>[\w.\-]+)"?\s*=\s*<<-?\s*"?(?P<tag>\w+)"?\s*')
_PAIR = re.compile(r'\s*"?(?P<key>[\w.\-]+)"?\s*[=:]\s*(?P<value>.+?)\s*,?\s*(?:(?:#|//).*)?')
_SIZES = ("replication_factor", "replication")


def is_terraform(file: str, lines: Sequence[str]) -> bool:
    """Return whether a file is Terraform's, by its name or its blocks."""
    return file.endswith((".tf", ".tfvars", ".hcl")) or any(_BLOCK.fullmatch(line) for line in lines)


def terraform_in(file: str, lines: Sequence[str]) -> Iterator[Declared]:
    """Yield the properties in `server_properties`, the version, and the topics with their settings.

    Raises:
        UserError: `server_properties` is computed, so that its lines are not in the file.
    """
    number, depth, scope = 0, 0, ""
    topic: str | None = None
    while number < len(lines):
        line, first = lines[number], number + 1
        number += 1
        if re.match(r"\s*(?:#|//)", line):
            continue
        if (block := _RESOURCE.match(line)) is not None:
            scope, depth = f"{block['kind']}.{block['name']}", 0
            ahead = lines[number:]
            topic = _name_in(ahead) or block["name"] if "kafka_topic" in block["kind"] else None
            if block["kind"].startswith("aws_msk"):
                yield Declared(None, MANAGED, "", Place(file, first), scope=scope)
        if (heredoc := _HEREDOC.fullmatch(line)) is not None:
            end = next((n for n in range(number, len(lines)) if lines[n].strip() == heredoc["tag"]), len(lines))
            yield from properties_in(file, lines[number:end], first=number + 1, scope=scope)
            number = end + 1
            continue
        if (pair := _PAIR.fullmatch(line)) is not None and not pair["value"].endswith(("{", "[")):
            yield from _pair(Place(file, first), pair["key"], pair["value"], topic, scope)
        elif pair is not None and pair["key"] == "server_properties":
            raise _computed(Place(file, first))
        depth += line.count("{") - line.count("}")
        if depth <= 0 and "}" in line:
            topic, scope = None, ""


def _name_in(lines: Sequence[str]) -> str:
    """Return the text of `name` or `topic_name` in the block that these lines begin; empty if there is none."""
    for line in lines:
        if line.startswith("}"):
            break
        if (found := re.match(r'\s*(?:topic_)?name\s*=\s*"([^"]+)"', line)) is not None:
            return found[1]
    return ""


def _pair(place: Place, key: str, value: str, topic: str | None, scope: str) -> Iterator[Declared]:
    strength = Source.STATIC if topic is None else Source.TOPIC
    plain = value.strip('"')
    if key == "server_properties":
        if not value.startswith('"'):
            raise _computed(place)
        lines = plain.replace("\\n", "\n").splitlines()
        for entry in properties_in(place.file, lines, scope=scope):
            yield Declared(None, entry.key, entry.value, place, scope=scope)
    elif key == "storage_mode":
        yield Declared(None, MANAGED, plain, place, scope=scope)
    elif key == "number_of_broker_nodes" and plain.isdecimal():
        yield Declared(None, BROKERS, plain, place, scope=scope)
    elif key == "source" and "msk" in plain:  # a module that makes a cluster of Amazon MSK
        yield Declared(None, MANAGED, "", place, scope=scope)
    elif key in ("kafka_version", "kafka_versions") and (found := re.search(r"\d+\.\d+(?:\.\d+)*", value)):
        yield Declared(None, VERSION, found[0], place, scope=scope)
        if without := [one for one in re.findall(r"\d+\.[\w.]+", value) if not one.endswith(".kraft")]:
            yield Declared(None, ZOOKEEPERS, f"{key} has {', '.join(without)} without .kraft", place, scope=scope)
        else:
            yield Declared(None, KRAFTS, plain, place, scope=scope)
    elif topic is not None and key in _SIZES:
        yield Declared(topic, "ReplicationFactor", plain, place, strength, scope)
    elif setting_name(known := key if "." in key else kafka_key(key) or "") or ("." in key and may_be_kafkas(key)):
        yield Declared(topic, known, plain, place, strength, scope)


def _computed(place: Place) -> UserError:
    return UserError(
        f"{place}: server_properties is computed, so its lines are not here; give the text that comes of it, as "
        "`terraform console` prints it."
    )
