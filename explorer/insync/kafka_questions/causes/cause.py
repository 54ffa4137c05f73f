"""A cause of broken promises and what would remove it, and the step of a trace in which a record is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from insync.explorer.results import Violation
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS, Defect
from insync.kafka_questions.disturbances import Row
from insync.kafka_questions.question import LOSS, Given

if TYPE_CHECKING:
    from insync.explorer.traces.trace import Trace

__all__ = ["HARM", "STORIES", "Cause", "CauseKind", "changes_of", "harm_of", "loses_every_copy", "story_of"]


class CauseKind(Enum):
    """What would remove a cause."""

    SETTINGS = "settings"
    """A setting that the release has."""
    UNKNOWN = "unknown"
    """Not known: the time was up before a cause was found, or the promise stays broken under every change tried."""
    RELEASE = "release"
    """A newer release."""
    DESIGN = "design"
    """Nothing but a flush of every record: Kafka keeps records in the memory of several brokers by design."""
    OPEN = "open"
    """Nothing yet: a defect that every release has."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why promises are broken.

    Attributes:
        name: its entry of the catalogue, such as `C-3`; empty if it has none.
        kind: what would remove it.
        rows: the disturbances in which it breaks promises, the simplest first.
        violations: a shortest trace for each promise that it breaks, in the order of `PROMISES`.
        model: the cluster of these traces.
        change: the settings that remove it.
        fixed_in: the first release without it; empty if none is known.
        story: what happens, in a sentence.
        avoided_by: a measure that is no setting of the model, as a clause.
    """

    name: str
    kind: CauseKind
    rows: tuple[Row, ...]
    violations: tuple[Violation, ...]
    model: Cluster
    change: Given = field(default_factory=dict)
    fixed_in: str = ""
    story: str = ""
    avoided_by: str = ""

    @property
    def entry(self) -> Defect | None:
        """Its entry of the catalogue."""
        return DEFECTS.get(self.name)

    @property
    def violation(self) -> Violation:
        """The trace for the first promise."""
        return self.violations[0]

    @property
    def loses(self) -> bool:
        """Whether an acknowledged record is lost."""
        return self.violation.property == LOSS


HARM = "here the harm is done"
"""The mark on a page at the step of `harm_of`."""


def harm_of(trace: Trace) -> int | None:
    """Return the step in which the loss of an acknowledged record is decided; None for another promise.

    That is the last step in which a broker loses its copy. If none does, the step that acknowledges the record decides
    it, as too few brokers have the record then.
    """
    if trace.property != LOSS:
        return None
    found = None
    states = [_copies(step.state) for step in trace.steps]
    for number, (before, now) in enumerate(pairwise(states), start=1):
        if any(now.get(record, 0) < copies for record, copies in before.items()):
            found = number
    acknowledged = (number for number, copies in enumerate(states) if copies)
    return found if found is not None else next(acknowledged, None)


def _copies(state: Mapping[str, object]) -> dict[str, int]:
    """Return the acknowledged records, each with the number of brokers that have it."""
    brokers = cast(dict[str, dict[str, Any]], state["broker"]).values()
    acked = [record for record in cast(list[str | None], state["acked"]) if record]
    return {record: sum(record in one["log"][: one["leo"]] for one in brokers) for record in acked}


def loses_every_copy(trace: Trace) -> bool:
    """Return whether a trace ends with an acknowledged record on no broker; without acknowledged ones, any record."""
    if copies := _copies(trace.steps[-1].state):
        return 0 in copies.values()
    ever = set[str]().union(*(_stored(step.state) for step in trace.steps))
    return not _stored(trace.steps[-1].state) >= ever


def _stored(state: Mapping[str, object]) -> set[str]:
    """Return the records that are in the log of some broker."""
    brokers = cast(dict[str, dict[str, Any]], state["broker"]).values()
    return {record for one in brokers for record in one["log"][: one["leo"]]}


STORIES = {
    "C-2": "with acks=1 the leader acknowledges what nobody else has, and another broker takes over",
    "C-3": "with min.insync.replicas=1 the last broker in the ISR acknowledges alone, and then it is lost",
    "C-6": "an unclean election takes a broker from outside the ISR, which lacks the record",
    "C-7": "Kafka does not wait for disks, so a record is lost with all brokers that have it",
    "C-10": "the only replica loses what it had not flushed",
    "C-19": "with acks=1 the leader acknowledges what nobody else has, and leadership moves as planned",
    "R-25": "the last in-sync broker loses what it had not flushed, and leads again",
    "R-26": "a leader restarts so soon that the controller has not fenced it, and leads on with a shorter log",
    "R-32": "brokers that lost power may all be refused, and then the last leader leads again whatever its log has",
    "N-01": "a leader elected twice uses log ends of an earlier epoch, and acknowledges records that are then lost",
    "N-02": "a replica that a reassignment removed may still be elected, and records are lost",
    "N-05": "the controller takes min.insync.replicas by partition 0, which has more replicas",
}


def changes_of(causes: Sequence[Cause]) -> dict[str, int | str]:
    """Return the changes of all settings that are causes."""
    return {name: value for cause in causes if cause.kind is CauseKind.SETTINGS for name, value in cause.change.items()}


def story_of(entry: Defect) -> str:
    """Return what happens by a defect, as a clause."""
    return STORIES.get(entry.name, entry.title[:1].lower() + entry.title[1:])
