"""Records a run: frames as they pass the proxies, what operators and clients do, and at the end the metadata log."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from insync.conformance.live.metadata_frames import partition_parts, sent_below
from insync.conformance.live.metadata_log import Decision, decisions, records_on_disk
from insync.conformance.live.nodes.node_files import CONTROLLER
from insync.conformance.live.operator import Operator
from insync.conformance.live.proxies import ALTER_PARTITION, FETCH, HEARTBEAT, Frame
from insync.conformance.live.runs.run_events import (
    Applied,
    BrokerRun,
    Decided,
    Delivered,
    Done,
    FetchAnswered,
    FetchAsked,
    IsrAsked,
    RunEvent,
)
from insync.conformance.live.wire.record_batches import batches
from insync.runtime.errors import UserError

__all__ = ["Recorder"]

_FETCHER = re.compile(r"broker-(\d+)-fetcher-")
_NO_END = -1
_MILLISECOND, _BEFORE = 0.000999, 0.000001


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
        if frame.key in (FETCH, ALTER_PARTITION) or (frame.key == HEARTBEAT and frame.is_request):
            self._frames.append(frame)

    def run(self, min_insync: int, acks: int = -1, unclean: bool = False) -> BrokerRun:
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
            message = f"The topic {operator.topic} was never created. Record it again."
            raise UserError(message)
        topic = next(one.body["TopicId"] for one in records if one.body.get("Name") == operator.topic)
        events = list(_of_frames(self._frames, topic))
        events += [Done(one.moment, one.what, one.broker, one.record, one.error) for one in operator.called]
        decided = _decided(made[first:], events, dict(_told_epochs(self._frames, topic)))
        events = list(_with_news(events, [one.decision.offset for one in decided]))
        events = sorted([*events, *decided], key=lambda event: event.at)
        start = next(place for place, event in enumerate(events) if event is decided[0])
        replicas = decided[0].decision.partition.replicas if decided[0].decision.partition else ()
        return BrokerRun(
            kafka=cluster.version,
            replicas=replicas,
            spares=tuple(one for one in cluster.plan.numbers if one not in replicas),
            min_insync=min_insync,
            acks=acks,
            elr=cluster.plan.elr,
            unclean=unclean,
            events=tuple(events[start:]),
        )


def _decided(made: list[Decision], events: list[RunEvent], told: Mapping[int, float]) -> list[Decided]:
    """Return decisions with their times; the log has only the time at which a batch was begun.

    A record may come into a batch later, so a decision is set right before somebody is told of it: a broker by
    metadata, or the leader that has asked for it. Without that it is set at the end of its millisecond.

    Args:
        made: the decisions.
        events: what brokers were sent.
        told: by partition epochs, when a leader was told that it is written.
    """
    sent = sorted((event.below, event.at) for event in events if isinstance(event, Delivered))
    found: list[Decided] = []
    for decision in made:
        begun = decision.milliseconds / 1000
        moments = [at for below, at in sent if below > decision.offset]
        if decision.partition is not None and "changed" in decision.kinds:
            moments += [told[epoch] for epoch in (decision.partition.partition_epoch,) if epoch in told]
        at = max(begun, min(moments) - _BEFORE) if moments else begun + _MILLISECOND
        found.append(Decided(max(at, found[-1].at if found else 0.0), decision))
    return found


def _told_epochs(frames: list[Frame], topic: str) -> Iterator[tuple[int, float]]:
    """The partition epochs that leaders were told in answer to what they have asked for, the last moment first."""
    for frame in sorted(frames, key=lambda one: -one.moment):
        if frame.key == ALTER_PARTITION and not frame.is_request:
            for part in partition_parts(frame.body, "Topics", topic):
                if not part["ErrorCode"]:
                    yield part["PartitionEpoch"], frame.moment


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

    In a session a fetch leaves out what is as it was, and so does the answer; it still tells of a new incarnation of
    the follower. Source: KIP-227, KIP-903.
    """
    asked: dict[tuple[int, int], _Asked] = {}
    delivered: dict[int, int] = {}
    for frame in sorted(frames, key=lambda one: one.moment):
        broker = frame.link.broker
        if frame.link.to_controller and frame.key == ALTER_PARTITION:
            yield from _isr_asked(frame, topic) if frame.is_request else ()
        elif frame.link.to_controller and frame.key == HEARTBEAT:
            yield Applied(frame.moment, broker, frame.body["CurrentMetadataOffset"] + 1)
        elif frame.link.to_controller and not frame.is_request:
            below = max([sent_below(part) for part in partition_parts(frame.body, "Responses")], default=0)
            if below > delivered.get(broker, 0):
                delivered[broker] = below
                yield Delivered(frame.moment, broker, below)
        elif not frame.link.to_controller and (match := _FETCHER.match(frame.client)):
            follower = int(match[1])
            if frame.is_request and _begins_anew(frame, topic):
                asked.pop((follower, broker), None)
            last = asked.get((follower, broker))
            if frame.is_request:
                now = _asked(frame, topic, last)
                if now is not None and (now != last or partition_parts(frame.body, "Topics", topic)):
                    asked[follower, broker] = now
                    yield FetchAsked(frame.moment, follower, broker, now.offset, now.epoch)
            else:
                for part in partition_parts(frame.body, "Responses", topic):
                    yield _answered(frame, part, follower, broker, last.epoch if last else -1)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a follower has asked for last: an offset, in a leader epoch, as an incarnation."""

    offset: int
    epoch: int
    incarnation: int


def _asked(frame: Frame, topic: str, last: _Asked | None) -> _Asked | None:
    """What a follower asks for, with what it leaves out as it was; None if that is nothing of the topic."""
    incarnation = (frame.body.get("ReplicaState") or {}).get("ReplicaEpoch", -1)
    for part in partition_parts(frame.body, "Topics", topic):
        return _Asked(part["FetchOffset"], part["CurrentLeaderEpoch"], incarnation)
    return None if last is None else replace(last, incarnation=incarnation)


def _begins_anew(frame: Frame, topic: str) -> bool:
    """Whether a fetch asks for what it names alone, or for the topic no more."""
    forgotten = [one.get("TopicId") for one in frame.body.get("ForgottenTopicsData") or ()]
    return frame.body.get("SessionEpoch", 0) <= 0 or topic in forgotten


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


def _isr_asked(frame: Frame, topic: str) -> Iterator[IsrAsked]:
    for part in partition_parts(frame.body, "Topics", topic):
        members = part.get("NewIsr") or [one["BrokerId"] for one in part.get("NewIsrWithEpochs") or ()]
        yield IsrAsked(frame.moment, frame.link.broker, part["LeaderEpoch"], tuple(sorted(members)))
