"""What Kafka does with a reassignment that is asked for while another one is under way.

It keeps what the first one adds or removes where the second adds or removes nothing: PartitionChangeBuilder is told of
sets that are not empty alone (ReplicationControlManager.changePartitionReassignment), and so does the model.
"""

from __future__ import annotations

import pytest

from insync.conformance.classes.harness import Harness
from insync.conformance.classes.observation import ControllerSeen
from insync_classes import HarnessOf, JarsOf, everybody_applies
from insync_patched import with_patch

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]


def reassigned_twice(harness: Harness, first: list[int], second: list[int]) -> tuple[ControllerSeen, ControllerSeen]:
    """The registration after the second request, and when b3 has caught up and all is settled."""
    configuration = {"min.insync.replicas": "1"}
    harness.take("open", brokers=3, replicas=[1, 2], elr=False, configuration=configuration)
    for target in (first, second):
        answer = harness.take("reassign", replicas=target)
        assert answer.said == "NONE"
        everybody_applies(harness)
    for _ in range(3):
        harness.take("fetch", broker=3, wait=31_000)
    if harness.take("observe").state.brokers[1].requests:
        harness.take("deliver_request", broker=1)
        harness.take("deliver_reply", broker=1)
        everybody_applies(harness)
    return answer.state.controller, harness.take("observe").state.controller


@pytest.mark.slow_for("3.7.2", "3.8.1")
@pytest.mark.parametrize("version", ["3.7.2", "3.8.1", "3.9.2", "4.1.2", "4.4.0"])
def test_a_replica_that_is_asked_for_again_is_removed_all_the_same(
    jars_of: JarsOf, harness_of: HarnessOf, version: str
) -> None:
    with harness_of(jars_of(version)) as harness:
        asked, settled = reassigned_twice(harness, [1, 3], [1, 2, 3])
    assert (asked.replicas, asked.adding, asked.removing) == ((1, 2, 3), (3,), (2,))
    assert (settled.replicas, settled.adding, settled.removing) == ((1, 3), (), ())


@pytest.mark.slow_for("3.7.2-False", "3.8.1-True")
@pytest.mark.parametrize(
    ("version", "ends"), [("3.7.2", False), ("3.8.1", True), ("4.2.1", True), ("4.3.1", False), ("4.4.0", False)]
)
def test_a_replica_that_is_added_and_removed_keeps_a_reassignment_from_ending(
    jars_of: JarsOf, harness_of: HarnessOf, version: str, ends: bool
) -> None:
    # Since 4.3 all that are added must be in the ISR of those that stay (KAFKA-19975); 3.7 does the same.
    with harness_of(jars_of(version)) as harness:
        asked, settled = reassigned_twice(harness, [1, 2, 3], [2])
    if ends:
        assert (asked.replicas, asked.isr) == ((2,), (2,))
    else:
        assert (settled.replicas, settled.adding, settled.removing) == ((1, 2, 3), (3,), (1, 3))
        assert settled.isr == (1, 2, 3)  # nothing is missing, and it does not end


@pytest.mark.slow_for("4.0.2")
@pytest.mark.parametrize("version", ["4.0.2", "4.3.1"])
def test_with_the_patch_the_second_request_replaces_the_first(
    jars_of: JarsOf, harness_of: HarnessOf, version: str
) -> None:
    with harness_of(with_patch("N-09", jars_of(version))) as harness:
        asked, settled = reassigned_twice(harness, [1, 3], [1, 2, 3])
        assert (asked.replicas, asked.adding, asked.removing) == ((1, 2, 3), (3,), ())
        assert (settled.replicas, settled.isr) == ((1, 2, 3), (1, 2, 3))
        asked, settled = reassigned_twice(harness, [1, 2, 3], [2])
        assert (asked.replicas, asked.isr, asked.adding, asked.removing) == ((2,), (2,), (), ())
        asked, settled = reassigned_twice(harness, [3], [1, 2])
        assert (asked.replicas, asked.adding, asked.removing) == ((1, 2), (), ())
