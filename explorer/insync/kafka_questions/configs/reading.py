"""Kafka's configuration as settings of the model `cluster`, by topic: three formats of files, and their precedence.

The formats are Java properties, such as server.properties, and the output of `kafka-topics --describe` and of
`kafka-configs --describe`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from insync.runtime.errors import UserError

__all__ = [
    "EVERY_OTHER",
    "NAMED",
    "Configured",
    "configs_in",
    "properties_in",
    "read_configs",
    "setting_of",
    "topics_in",
]


Settings = Mapping[str, int | str]

EVERY_OTHER = "every other topic"
"""Stands for the topics that no file names."""

_DEFAULTS: dict[str, int | str] = {"replicas": 1, "min_insync": 1, "unclean": "off"}


@dataclass(frozen=True, slots=True)
class Combination:
    """Settings that some topics share.

    Attributes:
        settings: the settings, under the names of the model `cluster`.
        topics: the names of the topics, and of partitions with another number of replicas than their topic.
    """

    settings: Settings
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Configured:
    """The contents of configuration files.

    Attributes:
        combinations: each distinct combination of settings, in the order of its first topic.
        named: the keys that matter to replication and are not settings of the model, each with a description.
        ignored: the other keys, in alphabetical order; a near miss of a setting with that setting.
        half_told: the topics with lines of partitions, and without the line of the topic's own settings.
        in_zookeeper: whether the controller is ZooKeeper's: `zookeeper.connect` is set, and `process.roles` is not.
    """

    combinations: tuple[Combination, ...]
    named: Mapping[str, str]
    ignored: tuple[str, ...]
    half_told: tuple[str, ...] = ()
    in_zookeeper: bool = False


def read_configs(paths: Sequence[Path], given: Settings, *, compares_partitions: bool = False) -> Configured:
    """Read files of properties, of `kafka-configs --describe` or of `kafka-topics --describe`.

    A topic's own setting overrides a broker's, which overrides a default. Among equals the last one counts.

    Args:
        paths: the files, of any of these formats.
        given: the settings of the command line, which override all others.
        compares_partitions: whether the number of replicas of partition 0 becomes a setting of a partition with
            another number.

    Raises:
        UserError: an unreadable file, an invalid line or value, or a topic whose number of replicas is not given.
    """
    found = [declared for path in paths for declared in _read(path)]
    others = {entry.key for entry in found if setting_of(entry) is None and not entry.key.startswith(PARTITION)}
    named = {key: NAMED[key] for key in sorted(others & NAMED.keys())}
    ignored = tuple(with_near_setting(key) for key in sorted(others - named.keys()))
    told = {entry.topic for entry in found if not entry.key.startswith(PARTITION)}
    half_told = dict.fromkeys(entry.topic for entry in found if entry.topic is not None and entry.topic not in told)
    combinations = _combined(_by_topic(found, given, compares_partitions=compares_partitions))
    said = {entry.key for entry in found if entry.value not in ("", "null")}  # kafka-configs --all prints unset keys so
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
    """Return the settings of each named topic, and those of every other one."""
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
    """Yield the settings of a topic, with its number of replicas, and of each partition with another number.

    The replication factor that Kafka prints for a topic is that of its partition 0.
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


# Keys and values.


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}"


@dataclass(frozen=True, slots=True)
class Declared:
    """One entry of a file.

    Attributes:
        topic: the topic; None for all topics.
        key: the key.
        value: the value, as text.
        place: the line.
        default: whether it is a default of Kafka or of the cluster, which an entry of one broker overrides.
    """

    topic: str | None
    key: str
    value: str
    place: Place
    default: bool = False


NAMED = {
    "auto.leader.rebalance.enable": "elections without a failure",
    "broker.session.timeout.ms": "how soon a session expires",
    "cleanup.policy": "compaction, which is not modelled",
    "controlled.shutdown.enable": "clean stops",
    "enable.idempotence": "what is stored twice; insync check cluster --retries 1 --idempotence off shows it",
    "flush.ms": "flushes by time",
    "follower.replication.throttled.replicas": "quotas",
    "inter.broker.protocol.version": "the release that brokers behave like; give it as --release",
    "leader.replication.throttled.replicas": "quotas",
    "log.cleanup.policy": "compaction, which is not modelled",
    "log.flush.interval.ms": "flushes by time",
    "num.replica.fetchers": "fetchers; the partition has one here",
    "process.roles": "whose the controller is: ZooKeeper's before 3.3, KRaft's from then on",
    "remote.storage.enable": "tiered storage, which is not modelled",
    "replica.lag.time.max.ms": "how soon a slow follower is dropped; any time is searched",
    "replica.selector.class": "who reads from followers",
    "unclean.recovery.strategy": "unclean recovery, which no release has",
    "zookeeper.connect": "whose the controller is: ZooKeeper's before 3.3, KRaft's from then on",
    "zookeeper.session.timeout.ms": "how soon a session expires",
}
"""Keys that matter to replication and are not settings of the model, with descriptions."""


def mistake(place: Place, value: str, expected: str, cure: str) -> UserError:
    """Return the error for a line or a value: its place and text, what was expected, what to do."""
    shown = value if len(value) <= 80 else value[:77] + "..."
    return UserError(f"{place}: {shown!r} is not {expected}; {cure}.")


def setting_of(found: Declared) -> tuple[str, int | str] | None:
    """Return an entry as a setting of the model, name and value; None if its key is none.

    Raises:
        UserError: Kafka would reject the value.
    """
    known = _SETTINGS.get(found.key)
    return None if known is None else (known[0], known[1](found))


def may_be_kafkas(key: str) -> bool:
    """Return whether a key may be one of Kafka's: words joined by dots, or one of a few single words."""
    return key in _SINGLE_WORDS or (_DOTTED.fullmatch(key) is not None and not key.endswith(".sh"))


def with_near_setting(key: str) -> str:
    """Return a key that is not a setting, with the setting that it is probably a misspelling of, if there is one."""
    near = difflib.get_close_matches(key, _SETTINGS, n=1, cutoff=_NEARLY)
    return f"{key} (is {near[0]} meant?)" if near else key


def _count(found: Declared) -> int:
    text = found.value
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and int(text) >= 1):
        raise mistake(found.place, text, f"a value of {found.key}", "give a whole number of at least 1")
    return int(text)


def _switch(found: Declared) -> str:
    try:
        return {"true": "on", "false": "off"}[found.value.lower()]
    except KeyError:
        raise mistake(found.place, found.value, f"a value of {found.key}", "give true or false") from None


def _acks(found: Declared) -> str:
    try:
        return {"0": "0", "1": "1", "all": "all", "-1": "all"}[found.value]
    except KeyError:
        raise mistake(found.place, found.value, "a value of acks", "give 0, 1 or all") from None


def _flushing(found: Declared) -> str:
    """Return whether records are flushed: always with an interval of 1, sometimes with a greater one, or never."""
    interval = _count(found)
    return "always" if interval == 1 else "never" if interval >= _NEVER else "sometimes"


_NEVER = (1 << 63) - 1  # Kafka's default
_NEARLY = 0.9
_DOTTED = re.compile(r"[a-z]+(\.[a-z0-9_-]+)+")
_SINGLE_WORDS = frozenset({"acks", "listeners", "port"})
_SETTINGS: dict[str, tuple[str, Callable[[Declared], int | str]]] = {
    "default.replication.factor": ("replicas", _count),
    "ReplicationFactor": ("replicas", _count),
    "min.insync.replicas": ("min_insync", _count),
    "unclean.leader.election.enable": ("unclean", _switch),
    "acks": ("acks", _acks),
}
for _key in ("flush.messages", "log.flush.interval.messages"):
    _SETTINGS[_key] = ("flushing", _flushing)


# Java properties: `key=value`, comments, continued lines.


_PAIR = re.compile(r"([A-Za-z0-9._\-]+)\s*(?:[=:]\s*|\s+)(.*)", re.DOTALL)


def properties_in(file: str, lines: Sequence[str]) -> Iterator[Declared]:
    """Yield every property, as an entry for all topics.

    Raises:
        UserError: a line is no property.
    """
    number, count = 0, len(lines)
    while number < count:
        place, text = Place(file, number + 1), lines[number].strip()
        number += 1
        if not text or text[0] in "#!":
            continue
        while text.endswith("\\") and number < count:
            text = text[:-1] + lines[number].strip()
            number += 1
        pair = _PAIR.fullmatch(text)
        if pair is None:
            raise mistake(place, text, "a property", "write key=value, or # before a comment")
        yield Declared(None, pair[1], pair[2].strip(), place)


# The output of `kafka-topics --describe`: a line for each topic, and one for each of its partitions.


PARTITION = "replicas of partition "
"""The prefix of the key for a partition's number of replicas; the number of the partition follows."""

_FIELDS = (
    "TopicId|PartitionCount|ReplicationFactor|Configs|Partition|Leader|Replicas|Isr|Offline|Adding Replicas"
    "|Removing Replicas|Elr|LastKnownElr|MarkedForDeletion"
)
_BETWEEN = re.compile(rf"(?<!Adding)(?<!Removing)\s+(?=(?:{_FIELDS}):)")
_NEXT_CONFIG = re.compile(r",(?=[a-z][a-z0-9.]*\.[a-z0-9.]+=)")
_CURE = "give its output as it is, without other lines"


def is_topics_line(line: str) -> bool:
    """Return whether a line has this format."""
    return re.match(r"\s*Topic:", line) is not None


def topics_in(file: str, lines: Sequence[str]) -> Iterator[Declared]:
    """Yield the replication factor and the settings of every topic, and the number of replicas of each partition.

    Raises:
        UserError: a line has another form.
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield from _line(Place(file, number), line.strip())


def _line(place: Place, line: str) -> Iterator[Declared]:
    # Fields are separated by a tab, which a terminal or an editor may have turned into spaces.
    pairs = (field.partition(":") for field in _BETWEEN.split(line))
    fields = {name: value.strip() for name, _, value in pairs}
    topic = fields.get("Topic")
    if not topic or not ("ReplicationFactor" in fields or "Partition" in fields):
        raise mistake(place, line, "a line of kafka-topics --describe", _CURE)
    if "Partition" in fields:
        yield Declared(topic, f"{PARTITION}{_partition(place, fields)}", str(_replicas(place, fields)), place)
        return
    yield Declared(topic, "ReplicationFactor", fields["ReplicationFactor"], place)
    for pair in _NEXT_CONFIG.split(fields.get("Configs", "")):
        if pair:
            name, equals, value = pair.partition("=")
            if not equals:
                raise mistake(place, pair, "a setting", "write it as Kafka does, key=value")
            yield Declared(topic, name.strip(), value.strip(), place)


def _partition(place: Place, fields: dict[str, str]) -> int:
    number = fields["Partition"]
    if not (number.isascii() and number.isdigit()):
        raise mistake(place, number, "the number of a partition", _CURE)
    return int(number)


def _replicas(place: Place, fields: dict[str, str]) -> int:
    """Return the number of replicas without those that a reassignment adds, which is Kafka's replication factor."""
    present = set(_brokers(fields.get("Replicas", ""))) - set(_brokers(fields.get("Adding Replicas", "")))
    if not present:
        raise mistake(place, fields.get("Replicas", ""), "a list of the replicas of a partition", _CURE)
    return len(present)


def _brokers(text: str) -> list[str]:
    return [broker.strip() for broker in text.split(",") if broker.strip()]


# The output of `kafka-configs --describe`: a heading for each broker or topic, and below it a line for each setting.


_HEADING = re.compile(
    r"(?P<kind>Dynamic configs|All configs|Default configs|Configs) for (?:the )?"
    r"(?P<entity>topic|broker|topics|brokers)s?(?: (?P<name>\S+)| in the cluster)? are:?(?P<rest>.*)"
)
_SETTING = re.compile(r"(?P<key>[A-Za-z0-9._\-]+)=(?P<value>.*?)(?:\s+sensitive=(?:true|false)\b.*)?")


def is_configs_heading(line: str) -> bool:
    """Return whether a line is a heading in this format."""
    return _HEADING.fullmatch(line.strip()) is not None


def configs_in(file: str, lines: Sequence[str]) -> Iterator[Declared]:
    """Yield every setting; those below the heading of a topic belong to it.

    Raises:
        UserError: a line is neither a heading nor a setting, or a setting stands above the first heading.
    """
    heading: re.Match[str] | None = None
    for number, line in enumerate(lines, start=1):
        place, text = Place(file, number), line.strip()
        if (found := _HEADING.fullmatch(text)) is not None:
            heading, text = found, found["rest"].strip()
        if not text:
            continue
        setting = _SETTING.fullmatch(text)
        if setting is None or heading is None:
            cure = "give its output as it is, each setting on a line below its heading"
            raise mistake(place, text, "a line of kafka-configs --describe", cure)
        named = heading["entity"] == "topic"
        topic = heading["name"].strip("'\"") if named and heading["name"] else None
        general = heading["kind"] == "Default configs"
        yield Declared(topic, setting["key"], setting["value"].strip(), place, default=general)
