"""What is seen of a run of real brokers, event by event, and the file that keeps it.

A file is lines of JSON: the format with a digest of all lines after it, the run itself, then an event a line, in the
order in which they were seen. Version 1 began with the run itself; recordings that are kept as they were made have it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar

from insync.conformance.live.metadata_log import BrokerAt, Decision, PartitionAt
from insync.runtime.checksums import digest
from insync.runtime.errors import UserError
from insync.runtime.files import FileKind, write_whole

__all__ = [
    "Acting",
    "Applied",
    "BrokerRun",
    "Decided",
    "Delivered",
    "Done",
    "FetchAnswered",
    "FetchAsked",
    "IsrAsked",
    "RunEvent",
    "read_run",
    "write_run",
]

_FORMAT = "insync-kafka-run"
_VERSION = 2
_NOBODY = -1
"""The leader of a partition that has none."""
_AGAIN = "`insync kafka record` writes such a file."
_RUN_FILE = FileKind("run", f"{_FORMAT}, version {_VERSION}", _AGAIN, _AGAIN)


@dataclass(frozen=True, slots=True)
class RunEvent:
    """What is seen at a moment, in seconds since 1970."""

    kind: ClassVar[str]
    at: float


@dataclass(frozen=True, slots=True)
class FetchAsked(RunEvent):
    """A follower asks a leader for records from an offset on, in its epoch."""

    kind: ClassVar[str] = "fetch"
    follower: int
    leader: int
    offset: int
    epoch: int

    def __str__(self) -> str:
        return f"b{self.follower} asks b{self.leader} for offset {self.offset} in epoch {self.epoch}"


@dataclass(frozen=True, slots=True)
class FetchAnswered(RunEvent):
    """A leader answers a follower.

    Attributes:
        epoch: the epoch in which the follower has asked.
        error: Kafka's number of what is wrong, 0 for nothing.
        watermark: the leader's high watermark.
        records: the offset and value of each record.
        end: where the follower's log parts from the leader's, None if it does not.
    """

    kind: ClassVar[str] = "answer"
    follower: int
    leader: int
    epoch: int
    error: int
    watermark: int
    records: tuple[tuple[int, str], ...]
    end: int | None

    def __str__(self) -> str:
        if self.error:
            return f"b{self.leader} refuses a fetch of b{self.follower} with error {self.error}"
        if self.end is not None:
            return f"b{self.leader} answers b{self.follower} that their logs part at {self.end}"
        given = " ".join(value for _, value in self.records) or "nothing"
        return f"b{self.leader} answers b{self.follower} with {given} and the high watermark {self.watermark}"


@dataclass(frozen=True, slots=True)
class IsrAsked(RunEvent):
    """A leader asks the controller for an ISR."""

    kind: ClassVar[str] = "isr"
    leader: int
    epoch: int
    isr: tuple[int, ...]

    def __str__(self) -> str:
        return f"b{self.leader} asks for the ISR {_named(self.isr)} in epoch {self.epoch}"


@dataclass(frozen=True, slots=True)
class Decided(RunEvent):
    """The controller has decided something."""

    kind: ClassVar[str] = "decision"
    decision: Decision

    def __str__(self) -> str:
        made = self.decision.partition
        after = "" if made is None else f": b{made.leader} leads in epoch {made.leader_epoch}, ISR {_named(made.isr)}"
        return f"the controller writes {', '.join(self.decision.kinds)}{after.replace('b-1 leads', 'nobody leads')}"


@dataclass(frozen=True, slots=True)
class Delivered(RunEvent):
    """A broker has been sent the controller's decisions below an offset of the metadata log."""

    kind: ClassVar[str] = "metadata"
    broker: int
    below: int

    def __str__(self) -> str:
        return f"b{self.broker} gets the metadata below {self.below}"


@dataclass(frozen=True, slots=True)
class Applied(RunEvent):
    """A broker tells with a heartbeat that it acts on the metadata below an offset."""

    kind: ClassVar[str] = "applied"
    broker: int
    below: int

    def __str__(self) -> str:
        return f"b{self.broker} acts on the metadata below {self.below}"


@dataclass(frozen=True, slots=True)
class Acting(RunEvent):
    """A broker writes down that it begins to act on the metadata below an offset, and on no more."""

    kind: ClassVar[str] = "acting"
    broker: int
    below: int

    def __str__(self) -> str:
        return f"b{self.broker} begins to act on the metadata below {self.below}"


@dataclass(frozen=True, slots=True)
class Done(RunEvent):
    """A client or an operator has done something to a broker; see `Called`."""

    kind: ClassVar[str] = "done"
    what: str
    broker: int
    record: str
    error: int

    def __str__(self) -> str:
        if self.what == "send":
            return f"a producer sends {self.record} to b{self.broker}"
        if self.record:
            return f"{self.record} is {self.what} by b{self.broker}{f' with error {self.error}' if self.error else ''}"
        return f"b{self.broker}: {self.what}"


_KINDS: dict[str, type[RunEvent]] = {
    one.kind: one for one in (FetchAsked, FetchAnswered, IsrAsked, Decided, Delivered, Applied, Acting, Done)
}


@dataclass(frozen=True, slots=True)
class BrokerRun:
    """What a run of a cluster has shown.

    Attributes:
        kafka: the release.
        replicas: the brokers of the partition at first, the leader first.
        spares: the other brokers.
        min_insync: min.insync.replicas.
        acks: what producers have asked for: -1, 0 or 1.
        elr: whether eligible leader replicas are kept; None is as the release has it.
        unclean: unclean.leader.election.enable.
        events: what was seen, from the decision that has made the partition.
    """

    kafka: str
    replicas: tuple[int, ...]
    spares: tuple[int, ...]
    min_insync: int
    acks: int
    elr: bool | None
    unclean: bool
    events: tuple[RunEvent, ...]


def write_run(run: BrokerRun, file: Path) -> None:
    """Write a run.

    Raises:
        UserError: it cannot be written.
    """
    head = {one.name: getattr(run, one.name) for one in fields(run) if one.name != "events"}
    lines = [head, *({"event": event.kind, **asdict(event)} for event in run.events)]
    rest = "".join(f"{json.dumps(line)}\n" for line in lines)
    write_whole(file, _first_line(rest) + rest)


def _first_line(rest: str) -> str:
    covered = digest(_RUN_FILE.label, rest.encode())
    return f"{json.dumps({'format': _FORMAT, 'version': _VERSION, 'digest': covered.hex()})}\n"


def read_run(file: Path) -> BrokerRun:
    """Read a run.

    Raises:
        UserError: it is none, or cannot be read.
    """
    text = _RUN_FILE.text(file)
    lines = text.splitlines()
    number = 1
    try:
        first = json.loads(lines[0])
        if first.pop("format", None) != _FORMAT or (version := first.pop("version", None)) not in (1, _VERSION):
            raise ValueError
        if version == _VERSION:
            rest = text[len(lines[0]) + 1 :]
            if _first_line(rest) + rest != text:
                message = f"{file}: this run was changed after it was written: its digest differs. Record it again."
                raise UserError(message)
            number = 2
            first = json.loads(lines[1])
        events: list[RunEvent] = []
        begun = _begun(first)
        for line in lines[number:]:
            number += 1
            events.append(_event(json.loads(line)))
            _require_known(begun, events[-1], f"{file}:{number}")
        return replace(begun, events=tuple(events))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        what = f"no line of a run that insync kafka record has written ({_RUN_FILE.format})"
        message = f"{file}:{number}: this is {what}. Record it again."
        raise UserError(message) from error


def _begun(head: dict[str, Any]) -> BrokerRun:
    """The run that a first line tells of, without events."""
    begun = BrokerRun(**{**head, **{key: tuple(head[key]) for key in ("replicas", "spares")}}, events=())
    brokers = (*begun.replicas, *begun.spares)
    kinds = {type(one) for one in (*brokers, begun.min_insync, begun.acks)}
    if type(begun.kafka) is not str or kinds != {int} or not begun.replicas or len(set(brokers)) < len(brokers):
        raise ValueError
    return begun


def _require_known(run: BrokerRun, event: RunEvent, place: str) -> None:
    """Every broker that an event names is one of the run."""
    brokers = (*run.replicas, *run.spares)
    stranger = next((one for one in _brokers_in(event) if one not in brokers), None)
    if stranger is not None:
        known = ", ".join(str(broker) for broker in sorted(brokers))
        message = f"{place}: this names broker {stranger}, and the run is of the brokers {known}. Record it again."
        raise UserError(message)


def _brokers_in(event: RunEvent) -> Iterator[int]:
    made = event.decision.partition if isinstance(event, Decided) else None
    if made is not None:
        yield from () if made.leader == _NOBODY else (made.leader,)
        yield from (*made.isr, *made.elr, *made.replicas, *made.adding, *made.removing)
    for name in ("broker", "follower", "leader"):
        if hasattr(event, name):
            yield getattr(event, name)
    if isinstance(event, IsrAsked):
        yield from event.isr


def _event(told: dict[str, Any]) -> RunEvent:
    kind = _KINDS[told.pop("event")]
    if kind is Decided:
        told["decision"] = _decision(told["decision"])
    if "isr" in told:
        told["isr"] = tuple(told["isr"])
    if "records" in told:
        told["records"] = tuple((offset, value) for offset, value in told["records"])
    return kind(**told)


def _decision(told: Mapping[str, Any]) -> Decision:
    partition = told["partition"]
    made = None
    if partition is not None:
        members: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in partition.items()}
        made = PartitionAt(**members)
    brokers = {int(broker): BrokerAt(**known) for broker, known in told["brokers"].items()}
    return Decision(told["offset"], told["milliseconds"], tuple(told["kinds"]), made, brokers)


def _named(brokers: tuple[int, ...]) -> str:
    return " ".join(_names(brokers)) or "of nobody"


def _names(brokers: tuple[int, ...]) -> Iterator[str]:
    return (f"b{broker}" for broker in sorted(brokers))
