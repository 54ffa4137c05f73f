"""How a broker tells in which directory its replica is: what is executed of AssignmentsManager, with its retries."""

from __future__ import annotations

import pytest

from insync.conformance.classes.harness import Harness
from insync.conformance.classes.observation import DirectorySeen
from insync_classes import HarnessOf, JarsOf, everybody_applies

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

ATTEMPTS = 5
GONE, NOTHING = "NOT_LEADER_OR_FOLLOWER", "NOTHING_TO_ASSIGN"


def asked(harness: Harness) -> None:
    """Let b1, which leads, copy its log to its other directory, and ask the controller for that."""
    harness.take(
        "open", brokers=2, replicas=[1, 2], elr=False, configuration={"min.insync.replicas": "1"}, directories=2
    )
    harness.take("write", broker=1, value="r0", acks=1)
    assert harness.take("move_to_directory", broker=1).said == "NONE"
    for _ in range(3):
        harness.take("copy_to_directory", broker=1)


def of_leader(harness: Harness) -> DirectorySeen:
    """What b1 knows of its directories."""
    seen = harness.take("observe").state.brokers[1].directory
    assert seen is not None
    return seen


@pytest.mark.parametrize(
    "version", ["4.3.1", *(pytest.param(one, marks=pytest.mark.slow) for one in ("3.7.2", "3.9.2", "4.1.2"))]
)
def test_what_is_not_answered_in_time_is_told_again_until_it_is(
    jars_of: JarsOf, harness_of: HarnessOf, version: str
) -> None:
    with harness_of(jars_of(version)) as harness:
        asked(harness)
        for _ in range(ATTEMPTS):
            assert of_leader(harness).to_assign == "copy"
            assert harness.take("assign_directory", broker=1).said == "NONE"
            assert (of_leader(harness).assigned, of_leader(harness).promotion) == (True, "Queued")
            harness.take("lose_answer_about_directory", broker=1)
            assert not of_leader(harness).assigned
        harness.take("assign_directory", broker=1)
        harness.take("hear_directory", broker=1)
        assert (of_leader(harness).to_assign, of_leader(harness).promotion) == (None, "Accepted")


@pytest.mark.parametrize(
    ("version", "answers"),
    [
        ("4.3.1", [NOTHING, NOTHING, NOTHING]),
        pytest.param("3.9.2", [NOTHING, NOTHING, NOTHING], marks=pytest.mark.slow),
        pytest.param("3.7.2", [GONE, NOTHING, NOTHING], marks=pytest.mark.slow),
        pytest.param("3.7.0", [GONE, GONE, GONE], marks=pytest.mark.slow),
    ],
)
def test_what_is_of_a_replica_no_more_is_not_told_again_since_3_7_1_nor_told_since_3_9(
    jars_of: JarsOf, harness_of: HarnessOf, version: str, answers: list[str]
) -> None:
    """KAFKA-16886, KAFKA-17190: 3.7.0 tells it for ever, and the controller refuses it each time."""
    with harness_of(jars_of(version)) as harness:
        asked(harness)
        assert harness.take("reassign", replicas=[2]).said == "NONE"
        everybody_applies(harness)
        assert of_leader(harness).to_assign is None
        assert [harness.take("assign_directory", broker=1).said for _ in answers] == answers
