"""A swap that ends with a replica outside the ISR, on Kafka's classes, and what is lost if the removed one comes back.

KAFKA-19975 lets it end; with eligible leader replicas who was removed stays eligible (N-02).
"""

from __future__ import annotations

import pytest

from insync.conformance.classes.harness import Harness
from insync.conformance.classes.observation import Observation
from insync_classes import HarnessOf, JarsOf, everybody_applies
from insync_patched import with_patch

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]


def swapped(harness: Harness) -> Observation:
    """b1 and b2 have an acknowledged record, b2 is fenced, and b1 is swapped for b3; min.insync.replicas is 2."""
    harness.take("open", brokers=3, replicas=[1, 2], elr=True, configuration={"min.insync.replicas": "2"})
    harness.take("write", broker=1, value="r0", acks=-1)
    for _ in range(2):
        acknowledged = harness.take("fetch", broker=2).state.acknowledged
    assert acknowledged == {"r0"}
    harness.take("fence", broker=2)
    assert harness.take("reassign", replicas=[2, 3]).said == "NONE"
    everybody_applies(harness)
    for _ in range(3):
        harness.take("fetch", broker=3, wait=31_000)
    harness.take("deliver_request", broker=1)
    harness.take("deliver_reply", broker=1)
    return everybody_applies(harness)


def given_back(harness: Harness) -> Observation:
    """b3 goes down, and an operator gives the partition back to b1, which comes up first."""
    harness.take("fence", broker=3)
    harness.take("fence", broker=1)
    assert harness.take("reassign", replicas=[1, 3]).said == "NONE"
    harness.take("unfence", broker=1)
    return everybody_applies(harness)


@pytest.mark.parametrize("version", ["4.3.1", "4.4.0"])
def test_a_swap_ends_with_one_copy_and_the_removed_one_is_elected_without_it(
    jars_of: JarsOf, harness_of: HarnessOf, version: str
) -> None:
    with harness_of(jars_of(version)) as harness:
        ended = swapped(harness).controller
        assert (ended.replicas, ended.adding, ended.removing) == ((2, 3), (), ())
        assert (ended.isr, ended.elr) == ((3,), (1, 2))
        state = given_back(harness)
    log = state.brokers[1].log
    assert log is not None
    assert (state.controller.leader, state.controller.isr, log.records) == (1, (1,), ())


def test_up_to_4_2_it_waits(jars_of: JarsOf, harness_of: HarnessOf) -> None:
    with harness_of(jars_of("4.2.1")) as harness:
        assert swapped(harness).controller.isr == (1, 3)


@pytest.mark.parametrize("patch", ["R-46", "R-46-MINIMUM"])
def test_with_a_patch_it_waits(jars_of: JarsOf, harness_of: HarnessOf, patch: str) -> None:
    with harness_of(with_patch(patch, jars_of("4.3.1"))) as harness:
        state = swapped(harness).controller
        assert (state.isr, state.adding, state.removing) == ((1, 3), (3,), (1,))
        harness.take("unfence", broker=2)
        everybody_applies(harness)
        for _ in range(2):
            harness.take("fetch", broker=2, wait=31_000)
        harness.take("deliver_request", broker=1)
        harness.take("deliver_reply", broker=1)
        state = everybody_applies(harness).controller
    assert (state.isr, state.replicas) == ((2, 3), (2, 3))
