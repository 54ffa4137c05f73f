"""One entry of a configuration file: key, value, place, and how strong its source is in Kafka."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from insync.kafka.releases import Release, release_advice, release_of_series
from insync.runtime.errors import UserError

__all__ = [
    "BROKERS",
    "CLUSTER",
    "DEFAULTED",
    "ELR_FEATURE",
    "FINALIZED",
    "KRAFTS",
    "LEFT_OPEN",
    "MANAGED",
    "METADATA_VERSION",
    "NAMED",
    "NOTHING",
    "NO_RELEASE",
    "OTHER_FILE",
    "PARTITION",
    "SHOWN",
    "VERSION",
    "ZOOKEEPERS",
    "Declared",
    "Place",
    "SettingsByTopic",
    "Source",
    "is_template",
    "kafka_key",
    "may_be_kafkas",
    "mistake",
    "near_of_producer",
    "near_setting",
    "not_filled_in",
    "of_default",
    "setting_name",
    "setting_of",
    "weaker",
    "with_near_setting",
]

PARTITION = "replicas of partition "
"""The prefix of the key for a partition's number of replicas; the number of the partition follows."""

SettingsByTopic = Mapping[str, Mapping[str, tuple[int | str, str]]]
"""The settings of each topic by their names in the model, each value with its place."""

NO_RELEASE = "image without a release"
"""The key under which readers name an image of Kafka whose tag says no release."""

NOTHING = "settings of its own"
"""The key under which readers name a topic before its settings; a topic may have no settings."""

SHOWN = "settings shown"
"""The key under which readers name a topic of which a tool shows each setting that is not at Kafka's default."""

MANAGED = "managed by Amazon MSK"
"""The key under which readers say that Amazon MSK sets what a file leaves out; the value is the mode of storage."""

BROKERS = "number of brokers"
"""The key under which readers give a number of brokers; those of several entries are added."""

OTHER_FILE = "file of variables"
"""The key under which readers name another file that one takes variables from."""

CLUSTER = "name of a cluster"
"""The key under which readers name the cluster that a resource is of."""

DEFAULTED = "default of a variable"
"""The key under which readers say that a default counts, as nothing sets the variable."""

LEFT_OPEN = "what a file leaves open"
"""The key under which readers give a remark on a file, as a sentence without its full stop."""

VERSION = "version of Kafka"
"""The key under which readers give the release that a file names."""

ZOOKEEPERS = "controller of ZooKeeper"
"""The key under which readers say why the controller is, or may be, ZooKeeper's."""

KRAFTS = "controller of KRaft"
"""The key under which readers say that the controller is KRaft's."""

METADATA_VERSION = "metadata.version"
"""The feature whose finalized level the controller writes by; brokers are of that release or a later one."""

ELR_FEATURE = "eligible.leader.replicas.version"
"""The feature that decides whether the controller keeps eligible leader replicas (KIP-966, KIP-1022)."""

FINALIZED = "finalized"
"""The scope of a feature that the controller has; a key with its name elsewhere has no effect."""


class Source(IntEnum):
    """Where a value comes from, the weakest first: the order of DynamicBrokerConfig and of topic configurations."""

    KAFKA = 0
    STATIC = 1
    CLUSTER = 2
    BROKER = 3
    TOPIC = 4

    @staticmethod
    def in_file(topic: str | None) -> Source:
        """Return how strong a file's setting of a topic is; with None that of all topics."""
        return Source.STATIC if topic is None else Source.TOPIC


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, from 1; line 0 stands for what a file does not say."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}" if self.line else f"Kafka's default in {self.file}"


@dataclass(frozen=True, slots=True)
class Declared:
    """One entry of a file.

    Attributes:
        topic: the topic; None for all topics.
        key: the key.
        value: the value, as text.
        place: the line.
        source: how strong it is among the entries for all topics.
        scope: the part of the file that it belongs to, such as one broker of several; in one scope the last one counts.
        of: the file that has this part, if another one has the line, as with a file of variables of a service.
        spelled: the key as the file has it, such as KAFKA_MIN_INSYNC_REPLICAS; empty if it is Kafka's.
    """

    topic: str | None
    key: str
    value: str
    place: Place
    source: Source = Source.STATIC
    scope: str = ""
    of: str = ""
    spelled: str = ""

    @property
    def written(self) -> str:
        """The key as the file has it."""
        return self.spelled or self.key


NAMED = {
    "auto.leader.rebalance.enable": "elections without a failure",
    "broker.session.timeout.ms": "how soon a session expires",
    "cleanup.policy": "compaction, which is not modelled",
    "controlled.shutdown.enable": "clean stops",
    "enable.idempotence": "which records are stored twice; insync check cluster --retries 1 --idempotence off shows it",
    "flush.ms": "flushes by time",
    "follower.replication.throttled.replicas": "quotas",
    "inter.broker.protocol.version": "the release that brokers behave like; give it as --release",
    "leader.replication.throttled.replicas": "quotas",
    "log.cleanup.policy": "compaction, which is not modelled",
    "log.flush.interval.ms": "flushes by time",
    "num.replica.fetchers": "fetchers; the partition has one here",
    "remote.storage.enable": "tiered storage, which is not modelled",
    "replica.lag.time.max.ms": "how soon a slow follower is dropped; any time is searched",
    "replica.selector.class": "which consumers read from followers",
    "unclean.recovery.strategy": "unclean recovery, which no release has",
    "zookeeper.session.timeout.ms": "how soon a session expires",
}
"""Keys that matter to replication and are not settings of the model, with descriptions."""


def mistake(place: Place, value: str, expected: str, cure: str) -> UserError:
    """Return the error for a line or a value: its place and text, what was expected, what to do."""
    shown = value if len(value) <= 80 else value[:77] + "..."
    if re.search(r"\s#", value):
        cure += ", and put the comment on a line of its own, as Kafka takes it for a part of the value"
    return UserError(f"{place}: {shown!r} is not {expected}; {cure}.")


def of_default(variable: str, value: str) -> str:
    """Return the clause that a variable has its default."""
    return f"no file sets {variable}, so its default counts: {value}"


def is_template(value: str) -> bool:
    """Return whether a value is still to be filled in, by Helm, Jinja, a shell or Terraform."""
    return _TEMPLATE.search(value) is not None


_TEMPLATE = re.compile(
    r"\{\{|\{%|\$\{|<%|\$\(|^\$[A-Za-z_]|^(?:var|local|data|module|each|count)\.[A-Za-z_]|^[a-z_]+\("
)


def setting_of(found: Declared) -> tuple[str, int | str] | None:
    """Return an entry as a setting of the model, name and value; None if its key is none.

    Raises:
        UserError: Kafka would reject the value.
    """
    known = _SETTINGS.get(found.key)
    return None if known is None else (known[0], known[1](found))


def not_filled_in(found: Sequence[Declared]) -> UserError:
    """Return the error for settings that are templates, with the options that stand in for them."""
    found = list({(one.place, one.key): one for one in found}.values())
    options = dict.fromkeys(f"--{_SETTINGS[one.key][0].replace('_', '-')}" for one in found)
    shown = [one.value if len(one.value) <= 60 else one.value[:57] + "..." for one in found]
    said = [f"{one.place}: {one.key} is the template {value}" for one, value in zip(found, shown, strict=True)]
    which = "which is" if len(found) == 1 else "which are"
    return UserError(f"{'; '.join(said)}, {which} not filled in; give {' and '.join(options)}.")


def setting_name(key: str) -> str | None:
    """Return the name of the model's setting that a key is about; None if it is about none."""
    known = _SETTINGS.get(key)
    return None if known is None else known[0]


def may_be_kafkas(key: str) -> bool:
    """Return whether a key may be one of Kafka's: words joined by dots, or one of a few single words."""
    return key in _SINGLE_WORDS or (_DOTTED.fullmatch(key) is not None and not key.endswith(".sh"))


def kafka_key(name: str) -> str | None:
    """Return the key that an image of Kafka or a chart makes of another spelling; None if it is no setting.

    Such spellings are KAFKA_MIN_INSYNC_REPLICAS, KAFKA_CFG_MIN_INSYNC_REPLICAS, minInsyncReplicas and
    kafka_min_insync_replicas.
    """
    plain = re.sub(r"[^a-z]", "", name.lower())
    for prefix in _PREFIXES:
        if plain.startswith(prefix) and (key := _SPELLINGS.get(plain.removeprefix(prefix))) is not None:
            return key
    return None


def with_near_setting(key: str) -> str:
    """Return a key that is not a setting, with the setting that it is probably a misspelling of, if there is one."""
    near = near_setting(key)
    return f"{key} (is {near} meant?)" if near else key


def near_setting(key: str) -> str:
    """Return the setting that a key, which is none, is probably a misspelling of; empty if there is none."""
    return next(iter(difflib.get_close_matches(key, _SETTINGS, n=1, cutoff=_NEARLY)), "")


def near_of_producer(key: str) -> str:
    """Return the setting of producers that a key is probably a misspelling of; empty if it is one, or none is near."""
    near = difflib.get_close_matches(key.lower(), _OF_PRODUCERS, n=1, cutoff=_ALMOST)
    return near[0] if near and key != near[0] else ""


def weaker(name: str, one: int | str, other: int | str) -> int | str:
    """Return that of two values of a setting which promises less."""
    if name == "release":
        return min(one, other, key=lambda value: Release(value).age)
    order = _WEAKEST_FIRST.get(name)
    return min(one, other, key=order.index) if order is not None else min(int(one), int(other))


_WEAKEST_FIRST: dict[str, list[int | str]] = {
    "acks": ["0", "1", "all"],
    "elr": ["off", "on"],
    "flush": ["never", "sometimes", "always"],
    "unclean_leader_election": ["on", "off"],
}


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
        return {"0": "0", "none": "0", "1": "1", "leader": "1", "all": "all", "-1": "all"}[found.value.lower()]
    except KeyError:
        raise mistake(found.place, found.value, "a value of acks", "give 0, 1 or all") from None


def _flushing(found: Declared) -> str:
    """Return whether records are flushed: always with an interval of 1, sometimes with a greater one, or never."""
    interval = _count(found)
    return "always" if interval == 1 else "never" if interval >= _NEVER else "sometimes"


def _level(found: Declared) -> str:
    if not found.value.isdecimal():
        raise mistake(found.place, found.value, f"a level of {found.key}", "give 0 or 1")
    return "on" if int(found.value) >= 1 else "off"


def _release(found: Declared) -> str:
    if found.value.startswith("UNKNOWN"):  # as kafka-features prints a level that it has no name for
        message = (
            f"{found.place}: the tool is older than the brokers, and has no name for the newest metadata.version that "
            f"they support ({found.value}); give --release, that one or a later one."
        )
        raise UserError(message)
    if (release := release_of_series(found.value)) is None:
        known = release_advice("")
        message = f"{found.place}: {found.value!r} is no release of Kafka that is modelled; give --release. {known}"
        raise UserError(message)
    return release.value


_NEVER = (1 << 63) - 1  # Kafka's default
_NEARLY = 0.9
_ALMOST = 0.75
"""How near a misspelt key is to one of a few: in four letters, such as acks, one may be wrong or missing."""
_OF_PRODUCERS = ("acks", "enable.idempotence", "transactional.id")
_DOTTED = re.compile(r"[a-z]+(\.[a-z0-9_-]+)+")
_SINGLE_WORDS = frozenset({"acks", "listeners", "port", "retries"})
_SETTINGS: dict[str, tuple[str, Callable[[Declared], int | str]]] = {
    "default.replication.factor": ("replicas", _count),
    "ReplicationFactor": ("replicas", _count),
    "min.insync.replicas": ("min_insync_replicas", _count),
    "unclean.leader.election.enable": ("unclean_leader_election", _switch),
    "acks": ("acks", _acks),
    ELR_FEATURE: ("elr", _level),
    VERSION: ("release", _release),
}
for _key in ("flush.messages", "log.flush.interval.messages"):
    _SETTINGS[_key] = ("flush", _flushing)

_PREFIXES = ("kafkacfg", "kafkabroker", "kafkaconf", "kafkaserver", "kafka", "broker", "")
_SPELLINGS = {
    key.replace(".", ""): key
    for key in (
        "acks",
        "enable.idempotence",
        "zookeeper.connect",
        "default.replication.factor",
        "min.insync.replicas",
        "unclean.leader.election.enable",
        "log.flush.interval.messages",
    )
}
