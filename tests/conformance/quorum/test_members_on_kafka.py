"""The model of voters that come and go beside Kafka's own Raft client: walks agree, and another rule is told apart."""

from __future__ import annotations

import pytest

from insync.conformance.comparing.conform import Conforming
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.quorum.beside_kafka import quorum_model
from insync.conformance.quorum.conform_quorum import conform_quorum
from insync.conformance.quorum.quorum_harness import QuorumHarness
from insync.conformance.quorum.quorum_pair import QuorumPair
from insync.explorer.stepping.stepper import Stepper
from insync_led_again import LED_AGAIN_BOUNDS, PARTED, REMOVED, REMOVED_BOUNDS
from insync_quorum import number_of, take_course

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]

BOUNDS: dict[str, int | str] = {"additions": 1, "removals": 1}


@pytest.mark.slow_for("4.1.2")
def test_walks_agree_in_which_voters_come_and_go(quorum: QuorumHarness) -> None:
    found = conform_quorum(quorum_model(quorum.version, BOUNDS), quorum, walks=60, seed=1)
    assert (found.verdict, found.walks) == (Conforming.AGREES, 60)
    assert {"add_voter", "remove_voter", "handle_records", "restart"} <= set(found.coverage.transitions)
    assert found.coverage.fields > 30_000


def test_a_leader_that_is_no_voter_and_counts_itself_is_told_apart(quorum: QuorumHarness) -> None:
    if quorum.version != "3.9.2":
        pytest.skip("one release tells it apart")
    model = quorum_model(quorum.version, {**BOUNDS, "defect": "Q-8"})
    assert conform_quorum(model, quorum, walks=300, seed=1).verdict is Conforming.DIVERGES


@pytest.mark.slow
def test_walks_of_three_voters_agree(quorum: QuorumHarness) -> None:
    found = conform_quorum(quorum_model(quorum.version, REMOVED_BOUNDS), quorum, walks=40, seed=1)
    assert (found.verdict, found.walks) == (Conforming.AGREES, 40)
    assert {"remove_voter", "handle_records", "restart", "become_leader"} <= set(found.coverage.transitions)


def test_who_has_stood_and_is_no_voter_any_more_cannot_be_started_again(quorum: QuorumHarness) -> None:
    if quorum.version == "3.9.2":
        pytest.skip("it restarts as a follower")
    pair = QuorumPair(Stepper(quorum_model(quorum.version, REMOVED_BOUNDS)), quorum)
    assert take_course(pair, REMOVED[:-1]) == []
    with pytest.raises(NotSchedulable, match="the model has an illegal state") as refused:
        pair.take(number_of(pair, REMOVED[-1]))
    assert "must be in the set of voters" in str(refused.value.__cause__)


@pytest.mark.slow
def test_who_has_stood_and_is_the_only_voter_leads_the_epoch_of_another_one(quorum: QuorumHarness) -> None:
    if quorum.version == "3.9.2":
        pytest.skip("it restarts as a follower")
    pair = QuorumPair(Stepper(quorum_model(quorum.version, LED_AGAIN_BOUNDS)), quorum)
    assert take_course(pair, PARTED) == []
    one, other = (pair.seen.servers[number] for number in (1, 2))
    assert (one.high_watermark, other.high_watermark) == (7, 7)
    assert (one.log[4:6], other.log[4:6]) == ((("1", 2), ("2", 2)), (("*", 2), ("3", 2)))
    assert other.acknowledged == (3,)
