"""YAML and JSON: Strimzi's and other resources, compose files, values of Helm charts, variables of Ansible.

PyYAML composes the documents into nodes, which have the line of each key. Resources of Strimzi are read by their kind.
In all others an entry is what looks like one of Kafka's, wherever it stands: a key with dots, a variable KAFKA_..., the
other spellings of `kafka_key`, or a text of several lines that are properties.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from typing import TYPE_CHECKING

from insync.kafka_questions.configs.entries import (
    BROKERS,
    KRAFTS,
    MANAGED,
    NOTHING,
    OTHER_FILE,
    VERSION,
    ZOOKEEPERS,
    Declared,
    Place,
    Source,
    kafka_key,
    may_be_kafkas,
)
from insync.kafka_questions.configs.properties import from_environment, properties_in
from insync.runtime.errors import UserError

if TYPE_CHECKING:
    from typing import Any

__all__ = ["documents_in", "kinds_in"]

_REPLICATION = ("replicationFactor", "replication_factor", "replication-factor", "replicas")
_TOPIC_NAMES = ("topicName", "topic", "name")
_TOPIC_CONFIGS = ("config", "configs", "configuration", "topic_config", "settings")
_CONTROLLERS = {"kraft": KRAFTS, "zookeeper": ZOOKEEPERS}
"""The parts of a chart's values that say whose the controller is."""
_IMAGE = re.compile(r"(?:\S*/)?(?P<name>kafka|cp-kafka|cp-server|kafka-native):v?(?P<version>\d+\.\d+(?:\.\d+)*)\S*")
_ARE_PROPERTIES = re.compile(r".*\n.*\S|\s*[a-z]+(?:\.[a-z]+)+\s*=", re.DOTALL)
"""A text of several lines, or of one that is a property."""
_CONFLUENT = {"5": 2, "6": 2, "7": 3, "8": 4}
"""The major release of Kafka in each of Confluent Platform's; 6.0 is 2.6, 7.0 is 3.0, 8.0 is 4.0."""


def documents_in(file: str, text: str) -> list[Declared]:
    """Return the entries of all documents.

    Raises:
        UserError: it is not YAML.
    """
    return [entry for root in _roots(file, text) for entry in _Reader(file, text).document(root)]


def kinds_in(file: str, text: str) -> list[str]:
    """Return the kinds of the resources in a file, as Kubernetes names them."""
    kinds = (_text(_fields(root).get("kind")) for root in _roots(file, text))
    return list(dict.fromkeys(kind for kind in kinds if kind))


def _roots(file: str, text: str) -> list[Any]:
    import yaml

    try:
        return [root for root in yaml.compose_all(text.replace("\t", "  "), Loader=yaml.SafeLoader) if root is not None]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{file}, line {mark.line + 1}" if mark is not None else file
        if "{{" in text:
            message = f"{where}: is a template; give the file that is made of it, as `helm template` prints it."
        else:
            message = f"{where}: is not YAML ({getattr(error, 'problem', None) or error}); mend it there."
        raise UserError(message) from None


def _fields(node: Any) -> dict[str, Any]:
    """Return the values of a mapping by their keys, those of merged mappings (<<) first; empty for another node."""
    if node is None or node.id != "mapping":
        return {}
    found: dict[str, Any] = {}
    for key, value in node.value:
        if key.id == "scalar" and key.value == "<<":
            for merged in value.value if value.id == "sequence" else [value]:
                found = {**_fields(merged), **found}
    return {**found, **{key.value: value for key, value in node.value if key.id == "scalar" and key.value != "<<"}}


def _decoded(text: str) -> str:
    """Return the lines of properties that a text is in base64; empty if it is none."""
    try:
        decoded = b64decode(text, validate=True).decode()
    except ValueError:
        return ""
    return decoded if re.search(r"^\s*[a-z.]+\s*=", decoded, re.MULTILINE) else ""


def _text(node: Any) -> str:
    return str(node.value) if node is not None and node.id == "scalar" else ""


def _of_confluent(version: str) -> str:
    """Return Kafka's release in one of Confluent Platform's; empty if it is not known."""
    major, minor = version.split(".")[:2]
    return f"{_CONFLUENT[major]}.{int(minor) + (6 if major == '6' else 0)}" if major in _CONFLUENT else ""


def _version(key: str, value: str) -> str | None:
    """Return the release that a variable of Ansible names, such as kafka_version; None for another variable."""
    plain = key.lower().replace("_", "")
    if plain not in ("kafkaversion", "confluentpackageversion") or not re.fullmatch(r"\d+\.\d+(\.\d+)*", value):
        return None
    return value if plain == "kafkaversion" else _of_confluent(value) or None


class _Reader:
    """Reads the nodes of one file."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text.replace("\t", "  ")

    def document(self, root: Any) -> Iterator[Declared]:
        """Yield the entries of a document."""
        fields = _fields(root)
        spec, kind = _fields(fields.get("spec")), _text(fields.get("kind"))
        if kind == "KafkaTopic":
            name = _text(spec.get("topicName")) or _text(_fields(fields.get("metadata")).get("name"))
            yield from self._topic(name or f"of {self.file}", spec)
        elif kind == "Kafka" and "kafka" in spec:
            broker = _fields(spec["kafka"])
            if "version" in broker:
                yield self._entry(VERSION, broker["version"], None, "")
            marks = _fields(_fields(fields.get("metadata")).get("annotations"))
            if _text(marks.get("strimzi.io/kraft")).lower() == "enabled":
                yield self._entry(KRAFTS, marks["strimzi.io/kraft"], None, "")
            elif "zookeeper" in spec:
                yield Declared(None, ZOOKEEPERS, "spec.zookeeper is set", self._place(spec["zookeeper"]))
            else:  # an operator that has ZooKeeper refuses a resource without it
                yield Declared(None, KRAFTS, "no spec.zookeeper", self._place(spec["kafka"]))
            if _text(broker.get("replicas")).isdecimal():
                yield self._entry(BROKERS, broker["replicas"], None, "")
            for part in ("config", "template"):
                if part in broker:
                    yield from self._walk(broker[part], None)
        elif kind == "List":
            for item in fields["items"].value if "items" in fields else ():
                yield from self.document(item)
        elif kind == "KafkaNodePool":
            roles = self._source(spec["roles"]) if "roles" in spec else ""
            if "controller" in roles:
                yield Declared(None, KRAFTS, "a pool has controllers", self._place(root))
            if "broker" in roles and _text(spec.get("replicas")).isdecimal():
                yield Declared(None, BROKERS, _text(spec["replicas"]), self._place(spec["replicas"]), scope="pool")
        elif kind not in ("KafkaUser", "KafkaConnect", "KafkaMirrorMaker2", "KafkaBridge"):
            yield from self._walk(root, None)

    def _topic(self, name: str, fields: dict[str, Any]) -> Iterator[Declared]:
        for key in _REPLICATION:
            if key in fields:
                yield self._entry("ReplicationFactor", fields[key], name, "")
                break
        else:
            first = next(iter(fields.values()), None)
            yield Declared(name, NOTHING, "", self._place(first) if first is not None else Place(self.file, 1))
        for key in _TOPIC_CONFIGS:
            if key in fields:
                yield from self._walk(fields[key], name)

    def _walk(self, node: Any, topic: str | None, named: str = "", under: str = "") -> Iterator[Declared]:
        """Yield the entries of a node and of all below it; `named` is its key, and `under` the key above that."""
        if node.id == "sequence":
            scope = f"lines from {node.start_mark.line + 1}"
            for item in node.value:
                if item.id == "scalar":
                    yield from self._item(item, topic, scope)
                else:
                    yield from self._walk(item, topic)
        elif node.id == "mapping":
            yield from self._mapping(node, topic, named, under)

    def _mapping(self, node: Any, topic: str | None, named: str, under: str) -> Iterator[Declared]:
        fields, scope = _fields(node), f"lines from {node.start_mark.line + 1}"
        if topic is None and (name := self._names_topic(fields, named if "topic" in under.lower() else "")):
            yield from self._topic(name, fields)
            return
        if {"name", "value"} <= fields.keys() and _text(fields["name"]).startswith("KAFKA_"):
            found = self._entry(_text(fields["name"]), fields["value"], topic, f"lines to {node.end_mark.line}")
            yield from_environment(Declared(None, found.key, found.value, found.place, scope="variables"))
            return
        if _text(fields.get("repository")).endswith("kafka") and (tag := _text(fields.get("tag"))):
            yield from self._image(f"kafka:{tag}", fields["tag"])
        for key, value in fields.items():
            if key == "env_file":
                yield from self._files(value)
            if key in _CONTROLLERS and _text(_fields(value).get("enabled")).lower() == "true":
                yield Declared(None, _CONTROLLERS[key], f"{key}.enabled is true", self._place(value))
            if key in ("image", "application") and value.id == "scalar":
                yield from self._image(value.value, value)
            elif key == "ServerProperties" and (decoded := _decoded(_text(value))):  # as `aws kafka` prints it
                yield Declared(None, MANAGED, "", self._place(value))
                for found in properties_in(self.file, decoded.splitlines(), scope="ServerProperties"):
                    yield Declared(topic, found.key, found.value, self._place(value), found.source, found.scope)
            elif value.id == "scalar" and (value.style in ("|", ">") or _ARE_PROPERTIES.match(value.value)):
                if key == "ServerProperties":  # of CloudFormation
                    yield Declared(None, MANAGED, "", self._place(value))
                yield from self._lines(value, topic)
            elif value.id == "scalar" or self._source(value).startswith("{{"):  # an unquoted template
                yield from self._pair(key, value, topic, scope)
            else:
                yield from self._walk(value, topic, key, named)

    @staticmethod
    def _names_topic(fields: dict[str, Any], named: str) -> str:
        """Return the name of the topic that a mapping describes, by default its key; empty if it describes none."""
        replicated = any(key in fields for key in _REPLICATION[:3])
        if not (replicated or {"replicas", "partitions"} <= fields.keys()):
            return ""
        return next((text for key in _TOPIC_NAMES if (text := _text(fields.get(key)))), named)

    def _files(self, node: Any) -> Iterator[Declared]:
        """Yield the files of variables that a service of a compose file names."""
        for item in node.value if node.id == "sequence" else [node]:
            if name := _text(item) or _text(_fields(item).get("path")):
                yield Declared(None, OTHER_FILE, name, self._place(item))

    def _pair(self, key: str, value: Any, topic: str | None, scope: str) -> Iterator[Declared]:
        known = key if "." in key or key == "acks" else kafka_key(key)
        if (version := _version(key, _text(value))) is not None:
            yield Declared(None, VERSION, version, self._place(value), scope=scope)
        elif key.startswith("KAFKA_"):
            entry = self._entry(key, value, topic, scope)
            yield from_environment(entry)
        elif known is not None and may_be_kafkas(known):
            yield self._entry(known, value, topic, scope)

    def _item(self, node: Any, topic: str | None, scope: str) -> Iterator[Declared]:
        """Yield the entry of an item of a list that is `KEY=VALUE`."""
        key, equals, value = node.value.partition("=")
        key = key.strip()
        if equals and (key.startswith("KAFKA_") or may_be_kafkas(key)):
            place = self._place(node)
            yield from_environment(Declared(topic, key, value.strip(), place, self._strength(topic), scope))

    def _lines(self, node: Any, topic: str | None) -> Iterator[Declared]:
        """Yield the properties of a text of several lines; lines that are none are skipped."""
        first = node.start_mark.line + (2 if node.style in ("|", ">") else 1)
        for number, line in enumerate(node.value.splitlines()):
            if re.match(r"\s*[A-Za-z][A-Za-z0-9._]*\s*[=:]", line):
                for found in properties_in(self.file, [line.rstrip("\\")], first=first + number, scope=f"text {first}"):
                    if may_be_kafkas(found.key):
                        yield Declared(topic, found.key, found.value, found.place, self._strength(topic), found.scope)

    def _image(self, image: str, node: Any) -> Iterator[Declared]:
        """Yield the release of an image of Kafka, as far as its tag says it."""
        found = _IMAGE.fullmatch(image.strip())
        if found is None:
            return
        version = _of_confluent(found["version"]) if found["name"].startswith("cp-") else found["version"]
        if version:
            yield Declared(None, VERSION, version, self._place(node), scope=f"image {node.start_mark.line}")

    def _entry(self, key: str, value: Any, topic: str | None, scope: str) -> Declared:
        text = value.value if value.id == "scalar" else self._source(value)
        return Declared(topic, key, str(text).strip(), self._place(value), self._strength(topic), scope)

    @staticmethod
    def _strength(topic: str | None) -> Source:
        return Source.STATIC if topic is None else Source.TOPIC

    def _source(self, node: Any) -> str:
        return str(self.text[node.start_mark.index : node.end_mark.index])

    def _place(self, node: Any) -> Place:
        return Place(self.file, node.start_mark.line + 1)
