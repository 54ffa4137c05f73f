"""A copy of a log whose directory fails: the log stays, and the controller may take it to be where the copy was."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync.properties.kafka import cluster, cluster_directories
from insync_walk import Walk, shared_cluster

MOVING: dict[str, int | str] = {
    "replicas": 2,
    "power_failures": 0,
    "fencings": 0,
    "isr_shrinks": 0,
    "records": 1,
    "log_dir_moves": 1,
    "log_dir_failures": 1,
}
COPIED = ("b1 appends a record", "b1 begins to copy its log", "b1 copies a record")
ACCEPTED = (*COPIED, "controller accepts b1's copy")
FAILS = "the directory of b1's copy fails"
HEARS, NAMES = "controller learns of b1's failed directory", "b1 names the directory of its log"
PROMISED = (*cluster.__all__, *cluster_directories.__all__)


def moved(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{**MOVING, **bounds}), *labels)


def test_the_copy_is_dropped_and_the_log_is_led_on() -> None:
    walk = moved(*COPIED, FAILS, log_dir_moves=2, log_dir_failures=2)
    assert walk.cells["b1"] == "L0 [| r0@0]"
    assert walk.state["broker"]["b1"]["future_leo"] is None
    assert "b2 fetches from b1" in walk.enabled
    assert {HEARS, NAMES, FAILS, "b1 begins to copy its log", "b1's directory fails"} & walk.enabled == set()


def test_a_controller_that_hears_of_it_first_takes_the_leader_for_offline_until_it_hears_where_the_log_is() -> None:
    walk = moved(*ACCEPTED, FAILS, release="4.3")
    assert walk.enabled >= {HEARS, NAMES}
    walk.take(HEARS)
    assert walk.cells["controller"] == "b2@1 ISR b2 ELR b1 offline b1"
    walk.take("b2 applies metadata", "b1 applies metadata", NAMES)
    assert walk.cells["controller"] == "b2@1 ISR b2 ELR b1"


def test_a_broker_that_says_it_first_leads_on() -> None:
    walk = moved(*ACCEPTED, FAILS, NAMES)
    assert walk.cells["controller"] == "b1@0 ISR b1 b2"
    assert HEARS not in walk.enabled


@pytest.mark.parametrize(("heard", "named"), [((), False), (("b1 applies metadata",), True)])
def test_in_3_7_0_who_has_heard_where_its_log_is_to_be_still_says_where_it_is(
    heard: tuple[str, ...], named: bool
) -> None:
    walk = moved(*ACCEPTED, *heard, FAILS, release="3.7")
    assert (NAMES in walk.enabled) is named


def test_a_broker_that_starts_without_that_directory_is_offline_to_the_controller_and_says_where_its_log_is() -> None:
    down = ("b1 crashes, its log ends at 1", "controller fences b1", "b1 starts and registers")
    walk = moved(*ACCEPTED, FAILS, *down, crashes=1)
    assert "offline b1" in walk.cells["controller"]
    assert walk.state["broker"]["b1"]["leo"] == 1
    walk.take("b2 applies metadata", NAMES)
    assert "offline" not in walk.cells["controller"]


@pytest.mark.parametrize(("fails", "electable"), [((), True), ((FAILS,), False)])
def test_a_stop_does_not_count_as_clean_if_that_directory_is_missing_at_the_start(
    fails: tuple[str, ...], electable: bool
) -> None:
    stops = ("b2 asks to stop", "b2 begins to copy its log", *(one.replace("b1", "b2") for one in fails))
    walk = moved(*stops, "b2 stops cleanly", "b2 starts and registers", controlled_shutdowns=1)
    assert ("ELR b2" in walk.cells["controller"]) is electable


@pytest.mark.parametrize(("log_dir_failures", "moves"), [(0, 1), (1, 0)])
def test_no_copy_fails_without_a_move_or_a_failure(log_dir_failures: int, moves: int) -> None:
    model = Cluster(**{**MOVING, "log_dir_failures": log_dir_failures, "log_dir_moves": moves})
    assert "fail_copy_directory" not in {action.name for action in model.program.actions}


def test_before_the_controller_knows_directories_it_hears_of_nothing() -> None:
    walk = moved(*COPIED, FAILS, release="3.2")
    assert walk.cells["controller"] == "b1@0 ISR b1 b2"
    assert {HEARS, NAMES} & walk.enabled == set()


def test_nothing_is_lost_by_it_and_nobody_is_without_a_leader_while_others_are_in_the_isr() -> None:
    model = Cluster(**MOVING, release="4.3", defect="N-13", fixed="on")
    result = check(model, properties=[*PROMISED, "running_replicas_have_a_leader"])
    assert result.verdict == "holds"
