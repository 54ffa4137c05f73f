"""What a configuration says, line by line: which settings there are, and what a value may be."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass

from insync.model.errors import UserError

__all__ = ["NAMED", "Declared", "Place", "may_be_kafkas", "mistake", "setting_of", "with_near_setting"]


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
