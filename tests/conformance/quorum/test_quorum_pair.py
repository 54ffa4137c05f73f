"""The model beside a recording of Kafka's quorum: what each step asks of it, and what is noticed of what it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from insync.conformance.classes.subject import Argument, KafkaRaised
from insync.conformance.correspondence.facts import Difference
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.quorum.quorum_facts import Words
from insync.conformance.quorum.quorum_pair import QuorumPair
from insync.conformance.quorum.quorum_seen import QuorumSeen
from insync.conformance.quorum.quorum_steps import Steps
from insync.kafka.quorum.kraft import Kraft
from insync_quorum import RecordedQuorum, quorum_stepper, recorded_course, take_labels

Change = Callable[[dict[str, Any]], None]


def test_a_recorded_course_agrees_and_what_kafka_does_by_itself_is_taken_too() -> None:
    kafka = RecordedQuorum.read()
    pair = QuorumPair(quorum_stepper(), kafka)
    assert take_labels(pair, recorded_course()) == []
    assert kafka.given == len(kafka.course)
    own = [pair.taken[number].label for number in pair.own]
    assert own[:3] == ["n1 leads", "n2 fetches from n1", "n2 fetches from n1"]
    assert pair.kafka_state() == pair.taken[-1].state
    assert pair.compared > 20


CHANGES: list[tuple[int, Change, str, object]] = [
    (1, lambda seen: seen["servers"]["1"].update(epoch=2), "n1.epoch", 3),
    (1, lambda seen: seen["servers"]["1"].update(voted=2), "n1.voted_for", "n2"),
    (1, lambda seen: seen["servers"]["1"].update(votes=[]), "n1.votes", []),
    (1, lambda seen: seen["letters"].pop(), "vote requests", ["n1 to n3, epoch 2, end 0@0"]),
    (1, lambda seen: seen["letters"][0].update(offset=1), "vote requests", None),
    (2, lambda seen: seen["servers"]["2"].update(voted=-1), "n2.state", "UNATTACHED"),
    (2, lambda seen: seen["letters"][-1].update(granted=False), "votes", []),
    (3, lambda seen: seen["servers"]["1"].update(log=[]), "n1.log", []),
    (3, lambda seen: seen["letters"].pop(), "begins", None),
    (3, lambda seen: seen["servers"]["1"]["fetched"].update({"2": 1}), "n1.fetched", ["n2:1", "n3:0"]),
    (5, lambda seen: seen["servers"]["2"].update(leader=-1), "n2.leader", None),
    (6, lambda seen: seen["letters"][-1].update(records=[["*", 2]]), "fetch responses", ["to n2: *@3, HW 0"]),
    (8, lambda seen: seen["servers"]["1"].update(high_watermark=-1), "n1.high_watermark", 0),
    (9, lambda seen: seen["servers"]["2"].update(log=[["*", 1], ["2", 1]]), "n2.log", ["*@2", "v2@2"]),
    (11, lambda seen: seen["letters"][-1].update(leader=2), "votes", ["n2 to n3: n2 leads"]),
    (13, lambda seen: seen["servers"]["1"].update(acknowledged=[]), "acknowledged", []),
    (14, lambda seen: seen["servers"]["1"].update(state="Leader"), "n1.state", "LEADER"),
    (
        15,
        lambda seen: seen["letters"][-1].update(leader=-1),
        "fetch responses",
        ["to n2: nothing, HW 2", "to n3: failed, epoch 2, None leads"],
    ),
]
"""What is changed of what was seen after which command, the fact that is noticed, and what Kafka is said to have."""


@pytest.mark.parametrize(("place", "change", "field", "kafka"), CHANGES)
def test_where_kafka_does_otherwise_it_is_noticed(place: int, change: Change, field: str, kafka: object) -> None:
    recorded = RecordedQuorum.read()
    change(recorded.course[place]["state"])
    found = {one.field: one for one in take_labels(QuorumPair(quorum_stepper(), recorded), recorded_course())}
    assert recorded.given == place + 1
    assert field in found
    if kafka is not None:
        assert found[field].kafka == kafka


def test_an_exception_is_a_difference() -> None:
    class Throwing(RecordedQuorum):
        """A Kafka that throws at the first step."""

        def give(self, command: str, **arguments: Argument) -> QuorumSeen:
            if command == "open":
                return super().give(command, **arguments)
            message = "java.lang.IllegalStateException: no"
            raise KafkaRaised(message, "at QuorumState")

    kafka = Throwing("3.9.2", RecordedQuorum.read().course)
    found = take_labels(QuorumPair(quorum_stepper(), kafka), recorded_course())
    assert found == [Difference("exception", None, "java.lang.IllegalStateException: no")]


def test_a_message_that_only_the_model_has_is_a_difference() -> None:
    recorded = RecordedQuorum.read()
    pair = QuorumPair(quorum_stepper(), recorded)
    take_labels(pair, recorded_course()[:1])
    pair.correspondence.seen = QuorumSeen(pair.seen.servers, ())
    assert pair.take(pair.walk.enabled["handle_vote_request"][0]) == [Difference("the message", "there", "not there")]


def test_what_kafka_does_by_itself_is_not_asked_of_it() -> None:
    pair = QuorumPair(quorum_stepper(), RecordedQuorum.read())
    pair.open()
    with pytest.raises(NotSchedulable, match="by itself"):
        Steps(Words(Kraft())).command_of("become_leader", {"i": "n1"}, pair.seen)
