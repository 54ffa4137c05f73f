"""Kafka's quorum as it once was: what was asked of it, and what was seen then."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from insync.conformance.classes.subject import Argument, KafkaRaised
from insync.conformance.correspondence.facts import Difference
from insync.conformance.quorum.beside_kafka import AS_KAFKA
from insync.conformance.quorum.quorum_pair import QuorumPair
from insync.conformance.quorum.quorum_seen import QuorumSeen
from insync.explorer.stepping.stepper import Stepper
from insync.kafka.quorum.kraft import Kraft

__all__ = ["RecordedQuorum", "number_of", "quorum_stepper", "recorded_course", "take_course", "take_labels"]

RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings" / "quorum"
WITHOUT_PRE_VOTES = "3.9.2"


@dataclass
class RecordedQuorum:
    """Answers as Kafka did, in order; what is asked must be what was asked.

    Attributes:
        version: the release.
        course: the commands with their arguments, and the states as JSON, or what was raised.
        given: how many were asked so far.
    """

    version: str
    course: list[dict[str, Any]]
    given: int = field(default=0)

    @classmethod
    def read(cls, recording: str = WITHOUT_PRE_VOTES) -> RecordedQuorum:
        """Read a recording, whose name begins with the release."""
        return cls(recording.partition("-")[0], deepcopy(_course(recording)["course"]))

    def give(self, command: str, **arguments: Argument) -> QuorumSeen:
        one = self.course[self.given]
        self.given += 1
        assert one["asked"] == {"command": command, **arguments}
        if "raised" in one:
            raise KafkaRaised(one["raised"], "")
        return QuorumSeen.read(one["state"])


@cache
def _course(version: str) -> dict[str, Any]:
    course: dict[str, Any] = json.loads((RECORDINGS / f"{version}.json").read_text(encoding="utf-8"))
    return course


def recorded_course(version: str = WITHOUT_PRE_VOTES) -> list[str]:
    """The steps of the model that the recording of a release is of."""
    labels: list[str] = _course(version)["steps"]
    return labels


@cache
def quorum_stepper(*, pre_votes: bool = False, resignations: int = 0) -> Stepper:
    """The model that the recordings without pre-votes are of, or that of those with, and of leaders that resign."""
    settings = {**AS_KAFKA, "pre_votes": "on" if pre_votes else "off"}
    return Stepper(Kraft(servers=3, records=1, elections=2, restarts=1, resignations=resignations, **settings))


def take_course(pair: QuorumPair, labels: Sequence[str]) -> list[Difference]:
    """Take steps by their labels as `take_labels` does, but those that Kafka takes by itself, which are among them."""
    found, own = pair.open(), 0
    for label in labels:
        taken = [pair.taken[number].label for number in pair.own[own:]]
        if label in taken:
            own += taken.index(label) + 1
        elif not found:
            found = pair.take(number_of(pair, label))
    return found


def take_labels(pair: QuorumPair, labels: list[str]) -> list[Difference]:
    """Take steps by their labels on both, up to the first difference."""
    found = pair.open()
    for label in labels:
        if found:
            break
        found = pair.take(number_of(pair, label))
    return found


def number_of(pair: QuorumPair, label: str) -> int:
    """Return the number of a step that the model can take, by its label."""
    actions = pair.walk.stepper.actions
    numbers = [number for some in pair.walk.enabled.values() for number in some if actions[number].label == label]
    assert numbers, f"{label!r} is not possible after {pair.taken[-1].label!r}"
    return numbers[0]
