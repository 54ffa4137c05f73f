"""What brokers write down of a partition in their own logs: which decisions they act on, and what ISR they ask for.

Two loggers say it. `state.change.logger` says at INFO, which Kafka has as it comes, with which partition epoch a broker
begins to lead or follow, or goes on with it. `kafka.cluster.Partition` says at INFO what a leader takes out of the ISR,
and at DEBUG all that it asks for. What a fetch brings is seen on the wire alone.

A line has the time of the clock on the wall where the broker runs. How far that is from UTC is what most of its lines
say, each beside the decision that it is about, in quarters of an hour. No broker acts on what is not decided yet, so a
line whose clock says otherwise is set right after the decision.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import mode

from insync.conformance.live.runs.run_events import Acting, BrokerRun, Decided, IsrAsked, RunEvent
from insync.runtime.errors import UserError

__all__ = ["with_broker_logs"]

_TIME = re.compile(r"\[(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)[,.](\d{3})\] ")
_QUARTER = 900
_AFTER = 0.000001
_BEGINS = r"\[Broker id=(?P<broker>\d+)\] (?:Leader|Follower) {partition} .*?with partition epoch (?P<epoch>\d+)\b"
_GOES_ON = (
    r"\[Broker id=(?P<broker>\d+)\] Skipped the become-(?:leader|follower) state change for {partition} with topic id "
    r".*?\bpartitionEpoch=(?P<epoch>\d+)\b.* since it is already "
)
_SHRINKS = r"\[Partition {partition} broker=(?P<broker>\d+)\] Shrinking ISR from [\d,]+ to (?P<isr>[\d,]*)"
_ASKS = (
    r"\[Partition {partition} broker=(?P<broker>\d+)\] Submitting ISR state change Pending\w+Isr\("
    r".*?\bisrWithBrokerEpoch=(?P<states>.*?), leaderRecoveryState="
)


@dataclass(frozen=True, slots=True)
class _Line:
    """What a line says, with the time of the broker's clock.

    Attributes:
        epoch: the partition epoch that the broker acts on; None of a request.
        isr: the ISR that it asks for; empty of the other lines.
    """

    clock: float
    broker: int
    epoch: int | None = None
    isr: tuple[int, ...] = ()


def with_broker_logs(run: BrokerRun, partition: str, files: Iterable[Path]) -> BrokerRun:
    """Return a run with what the logs of its brokers say of it besides.

    Args:
        run: what the controller has decided.
        partition: the topic and its partition, such as `orders-0`.
        files: logs of brokers, such as `server.log` and `state-change.log`, in any order.

    Raises:
        UserError: a file cannot be read, or says nothing of the partition.
    """
    decided = [event for event in run.events if isinstance(event, Decided)]
    made = {
        event.decision.partition.partition_epoch: event
        for event in reversed(decided)
        if event.decision.partition is not None
    }
    known, found = {*run.replicas, *run.spares}, list[RunEvent]()
    for file in files:
        lines = [line for line in _lines(file, partition) if line.broker in known]
        if not lines:
            message = (
                f"{file} says nothing of {partition} in lines such as `[2026-01-31 12:00:00,000] INFO [Broker id=1] "
                f"Leader {partition} ...`. Name a broker's state-change.log or server.log of the time of the run."
            )
            raise UserError(message)
        found += _events(lines, made)
    events = sorted([*run.events, *found], key=lambda event: event.at)
    return replace(run, events=tuple(events))


def _lines(file: Path, partition: str) -> Iterator[_Line]:
    shapes = [re.compile(one.format(partition=re.escape(partition))) for one in (_BEGINS, _GOES_ON, _SHRINKS, _ASKS)]
    try:
        with file.open(encoding="utf-8", errors="replace") as written:
            about = [line for line in written if partition in line and _TIME.match(line)]
    except OSError as error:
        message = f"{file}: cannot be read ({error.strerror or error}). Name a log that you may read."
        raise UserError(message) from error
    for line in about:
        said = next(filter(None, (shape.search(line) for shape in shapes)), None)
        if said is not None:
            yield _read(_clock(file, line), said.groupdict())


def _clock(file: Path, line: str) -> float:
    """The time at which a line begins, as if that were UTC."""
    time = _TIME.match(line)
    assert time is not None
    try:
        return datetime.fromisoformat(f"{time[1]}T{time[2]}.{time[3]}").replace(tzinfo=UTC).timestamp()
    except ValueError as error:
        message = f"{file}: {time[0].strip()} is no time ({error}), such as [2026-01-31 12:00:00,000]."
        raise UserError(message) from error


def _read(clock: float, said: Mapping[str, str]) -> _Line:
    broker = int(said["broker"])
    if "epoch" in said:
        return _Line(clock, broker, epoch=int(said["epoch"]))
    members = re.findall(r"brokerId=(\d+)", said["states"]) if "states" in said else said["isr"].split(",")
    return _Line(clock, broker, isr=tuple(sorted(map(int, filter(None, members)))))


def _events(lines: list[_Line], made: Mapping[int, Decided]) -> Iterator[RunEvent]:
    """The events of a broker's lines; what it says of epochs that the run does not have is left out."""
    about = [(line.clock, made[line.epoch].at) for line in lines if line.epoch is not None and line.epoch in made]
    if not about:
        return
    zone = mode(round((clock - at) / _QUARTER) for clock, at in about) * _QUARTER
    acts_on: Decided | None = None
    earliest = min(event.at for event in made.values())
    for line in lines:
        at = max(line.clock - zone, earliest + _AFTER)
        if line.epoch is not None:
            acts_on = made.get(line.epoch)
            if acts_on is not None:
                earliest = max(at, acts_on.at + _AFTER)
                yield Acting(earliest, line.broker, acts_on.decision.offset + 1)
        elif acts_on is not None and acts_on.decision.partition is not None:
            yield IsrAsked(at, line.broker, acts_on.decision.partition.leader_epoch, line.isr)
