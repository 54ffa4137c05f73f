"""Files that operators have, as combinations of settings of the model `cluster`, each with the topics that have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from insync.kafka.releases import release_of_series
from insync.kafka_questions.configs.entries import (
    CLUSTER,
    METADATA_VERSION,
    NAMED,
    PARTITION,
    VERSION,
    Declared,
    SettingsByTopic,
    may_be_kafkas,
    setting_name,
    with_near_setting,
)
from insync.kafka_questions.configs.file_kinds import declared_in_files
from insync.kafka_questions.configs.precedence import settings_by_topic
from insync.kafka_questions.configs.printed import PartitionsSeen
from insync.kafka_questions.configs.process_roles import (
    heeded,
    part_of,
    remarks_on_controllers,
    without_brokers_unclean,
)
from insync.kafka_questions.configs.remarks import (
    misspelt,
    of_partitions,
    remarks_on,
    too_few_brokers,
    unfinished,
    without_release,
)
from insync.kafka_questions.configs.versions import (
    KRAFT_KEYS,
    PROTOCOL,
    Settings,
    has_elr,
    least_release,
    refuse_unlikely_migration,
    why_zookeepers,
    without_features,
    without_offered_versions,
)
from insync.runtime.errors import UserError

__all__ = ["Combination", "Configured", "read_configs"]


_OF_THE_CONTROLLER = (*KRAFT_KEYS, "zookeeper.connect")
"""Keys that tell which kind of controller there is, and are no settings."""

_REBALANCE = "auto.leader.rebalance.enable"


@dataclass(frozen=True, slots=True)
class Combination:
    """Settings that some topics share.

    Attributes:
        settings: the settings, under the names of the model `cluster`.
        topics: the names of the topics, and of partitions with another number of replicas than their topic.
        origins: where each setting of the first topic comes from: a line of a file, the command line, a default; a
            setting without one is assumed.
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
        ignored: the other keys, in alphabetical order; a misspelt one with the setting that it resembles.
        remarks: sentences on what the files leave open, or say of the cluster as it is.
        in_zookeeper: why the controller is, or may be, ZooKeeper's, as a clause; empty if no entry shows that, or one
            shows KRaft.
        in_kraft: whether a file shows that the controller is KRaft's.
        rebalances: whether preferred leaders are elected by themselves; false with auto.leader.rebalance.enable=false.
        version: the release as the files write it, such as 3.9.2, which the model may have under another name; empty
            where they name none, or several that the model does not tell apart.
        metadata_first: whether metadata.version is finalized below 4.0, so that the controller refuses eligible leader
            replicas (EligibleLeaderReplicasVersion.ELRV_1, as read).
    """

    combinations: tuple[Combination, ...]
    named: Mapping[str, str]
    ignored: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    in_zookeeper: str = ""
    in_kraft: bool = False
    rebalances: bool = True
    version: str = ""
    metadata_first: bool = False


def read_configs(paths: Sequence[Path], given: Settings, *, compares_partitions: bool = False) -> Configured:
    """Read configuration files of any of the kinds in `file_kinds`.

    Args:
        paths: the files.
        given: the settings of the command line, which override all others.
        compares_partitions: whether the number of replicas of partition 0 becomes a setting of a partition with
            another number.

    Raises:
        UserError: an unreadable file, an invalid line or value, or a missing number of replicas.
    """
    seen: dict[str, PartitionsSeen] = {}
    found = without_offered_versions(declared_in_files(paths, seen))
    _refuse_several_clusters(found)
    found += _acks_of_idempotence(found, given)
    found, features = without_features(found)
    others = {entry.key for entry in found if setting_name(entry.key) is None and may_be_kafkas(entry.key)}
    named = {key: NAMED[key] for key in sorted(others & NAMED.keys())}
    ignored_keys = sorted(others - named.keys() - {METADATA_VERSION, *_OF_THE_CONTROLLER})
    ignored = tuple(with_near_setting(key) for key in ignored_keys)
    told = {entry.topic for entry in found if not entry.key.startswith(PARTITION)}
    half_told = dict.fromkeys(entry.topic for entry in found if entry.topic is not None and entry.topic not in told)
    remarks = [*remarks_on(found), *features]
    if (least := least_release(found, given)) is not None:
        found.append(least)
        remarks.append(
            f"{least.place}: no file says the release; {PROTOCOL} fits {least.value} and each later one before 4.0, "
            f"and the answer is for {least.value}: give --release."
        )
    elr = has_elr(found, given)
    found, without_effect = without_brokers_unclean(found)
    remarks += without_effect
    topics = settings_by_topic(heeded(found, elr=elr), given, remarks, elr=elr, compares_partitions=compares_partitions)
    remarks[:0] = misspelt(found, ignored_keys, topics)
    if "release" not in given:
        remarks += without_release(found, topics)
    remarks += too_few_brokers(found, topics)
    if half_told:
        cure = "give what kafka-topics --describe prints of the whole topic"
        remarks.append(f"The files lack these topics' own settings: {', '.join(map(str, half_told))}; {cure}.")
    remarks += [*remarks_on_controllers(found, given, elr=elr), *unfinished(found), *of_partitions(seen, topics)]
    rebalances = not any(entry.key == _REBALANCE and entry.value.lower() == "false" for entry in found)
    said = {entry.key: entry for entry in found if entry.value not in ("", "null")}  # as --all prints unset keys
    in_kraft = any(key in said for key in KRAFT_KEYS)
    if in_kraft and "zookeeper.connect" in said:
        refuse_unlikely_migration(said["zookeeper.connect"], found, given)
    in_zookeeper = "" if in_kraft else why_zookeepers(said)
    metadata_first = any(one.key == METADATA_VERSION and int(one.value.partition(".")[0]) < 4 for one in found)
    combinations = _combined(topics)
    return Configured(
        combinations=combinations,
        named=named,
        ignored=ignored,
        remarks=tuple(remarks),
        in_zookeeper=in_zookeeper,
        in_kraft=in_kraft,
        rebalances=rebalances,
        version=_version_written(found, combinations[0].settings),
        metadata_first=metadata_first,
    )


def _version_written(found: Sequence[Declared], settings: Settings) -> str:
    """Return the release of settings as the files write it; empty where they write none, or write it in several ways.

    Args:
        found: the entries.
        settings: the settings of a combination; brokers may differ in their release, and one of these is chosen.
    """
    release = settings.get("release")
    written = {
        one.value
        for one in found
        if one.key == VERSION and (known := release_of_series(one.value)) is not None and known.value == release
    }
    return next(iter(written)) if len(written) == 1 else ""


def _refuse_several_clusters(found: Sequence[Declared]) -> None:
    """Refuse the resources of several clusters.

    Raises:
        UserError: there are several.
    """
    clusters = {one.value: one for one in found if one.key == CLUSTER}
    names = {value.rpartition("/")[2] for value in clusters}
    namespaces = {value.rpartition("/")[0] for value in clusters} - {""}
    if len(names) > 1 or len(namespaces) > 1:
        named = ", ".join(f"{one.value or 'one without a name'} ({one.place})" for one in clusters.values())
        message = f"The files have {len(clusters)} clusters: {named}; give the resources of one of them."
        raise UserError(message)


def _acks_of_idempotence(found: Sequence[Declared], given: Settings) -> list[Declared]:
    """Return acks=all for each producer without acks that is idempotent, or has transactions.

    A producer throws a ConfigException for other acks beside these. Source: KafkaProducer.configureAcks since 0.11,
    ProducerConfig.postProcessAndValidateIdempotenceConfigs since 3.0.

    Raises:
        UserError: an idempotent producer has other acks, in its file or by the command line.
    """
    implied = []
    for one in found:
        wants_all = (one.key == "enable.idempotence" and one.value.lower() == "true") or one.key == "transactional.id"
        if not (wants_all and one.topic is None and one.value):
            continue
        of_file = [other for other in found if other.key == "acks" and other.place.file == one.place.file]
        own = [other for other in of_file if part_of(other) == part_of(one)] or (of_file if len(of_file) == 1 else [])
        if not of_file:
            implied.append(Declared(None, "acks", "all", one.place, scope=one.scope))
        acks = given.get("acks", own[-1].value if own else "all")
        if acks not in ("all", "-1"):
            where = "--acks" if "acks" in given else str(own[-1].place)
            message = (
                f"{where}: acks={acks} with {one.key}={one.value} ({one.place}): a producer refuses to start with both "
                f"(ConfigException), so nothing is written; give acks=all, or leave {one.key} out."
            )
            raise UserError(message)
    return implied


def _combined(topics: SettingsByTopic) -> tuple[Combination, ...]:
    groups: dict[tuple[tuple[str, int | str], ...], list[str]] = {}
    for name, settings in topics.items():
        groups.setdefault(tuple(sorted((key, value) for key, (value, _) in settings.items())), []).append(name)
    return tuple(
        Combination(
            dict(settings), tuple(names), {key: origin for key, (_, origin) in topics[names[0]].items() if origin}
        )
        for settings, names in groups.items()
    )
