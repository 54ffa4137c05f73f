"""A broker names another directory, and the controller forgets who may lead: what is executed of N-17."""

from __future__ import annotations

import pytest

from insync.conformance.classes.harness import Harness
from insync.conformance.classes.observation import ControllerSeen
from insync_classes import HarnessOf, JarsOf, comes_back
from insync_patched import with_patch

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]

_TOPIC = {"min.insync.replicas": "2"}


def came_back(harness: Harness) -> tuple[ControllerSeen, ControllerSeen]:
    """Have r0 acknowledged, b2 stop in order, b1 die without r0 and move its empty log, and b2 come back.

    Returns:
        What the controller knows after the move, and in the end.
    """

    def hear() -> None:
        harness.take("apply", broker=1, to=harness.take("observe").state.controller.end)

    harness.take("open", brokers=2, replicas=[1, 2], elr=True, configuration=_TOPIC, directories=2)
    harness.take("write", broker=1, value="r0", acks=-1)
    for _ in range(2):
        written = harness.take("fetch", broker=2, wait=31_000)
    assert written.state.acknowledged == {"r0"}
    for command in ("start_controlled_shutdown", "stop", "fence"):
        harness.take(command, broker=2)
    hear()
    harness.take("crash", broker=1, spared=0)
    harness.take("fence", broker=1)
    assert comes_back(harness, 1).state.controller.elr == (2,)
    hear()
    harness.take("move_to_directory", broker=1)
    harness.take("copy_to_directory", broker=1)
    moved = harness.take("assign_directory", broker=1)
    hear()
    return moved.state.controller, comes_back(harness, 2).state.controller


@pytest.mark.parametrize("version", ["4.0.2", "4.1.2", "4.2.1"])
def test_up_to_4_2_a_move_clears_the_eligible_replicas_and_who_lost_the_record_leads(
    jars_of: JarsOf, harness_of: HarnessOf, version: str
) -> None:
    with harness_of(jars_of(version)) as harness:
        moved, ended = came_back(harness)
    assert (moved.leader, moved.elr) == (-1, ())
    assert (ended.leader, ended.isr) == (1, (1,)), "b1, whose log is empty, as the last known leader"


@pytest.mark.parametrize("version", ["4.3.1", "4.4.0"])
def test_from_4_3_on_they_are_kept(jars_of: JarsOf, harness_of: HarnessOf, version: str) -> None:
    with harness_of(jars_of(version)) as harness:
        moved, ended = came_back(harness)
    assert (moved.leader, moved.elr) == (-1, (2,))
    assert (ended.leader, ended.isr) == (2, (2,))


@pytest.mark.parametrize(("version", "left"), [("4.1.2", ()), ("4.3.1", (2,))])
def test_so_does_a_broker_that_tells_of_a_copy_which_it_has_dropped(
    jars_of: JarsOf, harness_of: HarnessOf, version: str, left: tuple[int, ...]
) -> None:
    with harness_of(jars_of(version)) as harness:
        harness.take("open", brokers=2, replicas=[1, 2], elr=True, configuration=_TOPIC, directories=2)
        for command in ("move_to_directory", "copy_to_directory", "assign_directory", "hear_directory"):
            harness.take(command, broker=1)
        assert harness.take("fence", broker=2).state.controller.elr == (2,)
        harness.take("stay_in_directory", broker=1)
        assert harness.take("assign_directory", broker=1).state.controller.elr == left


def test_with_the_patch_they_are_kept_on_4_1(jars_of: JarsOf, harness_of: HarnessOf) -> None:
    with harness_of(with_patch("N-17", jars_of("4.1.2"))) as harness:
        moved, ended = came_back(harness)
    assert (moved.elr, ended.leader) == ((2,), 2)
