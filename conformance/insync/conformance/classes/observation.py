"""What the harness sees of Kafka after a command: its whole state, as far as the model speaks of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = [
    "AlterRequest",
    "BrokerSeen",
    "ConsumerSeen",
    "ControllerSeen",
    "DirectorySeen",
    "KnownEnd",
    "LeadingSeen",
    "LogSeen",
    "Observation",
    "SessionSeen",
]

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ControllerSeen:
    """The controller's registration of the partition.

    Attributes:
        leader: a broker, -1 for nobody.
        leader_epoch: the leader epoch.
        partition_epoch: how often the registration has changed.
        isr: the in-sync replicas, in ascending order, as all sets here.
        replicas: all replicas, those to come and to go included.
        adding: those to come.
        removing: those to go.
        elr: the eligible leader replicas.
        last_known_elr: the last known leader, where there is nobody else.
        fenced: the brokers that are fenced.
        end: the place of the newest batch in the metadata log.
        stopping: the brokers that have asked to stop, and have not registered since.
        without_directory: the replicas in a directory that their brokers have not got, as far as it knows.
        elsewhere: those whose log is not in the directory in which it takes it to be.
        unassigned: those whose directory it has not been told.
        order: all replicas in the order of the assignment, the preferred leader first.
    """

    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]
    fenced: tuple[int, ...]
    end: int
    stopping: tuple[int, ...]
    without_directory: tuple[int, ...] = ()
    elsewhere: tuple[int, ...] = ()
    unassigned: tuple[int, ...] = ()
    order: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownEnd:
    """What a leader knows of a follower.

    Attributes:
        end: its log end at its last fetch, -1 for unknown.
        current: whether that was its present incarnation.
        may_join: whether it may be in the ISR by the leader's metadata: not fenced, not stopping, no other incarnation.
    """

    end: int
    current: bool
    may_join: bool


@dataclass(frozen=True, slots=True)
class LeadingSeen:
    """What a leader alone knows.

    Attributes:
        isr: the ISR of the metadata that it has applied.
        maximal_isr: that, and those whom it would add.
        proposed: the ISR that it has asked for, while it knows no answer; else empty.
        epoch_start: where its leader epoch began in the log.
        known: its followers.
    """

    isr: tuple[int, ...]
    maximal_isr: tuple[int, ...]
    proposed: tuple[int, ...]
    epoch_start: int | None
    known: Mapping[int, KnownEnd]


@dataclass(frozen=True, slots=True)
class LogSeen:
    """A log.

    Attributes:
        records: the values and leader epochs of its records, in order.
        start: the log start offset.
        end: the log end offset.
        high_watermark: the high watermark.
        epochs: the epochs in its epoch cache, in order.
    """

    records: tuple[tuple[str, int], ...]
    start: int
    end: int
    high_watermark: int
    epochs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DirectorySeen:
    """What a broker with several directories knows of them.

    Attributes:
        offline: whether it has no log, and a directory that has failed.
        copied: the end of the copy of its log in another directory, None if there is none.
        promotion: how far that is with the controller: None, Queued or Accepted; None where nothing copies.
        to_assign: what the controller is to be told: that the replica is where the "log" is, where its "copy" is, or
            "elsewhere"; None where nothing waits.
        assigned: whether the controller's answer to that is on its way.
        tells: whether its heartbeats tell of a directory that has failed.
        silent: whether it will tell nothing of its log any more until it starts again.
    """

    offline: bool
    copied: int | None
    promotion: str | None
    to_assign: str | None
    assigned: bool
    tells: bool
    silent: bool = False


@dataclass(frozen=True, slots=True)
class AlterRequest:
    """A request for another ISR on its way to the controller, or its response on the way back.

    Attributes:
        isr: the ISR that it asks for.
        partition_epoch: that of the registration that the leader knew.
        replied: whether the controller has handled it.
        unnamed: the members without an incarnation in it, as none has fetched from this leader.
        outdated: the members with an incarnation in it that is not the present one.
    """

    isr: tuple[int, ...]
    partition_epoch: int
    replied: bool
    unnamed: tuple[int, ...] = ()
    outdated: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionSeen:
    """A fetch session that a leader keeps.

    Attributes:
        high_watermark: the one that it has told, None for none.
    """

    high_watermark: int | None


@dataclass(frozen=True, slots=True)
class BrokerSeen:
    """A broker; of one that does not run nothing is seen but what it has asked before.

    Attributes:
        running: whether it runs.
        applied: the place of the newest batch of metadata that it has applied.
        acknowledgements: what producers were told of each record written here: "waiting", "NONE", or Kafka's error.
        requests: what it has asked of the controller, the oldest first.
        reply_waits: whether a reply to its fetch is on its way.
        leader: whom it follows, or itself; None where nobody leads or it has no replica.
        leader_epoch: the leader epoch in its metadata; None where it has no replica.
        leading: what it knows as the leader; None where it does not lead.
        log: its log; None where it has none.
        directory: what it knows of its directories; None where it has one.
        session: the fetch session that its next fetch goes on with; None for none, or where fetches are none of one.
    """

    running: bool
    applied: int = -1
    acknowledgements: Mapping[str, str] | None = None
    requests: tuple[AlterRequest, ...] = ()
    reply_waits: bool = False
    leader: int | None = None
    leader_epoch: int | None = None
    leading: LeadingSeen | None = None
    log: LogSeen | None = None
    directory: DirectorySeen | None = None
    session: SessionSeen | None = None


@dataclass(frozen=True, slots=True)
class ConsumerSeen:
    """A consumer.

    Attributes:
        position: the offset that it reads next.
        last_epoch: the epoch of the record before, -1 where it has read nothing since it was put there.
        leader_epoch: in which epoch it takes the leader to be.
        got: the records that it has got by their offsets, without those from which it was taken back.
    """

    position: int
    last_epoch: int
    leader_epoch: int
    got: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Observation:
    """The state of the cluster after a command."""

    controller: ControllerSeen
    brokers: Mapping[int, BrokerSeen]
    consumer: ConsumerSeen | None = None

    @classmethod
    def read(cls, state: Json) -> Observation:
        """Return the observation that the harness has written as JSON."""
        brokers = {int(name): _broker(seen) for name, seen in state["brokers"].items()}
        consumer = _consumer(state["consumer"]) if "consumer" in state else None
        return cls(_controller(state["controller"]), brokers, consumer)

    def after(self, news: Json) -> Observation:
        """Return the observation with news in it: the controller, brokers or the consumer, each as a whole."""
        controller, consumer = news.get("controller"), news.get("consumer")
        return Observation(
            self.controller if controller is None else _controller(controller),
            {**self.brokers, **{int(name): _broker(seen) for name, seen in news["brokers"].items()}},
            self.consumer if consumer is None else _consumer(consumer),
        )

    @property
    def acknowledged(self) -> set[str]:
        """The records that a broker has acknowledged to a producer, if that broker has run since."""
        told = (seen.acknowledgements or {} for seen in self.brokers.values())
        return {record for answers in told for record, answer in answers.items() if answer == "NONE"}


def _controller(seen: Json) -> ControllerSeen:
    return ControllerSeen(**{name: _plain(value) for name, value in seen.items()})


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _broker(seen: Json) -> BrokerSeen:
    requests = tuple(map(_request, seen["requests"]))
    if not seen["running"]:
        return BrokerSeen(running=False, requests=requests)
    leading, log = seen.get("leading"), seen.get("log")
    return BrokerSeen(
        running=True,
        applied=seen["applied"],
        acknowledgements=dict(seen["acknowledgements"]),
        requests=requests,
        reply_waits=seen["reply_waits"],
        leader=seen.get("leader"),
        leader_epoch=seen.get("leader_epoch"),
        leading=None if leading is None else _leading(leading),
        log=None if log is None else _log(log),
        directory=DirectorySeen(**seen["directory"]) if "directory" in seen else None,
        session=SessionSeen(**seen["session"]) if seen.get("session") else None,
    )


def _consumer(seen: Json) -> ConsumerSeen:
    got = {int(offset): record for offset, record in seen["got"].items()}
    return ConsumerSeen(seen["position"], seen["last_epoch"], seen["leader_epoch"], got)


def _request(seen: Json) -> AlterRequest:
    members = (tuple(seen.get(name, ())) for name in ("unnamed", "outdated"))  # older recordings have not got them
    return AlterRequest(tuple(seen["isr"]), seen["partitionEpoch"], seen["replied"], *members)


def _leading(seen: Json) -> LeadingSeen:
    known = {int(name): KnownEnd(one["end"], one["current"], one["may_join"]) for name, one in seen["known"].items()}
    return LeadingSeen(
        isr=tuple(seen["isr"]),
        maximal_isr=tuple(seen["maximal_isr"]),
        proposed=tuple(seen["proposed"]),
        epoch_start=seen["epoch_start"],
        known=known,
    )


def _log(seen: Json) -> LogSeen:
    return LogSeen(
        records=tuple((one["record"], one["epoch"]) for one in seen["records"]),
        start=seen["start"],
        end=seen["end"],
        high_watermark=seen["high_watermark"],
        epochs=tuple(seen["epochs"]),
    )
