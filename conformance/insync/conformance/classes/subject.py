"""Who takes commands and answers with Kafka's state: a running harness, or a recording of one."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from insync.conformance.classes.observation import Observation

__all__ = ["Answer", "Argument", "KafkaRaised", "Subject"]

Argument = int | str | bool | list[int] | dict[str, str]


class Answer(NamedTuple):
    """What came of a command.

    Attributes:
        said: Kafka's error, "NONE" where there is none.
        state: the state after it.
        raw: that state as JSON, as the harness has written it.
    """

    said: str
    state: Observation
    raw: dict[str, object]


class KafkaRaised(Exception):
    """Kafka's classes have thrown an exception at a command; the message is what they say."""


class Subject(Protocol):
    """Takes commands, one at a time."""

    @property
    def version(self) -> str:
        """The release of Kafka."""

    def take(self, command: str, **arguments: Argument) -> Answer:
        """Give a command and return what came of it; raises KafkaRaised."""
