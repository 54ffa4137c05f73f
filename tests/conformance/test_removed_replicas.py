"""What becomes of a partition after a reassignment below min.insync.replicas, on Kafka's own classes and with a fix.

With eligible leader replicas those that were removed stay eligible (N-02). One that comes back may be elected without a
record; and while they do not, one unclean stop of the replica that is left leaves the partition without a leader.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from insync.conformance.classes.harness import Harness
from insync.conformance.classes.observation import Observation
from insync_classes import HarnessOf, JarsOf, comes_back, everybody_applies
from insync_patched import with_patch

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]

RELEASES = ["4.0.2", "4.1.2", "4.3.1", "4.4.0"]
PATCHED = ["4.0.2", "4.1.2", "4.3.1"]
"""Those of them whose sources are published."""


@pytest.fixture(scope="module", params=RELEASES)
def released(request: pytest.FixtureRequest, jars_of: JarsOf, harness_of: HarnessOf) -> Iterator[Harness]:
    with harness_of(jars_of(request.param)) as harness:
        yield harness


@pytest.fixture(scope="module", params=PATCHED)
def fixed(request: pytest.FixtureRequest, jars_of: JarsOf, harness_of: HarnessOf) -> Iterator[Harness]:
    with harness_of(with_patch("N-02", jars_of(request.param))) as harness:
        yield harness


def reassigned_to_b1(harness: Harness, minimum: int = 2) -> Observation:
    """Three replicas with a record that all have; then b1 alone, with one more record, acknowledged with acks=all."""
    configuration = {"min.insync.replicas": str(minimum)}
    harness.take("open", brokers=3, replicas=[1, 2, 3], elr=True, configuration=configuration)
    harness.take("write", broker=1, value="r0", acks=-1)
    for follower in (2, 3, 2, 3):
        harness.take("fetch", broker=follower)
    assert harness.take("reassign", replicas=[1]).said == "NONE"
    everybody_applies(harness)
    state = harness.take("write", broker=1, value="r1", acks=-1).state
    assert state.acknowledged == {"r0", "r1"}
    return state


def comes_back_elected(harness: Harness) -> Observation:
    """b1 and b2 are fenced, the operator asks for both, and b2 is there first; no crash, unclean elections off."""
    assert reassigned_to_b1(harness).controller.isr == (1,)
    harness.take("fence", broker=1)
    harness.take("fence", broker=2)
    assert harness.take("reassign", replicas=[1, 2]).said == "NONE"
    harness.take("unfence", broker=2)
    return everybody_applies(harness)


def test_a_removed_replica_that_comes_back_is_elected_without_a_record(released: Harness) -> None:
    state = comes_back_elected(released)
    log = state.brokers[2].log
    assert log is not None
    assert (state.controller.leader, state.controller.isr, log.records) == (2, (2,), ())
    released.take("unfence", broker=1)
    everybody_applies(released)
    released.take("fetch", broker=1)
    log = released.take("fetch", broker=1).state.brokers[1].log
    assert log is not None
    assert log.records == (), "b1 has truncated both records, and nobody has them"


@pytest.mark.slow_for("4.1.2")
def test_with_the_patch_the_partition_waits_for_the_replica_that_has_the_records(fixed: Harness) -> None:
    state = comes_back_elected(fixed)
    assert (state.controller.leader, state.controller.elr) == (-1, (1,))
    fixed.take("unfence", broker=1)
    state = everybody_applies(fixed)
    log = state.brokers[1].log
    assert log is not None
    assert (state.controller.leader, [record for record, _ in log.records]) == (1, ["r0", "r1"])


def killed_and_started_again(harness: Harness, minimum: int = 2) -> tuple[Observation, Observation]:
    """The state after the reassignment, and the one after kill -9 of b1 and its start, with its whole log."""
    before = reassigned_to_b1(harness, minimum)
    harness.take("crash", broker=1, spared=2)
    harness.take("fence", broker=1)
    comes_back(harness, 1)
    return before, everybody_applies(harness)


def test_the_last_replica_is_not_elected_again_after_a_kill(released: Harness) -> None:
    before, after = killed_and_started_again(released)
    assert before.controller.elr == (2, 3), "eligible, though not assigned"
    for broker in (2, 3):  # whatever happens to the others
        released.take("fence", broker=broker)
        released.take("unfence", broker=broker)
    at_last = everybody_applies(released)
    for state in (after, at_last):
        assert (state.controller.leader, state.controller.isr, state.controller.elr) == (-1, (), (2, 3))
        assert state.controller.fenced == ()
        assert state.controller.last_known_elr == (1,)


def test_with_a_minimum_of_one_it_is_elected_again(released: Harness) -> None:
    before, after = killed_and_started_again(released, minimum=1)
    assert before.controller.elr == ()
    assert after.controller.leader == 1


@pytest.mark.slow_for("4.1.2")
def test_with_the_patch_it_is_elected_again(fixed: Harness) -> None:
    before, after = killed_and_started_again(fixed)
    assert before.controller.elr == ()
    log = after.brokers[1].log
    assert log is not None
    assert (after.controller.leader, [record for record, _ in log.records]) == (1, ["r0", "r1"])
