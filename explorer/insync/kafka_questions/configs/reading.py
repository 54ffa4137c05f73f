"""Files that operators have, as settings of the model `cluster` by topic: the kind of each, and what overrides what.

Kafka ranks a topic's own value first, then one that was set on a broker while it ran, then one that was set for the
cluster, then the broker's file, then Kafka's default (DynamicBrokerConfig, `kafka-configs --describe --all`).
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from insync.kafka.releases import Release
from insync.kafka_questions.configs.documents import documents_in, kinds_in
from insync.kafka_questions.configs.entries import (
    KRAFTS,
    METADATA_VERSION,
    NAMED,
    PARTITION,
    VERSION,
    ZOOKEEPERS,
    Declared,
    Place,
    Source,
    is_template,
    may_be_kafkas,
    near_setting,
    setting_name,
    setting_of,
    weaker,
    with_near_setting,
)
from insync.kafka_questions.configs.printed import PartitionsSeen, is_printed, printed_in
from insync.kafka_questions.configs.properties import properties_in
from insync.kafka_questions.configs.terraform import is_terraform, terraform_in
from insync.kafka_questions.controllers import unclean_by_default
from insync.runtime.errors import UserError

__all__ = ["BY_ZOOKEEPER", "EVERY_OTHER", "Combination", "Configured", "read_configs"]


Settings = Mapping[str, int | str]

EVERY_OTHER = "all other topics"
"""Stands for the topics that no file names."""

_DEFAULTS: dict[str, int | str] = {"min_insync": 1, "unclean": "off"}
_OPTION = "the command line"
_OF_A_BROKER = ("node.id", "broker.id")
"""The keys that only the configuration of one broker has."""
_DEFAULT_OF_KEYS = {"min.insync.replicas": "1", "unclean.leader.election.enable": "false"}
_REBALANCE = "auto.leader.rebalance.enable"


@dataclass(frozen=True, slots=True)
class Combination:
    """Settings that some topics share.

    Attributes:
        settings: the settings, under the names of the model `cluster`.
        topics: the names of the topics, and of partitions with another number of replicas than their topic.
        origins: where each setting of the first topic comes from: a line of a file, the command line, a default.
    """

    settings: Settings
    topics: tuple[str, ...]
    origins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Configured:
    """The contents of configuration files.

    Attributes:
        combinations: each distinct combination of settings, in the order of its first topic.
        named: the keys that matter to replication and are not settings of the model, each with a description.
        ignored: the other keys, in alphabetical order; a near miss of a setting with that setting.
        remarks: sentences on what the files leave open, or say of the cluster as it is.
        in_zookeeper: why the controller is, or may be, ZooKeeper's, as a clause; empty if nothing says so, or a file
            says that it is KRaft's.
        in_kraft: whether a file says that the controller is KRaft's.
        rebalances: whether preferred leaders are elected by themselves; false with auto.leader.rebalance.enable=false.
    """

    combinations: tuple[Combination, ...]
    named: Mapping[str, str]
    ignored: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    in_zookeeper: str = ""
    in_kraft: bool = False
    rebalances: bool = True


def read_configs(paths: Sequence[Path], given: Settings, *, compares_partitions: bool = False) -> Configured:
    """Read configuration files, each of any of the kinds that `_read` lists.

    Args:
        paths: the files.
        given: the settings of the command line, which override all others.
        compares_partitions: whether the number of replicas of partition 0 becomes a setting of a partition with
            another number.

    Raises:
        UserError: an unreadable file, an invalid line or value, or a number of replicas that nobody says.
    """
    seen: dict[str, PartitionsSeen] = {}
    found = [declared for path in paths for declared in _read(path, seen)]
    others = {entry.key for entry in found if setting_name(entry.key) is None and may_be_kafkas(entry.key)}
    named = {key: NAMED[key] for key in sorted(others & NAMED.keys())}
    ignored_keys = sorted(others - named.keys())
    ignored = tuple(with_near_setting(key) for key in ignored_keys)
    told = {entry.topic for entry in found if not entry.key.startswith(PARTITION)}
    half_told = dict.fromkeys(entry.topic for entry in found if entry.topic is not None and entry.topic not in told)
    remarks = [*_misspelt(found, ignored_keys), *_twice(found)]
    topics = _by_topic(_heeded(found), given, remarks, compares_partitions=compares_partitions)
    if half_told:
        cure = "give what kafka-topics --describe prints of the whole topic"
        remarks.append(f"Not known is what these topics set themselves: {', '.join(map(str, half_told))}; {cure}.")
    remarks += [*_of_no_controller(found, given), *_unfinished(found), *_of_partitions(seen)]
    rebalances = not any(entry.key == _REBALANCE and entry.value.lower() == "false" for entry in found)
    said = {entry.key: entry for entry in found if entry.value not in ("", "null")}  # as --all prints unset keys
    in_kraft = any(key in said for key in _OF_KRAFT)
    in_zookeeper = "" if in_kraft else _in_zookeeper(said)
    return Configured(_combined(topics), named, ignored, tuple(remarks), in_zookeeper, in_kraft, rebalances)


def _misspelt(found: Sequence[Declared], ignored: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each ignored key that is probably a misspelt setting."""
    for key in ignored:
        if near := near_setting(key):
            place = next(entry.place for entry in found if entry.key == key)
            yield f"{place}: {key} is no key of Kafka's that is asked about, so it decides nothing; is {near} meant?"


def _unfinished(found: Sequence[Declared]) -> Iterator[str]:
    """Yield a sentence for each metadata version that is finalized below the release that the brokers have."""
    for entry in found:
        if entry.key == METADATA_VERSION:
            yield (
                f"{entry.place}: {METADATA_VERSION} is finalized at that of {entry.value}, so an upgrade is not "
                f"finished: what the controller writes by it is as in {entry.value}; ask with --release {entry.value} "
                "too."
            )


def _twice(found: Sequence[Declared]) -> Iterator[str]:
    """Yield a sentence for each setting that one part of a file gives on several lines."""
    lines: dict[tuple[object, ...], list[int]] = {}
    for entry in found:
        if entry.key not in (VERSION, METADATA_VERSION) and setting_name(entry.key) is not None:
            part = (entry.place.file, entry.key, entry.scope, entry.topic, entry.source)
            lines.setdefault(part, []).append(entry.place.line)
    for (file, key, *_), of_key in lines.items():
        given = sorted(set(of_key))
        if len(given) > 1:
            yield f"{file}, lines {', '.join(map(str, given))}: {key} is given more than once, and the last one counts."


BY_ZOOKEEPER = "zookeeper.connect is set and process.roles is not, so the controller is ZooKeeper's"
"""Why a controller is ZooKeeper's for certain."""

_OF_KRAFT = ("process.roles", "controller.quorum.voters", "controller.quorum.bootstrap.servers", KRAFTS)


def _in_zookeeper(said: Mapping[str, Declared]) -> str:
    """Return why the controller is, or may be, ZooKeeper's; empty if nothing says so."""
    if "zookeeper.connect" in said:
        return BY_ZOOKEEPER
    if ZOOKEEPERS in said:
        return f"{said[ZOOKEEPERS].value}, so the controller may be ZooKeeper's"
    if "inter.broker.protocol.version" in said:
        return "inter.broker.protocol.version is set and process.roles is not, so the controller may be ZooKeeper's"
    return ""


_OTHERS = (
    (r"\A\s*<", "XML"),
    (r"^#!.*sh\b", "a shell script"),
    (r"^\s*GROUP\s+TOPIC\s+PARTITION", "what kafka-consumer-groups prints"),
    (r"^\s*ClusterId:\s", "what kafka-metadata-quorum prints"),
    (r"^\s*(?:log4j\.|rootLogger|appender\.)", "a configuration of logging"),
    (r"^\s*(?:dataDir|tickTime|initLimit)\s*=", "ZooKeeper's own configuration"),
    (r"^\s*(?:config\.storage\.topic|offset\.storage\.file\.filename)\s*=", "the configuration of a worker of Connect"),
)
"""Kinds of files that are refused by name."""

_MANAGED = (
    "What is not in the configuration of Amazon MSK is as MSK sets it, which differs from Kafka's defaults: "
    "unclean.leader.election.enable=true without tiered storage, and in three zones min.insync.replicas=2; give these "
    "keys."
)
_WANTED = (
    "give server.properties, what Kafka's tools print with --describe, a resource of Strimzi, a compose file, values "
    "of a chart, or Terraform with server_properties"
)


def _read(path: Path, seen: dict[str, PartitionsSeen]) -> list[Declared]:
    """Return the entries of a file: printed by Kafka's tools, Terraform, YAML, or properties and variables."""
    try:
        data = path.read_bytes()
        text = data.decode("utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8 or UTF-16"
        message = f"{path} cannot be read: {reason}; {_WANTED}."
        raise UserError(message) from None
    if not text.strip():
        message = f"{path} is empty; {_WANTED}."
        raise UserError(message)
    lines, file = text.splitlines(), str(path)
    if is_printed(lines):
        found = list(printed_in(file, lines, seen))
    elif is_terraform(file, lines):
        found = list(terraform_in(file, lines))
    elif _is_yaml(path, lines):
        found = documents_in(file, text)
        if not found:
            kinds = kinds_in(file, text)
            named = "is JSON" if path.suffix.lower() == ".json" else "is YAML"
            what = f"has resources of kind {', '.join(kinds)}" if kinds else named
            message = f"{path} {what} without a setting of brokers or topics; {_WANTED}."
            raise UserError(message)
    else:
        for pattern, kind in _OTHERS:
            if re.search(pattern, text, re.MULTILINE):
                message = f"{path} is {kind}, which is not read; {_WANTED}."
                raise UserError(message)
        found = list(properties_in(file, lines))
    if not found:
        message = f"{path} has no settings; {_WANTED}."
        raise UserError(message)
    known = (KRAFTS, ZOOKEEPERS)
    if not any(may_be_kafkas(one.key) or setting_name(one.key) or one.topic or one.key in known for one in found):
        message = f"{path} has no key of Kafka's; its first is {found[0].key!r}; {_WANTED}."
        raise UserError(message)
    return found


def _is_yaml(path: Path, lines: Sequence[str]) -> bool:
    if path.suffix.lower() in (".yaml", ".yml", ".json"):
        return True
    written = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not written:
        return False
    opens = re.compile(r"\s*(?:- )?[\"']?[\w.\-]+[\"']?:\s*")
    return written[0].lstrip().startswith(("---", "{\n", "{ ", '{"', "[", "apiVersion:")) or any(
        map(opens.fullmatch, written)
    )


_ROLES = "process.roles"
_OF_BROKERS = ("min_insync", "acks", "flushing")
"""Settings that decide only where records are written."""
_Part = tuple[str, str]
"""A file, and the part of it that is one broker's."""


def _roles(found: Sequence[Declared]) -> dict[_Part, set[str]]:
    """Return the roles in KRaft of each part of a file that says them."""
    said = [entry for entry in found if entry.key == _ROLES and entry.value]
    return {_part(entry): {role.strip() for role in entry.value.split(",")} for entry in said}


def _part(entry: Declared) -> _Part:
    return entry.place.file, entry.scope


def _without_say(found: Sequence[Declared], name: str) -> set[_Part]:
    """Return the parts of files whose own value of a setting nobody heeds.

    A node that is only a controller takes no records, and in KRaft the controllers decide who is elected uncleanly.
    """
    roles = _roles(found)
    if name in _OF_BROKERS:
        return {part for part, of_part in roles.items() if of_part == {"controller"}}
    if name == "unclean" and any("controller" in of_part for of_part in roles.values()):
        return {part for part, of_part in roles.items() if "controller" not in of_part}
    return set()


def _heeded(found: Sequence[Declared]) -> list[Declared]:
    """Return the entries but for those in the files of nodes that do not heed them."""
    without_say = {name: _without_say(found, name) for name in (*_OF_BROKERS, "unclean")}
    return [
        entry
        for entry in found
        if entry.topic is not None
        or entry.source is not Source.STATIC
        or _part(entry) not in without_say.get(setting_name(entry.key) or "", ())
    ]


def _of_no_controller(found: Sequence[Declared], given: Settings) -> Iterator[str]:
    """Yield a sentence if files are those of brokers of KRaft alone, and the controllers' would decide.

    In releases whose controller of KRaft ignores unclean.leader.election.enable no file decides.
    """
    if "release" in given and not Release(given["release"]).rules.unclean_is_honoured:
        return
    roles = _roles(found)
    of_brokers = [file for (file, _), of_part in roles.items() if of_part == {"broker"}]
    stronger = any(setting_name(entry.key) == "unclean" and entry.source > Source.STATIC for entry in found)
    if len(of_brokers) == len(roles) > 0 and "unclean" not in given and not stronger:
        yield (
            "The controllers' file (process.roles=controller), which decides unclean.leader.election.enable in KRaft, "
            f"was not given; the answer is for what {of_brokers[0]} says."
        )


def _by_topic(
    found: Sequence[Declared], given: Settings, remarks: list[str], *, compares_partitions: bool
) -> dict[str, dict[str, tuple[int | str, str]]]:
    """Return the settings of each named topic and those of every other one, each value with where it comes from."""
    default = "Kafka's default" if any(entry.topic is None for entry in found) else "Kafka's default, as no file says"
    general = {name: (value, default) for name, value in _DEFAULTS.items()}
    of_all = [entry for entry in found if entry.topic is None]
    general |= _chosen([*of_all, *_unset(of_all)], given, remarks)
    stronger = {name: (value, _OPTION) for name, value in given.items()}
    topics = dict[str, dict[str, tuple[int | str, str]]]()
    partitions = dict[str, dict[int, int]]()
    for name in dict.fromkeys(entry.topic for entry in found if entry.topic is not None):
        own = [entry for entry in found if entry.topic == name]
        topics[name] = _chosen(own, given, remarks)
        for entry in own:
            if entry.key.startswith(PARTITION):
                partitions.setdefault(name, {})[int(entry.key.removeprefix(PARTITION))] = int(entry.value)
    if "replicas" not in given:
        for name, sizes in partitions.items():
            topics.update(_partitions(name, topics[name], sizes, compares_partitions=compares_partitions))
    sized = "replicas" in general or "replicas" in given
    for name, own_settings in topics.items():
        if "replicas" not in own_settings and not sized:
            message = f"No file says how many replicas topic {name} has; give --replicas, or `kafka-topics --describe`."
            raise UserError(message)
    if not topics and not sized:
        message = (
            "No file says how many replicas topics have; give --replicas (3, say), or what kafka-topics --describe "
            "prints."
        )
        raise UserError(message)
    if sized and (not topics or any(entry.topic is None and setting_name(entry.key) for entry in found)):
        topics[EVERY_OTHER] = {}
    return {name: _by_release({**general, **own, **stronger}) for name, own in topics.items()}


def _by_release(settings: dict[str, tuple[int | str, str]]) -> dict[str, tuple[int | str, str]]:
    """Return settings with the default of unclean elections that their release has."""
    _, place = settings["unclean"]
    if place.startswith("Kafka's default") and "release" in settings:
        return {**settings, "unclean": (unclean_by_default(str(settings["release"][0])), place)}
    return settings


def _unset(found: Sequence[Declared]) -> Iterator[Declared]:
    """Yield Kafka's default for each broker whose part of the files has not got a key that another broker's has."""
    brokers = {_part(entry) for entry in found if entry.key in _OF_A_BROKER}
    for key, default in _DEFAULT_OF_KEYS.items():
        having = {_part(entry) for entry in found if entry.key == key}
        deciding = brokers - _without_say(found, setting_name(key) or key)
        if len(deciding) > 1 and having & deciding:
            for file, scope in sorted(deciding - having):
                yield Declared(None, key, default, Place(file, 0), scope=scope)


def _chosen(entries: Iterable[Declared], given: Settings, remarks: list[str]) -> dict[str, tuple[int | str, str]]:
    """Return the value of each setting that is strongest; of several brokers' the one that promises least."""
    by_name: dict[str, list[Declared]] = {}
    for entry in entries:
        if (name := setting_name(entry.key)) is not None and name not in given:
            if not is_template(entry.value):
                setting_of(entry)  # what Kafka would refuse is refused, also where another value is stronger
            by_name.setdefault(name, []).append(entry)
    found: dict[str, tuple[int | str, str]] = {}
    for name, declared in by_name.items():
        strongest = max(entry.source for entry in declared)
        last = {_part(entry): entry for entry in declared if entry.source == strongest}
        values = {entry.place: setting[1] for entry in last.values() if (setting := setting_of(entry)) is not None}
        least = next(iter(values.values()))
        for value in values.values():
            least = weaker(name, least, value)
        place = next(place for place, value in values.items() if value == least)
        found[name] = least, str(place)
        if len(set(values.values())) > 1:
            told = ", ".join(f"{entry.value} ({entry.place})" for entry in last.values())
            key = next(entry.key for entry in last.values() if entry.place == place)
            remark = f"{key} differs: {told}; the answer is for the one that promises least."
            if remark not in remarks:
                remarks.append(remark)
        if name == "release" and strongest is Source.KAFKA:
            found[name] = least, f"what the broker supports, {place}"
    if any(entry.place.file.endswith(".tf") and entry.scope.startswith("aws_msk") for entry in _flat(by_name)):
        remarks.append(_MANAGED)
    return found


def _flat(by_name: Mapping[str, Sequence[Declared]]) -> Iterator[Declared]:
    return (entry for entries in by_name.values() for entry in entries)


def _partitions(
    topic: str, own: dict[str, tuple[int | str, str]], sizes: Mapping[int, int], *, compares_partitions: bool
) -> Iterator[tuple[str, dict[str, tuple[int | str, str]]]]:
    """Yield the settings of a topic, with its number of replicas, and of each partition with another number.

    The replication factor that Kafka prints for a topic is that of its partition 0.
    """
    said, place = own.get("replicas", (None, "kafka-topics --describe"))
    zero = sizes.get(0, said)
    usual = next(iter(sizes.values())) if zero is None else zero
    yield topic, {**own, "replicas": (usual, place)}
    for number, replicas in sizes.items():
        if replicas != usual:
            compared = {"partition_zero": (zero, place)} if compares_partitions and zero is not None else {}
            yield f"{topic}-{number}", {**own, "replicas": (replicas, place), **compared}


def _combined(topics: Mapping[str, Mapping[str, tuple[int | str, str]]]) -> tuple[Combination, ...]:
    groups: dict[tuple[tuple[str, int | str], ...], list[str]] = {}
    for name, settings in topics.items():
        groups.setdefault(tuple(sorted((key, value) for key, (value, _) in settings.items())), []).append(name)
    return tuple(
        Combination(dict(settings), tuple(names), {key: origin for key, (_, origin) in topics[names[0]].items()})
        for settings, names in groups.items()
    )


def _of_partitions(seen: Mapping[str, PartitionsSeen]) -> Iterator[str]:
    """Yield sentences on partitions without a leader, and on topics of which not all partitions are in the files."""
    for topic, partitions in seen.items():
        if partitions.leaderless:
            which = ", ".join(map(str, sorted(partitions.leaderless)[:8]))
            more = f" and {len(partitions.leaderless) - 8} more" if len(partitions.leaderless) > 8 else ""
            yield (
                f"Topic {topic} has no leader now in partition {which}{more}: nobody can write there, and what it "
                "lost already is not asked about."
            )
        if partitions.shrunk:
            which = "; ".join(f"partition {number}: {isr}" for number, isr in sorted(partitions.shrunk.items())[:4])
            more = f"; and {len(partitions.shrunk) - 4} more" if len(partitions.shrunk) > 4 else ""
            yield (
                f"The answer is for partitions whose ISR is full; of topic {topic} it is smaller now, and fewer "
                f"failures stop writes ({which}{more})."
            )
        if partitions.wanted is not None and 0 < len(partitions.seen) < partitions.wanted:
            yield (
                f"Of topic {topic} {len(partitions.seen)} of {partitions.wanted} partitions are in the files; the "
                "others may have other numbers of replicas."
            )
