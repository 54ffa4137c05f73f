"""A replica that a reassignment adds names its directory late, or never: N-18, executed on Kafka's classes."""

from __future__ import annotations

import pytest

from insync.conformance.classes.harness import Harness
from insync_classes import HarnessOf, JarsOf, everybody_applies
from insync_patched import with_patch

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]


def begun(harness: Harness, replicas: list[int], *, combined: int = -1) -> None:
    """Give the partition of b1 and b2 to others, b3 among them; all but b3 have r0."""
    least = {"min.insync.replicas": "1"}
    harness.take("open", brokers=3, replicas=[1, 2], elr=False, configuration=least, directories=2, combined=combined)
    harness.take("write", broker=1, value="r0", acks=-1)
    for _ in range(2):
        harness.take("fetch", broker=2, wait=31_000)
    assert harness.take("reassign", replicas=replicas).said == "NONE"
    everybody_applies(harness)


def joined(harness: Harness) -> None:
    """Add b3 as the preferred leader, and let it lead with all in the ISR: no change has a list of directories then."""
    begun(harness, [3, 1, 2])
    for _ in range(2):
        harness.take("fetch", broker=3)
    assert harness.take("deliver_request", broker=1).said == "NONE"
    assert everybody_applies(harness).controller.isr == (1, 2, 3)
    assert harness.take("elect", broker=3).said == "NONE"
    assert everybody_applies(harness).controller.leader == 3


@pytest.mark.parametrize(("combined", "named"), [(-1, True), (2, True), (3, False)])
@pytest.mark.parametrize("version", ["3.9.2", "4.1.2", "4.3.1"])
def test_one_that_replaces_another_names_its_directory_as_that_ends_but_beside_the_active_controller(
    jars_of: JarsOf, harness_of: HarnessOf, version: str, combined: int, named: bool
) -> None:
    with harness_of(jars_of(version)) as harness:
        begun(harness, [1, 3], combined=combined)
        assert harness.take("assign_directory", broker=3).said == "NOTHING_TO_ASSIGN"
        for _ in range(2):
            harness.take("fetch", broker=3)
        assert harness.take("deliver_request", broker=1).said == "NONE"
        assert everybody_applies(harness).controller.replicas == (1, 3)
        assert harness.take("assign_directory", broker=3).said == ("NONE" if named else "NOTHING_TO_ASSIGN")
        assert harness.take("observe").state.controller.unassigned == (() if named else (3,))


@pytest.mark.parametrize("version", ["3.9.2", "4.1.2", "4.3.1"])
def test_any_other_list_of_directories_makes_it_name_its_own(jars_of: JarsOf, version: str) -> None:
    with Harness(jars_of(version)) as harness:
        joined(harness)
        assert harness.take("assign_directory", broker=3).said == "NOTHING_TO_ASSIGN"
        assert harness.take("reassign", replicas=[1, 2, 3]).said == "NONE"
        assert everybody_applies(harness).controller.unassigned == (3,)
        assert harness.take("assign_directory", broker=3).said == "NONE"


@pytest.mark.parametrize("version", ["4.1.2", "4.3.1"])
def test_an_added_replica_names_no_directory_and_its_failure_is_not_noticed(jars_of: JarsOf, version: str) -> None:
    with Harness(jars_of(version)) as harness:
        joined(harness)
        assert harness.take("assign_directory", broker=3).said == "NOTHING_TO_ASSIGN"
        assert harness.take("observe").state.controller.unassigned == (3,)
        harness.take("fail_directory", broker=3)
        reported = harness.take("report_directory", broker=3).state
        assert reported.brokers[3].directory is not None
        assert reported.brokers[3].directory.offline
        assert (reported.controller.leader, reported.controller.isr) == (3, (1, 2, 3)), "though b1 could lead"
        assert reported.controller.without_directory == ()


@pytest.mark.parametrize("version", ["4.1.2", "4.3.1"])
def test_it_names_its_directory_when_its_broker_starts(jars_of: JarsOf, version: str) -> None:
    with Harness(jars_of(version)) as harness:
        joined(harness)
        harness.take("crash", broker=3, spared=1)
        harness.take("register", broker=3, wait=61_000)
        everybody_applies(harness)
        assert harness.take("assign_directory", broker=3).said != "NOTHING_TO_ASSIGN"
        now = harness.take("observe").state.controller
        assert (now.elsewhere, now.unassigned) == ((), ())


@pytest.mark.parametrize("version", ["4.1.2", "4.3.1"])
def test_where_that_directory_has_failed_it_begins_anew_in_another_one(jars_of: JarsOf, version: str) -> None:
    with Harness(jars_of(version)) as harness:
        joined(harness)
        harness.take("fail_directory", broker=3)
        harness.take("crash", broker=3, spared=1)
        harness.take("register", broker=3, wait=61_000)
        begun = everybody_applies(harness).brokers[3]
        assert begun.directory is not None
        assert not begun.directory.offline
        assert begun.log is not None
        assert begun.log.end == 0


@pytest.mark.parametrize("version", ["4.1.2", "4.3.1"])
def test_with_the_patch_it_names_its_directory_and_its_failure_is_noticed(
    jars_of: JarsOf, harness_of: HarnessOf, version: str
) -> None:
    with harness_of(with_patch("N-18", jars_of(version))) as harness:
        joined(harness)
        assert harness.take("assign_directory", broker=3).said == "NONE"
        now = harness.take("observe").state.controller
        assert (now.elsewhere, now.unassigned) == ((), ())
        harness.take("fail_directory", broker=3)
        reported = harness.take("report_directory", broker=3).state
        assert (reported.controller.leader, reported.controller.isr) == (1, (1, 2))


@pytest.mark.parametrize("version", ["4.1.2", "4.3.1"])
def test_the_directory_that_has_failed_is_known_though_the_broker_has_named_none(jars_of: JarsOf, version: str) -> None:
    with Harness(jars_of(version)) as harness:
        joined(harness)
        harness.take("fail_directory", broker=3)
        harness.take("crash", broker=3, spared=1)
        harness.take("take_out_directory", broker=3)
        harness.take("register", broker=3, wait=61_000)
        begun = everybody_applies(harness).brokers[3]
        assert begun.directory is not None
        assert (begun.directory.offline, begun.directory.tells) == (False, False)
        assert begun.log is not None
        assert begun.log.end == 0
