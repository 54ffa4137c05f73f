"""The model of the quorum beside Kafka's own Raft client: walks agree, and a model with another rule is told apart."""

from __future__ import annotations

import pytest

from insync.conformance.comparing.conform import Conforming
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.quorum.beside_kafka import quorum_model
from insync.conformance.quorum.conform_quorum import conform_quorum, tour_quorum
from insync.conformance.quorum.quorum_harness import QuorumHarness
from insync.conformance.quorum.quorum_pair import QuorumPair
from insync.conformance.quorum.quorum_self_check import quorum_self_check
from insync.explorer.stepping.stepper import Stepper
from insync_quorum import number_of, quorum_stepper, recorded_course, take_labels

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

SMALL: dict[str, int | str] = {"records": 1, "elections": 2, "restarts": 1}


def test_a_leader_that_restarts_has_its_log_and_has_resigned(quorum: QuorumHarness) -> None:
    seen = quorum_self_check(quorum)
    assert (seen.servers[1].state, seen.servers[1].log) == ("Resigned", (("*", 1), ("7", 1)))
    assert {seen.servers[number].state for number in (2, 3)} == {"Follower"}


def test_walks_agree(quorum: QuorumHarness) -> None:
    found = conform_quorum(quorum_model(quorum.version, SMALL), quorum, walks=40, seed=1)
    assert (found.verdict, found.walks) == (Conforming.AGREES, 40)
    assert {"become_leader", "restart", "handle_records", "resign", "handle_end_quorum"} <= set(
        found.coverage.transitions
    )
    assert found.coverage.fields > 40_000


def test_a_tour_takes_each_step_or_says_why_not(quorum: QuorumHarness) -> None:
    found = tour_quorum(quorum_model(quorum.version, {"records": 0, "elections": 1}, tour=True), quorum)
    assert found.verdict is Conforming.AGREES
    assert found.space is not None
    assert (found.space.whole, found.space.open) == (True, 0)
    assert found.space.taken + sum(found.gaps.values()) == found.space.transitions


@pytest.mark.parametrize("course", ["", "-a_prospective_server_votes", "-a_follower_is_a_candidate_again"])
def test_kafka_does_still_what_was_recorded(quorum: QuorumHarness, course: str) -> None:
    if quorum.version == "3.9.2":
        pytest.skip("it has no pre-votes")
    labels = recorded_course(f"4.1.2{course}")
    pair = QuorumPair(quorum_stepper(pre_votes=True), quorum)
    assert take_labels(pair, labels[:-1]) == []
    last = number_of(pair, labels[-1])
    if " gets INVALID_REQUEST from " in labels[-1]:
        with pytest.raises(NotSchedulable, match="the model has an illegal state"):
            pair.take(last)
    else:
        assert pair.take(last) == []


FIVE = (
    *(f"n{number} requests pre-votes" for number in (1, 3)),
    *(f"n{voter} answers the pre-vote request of n{number}" for number in (1, 3) for voter in (2, 4)),
    *(f"n{number} gets the pre-vote of n{voter}" for number in (1, 3) for voter in (2, 4)),
    *(f"n{voter} answers the vote request of n1@2" for voter in (2, 4)),
    *(f"n1 gets the vote of n{voter}" for voter in (2, 4)),
    "n3 learns that n1 leads epoch 2",
    "n1 answers n3's fetch of epoch 2 from 0@0",
    "n3 takes what it has fetched",
    "n3 restarts",
    "n5 answers the vote request of n3@2",
    "n3 requests the vote of n5 again, which called the request invalid in an earlier epoch",
    "n5 answers the vote request of n3@2",
)
"""Of five servers one has not learned of an epoch, and calls a candidate's request invalid, which sends it again."""


def test_who_is_in_an_earlier_epoch_is_asked_again(quorum: QuorumHarness) -> None:
    if quorum.version == "3.9.2":
        pytest.skip("it has no pre-votes")
    model = quorum_model(quorum.version, {"servers": 5, "records": 0, "elections": 2, "restarts": 1})
    pair = QuorumPair(Stepper(model), quorum)
    assert take_labels(pair, list(FIVE)) == []
    answers = [
        one for one in pair.seen.letters if (one.kind, one.source, one.to, one.is_response) == ("VOTE", 5, 3, True)
    ]
    assert [(one.error, one.epoch, one.leader) for one in answers] == [("INVALID_REQUEST", 0, -1)]


def test_a_candidate_that_became_a_follower_restarts_as_one_before_4_0(quorum: QuorumHarness) -> None:
    if quorum.version != "3.9.2":
        pytest.skip("it is a candidate again, as was recorded")
    steps = ["n3 stands for election", "n2 stands for election", "n1 answers the vote request of n2@2"]
    steps += ["n2 gets the vote of n1", "n3 learns that n2 leads epoch 2", "n3 restarts"]
    pair = QuorumPair(quorum_stepper(), quorum)
    assert take_labels(pair, steps) == []
    assert pair.seen.servers[3].state == "Follower"


OTHER_RULES: list[dict[str, str]] = [{"defect": "Q-1"}, {"defect": "Q-2"}, {"release": "the other"}]


@pytest.mark.parametrize("rule", OTHER_RULES, ids=str)
def test_another_rule_is_told_apart(quorum: QuorumHarness, rule: dict[str, str]) -> None:
    if "defect" in rule and quorum.version != "3.9.2":
        pytest.skip("one release tells it apart: since pre-votes walks come to few leaders that restart")
    if "release" in rule:
        rule = {"release": "4.1" if quorum.version == "3.9.2" else "3.9"}
    found = conform_quorum(quorum_model(quorum.version, {**SMALL, **rule}), quorum, walks=200, seed=1)
    assert found.verdict is Conforming.DIVERGES
    assert found.repeats
    assert found.difference is not None
    assert {one.field for one in found.difference.differences} & {"n1.state", "n2.state", "n3.state"}
