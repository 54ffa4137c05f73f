"""The model of voters that come and go beside a recording of Kafka's quorum, and what no step of it is on Kafka."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.quorum.beside_kafka import quorum_model
from insync.conformance.quorum.kraft_beside import KraftBeside
from insync.conformance.quorum.quorum_facts import Words
from insync.conformance.quorum.quorum_pair import QuorumPair
from insync.conformance.quorum.quorum_seen import Letter, Membership, QuorumSeen, ServerSeen
from insync.conformance.quorum.quorum_steps import Steps, next_of_change
from insync.explorer.stepping.stepper import Stepper
from insync.kafka.quorum.kraft import Kraft
from insync.runtime.errors import UserError
from insync_led_again import LED_AGAIN_BOUNDS, PARTED, REMOVED, REMOVED_BOUNDS
from insync_quorum import RecordedQuorum, number_of, recorded_course, take_course, take_labels

RECORDING = "3.9.2-voters"
GIVEN_UP = "4.1.2-an_answer_that_nobody_waits_for"

Change = Callable[[dict[str, Any]], None]


@cache
def stepper() -> Stepper:
    """The model that the recording is of."""
    return Stepper(quorum_model("3.9.2", {"additions": 1, "removals": 1, "resignations": 0}))


def test_a_recorded_course_agrees_in_which_a_voter_comes_and_the_leader_goes() -> None:
    kafka = RecordedQuorum.read(RECORDING)
    pair = QuorumPair(stepper(), kafka)
    assert take_labels(pair, recorded_course(RECORDING)) == []
    assert kafka.given == len(kafka.course)
    assert [pair.taken[number].label for number in pair.own] == ["n2 fetches from n1"] * 6 + ["n2 leads"]
    assert pair.kafka_state() == pair.taken[-1].state
    assert pair.compared > 20


CHANGES: list[tuple[int, Change, str, object]] = [
    (1, lambda seen: seen["servers"].pop("2"), "n2.state", "ABSENT"),
    (4, lambda seen: seen["servers"]["2"].update(leader=-1), "n2.leader", None),
    (11, lambda seen: seen["servers"]["1"].update(voters=[1]), "n1.voters", ["n1"]),
    (11, lambda seen: seen["servers"]["1"]["fetched"].update({"2": 0}), "n1.fetched", ["n2:0"]),
    (12, lambda seen: seen["letters"][-1].update(records=[["{1}", 1]]), "fetch responses", ["to n2: @1, HW 1"]),
    (13, lambda seen: seen["servers"]["2"].update(log=[["*", 1], ["{2}", 1]]), "n2.log", ["*@1", "{n2}@1"]),
    (15, lambda seen: seen["servers"]["1"].update(voters=[1, 2]), "n1.is a voter", True),
    (19, lambda seen: seen["servers"]["1"].update(state="Leader"), "n1.state", "LEADER"),
    (21, lambda seen: seen["servers"]["2"].update(acknowledged=[]), "acknowledged", []),
    (23, lambda seen: seen["letters"][-1].update(epoch=1), "fetches", None),
]
"""What is changed of what was seen after which command, the fact that is noticed, and what Kafka is said to have."""


@pytest.mark.parametrize(("place", "change", "field", "kafka"), CHANGES)
def test_where_kafka_does_otherwise_it_is_noticed(place: int, change: Change, field: str, kafka: object) -> None:
    recorded = RecordedQuorum.read(RECORDING)
    change(recorded.course[place]["state"])
    found = {one.field: one for one in take_labels(QuorumPair(stepper(), recorded), recorded_course(RECORDING))}
    assert field in found
    if kafka is not None:
        assert found[field].kafka == kafka


LEADER = ServerSeen("Leader", 1, 1, -1, (), 1, (("*", 1),), {2: 1}, (), True, Membership((1, 3), (), (2,), ()))
FOLLOWER = replace(LEADER, state="Follower", leader=1, membership=Membership((2, 3), (), (), ()))
ADDING = {"i": "n1", "new": "n2"}
COMMANDS = Steps(Words(Kraft(servers=3, records=0, additions=1, removals=1, spare_servers=1)))


def test_nobody_is_added_who_has_not_caught_up() -> None:
    assert COMMANDS.command_of("add_voter", ADDING, QuorumSeen({1: LEADER}, ())) == (
        "add_voter",
        {"server": 1, "voter": 2},
    )
    behind = replace(LEADER, membership=Membership((1, 3), (), (), ()))
    with pytest.raises(NotSchedulable, match="who has not caught up"):
        COMMANDS.command_of("add_voter", ADDING, QuorumSeen({1: behind}, ()))


def test_nobody_is_added_whose_answer_to_something_else_is_awaited() -> None:
    begin = Letter(5, 1, 2, "BEGIN_QUORUM_EPOCH", is_response=False, awaited=True, epoch=1)
    with pytest.raises(NotSchedulable, match="waits for the response to another request"):
        COMMANDS.command_of("add_voter", ADDING, QuorumSeen({1: LEADER}, (begin,)))


def test_a_follower_restarts_that_knows_its_leader_for_a_voter() -> None:
    for state in ("Follower", "Prospective"):
        with pytest.raises(NotSchedulable, match="does not follow a leader that is no voter"):
            COMMANDS.command_of("restart", {"i": "n2"}, QuorumSeen({2: replace(FOLLOWER, state=state)}, ()))
    stood = replace(FOLLOWER, voted=2)
    assert COMMANDS.command_of("restart", {"i": "n2"}, QuorumSeen({2: stood}, ())) == ("restart", {"server": 2})
    knows = replace(FOLLOWER, membership=Membership((1, 2), (), (), ()))
    assert COMMANDS.command_of("restart", {"i": "n2"}, QuorumSeen({2: knows}, ())) == ("restart", {"server": 2})


def test_an_acknowledgement_is_delivered_at_once_but_of_one_that_was_removed() -> None:
    of_voter = Letter(7, 3, 1, "BEGIN_QUORUM_EPOCH", is_response=True, awaited=True, epoch=1)
    assert next_of_change(QuorumSeen({1: LEADER}, (of_voter,))) == ("deliver", {"letter": 7})
    assert next_of_change(QuorumSeen({1: LEADER}, (replace(of_voter, source=2),))) is None
    assert next_of_change(QuorumSeen({1: LEADER}, (replace(of_voter, epoch=2),))) is None


def test_what_kafka_does_by_itself_is_not_asked_of_it() -> None:
    with pytest.raises(NotSchedulable, match="by itself"):
        COMMANDS.command_of("become_leader", {"i": "n1"}, QuorumSeen({1: FOLLOWER}, ()))


def test_the_model_is_that_of_the_bounds() -> None:
    model = quorum_model("3.9.2", {"removals": 1, "servers": 3, "elections": 2})
    assert isinstance(model, Kraft)
    assert (model.b.spare_servers, model.b.elections, model.b.additions, model.b.removals) == (0, 2, 0, 1)
    with pytest.raises(UserError, match="elections=8 is out of range"):
        quorum_model("3.9.2", {"removals": 1, "elections": 8})


def given_up() -> Stepper:
    """The model that the recording of a fetch that was given up is of: its harness sent pre-votes by itself."""
    return Stepper(quorum_model("4.1.2", {"additions": 1, "resignations": 0, "release": "3.9"}))


def test_an_answer_that_nobody_waits_for_is_not_taken() -> None:
    kafka = RecordedQuorum.read(GIVEN_UP)
    pair = QuorumPair(given_up(), kafka)
    assert take_labels(pair, recorded_course(GIVEN_UP)) == []
    assert kafka.given == len(kafka.course)
    assert "handle_fetch_error" not in pair.walk.enabled


def test_an_answer_for_which_kafka_waits_and_the_model_does_not_is_noticed() -> None:
    kafka = RecordedQuorum.read(GIVEN_UP)
    kafka.course[-1]["state"]["letters"].append(
        {"letter": 99, "from": 1, "to": 2, "kind": "FETCH", "answer": True, "awaited": True}
        | {"records": [], "parting": [-1, -1], "error": "FENCED_LEADER_EPOCH", "epoch": 2, "leader": 1}
    )
    (found,) = [
        one
        for one in take_labels(QuorumPair(given_up(), kafka), recorded_course(GIVEN_UP))
        if one.field == "fetch responses"
    ]
    assert found.model == []
    assert found.kafka == ["to n2: failed, epoch 2, n1 leads"]


def test_a_recorded_course_agrees_in_which_who_has_stood_was_removed_and_throws() -> None:
    kafka = RecordedQuorum.read("4.1.2-a_removed_voter_that_has_stood")
    pair = QuorumPair(Stepper(quorum_model("4.1.2", {**REMOVED_BOUNDS, "resignations": 0})), kafka)
    assert take_course(pair, REMOVED[:-1]) == []
    with pytest.raises(NotSchedulable, match="the model has an illegal state") as refused:
        pair.take(number_of(pair, REMOVED[-1]))
    assert "must be in the set of voters" in str(refused.value.__cause__)
    assert kafka.given == len(kafka.course)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_recorded_course_agrees_in_which_an_epoch_has_two_leaders() -> None:
    kafka = RecordedQuorum.read("4.1.2-another_leader_of_an_epoch")
    pair = QuorumPair(Stepper(quorum_model("4.1.2", LED_AGAIN_BOUNDS)), kafka)
    assert take_course(pair, PARTED) == []
    assert kafka.given == len(kafka.course)


LEADS_NOBODY: list[tuple[str, str, bool]] = [("restart", "Follower", True), ("resigned_timeout", "Resigned", False)]


@pytest.mark.parametrize(("action", "state", "has_voted"), LEADS_NOBODY)
def test_the_only_voter_begins_an_epoch_that_the_model_has_not_got(action: str, state: str, has_voted: bool) -> None:
    """Who has voted for itself is a candidate again, and needs no epoch."""
    model = quorum_model("4.1.2", REMOVED_BOUNDS)
    assert isinstance(model, Kraft)
    beside = KraftBeside(model)
    its = replace(LEADER, state=state, epoch=2, membership=Membership((1,), (), (), ()))
    seen = QuorumSeen({1: its}, ())
    start: Any = {"elections": 4}
    with pytest.raises(NotSchedulable, match="there are no more in the model"):
        beside.command_of(action, {"i": "n1"}, seen, start)
    if has_voted:
        stood = QuorumSeen({1: replace(its, voted=1)}, ())
        assert beside.command_of(action, {"i": "n1"}, stood, start) == ("restart", {"server": 1})
