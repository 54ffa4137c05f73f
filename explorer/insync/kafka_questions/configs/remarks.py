"""Sentences on what configuration files leave open, or say of the cluster as it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from insync.kafka.cluster.model import Cluster
from insync.kafka_questions.configs.entries import (
    BROKERS,
    DEFAULTED,
    ELR_FEATURE,
    LEFT_OPEN,
    METADATA_VERSION,
    NO_RELEASE,
    OTHER_FILE,
    VERSION,
    Declared,
    Place,
    SettingsByTopic,
    Source,
    near_of_producer,
    near_setting,
    setting_name,
)
from insync.kafka_questions.configs.printed import PartitionsSeen

__all__ = [
    "clients_in",
    "misspelt",
    "misspelt_of_producers",
    "misspelt_sizes",
    "not_given",
    "not_in_force",
    "of_partitions",
    "remarks_on",
    "the_only_broker",
    "too_few_brokers",
    "unfinished",
    "without_release",
]


def remarks_on(found: Sequence[Declared]) -> Iterator[str]:
    """Yield sentences on entries of files: keys that are given twice, files that are not there."""
    yield from _twice(found)
    yield from not_given(found)
    yield from _left_open(found)
    yield from _of_clients(found)
    yield from _of_two_kinds(found)
    yield from _by_time(found)


_OF_CLIENTS = (
    *("bootstrap.servers", "metadata.broker.list", "acks", "key.serializer", "value.serializer"),
    *("enable.idempotence", "transactional.id", "linger.ms"),
)
_OF_NODES = ("node.id", "broker.id", "process.roles", "zookeeper.connect", "listeners", "log.dirs", VERSION)
_OF_ALL_TOPICS = "default.replication.factor"


def clients_in(found: Sequence[Declared]) -> set[str]:
    """Return the files of clients: those with a key that only clients have, and without one of brokers."""
    keys: dict[str, set[str]] = {}
    for entry in found:
        keys.setdefault(entry.place.file, set()).add(entry.key)
    nodes = {*_OF_NODES, _OF_ALL_TOPICS}
    return {file for file, of_file in keys.items() if of_file & set(_OF_CLIENTS) and not of_file & nodes}


def _of_clients(found: Sequence[Declared]) -> Iterator[str]:
    """Yield a sentence for each setting of brokers in a file of a client."""
    clients = clients_in(found)
    for entry in found:
        if (
            entry.place.file in clients
            and entry.source is Source.STATIC
            and setting_name(entry.key) not in (None, "acks")
        ):
            yield (
                f"{entry.place}: {entry.key} is a setting of brokers and topics, and has no effect in the file of a "
                "client; give the brokers' file."
            )


def _by_time(found: Sequence[Declared]) -> Iterator[str]:
    """Yield a sentence for each interval of time after which records are flushed, which the answer does not use."""
    for entry in found:
        if entry.key in ("log.flush.interval.ms", "flush.ms") and entry.value.isdecimal() and len(entry.value) < 19:
            yield f"{entry.place}: {entry.key} is not covered: the answer is for records that are not flushed by time."


def _of_two_kinds(found: Sequence[Declared]) -> Iterator[str]:
    """Yield a sentence if files disagree on eligible leader replicas, so that one is of another cluster or time."""
    said = {entry.value not in ("0", ""): entry for entry in found if entry.key == ELR_FEATURE}
    if len(said) > 1:
        yield (
            f"{said[True].place} shows eligible leader replicas on, and {said[False].place} off: they are of two "
            "clusters, or of two times."
        )


def not_given(found: Sequence[Declared]) -> Iterator[str]:
    """Yield a sentence for each file that another one names and that is not given."""
    for entry in dict.fromkeys(one for one in found if one.key == OTHER_FILE):
        yield f"{entry.place}: the answer lacks what {entry.value} says; give it with --config as well."


def _left_open(found: Sequence[Declared]) -> Iterator[str]:
    """Yield a sentence for each thing that a file leaves open."""
    for entry in found:
        if entry.key == LEFT_OPEN:
            yield f"{entry.place}: {entry.value}."
    for entry in dict.fromkeys(one for one in found if one.key == DEFAULTED):
        yield f"{entry.place}: {entry.value}."


def _brokers(found: Sequence[Declared]) -> list[Declared]:
    """Return the entries whose numbers of brokers are to be added: those of pools, if there are any, as in Strimzi."""
    counted = [entry for entry in found if entry.key == BROKERS]
    return [entry for entry in counted if entry.scope == "pool"] or counted


def the_only_broker(found: Sequence[Declared]) -> Place | None:
    """Return where the files say that a cluster has one broker; None if none says so, or they name several voters."""
    counted = _brokers(found)
    voters = [one for one in found if one.key == "controller.quorum.voters" and "," in one.value]
    return counted[0].place if [one.value for one in counted] == ["1"] and not voters else None


def too_few_brokers(found: Sequence[Declared], topics: SettingsByTopic) -> Iterator[str]:
    """Yield a sentence if a replication factor is greater than the number of brokers that the files have.

    Args:
        found: the entries.
        topics: the settings of each topic, each value with its place.
    """
    counted = _brokers(found)
    brokers = sum(int(entry.value) for entry in counted)
    if brokers == 1 and counted[0].scope == "compose":  # each host may have a file of its own
        return
    for settings in topics.values():
        replicas, place = settings.get("replicas", (0, ""))
        if counted and int(replicas) > brokers:
            yield (
                f"A replication factor of {replicas} ({place}) needs as many brokers, and the files have {brokers} "
                f"({counted[0].place}), so Kafka refuses to create such topics."
            )
            return


def misspelt(found: Sequence[Declared], ignored: Sequence[str], topics: SettingsByTopic) -> Iterator[str]:
    """Yield a sentence for each ignored key that is probably a misspelt setting, with the value that counts.

    Args:
        found: the entries.
        ignored: the keys that decide nothing.
        topics: the settings of each topic, each value with its place.
    """
    yield from misspelt_of_producers(found)
    for key in ignored:
        if not (near := near_setting(key)) or near == "acks":
            continue
        entry = next(entry for entry in found if entry.key == key)
        counting = {settings.get(setting_name(near) or "") for settings in topics.values()}
        one = counting.pop() if len(counting) == 1 else None
        value, place = ("", "") if one is None else one
        counts = f"; {near}={_KAFKAS_WORDS.get(str(value), value)} counts ({place})" if place else ""
        yield _ignored(entry, near, counts)


_KAFKAS_WORDS = {"on": "true", "off": "false"}


def _ignored(entry: Declared, near: str, counts: str = "") -> str:
    """Return the sentence about a misspelt key: the setting that is near it, and what counts in its place, if known."""
    return f"{entry.place}: Kafka ignores {entry.written}{counts}. Did you mean {_spelled_alike(entry, near)}?"


def _spelled_alike(entry: Declared, near: str) -> str:
    """Return a setting in the spelling of an entry, as KAFKA_MIN_INSYNC_REPLICAS beside KAFKA_MIN_INSYNC_REPLICA."""
    if not entry.spelled.startswith("KAFKA_"):
        return near
    prefix = "KAFKA_CFG_" if entry.spelled.startswith("KAFKA_CFG_") else "KAFKA_"
    return prefix + near.upper().replace(".", "_")


def misspelt_of_producers(found: Sequence[Declared]) -> Iterator[str]:
    """Yield a sentence for each key in the file of a client that is probably a misspelt setting of producers."""
    clients = clients_in(found)
    alone = {entry.place.file for entry in found} - {one.place.file for one in found if "." in one.key}
    for entry in dict.fromkeys(found):
        if entry.place.file in clients | alone and (near := near_of_producer(entry.key)):
            yield f"{entry.place}: {entry.written!r} is no key of a producer. Did you mean {near}?"


def misspelt_sizes(found: Sequence[Declared]) -> Iterator[str]:
    """Yield a sentence for each key that is probably a misspelt replication factor; one for a line with aliases."""
    told = {
        _ignored(entry, _OF_ALL_TOPICS): None
        for entry in found
        if setting_name(entry.key) is None and near_setting(entry.key) == _OF_ALL_TOPICS
    }
    yield from told


def without_release(found: Sequence[Declared], topics: SettingsByTopic) -> Iterator[str]:
    """Yield a sentence for each image of Kafka that says no release, with the release that the answer is for.

    Args:
        found: the entries.
        topics: the settings of each topic, each value with its place.
    """
    usual, _ = next(iter(topics.values())).get("release", (Cluster().b.settings.release.value, ""))
    for image, place in {one.value: one.place for one in reversed(found) if one.key == NO_RELEASE}.items():
        yield (
            f"{place}: the image {image} says no release, and the answer is for Kafka {usual}: give --release, such "
            "as --release 3.9."
        )


def unfinished(found: Sequence[Declared]) -> Iterator[str]:
    """Yield a sentence for each metadata version that is finalized below the release that the brokers have."""
    for entry in found:
        if entry.key == METADATA_VERSION:
            yield (
                f"{entry.place}: {METADATA_VERSION} is finalized at that of {entry.value}, so an upgrade is not "
                f"finished, and the controller still writes its records as {entry.value} does. Run insync with "
                f"--release {entry.value} as well."
            )


def _twice(found: Sequence[Declared]) -> Iterator[str]:
    """Yield a sentence for each setting that one part of a file gives on several lines."""
    lines: dict[tuple[object, ...], list[int]] = {}
    for entry in found:
        if entry.key != VERSION and entry.source is not Source.KAFKA and setting_name(entry.key) is not None:
            part = (entry.place.file, entry.key, entry.scope, entry.topic, entry.source)
            lines.setdefault(part, []).append(entry.place.line)
    for (file, key, *_), of_key in lines.items():
        given = sorted(set(of_key))
        if len(given) > 1:
            yield f"{file}, lines {', '.join(map(str, given))}: {key} is given more than once, and the last one counts."


def not_in_force(changed: Mapping[str, str], topics: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Yield a sentence for each setting that a file changes and that a tool shows to be at Kafka's default.

    Args:
        changed: the keys of settings that files change for all topics, each with its place.
        topics: for each topic whose settings a tool shows in full, the names of those that are not at their default.
    """
    for key, place in changed.items():
        without = [topic for topic, own in topics.items() if setting_name(key) not in own]
        if without:
            more = f" and {len(without) - 1} more" if len(without) > 1 else ""
            yield (
                f"{key} is as {place} says, but kafka-topics shows topic {without[0]}{more} without it, and it shows "
                "all that is not at Kafka's default: is that file in force, and of this cluster?"
            )


def of_partitions(seen: Mapping[str, PartitionsSeen], topics: SettingsByTopic) -> Iterator[str]:
    """Yield sentences on the state of partitions now, and on topics whose partitions are not all in the files.

    Args:
        seen: the partitions of each topic.
        topics: the settings of each topic, each value with its place.
    """
    for topic, partitions in seen.items():
        if partitions.leaderless:
            which = ", ".join(map(str, sorted(partitions.leaderless)[:8]))
            more = f" and {len(partitions.leaderless) - 8} more" if len(partitions.leaderless) > 8 else ""
            yield (
                f"Topic {topic} has no leader now in partition {which}{more}: nobody can write there, and the "
                "answer does not cover what is lost already."
            )
        fewest = int(topics.get(topic, {}).get("min_insync_replicas", (1, ""))[0])
        refused = {number: of for number, of in partitions.shrunk.items() if of[0] < fewest}
        if refused:
            yield (
                f"Topic {topic} refuses writes with acks=all now, as the ISR is smaller than min.insync.replicas="
                f"{fewest} ({_shrunk(refused)}); the answer is for partitions whose ISR is full."
            )
        if without := [number for number in refused if number in partitions.without_elr]:
            yield (
                f"Topic {topic} has no eligible leader replica in partition {without[0]}, though its ISR is smaller "
                "than min.insync.replicas, so the feature is probably off: give what kafka-features describe prints, "
                "or --elr off."
            )
        if shrunk := {number: of for number, of in partitions.shrunk.items() if number not in refused}:
            yield (
                f"The answer is for partitions whose ISR is full; of topic {topic} it is smaller now, and fewer "
                f"failures stop writes ({_shrunk(shrunk)})."
            )
        if partitions.wanted is not None and 0 < len(partitions.seen) < partitions.wanted:
            yield (
                f"Of topic {topic} {len(partitions.seen)} of {partitions.wanted} partitions are in the files; the "
                "others may have other numbers of replicas."
            )


def _shrunk(partitions: Mapping[int, tuple[int, int]]) -> str:
    """Return the first of some partitions with the sizes of their ISR, and how many more there are."""
    some = sorted(partitions.items())[:4]
    said = "; ".join(f"partition {number}: {in_sync} of {of} replicas" for number, (in_sync, of) in some)
    return said + (f"; and {len(partitions) - 4} more" if len(partitions) > 4 else "")
