"""Files of settings become the settings of each topic: which format a file has, and what overrides what."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from insync.model.errors import UserError

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


# What a configuration says, line by line: which settings there are, and what a value may be.


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: a file, and a line from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}"


@dataclass(frozen=True, slots=True)
class Declared:
    """One setting as it stands in a file.

    Attributes:
        topic: the topic that it is about; None: all topics of a broker.
        key: its name.
        value: its value, as text.
        place: where it stands.
        default: whether it is Kafka's default or a cluster's, and yields to what is said of one broker.
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
"""Keys that matter to replication and are not among the settings of the model, with what each is about."""


def mistake(place: Place, value: str, expected: str, cure: str) -> UserError:
    """Return the error of a line or a value: where it is, what stands there, what was expected, what to do."""
    shown = value if len(value) <= 80 else value[:77] + "..."
    return UserError(f"{place}: {shown!r} is not {expected}; {cure}.")


def setting_of(found: Declared) -> tuple[str, int | str] | None:
    """Return the setting of the model that a line is, with its value; None for a key that is none.

    Raises:
        UserError: the value is none that Kafka would take.
    """
    known = _SETTINGS.get(found.key)
    return None if known is None else (known[0], known[1](found))


def may_be_kafkas(key: str) -> bool:
    """Return whether a key may be one of Kafka's: words with dots between them, but for a few of a single word."""
    return key in _SINGLE_WORDS or (_DOTTED.fullmatch(key) is not None and not key.endswith(".sh"))


def with_near_setting(key: str) -> str:
    """Return a key that is no setting, with the setting that it is written almost like, if there is one."""
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
    """Every record is flushed with an interval of 1; with a greater one any of them may be or not."""
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


# Java's properties, as in server.properties: `key=value`, comments, lines that are continued.


_PAIR = re.compile(r"([A-Za-z0-9._\-]+)\s*(?:[=:]\s*|\s+)(.*)", re.DOTALL)


def properties_in(file: str, lines: Sequence[str]) -> Iterator[Declared]:
    """Yield every property; all are about all topics.

    Raises:
        UserError: a line that is no property.
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


# What `kafka-topics --describe` prints: a line for each topic, and one for each partition of it.


PARTITION = "replicas of partition "
"""What the key of a partition's number of replicas begins with; the number of the partition follows."""

_FIELDS = (
    "TopicId|PartitionCount|ReplicationFactor|Configs|Partition|Leader|Replicas|Isr|Offline|Adding Replicas"
    "|Removing Replicas|Elr|LastKnownElr|MarkedForDeletion"
)
_BETWEEN = re.compile(rf"(?<!Adding)(?<!Removing)\s+(?=(?:{_FIELDS}):)")
_NEXT_CONFIG = re.compile(r",(?=[a-z][a-z0-9.]*\.[a-z0-9.]+=)")
_CURE = "give its output as it is, without other lines"


def is_topics_line(line: str) -> bool:
    """Return whether a line is one of this format."""
    return re.match(r"\s*Topic:", line) is not None


def topics_in(file: str, lines: Sequence[str]) -> Iterator[Declared]:
    """Yield the replication factor and the settings of every topic, and how many replicas each partition has.

    Raises:
        UserError: a line of another form.
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield from _line(Place(file, number), line.strip())


def _line(place: Place, line: str) -> Iterator[Declared]:
    # Between two fields is a tab, or spaces where a terminal or an editor has made spaces of it.
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
    """How many there are but for those that a reassignment is about to add, as Kafka reckons the replication factor."""
    present = set(_brokers(fields.get("Replicas", ""))) - set(_brokers(fields.get("Adding Replicas", "")))
    if not present:
        raise mistake(place, fields.get("Replicas", ""), "a list of the replicas of a partition", _CURE)
    return len(present)


def _brokers(text: str) -> list[str]:
    return [broker.strip() for broker in text.split(",") if broker.strip()]


# What `kafka-configs --describe` prints: a heading for each broker or topic, and below it a line a setting.


_HEADING = re.compile(
    r"(?P<kind>Dynamic configs|All configs|Default configs|Configs) for (?:the )?"
    r"(?P<entity>topic|broker|topics|brokers)s?(?: (?P<name>\S+)| in the cluster)? are:?(?P<rest>.*)"
)
_SETTING = re.compile(r"(?P<key>[A-Za-z0-9._\-]+)=(?P<value>.*?)(?:\s+sensitive=(?:true|false)\b.*)?")


def is_configs_heading(line: str) -> bool:
    """Return whether a line is a heading of this format."""
    return _HEADING.fullmatch(line.strip()) is not None


def configs_in(file: str, lines: Sequence[str]) -> Iterator[Declared]:
    """Yield every setting; those below the heading of a topic are about it.

    Raises:
        UserError: a line that is neither a heading nor a setting, or a setting above the first heading.
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
