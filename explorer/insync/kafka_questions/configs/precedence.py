"""The value of each setting of each topic: what overrides what, and what brokers that differ promise together.

Kafka ranks a topic's own value first, then one that was set on a broker while it ran, then one that was set for the
cluster, then the broker's file, then Kafka's default (DynamicBrokerConfig, `kafka-configs --describe --all`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from insync.kafka.releases import Release
from insync.kafka_questions.configs.entries import (
    ELR_FEATURE,
    MANAGED,
    PARTITION,
    SHOWN,
    Declared,
    Place,
    Source,
    is_template,
    may_be_kafkas,
    not_filled_in,
    setting_name,
    setting_of,
    weaker,
)
from insync.kafka_questions.configs.process_roles import (
    Part,
    brokers_by_part,
    controllers_decide,
    part_of,
    roles_of,
    unheeded_parts,
)
from insync.kafka_questions.configs.remarks import clients_in, misspelt_sizes, not_given, not_in_force, the_only_broker
from insync.kafka_questions.configs.versions import KRAFT_KEYS, Settings
from insync.kafka_questions.controllers import unclean_by_default
from insync.runtime.errors import UserError

__all__ = ["EVERY_OTHER", "settings_by_topic"]


EVERY_OTHER = "all other topics"
"""Stands for the topics that no file names."""

_DEFAULTS: dict[str, int | str] = {"min_insync_replicas": 1, "unclean_leader_election": "off"}
_OPTION = "the command line"
_DEFAULT_OF_KEYS = {"min.insync.replicas": "1", "unclean.leader.election.enable": "false"}

_KAFKAS = "Kafka's default"
_MSK_DEFAULTS: dict[str, int | str] = {"min_insync_replicas": 1, "unclean_leader_election": "on"}
_TIERED = "TIERED"
_MSK_PAGE = "AWS's page 'Default Amazon MSK configuration'"
_MSK_REMARKS = {
    "min_insync_replicas": "No file says min.insync.replicas, which Amazon MSK sets to 1 with two zones and to 2 with "
    f"three ({_MSK_PAGE}); the answer is for 1, so give --min-insync-replicas 2 for three.",
    "unclean_leader_election": "No file says unclean.leader.election.enable, which Amazon MSK sets to true, and to "
    f"false with tiered storage ({_MSK_PAGE}); the answer is for true, so give --unclean-leader-election off with "
    "tiered storage.",
}
"""What the documentation of Amazon MSK says of settings that a configuration leaves out."""


def settings_by_topic(
    found: Sequence[Declared], given: Settings, remarks: list[str], *, elr: bool, compares_partitions: bool
) -> dict[str, dict[str, tuple[int | str, str]]]:
    """Return the settings of each named topic, and those of all other topics, each value with its place."""
    of_all = [entry for entry in found if entry.topic is None]
    templates = list[Declared]()
    said = _chosen([*of_all, *_unset(of_all, elr=elr)], given, remarks, templates)
    general = {name: (value, _default_place(found, name, elr=elr)) for name, value in _DEFAULTS.items()}
    if storage := {entry.value.upper() for entry in found if entry.key == MANAGED}:
        tiered = _TIERED in storage
        defaults = {**_MSK_DEFAULTS, **({"unclean_leader_election": "off"} if tiered else {})}
        general |= {name: (value, "Amazon MSK's default") for name, value in defaults.items()}
        left_open = {name: remark for name, remark in _MSK_REMARKS.items() if name not in {**said, **given}}
        release = given.get("release", said.get("release", ("",))[0])
        in_kraft = any(one.key in KRAFT_KEYS for one in found)
        if tiered or (in_kraft and release and not Release(release).rules.unclean_is_honoured):
            left_open.pop("unclean_leader_election", None)  # its default is known, or it decides nothing
        remarks += left_open.values()
    general |= said
    stronger = {name: (value, _OPTION) for name, value in given.items()}
    topics = dict[str, dict[str, tuple[int | str, str]]]()
    partitions = dict[str, dict[int, int]]()
    for name in dict.fromkeys(entry.topic for entry in found if entry.topic is not None):
        own = [entry for entry in found if entry.topic == name]
        topics[name] = _chosen(own, given, remarks, templates)
        for entry in own:
            if entry.key.startswith(PARTITION):
                partitions.setdefault(name, {})[int(entry.key.removeprefix(PARTITION))] = int(entry.value)
    if templates:
        raise not_filled_in(templates)
    if "replicas" not in {**general, **given} and (only := the_only_broker(of_all)) is not None:
        general["replicas"] = (1, f"{only}, which has one broker")
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
        raise UserError(" ".join([*misspelt_sizes(found), message, *not_given(found)]))
    of_kafka = (one for one in of_all if one.key != ELR_FEATURE or one.source is not Source.KAFKA)  # seen at a topic
    if sized and (not topics or any(setting_name(one.key) for one in of_kafka)):
        topics[EVERY_OTHER] = {}
    shown = {entry.topic for entry in found if entry.key == SHOWN}
    keys = {setting_name(key): key for key in _DEFAULT_OF_KEYS}
    changed = {keys[name]: place for name, (value, place) in said.items() if value != _DEFAULTS.get(name, value)}
    remarks += not_in_force(changed, {name: own for name, own in topics.items() if name in shown})
    return {
        name: _by_release({**general, **(_shown_defaults(general) if name in shown else {}), **own, **stronger})
        for name, own in topics.items()
    }


def _default_place(found: Sequence[Declared], name: str, *, elr: bool) -> str:
    """Return the place of a default: Kafka's, if a file is given that would override it; else empty.

    That is the file of a broker, or of a controller for what controllers decide. Settings of a running cluster, files
    of clients and features do not show what a broker's file has.
    """
    static = [entry for entry in found if entry.topic is None and entry.source is Source.STATIC]
    clients = clients_in(found)
    decide = {part_of(entry) for entry in static if may_be_kafkas(entry.key) and entry.place.file not in clients}
    roles = roles_of(found)
    if roles and controllers_decide(name, elr=elr):
        decide = {part for part in decide if "controller" in roles.get(part, {"controller"})}
    return _KAFKAS if decide - unheeded_parts(found, name, elr=elr) else ""


def _shown_defaults(general: Mapping[str, tuple[int | str, str]]) -> dict[str, tuple[int | str, str]]:
    """Return the defaults of a topic that a tool has shown, as that tool shows every other value."""
    place = f"{_KAFKAS}, as kafka-topics shows no other"
    return {name: (_DEFAULTS[name], place) for name in _DEFAULTS if general[name][1] in ("", _KAFKAS)}


def _by_release(settings: dict[str, tuple[int | str, str]]) -> dict[str, tuple[int | str, str]]:
    """Return settings with their release's default of unclean elections."""
    _, place = settings["unclean_leader_election"]
    if (not place or place.startswith(_KAFKAS)) and "release" in settings:
        return {**settings, "unclean_leader_election": (unclean_by_default(str(settings["release"][0])), place)}
    return settings


def _unset(found: Sequence[Declared], *, elr: bool) -> Iterator[Declared]:
    """Yield Kafka's default for each broker that lacks a key of another broker, unless an entry for all has the key."""
    brokers = brokers_by_part(found)
    for key, default in _DEFAULT_OF_KEYS.items():
        having = {brokers.get(part_of(entry)) for entry in found if entry.key == key}
        without_say = unheeded_parts(found, setting_name(key) or key, elr=elr)
        deciding = {broker: part for part, broker in sorted(brokers.items(), reverse=True) if part not in without_say}
        if having & deciding.keys() and None not in having:
            for file, scope in sorted(deciding[broker] for broker in deciding.keys() - having):
                yield Declared(None, key, default, Place(file, 0), scope=scope)


def _in_force(declared: Sequence[Declared], brokers: Mapping[Part, str]) -> list[Declared]:
    """Return the strongest entries of a setting for each named broker; entries of no broker are for all.

    Args:
        declared: the entries.
        brokers: the broker of each part of a file.
    """
    found = set[Declared]()
    for broker in set(brokers.values()) or {""}:
        own = [entry for entry in declared if brokers.get(part_of(entry), broker) == broker]
        strongest = max((entry.source for entry in own), default=None)
        found |= {entry for entry in own if entry.source is strongest}
    return [entry for entry in declared if entry in found]


def _chosen(
    entries: Sequence[Declared], given: Settings, remarks: list[str], templates: list[Declared]
) -> dict[str, tuple[int | str, str]]:
    """Return the strongest value of each setting. Of values of several brokers it is the one that promises least.

    Args:
        entries: the entries.
        given: the settings of the command line.
        remarks: receives sentences on brokers that differ.
        templates: receives the entries that would decide, but whose variables are not filled in.
    """
    by_name: dict[str, list[Declared]] = {}
    brokers = brokers_by_part(entries)
    for entry in entries:
        if (name := setting_name(entry.key)) is not None and name not in given:
            if not is_template(entry.value):
                setting_of(entry)  # raises for a value that Kafka would refuse, even if another value is stronger
            by_name.setdefault(name, []).append(entry)
    found: dict[str, tuple[int | str, str]] = {}
    for name, every in by_name.items():
        declared = _in_force(every, brokers)
        templates += [entry for entry in declared if is_template(entry.value)]
        last = {(part_of(entry), entry.source): entry for entry in declared}
        if any(is_template(entry.value) for entry in last.values()):
            continue
        values = {entry.place: setting[1] for entry in last.values() if (setting := setting_of(entry)) is not None}
        least = next(iter(values.values()))
        for value in values.values():
            least = weaker(name, least, value)
        place = next(place for place, value in values.items() if value == least)
        found[name] = least, str(place)
        if len(set(values.values())) > 1:
            told = _told(last.values())
            key = next(entry.key for entry in last.values() if entry.place == place)
            remark = f"{key} differs: {told}; the answer is for the one that promises least."
            if remark not in remarks:
                remarks.append(remark)
        if name == "release" and all(entry.source is Source.KAFKA for entry in last.values()):
            found[name] = least, f"what the broker supports, {place}"
    return found


def _told(entries: Iterable[Declared]) -> str:
    """Return the values of several brokers with their places; equal values at one place are counted."""
    counts = Counter(f"{entry.value} ({entry.place}" for entry in entries)
    return ", ".join(f"{said} for {count} brokers)" if count > 1 else f"{said})" for said, count in counts.items())


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
            compared = {"partition_zero_replicas": (zero, place)} if compares_partitions and zero is not None else {}
            yield f"{topic}-{number}", {**own, "replicas": (replicas, place), **compared}
