"""YAML and JSON: Strimzi's and other resources, compose files, values of Helm charts, variables of Ansible.

PyYAML composes the documents into nodes, which have the line of each key. Resources of Strimzi are read by their kind,
also within other resources. In all others an entry is what looks like one of Kafka's, wherever it stands: a key with
dots, a variable KAFKA_..., the other spellings of `kafka_key`, or a text of several lines that are properties. In a
compose file variables are filled in as Compose does.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from insync.kafka.releases import release_of_series
from insync.kafka_questions.configs.commands import in_command, topics_listed
from insync.kafka_questions.configs.compose import brokers_in, filled_in, services_in
from insync.kafka_questions.configs.entries import (
    BROKERS,
    CLUSTER,
    DEFAULTED,
    FINALIZED,
    KRAFTS,
    LEFT_OPEN,
    MANAGED,
    METADATA_VERSION,
    NO_RELEASE,
    NOTHING,
    OTHER_FILE,
    VERSION,
    ZOOKEEPERS,
    Declared,
    Place,
    Source,
    is_template,
    kafka_key,
    may_be_kafkas,
    setting_name,
)
from insync.kafka_questions.configs.nodes import fields_of, items_of, text_of
from insync.kafka_questions.configs.properties import from_environment, properties_in, properties_within
from insync.kafka_questions.configs.variables import Variables
from insync.runtime.errors import UserError

if TYPE_CHECKING:
    from typing import Any

__all__ = ["documents_in", "kinds_in", "of_confluent", "spelled"]

_REPLICATION = (
    *("replicationFactor", "replication_factor", "replication-factor", "replica_factor", "replication"),
    *("replication.factor", "replicas"),
)
_TOPIC_NAMES = ("topicName", "topic", "name")
_TOPIC_CONFIGS = ("config", "configs", "configuration", "topic_config", "settings", "options")
_STRIMZI = ("KafkaTopic", "KafkaNodePool", "KafkaUser", "KafkaConnect", "KafkaMirrorMaker2", "KafkaBridge")
_KEYS = ("name", "key", "option", "property")
"""What the key of a pair is under where its value is under `value`."""
_ONE = "1"
"""What provisioning.replicationFactor is by default in Bitnami's chart."""
_CONTROLLERS = {"kraft": KRAFTS, "zookeeper": ZOOKEEPERS}
"""The parts of a chart's values that say whose the controller is."""
_IMAGE = re.compile(
    r"(?:(?P<by>\S*)/)?(?P<name>kafka|cp-kafka|cp-server|cp-enterprise-kafka|kafka-native):v?(?:2\.1\d-(?=\d))?"
    r"(?:\d\S*-kafka-)?(?P<version>\d+\.\d+(?:\.\d+)*)\S*"
)
"""An image of Kafka; a tag may begin with the version of Scala, or with that of Strimzi."""
_ARE_PROPERTIES = re.compile(r".*\n.*\S|\s*[a-z]+(?:\.[a-z]+)+\s*=", re.DOTALL)
"""A text of several lines, or of one that is a property."""
_COMMENT = re.compile(r"^[ \t]*//.*$", re.MULTILINE)
_CONFLUENT = {"4": 1, "5": 2, "6": 2, "7": 3, "8": 4}
"""The major release of Kafka in each of Confluent Platform's; 4.0 is 1.0, 6.0 is 2.6, 7.0 is 3.0, 8.0 is 4.0.

Source: Confluent's page "Supported Versions and Interoperability for Confluent Platform".
"""


def documents_in(file: str, text: str, variables: Variables) -> list[Declared]:
    """Return the entries of all documents.

    Args:
        file: the name of the file.
        text: its text.
        variables: those of all files.

    Raises:
        UserError: it is not YAML.
    """
    reader = _Reader(file, text, variables)
    return [entry for root in _roots(file, text) for entry in reader.whole(root)]


def kinds_in(file: str, text: str) -> list[str]:
    """Return the kinds of the resources in a file, as Kubernetes names them."""
    kinds = (text_of(fields_of(root).get("kind")) for root in _roots(file, text))
    return list(dict.fromkeys(kind for kind in kinds if kind))


def _roots(file: str, text: str) -> list[Any]:
    import yaml

    if file.lower().endswith(".json"):
        text = _COMMENT.sub("", text)
    try:
        roots = [
            root for root in yaml.compose_all(text.replace("\t", "  "), Loader=yaml.SafeLoader) if root is not None
        ]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{file}, line {mark.line + 1}, column {mark.column + 1}" if mark is not None else file
        if "{{" in text:
            message = f"{where}: is a template; give the file that is made of it, as `helm template` prints it."
        else:
            kind = "JSON" if file.lower().endswith(".json") else "YAML"
            message = f"{where}: is not {kind}: {_in_plain_words(getattr(error, 'problem', None) or str(error))}."
        raise UserError(message) from None
    for root in roots:
        _refuse_circles(file, root, set(), set())
    return roots


_IN_PLAIN_WORDS = {
    r"expected <block end>, but found '(?:<block .* start>|-|\?)'": "its indentation does not fit the lines above",
    r"expected <block end>, but found .*": "more text follows a value that has ended, as after a closing quote",
    r"mapping values are not allowed.*": "a second `key: value` on one line, or its indentation does not fit the lines "
    "above",
    r"could not find expected ':'": "a key without a colon",
    r"found unexpected end of stream": "a quote or a bracket above is not closed",
    r"expected the node content, but found '<stream end>'": "a quote or a bracket above is not closed",
    r"expected ',' or '[\]}]'.*": "a comma or a closing bracket is missing before it",
    r"found undefined alias '(.*)'": r"no anchor &\1 stands above the alias *\1",
    r"found character '(.)' that cannot start any token": r"a text that begins with \1 must be in quotes",
}
"""What PyYAML says of a mistake, as patterns, and what that is in plain words."""


def _in_plain_words(problem: str) -> str:
    """Return what is wrong in a document, in plain words if they are known for what the parser says."""
    for said, plain in _IN_PLAIN_WORDS.items():
        if (found := re.fullmatch(said, problem)) is not None:
            return found.expand(plain)
    return problem


def _refuse_circles(file: str, node: Any, above: set[int], done: set[int]) -> None:
    """Refuse an alias of a node that it is in.

    Raises:
        UserError: there is one.
    """
    if id(node) in above:
        message = f"{file}, line {node.start_mark.line + 1}: has an alias of itself within; mend it there."
        raise UserError(message)
    if id(node) in done or node.id == "scalar":
        return
    within = node.value if node.id == "sequence" else [one for pair in node.value for one in pair]
    for one in within:
        _refuse_circles(file, one, {*above, id(node)}, done)
    done.add(id(node))


def _decoded(text: str) -> str:
    """Return the lines of properties that a text is in base64; empty if it is none."""
    try:
        decoded = b64decode(text, validate=True).decode()
    except ValueError:
        return ""
    return decoded if re.search(r"^\s*[a-z.]+\s*=", decoded, re.MULTILINE) else ""


def of_confluent(version: str) -> str:
    """Return Kafka's release in one of Confluent Platform's; empty if it is not known."""
    major, _, rest = version.partition(".")
    minor = rest.partition(".")[0]
    if not minor.isdecimal():
        return ""
    return f"{_CONFLUENT[major]}.{int(minor) + (6 if major == '6' else 0)}" if major in _CONFLUENT else ""


def _version(key: str, value: str) -> str | None:
    """Return the release that a variable of Ansible or Amazon MSK names, such as kafka_version; None for another."""
    plain = key.lower().replace("_", "")
    found = re.fullmatch(r"(\d+\.\d+(?:\.\d+)*)(?:\.x)?(?:\.kraft)?", value)
    if plain not in ("kafkaversion", "confluentpackageversion") or found is None:
        return None
    return found[1] if plain == "kafkaversion" else of_confluent(found[1]) or None


def spelled(entry: Declared) -> Iterator[Declared]:
    """Yield an entry of a document or an inventory under Kafka's key; none if its key is nothing of Kafka's."""
    key = entry.key[1:-1] if re.fullmatch(r"\[.*\]", entry.key) else entry.key  # as Spring has keys with dots
    known = key if "." in key else kafka_key(key)
    as_acks = from_environment(replace(entry, key=key))
    if (version := _version(key, entry.value)) is not None:
        yield Declared(None, VERSION, version, entry.place, scope=entry.scope)
    elif key.startswith("KAFKA_") or as_acks.key == "acks":
        yield as_acks
    elif known is not None and may_be_kafkas(known):
        yield replace(entry, key=known, spelled=key if key != known else "")


class _Reader:
    """Reads the nodes of one file."""

    def __init__(self, file: str, text: str, variables: Variables) -> None:
        self.file, self.text, self.variables = file, text.replace("\t", "  "), variables
        self.replication: str | None = None
        """The replication factor of topics that do not say their own; None where nothing says it for them."""

    def whole(self, root: Any) -> Iterator[Declared]:
        """Yield the entries of a document, a compose file's with variables filled in, and its number of brokers."""
        if not (services := services_in(root)):
            yield from self.document(root)
            return
        defaults = filled_in(root, self.variables.of_environment)
        for entry in self.document(root):
            yield entry
            if setting_name(entry.key) is not None and entry.place.line in defaults:
                yield Declared(None, DEFAULTED, defaults[entry.place.line], entry.place)
        if count := brokers_in(services):
            yield Declared(None, BROKERS, str(count), self._place(root), scope="compose")

    def document(self, root: Any) -> Iterator[Declared]:
        """Yield the entries of a document."""
        fields = fields_of(root)
        spec, kind = fields_of(fields.get("spec")), text_of(fields.get("kind"))
        if kind == "KafkaTopic":
            name = text_of(spec.get("topicName")) or text_of(fields_of(fields.get("metadata")).get("name"))
            yield from self._topic(name or f"of {self.file}", spec)
        elif kind == "Kafka" and "kafka" in spec:
            broker = fields_of(spec["kafka"])
            metadata, status = fields_of(fields.get("metadata")), fields_of(fields.get("status"))
            named = [text_of(metadata.get(key)) for key in ("namespace", "name")]
            yield Declared(None, CLUSTER, "/".join(filter(None, named)), self._place(root))
            release = broker.get("version", status.get("kafkaVersion"))
            if release is not None:
                yield self._entry(VERSION, release, None, "")
                level = broker.get("metadataVersion", status.get("kafkaMetadataVersion"))
                yield from self._metadata(level, text_of(release))
            marks = fields_of(metadata.get("annotations"))
            if text_of(marks.get("strimzi.io/kraft")).lower() == "enabled":
                yield self._entry(KRAFTS, marks["strimzi.io/kraft"], None, "")
            elif "zookeeper" in spec:
                yield Declared(None, ZOOKEEPERS, "spec.zookeeper is set", self._place(spec["zookeeper"]))
            else:  # an operator that has ZooKeeper refuses a resource without it
                yield Declared(None, KRAFTS, "no spec.zookeeper", self._place(spec["kafka"]))
            if text_of(broker.get("replicas")).isdecimal():
                yield self._entry(BROKERS, broker["replicas"], None, "")
            yield from self._ephemeral(broker.get("storage"))
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
            if "broker" in roles:
                yield from self._ephemeral(spec.get("storage"))
            if "broker" in roles and text_of(spec.get("replicas")).isdecimal():
                yield Declared(None, BROKERS, text_of(spec["replicas"]), self._place(spec["replicas"]), scope="pool")
        elif kind not in _STRIMZI:
            yield from self._of_controllers(kind, root, list(self._walk(root, None)))

    def _ephemeral(self, storage: Any) -> Iterator[Declared]:
        """Yield a remark on brokers that lose their logs with their pods, as no disturbance takes a log away."""
        volumes = items_of(fields_of(storage).get("volumes"))
        if any(text_of(fields_of(one).get("type")) == "ephemeral" for one in (storage, *volumes)):
            said = (
                "the storage is ephemeral, so a broker whose pod is replaced, as in a rolling restart, loses its log; "
                "this is not covered, as disks stay in all disturbances"
            )
            yield Declared(None, LEFT_OPEN, said, self._place(storage))

    def _metadata(self, node: Any, release: str) -> Iterator[Declared]:
        """Yield the metadata version of a cluster if it is that of an older release than its brokers have."""
        level = re.match(r"\d+\.\d+", text_of(node))
        if level is not None and not release.startswith(level[0]):
            yield Declared(None, METADATA_VERSION, level[0], self._place(node), Source.CLUSTER, FINALIZED)

    def _topic(self, name: str, fields: dict[str, Any]) -> Iterator[Declared]:
        settings = {key: value for one in _TOPIC_CONFIGS for key, value in fields_of(fields.get(one)).items()}
        for key in _REPLICATION:
            if (value := fields.get(key, settings.get(key))) is not None:
                yield self._entry("ReplicationFactor", value, name, "")
                break
        else:
            first = next(iter(fields.values()), None)
            place = self._place(first) if first is not None else Place(self.file, 1)
            if self.replication is None:
                yield Declared(name, NOTHING, "", place)
            else:
                yield Declared(name, "ReplicationFactor", self.replication, place, Source.TOPIC)
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
                    yield from self._walk(item, topic, under=named)
        elif node.id == "mapping":
            yield from self._mapping(node, topic, named, under)

    def _mapping(self, node: Any, topic: str | None, named: str, under: str) -> Iterator[Declared]:
        fields, scope = fields_of(node), f"lines from {node.start_mark.line + 1}"
        kind = text_of(fields.get("kind"))
        if "spec" in fields and (kind in _STRIMZI or (kind == "Kafka" and "kafka" in fields_of(fields["spec"]))):
            yield from self.document(node)  # within a template, a list, or values of a chart
            return
        if topic is None and (name := self._names_topic(fields, named, under)):
            yield from self._topic(name, fields)
            return
        if (key := next((text_of(fields[one]) for one in _KEYS if one in fields), "")) and {
            "value",
            "valueFrom",
        } & fields.keys():
            yield from self._named(key, fields, topic, node)
            return
        yield from self._about_cluster(fields, named)
        outer = self.replication
        if "topics" in fields and ("replicationFactor" in fields or named == "provisioning"):
            self.replication = text_of(fields.get("replicationFactor")) or _ONE
        for key, value in fields.items():
            found = self._of_key(key, value, fields, topic, named, scope)
            yield from self._of_controllers(key, value, list(found))
        self.replication = outer

    def _of_key(
        self, key: str, value: Any, fields: dict[str, Any], topic: str | None, named: str, scope: str
    ) -> Iterator[Declared]:
        """Yield the entries of a key and its value.

        Args:
            key: the key.
            value: its value.
            fields: the mapping that has it.
            topic: the topic that it is about; None for all.
            named: the key of the mapping.
            scope: the part of the file that the mapping is.
        """
        if key == "env_file":
            yield from self._files(value, fields.get("environment"), scope)
        if key in ("extends", "include"):
            yield from self._documents(value)
        if key in _CONTROLLERS and text_of(fields_of(value).get("enabled")).lower() == "true":
            yield Declared(None, _CONTROLLERS[key], f"{key}.enabled is true", self._place(value))
        if key in ("image", "application") and value.id == "scalar":
            tag = text_of(fields.get("imageTag"))
            yield from self._image(f"{value.value}:{tag}" if tag else value.value, value)
        elif key == "values" and value.id == "scalar" and value.style == "|":  # of a chart, within Argo CD
            text = "\n" * (value.start_mark.line + 1) + value.value  # on the lines that it has in the file
            for root in _roots(self.file, text):
                yield from _Reader(self.file, text, self.variables).document(root)
        elif key == "KAFKA_CREATE_TOPICS":
            yield from topics_listed(text_of(value), self._place(value))
        elif key == "ServerProperties" and (decoded := _decoded(text_of(value))):  # as `aws kafka` prints it
            yield Declared(None, MANAGED, "", self._place(value))
            for found in properties_in(self.file, decoded.splitlines(), scope="ServerProperties"):
                yield replace(found, topic=topic, place=self._place(value))
        elif value.id == "scalar" and (value.style in ("|", ">") or _ARE_PROPERTIES.match(value.value)):
            if key == "ServerProperties":  # of CloudFormation
                yield Declared(None, MANAGED, "", self._place(value))
            yield from in_command(value.value, self._place(value))
            yield from self._lines(value, topic)
        elif value.id == "scalar" or self._source(value).startswith("{{"):  # an unquoted template
            yield from in_command(text_of(value), self._place(value))
            yield from self._pair(key, value, topic, scope)
        else:
            yield from self._walk(value, topic, key, named)

    def _named(self, key: str, fields: dict[str, Any], topic: str | None, node: Any) -> Iterator[Declared]:
        """Yield the entry of a mapping that has a key and a value as its fields."""
        value = fields.get("value")
        text = "${valueFrom}" if value is None else self._entry(key, value, topic, "").value  # not filled in
        if key.startswith("KAFKA_"):
            place = self._place(node if value is None else value)
            yield from_environment(Declared(None, key, text, place, scope="variables"))
        elif may_be_kafkas(key):
            yield Declared(topic, key, text, self._place(node), Source.in_file(topic), "pairs")

    def _about_cluster(self, fields: dict[str, Any], named: str) -> Iterator[Declared]:
        """Yield what a mapping says of a cluster beside its settings: its image, and what Amazon MSK prints of it."""
        if named == "cp-kafka" and "image" not in fields and (tag := text_of(fields.get("imageTag"))):
            yield from self._image(f"confluentinc/cp-kafka:{tag}", fields["imageTag"])
            yield Declared(None, ZOOKEEPERS, "it is of the chart cp-helm-charts", self._place(fields["imageTag"]))
        if text_of(fields.get("repository")).endswith("kafka") and (tag := text_of(fields.get("tag"))):
            yield from self._image(f"{text_of(fields['repository'])}:{tag}", fields["tag"])
        of_msk = text_of(fields.get("Type")).startswith("AWS::MSK::")
        if (info := fields.get("CurrentBrokerSoftwareInfo", fields.get("Type") if of_msk else None)) is not None:
            place = self._place(info)
            fields = {**fields, **fields_of(fields.get("Properties"))} if of_msk else fields
            yield Declared(None, MANAGED, text_of(fields.get("StorageMode")), place)
            if text_of(fields.get("NumberOfBrokerNodes")).isdecimal():
                yield self._entry(BROKERS, fields["NumberOfBrokerNodes"], None, "")
            if "ZookeeperConnectString" in fields:
                yield Declared(None, ZOOKEEPERS, "ZookeeperConnectString is set", place)

    def _of_controllers(self, key: str, value: Any, found: list[Declared]) -> Iterator[Declared]:
        """Yield the entries below a key, or of a kind, with the role of nodes if it is that of controllers alone."""
        only = key == "controller" and text_of(fields_of(value).get("controllerOnly")).lower() == "true"
        if only or key == "KRaftController" or key.startswith("kafka_controller"):
            for scope in dict.fromkeys(one.scope for one in found if one.source is Source.STATIC):
                yield Declared(None, "process.roles", "controller", self._place(value), scope=scope)
        yield from found

    @staticmethod
    def _names_topic(fields: dict[str, Any], named: str, under: str) -> str:
        """Return the name of the topic that a mapping describes; empty if it describes none.

        Args:
            fields: the mapping.
            named: its key, which is the name of the topic if none is within and the key above is one of topics.
            under: the key above its own, or that of the list that it is in.
        """
        among_topics = "topic" in under.lower()
        replicated = any(key in fields for key in _REPLICATION[:-1])
        described = among_topics and any(key in fields for key in ("partitions", *_TOPIC_CONFIGS))
        if not (replicated or described or {"replicas", "partitions"} <= fields.keys()):
            return ""
        own = next((text for key in _TOPIC_NAMES if (text := text_of(fields.get(key)))), "")
        return own or (named if among_topics else "")

    def _files(self, node: Any, environment: Any, scope: str) -> Iterator[Declared]:
        """Yield what the files of variables of a service say that its own variables do not overrule.

        A file that is not given is named.

        Args:
            node: the files.
            environment: the variables of the service.
            scope: the part of the file that the service is; that of its variables is the part that they belong to.
        """
        own = {entry.key for entry in self._walk(environment, None)} if environment is not None else set()
        scope = scope if environment is None else f"lines from {environment.start_mark.line + 1}"
        for item in items_of(node) or [node]:
            if not (name := text_of(item) or text_of(fields_of(item).get("path"))):
                continue
            if not (file := self.variables.file_named(name, self.file)):
                yield Declared(None, OTHER_FILE, name, self._place(item))
                continue
            yield Declared(None, NOTHING, "", Place(file, 1), scope=scope, of=self.file)
            for entry in properties_in(file, self.variables.texts[file].splitlines(), scope=scope):
                if entry.key not in own:
                    yield replace(entry, of=self.file)

    def _documents(self, node: Any) -> Iterator[Declared]:
        """Yield the other compose files that one includes, or extends a service of, and that are not given."""
        for item in items_of(node) or [node]:
            fields = fields_of(item)
            name = text_of(item) or text_of(fields.get("file", fields.get("path")))
            if name.endswith((".yaml", ".yml")) and not self.variables.file_named(name, self.file):
                yield Declared(None, OTHER_FILE, name, self._place(item))

    def _pair(self, key: str, value: Any, topic: str | None, scope: str) -> Iterator[Declared]:
        yield from spelled(self._entry(key, value, topic, scope))

    def _item(self, node: Any, topic: str | None, scope: str) -> Iterator[Declared]:
        """Yield the entry of an item of a list that is `KEY=VALUE`."""
        key, equals, value = node.value.partition("=")
        key = key.strip()
        place = self._place(node)
        found = from_environment(Declared(topic, key, value.strip(), place, Source.in_file(topic), scope))
        if not equals or " " in key:
            yield from in_command(node.value, place)
        elif key == "KAFKA_CREATE_TOPICS":
            yield from topics_listed(value, place)
        elif key.startswith("KAFKA_") or may_be_kafkas(found.key):
            yield found

    def _lines(self, node: Any, topic: str | None) -> Iterator[Declared]:
        """Yield the properties of a text of several lines; lines that are none are skipped."""
        first = node.start_mark.line + (2 if node.style in ("|", ">") else 1)
        yield from properties_within(self.file, node.value, topic, first)

    def _image(self, image: str, node: Any) -> Iterator[Declared]:
        """Yield the release of an image of Kafka, as far as its tag says it."""
        if is_template(image) and re.match(r"(?:\S*/)?(?:cp-)?kafka:", image):
            said = f"the release in the image {image} is not filled in; give --release"
            yield Declared(None, LEFT_OPEN, said, self._place(node))
        if re.fullmatch(r"(?:\S*/)?(?:apache|bitnami\w*|confluentinc)/(?:cp-)?kafka(?::latest)?", image.strip()):
            yield Declared(None, NO_RELEASE, image.strip(), self._place(node))
        found = _IMAGE.fullmatch(image.strip())
        if found is None or "debezium" in (found["by"] or ""):  # Debezium's tags are its own versions
            return
        version = of_confluent(found["version"]) if found["name"].startswith("cp-") else found["version"]
        if version and (not found["by"] or release_of_series(version) or "apache" in found["by"]):
            yield Declared(None, VERSION, version, self._place(node), scope=f"image {node.start_mark.line}")

    def _entry(self, key: str, value: Any, topic: str | None, scope: str) -> Declared:
        text = value.value if value.id == "scalar" else self._source(value)
        if value.tag == "tag:yaml.org,2002:bool":  # yes and no are true and false to what makes properties of them
            text = "true" if str(text).lower() in ("yes", "true", "on") else "false"
        return Declared(topic, key, str(text).strip(), self._place(value), Source.in_file(topic), scope)

    def _source(self, node: Any) -> str:
        return str(self.text[node.start_mark.index : node.end_mark.index])

    def _place(self, node: Any) -> Place:
        return Place(self.file, node.start_mark.line + 1)
