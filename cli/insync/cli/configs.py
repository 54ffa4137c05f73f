"""Files of settings become the settings of each topic: which format a file has, and what overrides what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from insync.cli.configs_describe import configs_in, is_configs_heading
from insync.cli.declared import NAMED, Declared, may_be_kafkas, setting_of, with_near_setting
from insync.cli.server_properties import properties_in
from insync.cli.topics_describe import PARTITION, is_topics_line, topics_in
from insync.model.errors import UserError

__all__ = ["EVERY_OTHER", "Combination", "Configured", "read_configs"]

Settings = Mapping[str, int | str]

EVERY_OTHER = "every other topic"
"""Stands for the topics of which no file says anything."""

_DEFAULTS: dict[str, int | str] = {"replicas": 1, "min_insync": 1, "unclean": "off"}


@dataclass(frozen=True, slots=True)
class Combination:
    """Settings that some topics share.

    Attributes:
        settings: by the names of the model `cluster`.
        topics: the names of the topics, and of partitions with another number of replicas than their topic.
    """

    settings: Settings
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Configured:
    """What files of settings say.

    Attributes:
        combinations: each distinct combination of settings, in the order of its first topic.
        named: the keys that matter to replication and are not asked about, each with what it is about.
        ignored: the other keys, in alphabetical order; of one that is written almost like a setting also which.
        half_told: the topics of which the files have partitions, and not the line that has the topic's own settings.
        in_zookeeper: whether the controller is ZooKeeper's: `zookeeper.connect` is set, and `process.roles` is not.
    """

    combinations: tuple[Combination, ...]
    named: Mapping[str, str]
    ignored: tuple[str, ...]
    half_told: tuple[str, ...] = ()
    in_zookeeper: bool = False


def read_configs(paths: Sequence[Path], given: Settings, *, compares_partitions: bool = False) -> Configured:
    """Read files of properties, of `kafka-configs --describe` or of `kafka-topics --describe`.

    A topic's own setting is stronger than a broker's, which is stronger than a default; of two that are as strong the
    later one holds.

    Args:
        paths: the files, of any of these formats.
        given: the settings of the command line, which are stronger than all.
        compares_partitions: whether it matters how many replicas partition 0 has, where another one has more or fewer.

    Raises:
        UserError: a file that cannot be read, a line or a value that is none, or a topic of which nobody says how many
            replicas it has.
    """
    found = [declared for path in paths for declared in _read(path)]
    others = {entry.key for entry in found if setting_of(entry) is None and not entry.key.startswith(PARTITION)}
    named = {key: NAMED[key] for key in sorted(others & NAMED.keys())}
    ignored = tuple(with_near_setting(key) for key in sorted(others - named.keys()))
    told = {entry.topic for entry in found if not entry.key.startswith(PARTITION)}
    half_told = dict.fromkeys(entry.topic for entry in found if entry.topic is not None and entry.topic not in told)
    combinations = _combined(_by_topic(found, given, compares_partitions=compares_partitions))
    said = {entry.key for entry in found if entry.value not in ("", "null")}  # as kafka-configs --all prints of none
    in_zookeeper = "zookeeper.connect" in said and "process.roles" not in said
    return Configured(combinations, named, ignored, tuple(half_told), in_zookeeper)


def _read(path: Path) -> list[Declared]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
        message = f"{path} cannot be read: {reason}; give a file of properties, or what Kafka's tools print."
        raise UserError(message) from None
    printed = any(map(is_topics_line, lines)), any(map(is_configs_heading, lines))
    reader = topics_in if printed[0] else configs_in if printed[1] else properties_in
    if found := list(reader(str(path), lines)):
        if not any(printed) and not any(may_be_kafkas(entry.key) for entry in found):
            message = (
                f"{path} has no key of Kafka's; its first is {found[0].key!r}. Give a file of properties, such as "
                "server.properties, or what Kafka's tools print with --describe."
            )
            raise UserError(message)
        return found
    message = f"{path} has no settings; give a file of properties, or what Kafka's tools print with --describe."
    raise UserError(message)


def _by_topic(
    found: Sequence[Declared], given: Settings, *, compares_partitions: bool
) -> dict[str, dict[str, int | str]]:
    """The settings of each topic, or where no topic is named those of every one."""
    general, topics = dict(_DEFAULTS), dict[str, dict[str, int | str]]()
    for entry in sorted((entry for entry in found if entry.topic is None), key=lambda entry: not entry.default):
        general.update(_as_setting(entry))
    sized = any(entry.key == "default.replication.factor" for entry in found if entry.topic is None)
    partitions = dict[str, dict[int, int]]()
    for entry in found:
        if entry.topic is not None:
            topics.setdefault(entry.topic, {}).update(_as_setting(entry))
            if entry.key.startswith(PARTITION):
                number = int(entry.key.removeprefix(PARTITION))
                partitions.setdefault(entry.topic, {})[number] = int(entry.value)
    if "replicas" not in given:
        for name, sizes in partitions.items():
            topics.update(_partitions(name, topics[name], sizes, compares_partitions=compares_partitions))
    for name, own in topics.items():
        if "replicas" not in own and "replicas" not in given and not sized:
            message = f"No file says how many replicas topic {name} has; give --replicas, or `kafka-topics --describe`."
            raise UserError(message)
    if not topics or any(entry.topic is None and setting_of(entry) for entry in found):
        topics[EVERY_OTHER] = {}
    return {name: {**general, **own, **given} for name, own in topics.items()}


def _partitions(
    topic: str, own: Settings, sizes: Mapping[int, int], *, compares_partitions: bool
) -> Iterator[tuple[str, dict[str, int | str]]]:
    """Yield the settings of a topic, with its number of replicas, and of each partition that has another number.

    The replication factor that Kafka prints of a topic is that of its partition 0.
    """
    zero = sizes.get(0, own.get("replicas"))
    usual = next(iter(sizes.values())) if zero is None else zero
    yield topic, {**own, "replicas": usual}
    for number, replicas in sizes.items():
        if replicas != usual:
            compared = {"partition_zero": zero} if compares_partitions and zero is not None else {}
            yield f"{topic}-{number}", {**own, "replicas": replicas, **compared}


def _as_setting(entry: Declared) -> dict[str, int | str]:
    setting = setting_of(entry)
    return {} if setting is None else dict([setting])


def _combined(topics: Mapping[str, Settings]) -> tuple[Combination, ...]:
    groups: dict[tuple[tuple[str, int | str], ...], list[str]] = {}
    for name, settings in topics.items():
        groups.setdefault(tuple(sorted(settings.items())), []).append(name)
    return tuple(Combination(dict(settings), tuple(names)) for settings, names in groups.items())
