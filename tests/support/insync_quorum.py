"""Kafka's quorum as it once was: what was asked of it, and what was seen then."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from insync.conformance.classes.subject import Argument, KafkaRaised
from insync.conformance.correspondence.facts import Difference
from insync.conformance.quorum.quorum_pair import QuorumPair
from insync.conformance.quorum.quorum_seen import QuorumSeen
from insync.explorer.stepping.stepper import Stepper
from insync.kafka.quorum.kraft import Kraft

__all__ = [
    "RecordedQuorum",
    "current_label",
    "number_of",
    "quorum_stepper",
    "recorded_course",
    "take_course",
    "take_labels",
]

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
    """The steps of the model that the recording of a release is of, as they are called now."""
    labels: list[str] = _course(version)["steps"]
    return [current_label(label) for label in labels]


_FORMER = (
    (r"(n\d) gets the vote of (n\d) for epoch \d", r"\1 gets the vote of \2"),
    (r"(n\d) hears from (n\d) that (?:n\d leads its epoch|it does not vote for it)", r"\1 is refused the vote of \2"),
    (r"(n\d) hears from (n\d) that its vote request is invalid", r"\1 gets INVALID_REQUEST from \2"),
    (r"(n\d) hears that (n\d (?:leads epoch|has resigned, which led epoch) \d)", r"\1 learns that \2"),
    (r"(n\d) asks whether it would be elected", r"\1 requests pre-votes"),
    (r"(n\d) tells (n\d) whether it would vote for it", r"\1 answers the pre-vote request of \2"),
    (r"(n\d) hears that (n\d) would not vote for it", r"\1 is refused the pre-vote of \2"),
    (r"(n\d) waits for no pre-votes any more", r"\1 stops waiting for pre-votes"),
    (r"(n\d) waits for no answer to its fetch any more", r"\1 stops waiting for the response to its fetch"),
    (r"(n\d) receives .*", r"\1 takes what it has fetched"),
    (
        r"(n\d) hears (?:of n\d )?that (?:its epoch is wrong|n\d does not lead|n\d leads), .*",
        r"\1 gets an error in response to its fetch",
    ),
    (r"(n\d) is started with .*", r"\1 is started"),
    (
        r"(n\d) answers the fetch of (n\d), which has nothing yet, epoch (\d)",
        r"\1 answers \2's fetch of epoch \3 from 0@0",
    ),
    (r"(n\d) answers the fetch of VOTER (n\d) from (\d@\d), epoch (\d)", r"\1 answers \2's fetch of epoch \4 from \3"),
    (r"(n\d) restarts with \d records", r"\1 restarts"),
)
"""What steps were called when the recordings were made, and what they are called now."""


_ENDS = {"0": "0@0", "1": "1@2", "3": "2@2"}
"""Ends of logs that recordings have by numbers, as offset and epoch."""


def current_label(label: str) -> str:
    """Return what a step is called now that a recording names."""
    for former, now in _FORMER:
        if re.fullmatch(former, label):
            return re.sub(former, now, label)
    return re.sub(r"(?<= from )\d$", lambda end: _ENDS[end[0]], label)


@cache
def quorum_stepper(*, pre_votes: bool = False, resignations: int = 0) -> Stepper:
    """The model that the recordings without pre-votes are of, or that of those with, and of leaders that resign."""
    release = "4.1" if pre_votes else "3.9"
    return Stepper(Kraft(servers=3, records=1, elections=2, restarts=1, resignations=resignations, release=release))


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
    possible = {actions[number].label: number for some in pair.walk.enabled.values() for number in some}
    if label not in possible:  # of an observer that led
        label = label.replace("stops waiting for the response to its fetch", "has resigned long enough")
    assert label in possible, f"{label!r} is not possible after {pair.taken[-1].label!r}"
    return possible[label]
