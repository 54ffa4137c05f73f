"""What frames say, as events: the frames are made by hand here, in the words of Kafka's schemas."""

from __future__ import annotations

from typing import Any

import pytest

from insync.conformance.live.metadata_log import Decision, PartitionAt
from insync.conformance.live.proxies import ALTER_PARTITION, FETCH, HEARTBEAT, Frame, Link
from insync.conformance.live.runs.recorder import _decided, _of_frames, _told_epochs, _with_news
from insync.conformance.live.runs.run_events import Applied, Delivered, FetchAnswered, FetchAsked, IsrAsked, RunEvent
from insync.conformance.live.wire.record_batches import made_batch

TOPIC, OTHER = "id-1", "id-2"
TO_B1, B2_TO_CONTROLLER = Link(1, to_controller=False), Link(2, to_controller=True)


def frame(
    link: Link, key: int, body: dict[str, Any], client: str = "broker-2-fetcher-0", request: bool = True
) -> Frame:
    return Frame(7.0, link, request, client, key, body, 1)


def asked(topic: str, offset: int) -> dict[str, Any]:
    return {
        "Topics": [{"TopicId": topic, "Partitions": [{"Partition": 0, "FetchOffset": offset, "CurrentLeaderEpoch": 3}]}]
    }


def answered(**part: Any) -> dict[str, Any]:
    whole = {"PartitionIndex": 0, "ErrorCode": 0, "HighWatermark": 4, "Records": None, **part}
    return {"Responses": [{"TopicId": TOPIC, "Partitions": [whole]}]}


def test_a_fetch_and_its_answer() -> None:
    frames = [
        frame(TO_B1, FETCH, asked(TOPIC, 5)),
        frame(TO_B1, FETCH, answered(Records=made_batch([b"x", b"y"], 0)), request=False),
        frame(TO_B1, FETCH, answered(DivergingEpoch={"Epoch": 2, "EndOffset": 1}), request=False),
    ]
    assert list(_of_frames(frames, TOPIC)) == [
        FetchAsked(7.0, 2, 1, 5, 3),
        FetchAnswered(7.0, 2, 1, 3, 0, 4, ((0, "x"), (1, "y")), None),
        FetchAnswered(7.0, 2, 1, 3, 0, 4, (), 1),
    ]


def test_other_topics_other_clients_and_what_is_unchanged_are_no_events() -> None:
    frames = [
        frame(TO_B1, FETCH, asked(OTHER, 5)),
        frame(TO_B1, FETCH, asked(TOPIC, 5), client="a consumer"),
        frame(TO_B1, FETCH, {"Topics": []}),
    ]
    assert list(_of_frames(frames, TOPIC)) == []


def test_metadata_is_sent_as_far_as_it_is_committed() -> None:
    def sent(count: int, watermark: int) -> Frame:
        body = answered(HighWatermark=watermark, Records=made_batch([b""] * count, 0))
        return frame(B2_TO_CONTROLLER, FETCH, body, client="raft-client-2", request=False)

    assert list(_of_frames([sent(5, 3), sent(2, 9), sent(5, 9)], TOPIC)) == [Delivered(7.0, 2, 3), Delivered(7.0, 2, 5)]


def test_what_a_broker_asks_of_the_controller() -> None:
    part = {"PartitionIndex": 0, "LeaderEpoch": 3, "NewIsrWithEpochs": [{"BrokerId": 2}, {"BrokerId": 1}]}
    alter = {"Topics": [{"TopicId": TOPIC, "Partitions": [part]}]}
    frames = [
        frame(B2_TO_CONTROLLER, ALTER_PARTITION, alter, client="2"),
        frame(B2_TO_CONTROLLER, HEARTBEAT, {"CurrentMetadataOffset": 8}, client="2"),
    ]
    assert list(_of_frames(frames, TOPIC)) == [IsrAsked(7.0, 2, 3, (1, 2)), Applied(7.0, 2, 9)]


def test_metadata_about_nothing_else_is_no_news() -> None:
    events = [
        Delivered(1.0, 1, 4),
        Delivered(2.0, 1, 5),
        Delivered(3.0, 2, 5),
        Applied(4.0, 1, 5),
        Delivered(5.0, 1, 9),
    ]
    assert list(_with_news(list(events), [4, 8])) == [events[1], events[2], events[3], events[4]]
    assert list(_with_news(list(events), [20])) == []


def test_a_fetch_that_leaves_out_what_is_unchanged_still_tells_of_a_new_incarnation() -> None:
    def again(incarnation: int) -> Frame:
        body = {"Topics": [], "SessionEpoch": 4, "ReplicaState": {"ReplicaId": 2, "ReplicaEpoch": incarnation}}
        return frame(TO_B1, FETCH, body)

    first = frame(TO_B1, FETCH, {**asked(TOPIC, 5), "ReplicaState": {"ReplicaId": 2, "ReplicaEpoch": 7}})
    frames = [again(7), first, again(7), again(9), again(9)]
    assert list(_of_frames(frames, TOPIC)) == [FetchAsked(7.0, 2, 1, 5, 3), FetchAsked(7.0, 2, 1, 5, 3)]


@pytest.mark.parametrize("end", [{"SessionEpoch": 0}, {"SessionEpoch": 5, "ForgottenTopicsData": [{"TopicId": TOPIC}]}])
def test_a_follower_that_follows_another_leader_asks_no_more(end: dict[str, Any]) -> None:
    later = {"Topics": [], "SessionEpoch": 6, "ReplicaState": {"ReplicaEpoch": 9}}
    frames = [frame(TO_B1, FETCH, {"SessionEpoch": 0, **asked(TOPIC, 5)}), frame(TO_B1, FETCH, {"Topics": [], **end})]
    assert list(_of_frames([*frames, frame(TO_B1, FETCH, later)], TOPIC)) == [FetchAsked(7.0, 2, 1, 5, 3)]


def decision(offset: int, milliseconds: int) -> Decision:
    made = PartitionAt(1, 0, offset, (1,), (), (), (1,), (), ())
    return Decision(offset, milliseconds, ("changed",), made, {})


def times(made: list[Decision], sent: list[RunEvent], told: dict[int, float]) -> list[float]:
    return [round(event.at, 6) for event in _decided(made, sent, told)]


def test_a_decision_is_set_right_before_somebody_is_told_of_it() -> None:
    made = [decision(4, 1000), decision(5, 1000), decision(6, 1002)]
    assert times(made, [], {}) == [1.000999, 1.000999, 1.002999]
    assert times(made, [Delivered(1.0205, 1, 6)], {}) == [1.020499, 1.020499, 1.020499]
    assert times(made, [Delivered(1.0205, 1, 6)], {4: 1.0104}) == [1.010399, 1.020499, 1.020499]


def test_a_leader_is_told_of_what_it_has_asked_for() -> None:
    part = {"PartitionIndex": 0, "PartitionEpoch": 6, "ErrorCode": 0}
    answer = {"Topics": [{"TopicId": TOPIC, "Partitions": [part]}]}
    refused = {"Topics": [{"TopicId": TOPIC, "Partitions": [{**part, "ErrorCode": 77, "PartitionEpoch": 8}]}]}
    frames = [frame(B2_TO_CONTROLLER, ALTER_PARTITION, one, "2", request=False) for one in (answer, refused)]
    assert list(_told_epochs(frames, TOPIC)) == [(6, 7.0)]
    assert list(_of_frames(frames, TOPIC)) == []
