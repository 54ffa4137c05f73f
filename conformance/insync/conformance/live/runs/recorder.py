"""Records a run: frames as they pass the proxies, what operators and clients do, and at the end the metadata log."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from insync.conformance.live.metadata_log import Decision, decisions, records_on_disk
from insync.conformance.live.nodes.node_files import CONTROLLER
from insync.conformance.live.operator import Operator
from insync.conformance.live.proxies import ALTER_PARTITION, FETCH, HEARTBEAT, Frame
from insync.conformance.live.runs.run_events import (
    Applied,
    Decided,
    Delivered,
    Done,
    FetchAnswered,
    FetchAsked,
    IsrAsked,
    Run,
    RunEvent,
)
from insync.conformance.live.wire.record_batches import batches
from insync.model.errors import UserError

__all__ = ["Recorder"]

_FETCHER = re.compile(r"broker-(\d+)-fetcher-")
_NO_END = -1


class Recorder:
    """Listens to a cluster from now on.

    Args:
        operator: who does things to it, on the topic that is recorded.
    """

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self._frames: list[Frame] = []
        operator.cluster.proxies.listeners.append(self._listen)

    def _listen(self, frame: Frame) -> None:
        if frame.key == FETCH or (frame.key in (ALTER_PARTITION, HEARTBEAT) and frame.is_request):
            self._frames.append(frame)

    def run(self, min_insync: int, acks: int = -1, unclean: bool = False) -> Run:
        """Stop to listen, and return what was seen since the partition is there.

        Args:
            min_insync: min.insync.replicas of the topic.
            acks: what producers have asked for.
            unclean: unclean.leader.election.enable of the topic.

        Raises:
            UserError: the topic is not there.
        """
        operator = self._operator
        cluster = operator.cluster
        cluster.proxies.listeners.remove(self._listen)
        records = list(records_on_disk(cluster.schemas, cluster.disk(CONTROLLER)))
        made = decisions(records, operator.topic)
        first = next((place for place, one in enumerate(made) if "created" in one.kinds), None)
        if first is None or made[first].partition is None:
            message = f"The topic {operator.topic} was never made, so nothing of it can be recorded."
            raise UserError(message)
        topic = next(one.body["TopicId"] for one in records if one.body.get("Name") == operator.topic)
        events = list(_of_frames(self._frames, topic))
        events += [Done(one.moment, one.what, one.broker, one.record, one.error) for one in operator.called]
        decided = _decided(made[first:], events)
        events = list(_with_news(events, [one.decision.offset for one in decided]))
        events = sorted([*events, *decided], key=lambda event: event.at)
        start = next(place for place, event in enumerate(events) if event is decided[0])
        replicas = decided[0].decision.partition.replicas if decided[0].decision.partition else ()
        return Run(
            kafka=cluster.version,
            replicas=replicas,
            spares=tuple(one for one in cluster.plan.numbers if one not in replicas),
            min_insync=min_insync,
            acks=acks,
            elr=cluster.plan.elr,
            unclean=unclean,
            events=tuple(events[start:]),
        )


def _decided(made: list[Decision], events: list[RunEvent]) -> list[Decided]:
    """Decisions with their times, which the log has in whole milliseconds.

    A decision is set at the end of its millisecond, so that what it answers comes before, but not after any broker has
    been sent it, and not before the one before it.
    """
    sent = sorted((event.below, event.at) for event in events if isinstance(event, Delivered))
    told: list[Decided] = []
    for decision in made:
        latest = min((at for below, at in sent if below > decision.offset), default=float("inf"))
        earliest = told[-1].at if told else 0.0
        told.append(Decided(max(earliest, min(decision.milliseconds / 1000 + 0.000999, latest)), decision))
    return told


def _with_news(events: list[RunEvent], places: list[int]) -> Iterator[RunEvent]:
    """Leave out what brokers were sent, or act on, of other things than the decisions at these places."""
    known: dict[tuple[str, int], int] = {}
    for event in events:
        if isinstance(event, (Delivered, Applied)):
            count, about = sum(place < event.below for place in places), (event.kind, event.broker)
            if count <= known.get(about, 0):
                continue
            known[about] = count
        yield event


def _of_frames(frames: list[Frame], topic: str) -> Iterator[RunEvent]:
    """The events that frames show, of one topic; fetches that say nothing new are none.

    In a session a fetch leaves out what is as it was, and so does the answer. Source: KIP-227.
    """
    asked: dict[tuple[int, int], int] = {}
    delivered: dict[int, int] = {}
    for frame in sorted(frames, key=lambda one: one.moment):
        broker = frame.link.broker
        if frame.link.to_controller and frame.key == ALTER_PARTITION:
            yield from _isr_asked(frame, topic)
        elif frame.link.to_controller and frame.key == HEARTBEAT:
            yield Applied(frame.moment, broker, frame.body["CurrentMetadataOffset"] + 1)
        elif frame.link.to_controller and not frame.is_request:
            below = max([_delivered(part) for part in _parts(frame.body, "Responses")], default=0)
            if below > delivered.get(broker, 0):
                delivered[broker] = below
                yield Delivered(frame.moment, broker, below)
        elif not frame.link.to_controller and (match := _FETCHER.match(frame.client)):
            follower = int(match[1])
            for part in _parts(frame.body, "Topics" if frame.is_request else "Responses", topic):
                if frame.is_request:
                    asked[follower, broker] = part["CurrentLeaderEpoch"]
                    offset, epoch = part["FetchOffset"], part["CurrentLeaderEpoch"]
                    yield FetchAsked(frame.moment, follower, broker, offset, epoch)
                else:
                    yield _answered(frame, part, follower, broker, asked.get((follower, broker), -1))


def _parts(body: Mapping[str, Any], field: str, topic: str | None = None) -> list[dict[str, Any]]:
    """The parts of a request or an answer about partition 0 of a topic, or about all."""
    found = []
    for one in body.get(field) or ():
        if topic is None or one.get("TopicId") == topic:
            found += one["Partitions"]
    return [part for part in found if topic is None or part.get("Partition", part.get("PartitionIndex")) == 0]


def _answered(frame: Frame, part: Mapping[str, Any], follower: int, leader: int, epoch: int) -> FetchAnswered:
    found = [record for batch in batches(part.get("Records") or b"") for record in batch.records]
    parting = part.get("DivergingEpoch") or {}
    end = parting.get("EndOffset", _NO_END)
    return FetchAnswered(
        at=frame.moment,
        follower=follower,
        leader=leader,
        epoch=epoch,
        error=part["ErrorCode"],
        watermark=part["HighWatermark"],
        records=tuple((record.offset, (record.value or b"").decode(errors="replace")) for record in found),
        end=None if end == _NO_END else end,
    )


def _delivered(part: Mapping[str, Any]) -> int:
    """The offset below which a broker has been sent all that is committed."""
    ends = [batch.last + 1 for batch in batches(part.get("Records") or b"")]
    return min(max(ends, default=0), int(part["HighWatermark"]))


def _isr_asked(frame: Frame, topic: str) -> Iterator[IsrAsked]:
    for part in _parts(frame.body, "Topics", topic):
        members = part.get("NewIsr") or [one["BrokerId"] for one in part.get("NewIsrWithEpochs") or ()]
        yield IsrAsked(frame.moment, frame.link.broker, part["LeaderEpoch"], tuple(sorted(members)))
