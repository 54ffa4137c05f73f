"""A broker that is to lead a log whose directory has failed: what is executed of N-16, on Kafka's classes."""

from __future__ import annotations

import pytest

from insync.conformance.classes.harness import Harness
from insync.conformance.classes.subject import KafkaRaised
from insync_classes import HarnessOf, JarsOf
from insync_patched import with_patch

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]


def restarted(harness: Harness, *, fenced: bool) -> int | None:
    """Let b2 lead, its directory fail, and its process die and start; return whom b2 takes for the leader then."""
    harness.take(
        "open", brokers=3, replicas=[1, 2, 3], elr=False, configuration={"min.insync.replicas": "1"}, directories=2
    )
    elected = harness.take("elect", broker=2)
    harness.take("apply", broker=2, to=elected.state.controller.end)
    harness.take("fail_directory", broker=2)
    harness.take("crash", broker=2, spared=0)
    if fenced:
        harness.take("fence", broker=2)
    registered = harness.take("register", broker=2, wait=61_000)
    return harness.take("apply", broker=2, to=registered.state.controller.end).state.brokers[2].leader


def test_before_4_0_a_leader_that_registers_unfenced_without_its_directory_throws(
    jars_of: JarsOf, harness_of: HarnessOf
) -> None:
    with harness_of(jars_of("3.9.2")) as harness:
        with pytest.raises(KafkaRaised) as raised:
            restarted(harness, fenced=False)
        assert "Error applying topics delta" in raised.value.args[0]
        assert (
            "NotLeaderOrFollowerException: Log for partition t-0 is not available on broker 2" in raised.value.args[-1]
        )


def test_it_logs_that_and_goes_on_with_what_else_there_is(jars_of: JarsOf, harness_of: HarnessOf) -> None:
    with harness_of(jars_of("3.9.2")) as harness:
        with pytest.raises(KafkaRaised):
            restarted(harness, fenced=False)
        seen = harness.take("configure", name="min.insync.replicas", value="2").state
        applied = harness.take("apply", broker=2, to=seen.controller.end).state.brokers[2]
        assert applied.applied == seen.controller.end


def test_with_the_patch_it_takes_the_partition_for_offline_and_goes_on(jars_of: JarsOf) -> None:
    with Harness(with_patch("N-16", jars_of("3.9.2"))) as harness:
        assert restarted(harness, fenced=False) is None
        seen = harness.take("observe").state
        assert seen.brokers[2].applied == seen.controller.end
        assert seen.brokers[2].directory is not None
        assert seen.brokers[2].directory.offline
        assert harness.take("unfence", broker=2).state.controller.leader == 2, "the controller does not learn of that"


@pytest.mark.parametrize(("version", "fenced"), [("3.9.2", True), ("4.1.2", False), ("4.1.2", True)])
def test_who_was_fenced_or_has_left_the_isr_follows_another_one(
    jars_of: JarsOf, harness_of: HarnessOf, version: str, fenced: bool
) -> None:
    with harness_of(jars_of(version)) as harness:
        assert restarted(harness, fenced=fenced) == 1
