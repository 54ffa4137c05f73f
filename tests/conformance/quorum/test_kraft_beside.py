"""The model with pre-votes beside recordings of Kafka's quorum: what it agrees on, and what is noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from insync.conformance.correspondence.facts import Difference
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.quorum.quorum_pair import QuorumPair
from insync_quorum import RecordedQuorum, number_of, quorum_stepper, recorded_course, take_labels

Change = Callable[[dict[str, Any]], None]

ELECTED = "4.1.2"
VOTES = "4.1.2-a_prospective_server_votes"
AGAIN = "4.1.2-a_follower_is_a_candidate_again"


def taken(recorded: RecordedQuorum, labels: list[str]) -> tuple[QuorumPair, list[Difference]]:
    """The model beside a recording after these steps, and on what they differ."""
    pair = QuorumPair(quorum_stepper(pre_votes=True), recorded)
    return pair, take_labels(pair, labels)


@pytest.mark.parametrize(
    ("recording", "own"),
    [
        (ELECTED, ["n1 leads", "n2 fetches from n1", "n3 fetches from n1", "n2 fetches from n1", "n3 fetches from n1"]),
        (VOTES, ["n1 leads", "n2 fetches from n1", "n2 fetches from n1", "n2 requests pre-votes"]),
    ],
)
def test_recorded_courses_with_pre_votes_agree(recording: str, own: list[str]) -> None:
    kafka = RecordedQuorum.read(recording)
    pair, found = taken(kafka, recorded_course(recording))
    assert found == []
    assert kafka.given == len(kafka.course)
    assert [pair.taken[number].label for number in pair.own][: len(own)] == own
    assert pair.compared > 30
    assert pair.kafka_state() == pair.taken[-1].state


def test_a_prospective_server_that_votes_begins_to_ask_anew() -> None:
    labels = recorded_course(VOTES)
    vote = labels.index("n3 answers the vote request of n2@3")
    before, after = (taken(RecordedQuorum.read(VOTES), labels[:end])[0].taken[-1].state for end in (vote, vote + 1))
    assert (before["server"]["n3"]["refused"], before["pre_vote_requests"]["n3"]["n2"]) == (["n2"], None)
    assert (after["server"]["n3"]["refused"], after["server"]["n3"]["state"]) == ([], "PROSPECTIVE")
    assert after["pre_vote_requests"]["n3"]["n2"] == {"epoch": 3, "offset": 0, "last_epoch": 0}


def test_where_kafka_throws_and_the_model_has_an_illegal_state_the_walk_ends() -> None:
    kafka, labels = RecordedQuorum.read(AGAIN), recorded_course(AGAIN)
    pair, found = taken(kafka, labels[:-1])
    assert (found, pair.taken[-1].state["server"]["n3"]["state"]) == ([], "CANDIDATE")
    with pytest.raises(NotSchedulable, match="the model has an illegal state"):
        pair.take(number_of(pair, labels[-1]))
    assert pair.spoilt


def test_where_kafka_does_not_throw_as_the_model_says_it_is_a_difference() -> None:
    kafka, labels = RecordedQuorum.read(AGAIN), recorded_course(AGAIN)
    kafka.course[-1] = {"asked": kafka.course[-1]["asked"], "state": kafka.course[-2]["state"]}
    _, found = taken(kafka, labels)
    assert ("n3.state", "ILLEGAL", "CANDIDATE") in [(one.field, one.model, one.kafka) for one in found]


def test_where_kafka_throws_and_the_model_does_not_it_is_a_difference() -> None:
    kafka = RecordedQuorum.read(ELECTED)
    kafka.course[1] = {"asked": kafka.course[1]["asked"], "raised": "java.lang.IllegalStateException: no"}
    pair, found = taken(kafka, recorded_course(ELECTED)[:1])
    assert found == [Difference("exception", None, "java.lang.IllegalStateException: no")]
    assert not pair.spoilt


def request(seen: dict[str, Any]) -> dict[str, Any]:
    """The newest request for a pre-vote."""
    return newest(seen, is_response=False)


def answer(seen: dict[str, Any]) -> dict[str, Any]:
    """The newest pre-vote."""
    return newest(seen, is_response=True)


def newest(seen: dict[str, Any], *, is_response: bool) -> dict[str, Any]:
    found: list[dict[str, Any]] = [one for one in seen["letters"] if one["pre_vote"] and one["answer"] is is_response]
    return found[-1]


CHANGES: list[tuple[int, Change, str, object]] = [
    (1, lambda seen: seen["servers"]["1"].update(state="Candidate"), "n1.state", "CANDIDATE"),
    (1, lambda seen: seen["servers"]["1"].update(votes=[]), "n1.votes", []),
    (1, lambda seen: seen["servers"]["1"].update(refused=[2]), "n1.refused", ["n2"]),
    (1, lambda seen: seen["letters"].pop(), "pre-vote requests", ["n1 to n3, epoch 1, end 0@0"]),
    (1, lambda seen: request(seen).update(offset=1), "pre-vote requests", None),
    (1, lambda seen: request(seen).update(pre_vote=False), "vote requests", None),
    (
        3,
        lambda seen: answer(seen).update(granted=False),
        "pre-votes",
        ["n3 to n1: no, epoch 1, None leads"],
    ),
    (3, lambda seen: answer(seen).update(leader=2), "pre-votes", ["n3 to n1: yes, epoch 1, n2 leads"]),
    (3, lambda seen: answer(seen).update(epoch=1), "pre-votes", ["n3 to n1: yes, epoch 2, None leads"]),
    (3, lambda seen: answer(seen).update(awaited=False), "pre-votes", []),
    (7, lambda seen: seen["servers"]["2"].update(voted=-1), "n2.voted_for", None),
    (13, lambda seen: seen["servers"]["2"].update(has_fetched=False), "n2.has_fetched", False),
]
"""What is changed of what was seen after which command, the fact that is noticed, and what Kafka is said to have."""


@pytest.mark.parametrize(("place", "change", "field", "kafka"), CHANGES)
def test_where_kafka_does_otherwise_it_is_noticed(place: int, change: Change, field: str, kafka: object) -> None:
    recorded = RecordedQuorum.read(ELECTED)
    change(recorded.course[place]["state"])
    _, differences = taken(recorded, recorded_course(ELECTED))
    found = {one.field: one for one in differences}
    assert recorded.given == place + 1
    assert field in found
    if kafka is not None:
        assert found[field].kafka == kafka
