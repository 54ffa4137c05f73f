"""A broker of Kafka's classes that catches up by a snapshot of the metadata: what it is told, and what not."""

from __future__ import annotations

import pytest

from insync.conformance.classes.harness import Harness
from insync.conformance.classes.observation import BrokerSeen
from insync.conformance.replay import KafkaVerdict
from insync_classes import HarnessOf, JarsOf
from insync_kafka import replayed
from insync_patched import with_patch


def test_the_trace_of_a_removed_leader_is_reproduced_as_it_was_recorded() -> None:
    found = replayed("R-70-4.3.1")
    assert (found.verdict, found.steps, found.differences) == (KafkaVerdict.REPRODUCED, 3, ())


def removed(harness: Harness, command: str) -> BrokerSeen:
    """b1 leads and has a record; it is removed, gets the metadata by a command, and is given another record."""
    harness.take("open", brokers=2, replicas=[1, 2], elr=False, configuration={"min.insync.replicas": "1"})
    harness.take("write", broker=1, value="r0", acks=1)
    harness.take("fetch", broker=2)
    assert harness.take("reassign", replicas=[2]).said == "NONE"
    end = harness.take("apply", broker=2, to=harness.take("observe").state.controller.end).state.controller.end
    harness.take(command, broker=1, to=end)
    return harness.take("write", broker=1, value="r1", acks=1).state.brokers[1]


@pytest.mark.kafka
@pytest.mark.timeout(400)
@pytest.mark.parametrize("version", ["4.3.1", "3.9.2"])
def test_by_a_snapshot_it_leads_on_and_by_the_log_it_does_not(
    jars_of: JarsOf, harness_of: HarnessOf, version: str
) -> None:
    with harness_of(jars_of(version)) as harness:
        seen = removed(harness, "load_snapshot")
        assert seen.leading is not None
        assert seen.log is not None
        assert (seen.leader, seen.leader_epoch) == (1, 0)
        assert [value for value, _ in seen.log.records] == ["r0", "r1"]
        assert (seen.acknowledgements or {})["r1"] == "NONE"
        told = removed(harness, "apply")
        assert (told.leading, told.log, told.leader_epoch) == (None, None, None)


@pytest.mark.kafka
@pytest.mark.timeout(400)
def test_with_the_patch_a_snapshot_removes_it_too(jars_of: JarsOf, harness_of: HarnessOf) -> None:
    with harness_of(with_patch("R-70", jars_of("4.3.1"))) as harness:
        seen = removed(harness, "load_snapshot")
    assert (seen.leading, seen.log, seen.leader_epoch) == (None, None, None)
    assert (seen.acknowledgements or {})["r1"] == "NOT_LEADER_OR_FOLLOWER"
