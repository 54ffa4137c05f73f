"""In which directory the controller takes a log to be, while the log is moved to another one (KIP-858)."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.broker_state import is_elsewhere
from insync.kafka.cluster.model import Cluster
from insync.properties.kafka import cluster
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
BEGUN = ("b1 appends a record", "b1 begins to copy its log", "b1 copies a record")
ACCEPTED = (*BEGUN, "controller accepts b1's copy")


def moved(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{**MOVING, **bounds}), *labels)


def test_a_copy_takes_the_place_of_the_log_only_when_the_controller_has_accepted_it() -> None:
    walk = moved(*BEGUN)
    assert "b1 replaces its log by the copy" not in walk.enabled
    walk.take("controller accepts b1's copy")
    assert is_elsewhere(walk.state["broker"]["b1"]), "the log is still where it was"
    walk.take("b1 replaces its log by the copy")
    b1 = walk.state["broker"]["b1"]
    assert (is_elsewhere(b1), b1["promotion"], b1["future_leo"], b1["leo"]) == (False, "NONE", None, 1)


def test_a_copy_that_has_not_all_of_the_log_is_not_accepted() -> None:
    walk = moved("b1 appends a record", "b1 begins to copy its log")
    assert "controller accepts b1's copy" not in walk.enabled


def test_where_no_directory_fails_and_before_3_7_a_copy_is_not_accepted_by_anybody() -> None:
    for bounds in ({"log_dir_failures": 0}, {"release": "3.6", "elr": "off"}, {"release": "2.8"}):
        walk = moved(*BEGUN, **bounds)
        assert "b1 replaces its log by the copy" in walk.enabled
        assert "directory" not in walk.state["broker"]["b1"]


NAMES = "b1 names the directory of its log"


def test_an_accepted_copy_that_is_dropped_is_taken_back_in_a_step_of_its_own() -> None:
    for label in ("b1 drops the copy of its log", "b1's directory fails"):
        walk = moved(*ACCEPTED, label)
        assert is_elsewhere(walk.state["broker"]["b1"]), label
        walk.take(NAMES)
        assert not is_elsewhere(walk.state["broker"]["b1"]), label
        assert NAMES not in walk.enabled
        assert NAMES not in moved(*ACCEPTED, label, defect="R-51").enabled, label


def test_where_it_is_not_taken_back_the_controller_does_not_hear_of_the_directory_that_counts() -> None:
    hears = "controller learns of b1's failed directory"
    assert hears not in moved(*ACCEPTED, "b1's directory fails").enabled
    assert hears in moved(*ACCEPTED, "b1's directory fails", NAMES).enabled
    assert hears not in moved(*ACCEPTED, "b1's directory fails", defect="R-51").enabled


def test_metadata_may_make_a_broker_say_where_its_log_is_before_it_does_so_of_itself() -> None:
    walk = moved(*ACCEPTED, "b1 drops the copy of its log", "b1 applies metadata", "b1 learns of its directory")
    b1 = walk.state["broker"]["b1"]
    assert (is_elsewhere(b1), b1["to_assign"]) == (False, False)


def test_a_copy_is_not_accepted_before_the_controller_has_heard_that_the_former_one_was_dropped() -> None:
    walk = moved(*ACCEPTED, "b1 drops the copy of its log", *BEGUN[1:], log_dir_moves=2)
    assert "controller accepts b1's copy" not in walk.enabled
    walk.take(NAMES, "b1 applies metadata")
    assert "controller accepts b1's copy" in walk.enabled


HEARS = ("b1 applies metadata", "b1 learns of its directory")


def test_metadata_makes_a_broker_say_where_its_log_still_is_though_it_is_about_to_move() -> None:
    assert "b1 learns of its directory" not in moved(*ACCEPTED).enabled, "it has not applied what comes before"
    walk = moved(*ACCEPTED, *HEARS)
    assert (is_elsewhere(walk.state["broker"]["b1"]), walk.state["broker"]["b1"]["directory_to_hear"]) == (False, True)
    walk.take("b1 replaces its log by the copy", *HEARS)
    assert not is_elsewhere(walk.state["broker"]["b1"]), "that metadata is late, so the broker says it once more"
    assert is_elsewhere(moved(*ACCEPTED, *HEARS, defect="N-13", fixed="on").state["broker"]["b1"])


def test_who_hears_that_its_log_has_not_moved_asks_the_controller_anew_before_it_moves() -> None:
    walk = moved(*ACCEPTED, *HEARS, *HEARS)
    b1 = walk.state["broker"]["b1"]
    assert (is_elsewhere(b1), b1["promotion"], b1["directory_to_hear"]) == (False, "NONE", False)
    assert "b1 replaces its log by the copy" not in walk.enabled
    walk.take("controller accepts b1's copy", "b1 replaces its log by the copy")
    assert not is_elsewhere(walk.state["broker"]["b1"])


def test_a_copy_in_the_directory_that_the_controller_names_already_is_no_change_of_the_partition() -> None:
    swapped = (*ACCEPTED, *HEARS, "b1 replaces its log by the copy")
    walk = moved(*swapped, "b1 applies metadata", "b1 begins to copy its log", "b1 copies a record", log_dir_moves=2)
    before = walk.state
    assert (is_elsewhere(before["broker"]["b1"]), before["broker"]["b1"]["image_lag"]) == (True, 0)
    walk.take("controller accepts b1's copy")
    assert walk.state["broker"]["b1"]["promotion"] == "ACCEPTED"
    assert (walk.state["registrations"], walk.state["broker"]["b1"]["image_lag"]) == (before["registrations"], 0)


def test_a_copy_in_the_directory_that_the_controller_names_is_taken_at_a_start_though_it_was_not_accepted() -> None:
    swapped = (*ACCEPTED, *HEARS, "b1 replaces its log by the copy")
    lagging = (*swapped, "b1 applies metadata", "b1 begins to copy its log")
    walk = moved(*lagging, "b1 crashes, its log ends at 1", "b1 starts and registers", log_dir_moves=2, crashes=1)
    assert walk.state["broker"]["b1"]["leo"] == 0


LAGGING = ("b1 begins to copy its log", "controller accepts b1's copy", "b1 appends a record")
AGAIN = ("b1 crashes, its log ends at 1", "b1 starts and registers")


def test_a_broker_that_starts_takes_an_accepted_copy_whatever_it_has() -> None:
    walk = moved(*LAGGING, *AGAIN, crashes=1)
    b1 = walk.state["broker"]["b1"]
    assert (b1["leo"], is_elsewhere(b1), b1["to_assign"], b1["future_leo"]) == (0, False, False, None)
    for bounds in ({"defect": "N-12", "fixed": "on"}, {"release": "3.7", "elr": "on"}):
        assert moved(*LAGGING, *AGAIN, crashes=1, **bounds).state["broker"]["b1"]["leo"] == 1


def test_a_broker_that_starts_keeps_its_log_where_the_copy_was_not_accepted_or_that_was_taken_back() -> None:
    unaccepted = ("b1 begins to copy its log", "b1 appends a record")
    taken_back = ("b1 begins to copy its log", "controller accepts b1's copy", *HEARS)
    for before in (unaccepted, (*taken_back, "b1 appends a record")):
        assert moved(*before, *AGAIN, crashes=1).state["broker"]["b1"]["leo"] == 1


def test_the_directory_of_a_log_with_an_accepted_copy_is_not_taken_away() -> None:
    stopped = ("b1 asks to stop", "b1 stops cleanly")
    accepted = moved(*ACCEPTED, *stopped, controlled_shutdowns=1)
    assert "b1 loses its directory" not in accepted.enabled
    assert "b1 loses its directory" in moved(*BEGUN, *stopped, controlled_shutdowns=1).enabled


@pytest.mark.slow
def test_with_the_fix_of_n_12_nothing_is_lost_whatever_the_controller_hears() -> None:
    model = Cluster(
        **{**MOVING, "controlled_shutdowns": 1, "fencings": 1, "min_insync_replicas": 2}, defect="N-12", fixed="on"
    )
    assert check(model, properties=cluster.__all__).verdict == "holds"


@pytest.mark.slow
def test_with_the_fix_of_n_13_the_controller_hears_of_every_directory_that_counts() -> None:
    model = Cluster(**{**MOVING, "log_dir_moves": 2, "crashes": 1}, defect="N-13", fixed="on")
    assert check(model, properties=["failed_directories_are_noticed"]).verdict == "holds"


ALONE = "controller fences b2"
FORGETFUL: dict[str, int | str] = {"fencings": 1, "min_insync_replicas": 2}


def electable(walk: Walk) -> list[str]:
    elr: list[str] = walk.state["controller"]["elr"]
    return elr


@pytest.mark.parametrize(("release", "left"), [("4.1", []), ("4.2", []), ("4.3", ["b2"])])
def test_up_to_4_2_the_controller_forgets_who_may_lead_when_it_accepts_a_copy(release: str, left: list[str]) -> None:
    walk = moved(ALONE, *ACCEPTED, **FORGETFUL, release=release)
    assert electable(walk) == left
    assert walk.state["broker"]["b1"]["image_lag"] == 2, "it is a change of the partition in either case"


@pytest.mark.parametrize(("release", "left"), [("4.1", []), ("4.3", ["b2"])])
def test_it_does_so_too_when_it_hears_that_a_copy_was_dropped(release: str, left: list[str]) -> None:
    walk = moved(*ACCEPTED, ALONE, "b1 drops the copy of its log", **FORGETFUL, release=release)
    assert electable(walk) == ["b2"]
    walk.take("b1 applies metadata", NAMES)
    assert electable(walk) == left


@pytest.mark.parametrize(("release", "left"), [("4.1", []), ("4.3", ["b2"])])
def test_where_no_directory_fails_it_does_so_when_the_copy_takes_the_place_of_the_log(
    release: str, left: list[str]
) -> None:
    walk = moved(ALONE, *BEGUN, **FORGETFUL, release=release, log_dir_failures=0)
    assert electable(walk) == ["b2"]
    walk.take("b1 replaces its log by the copy")
    assert electable(walk) == left


def test_a_copy_in_the_directory_that_the_controller_names_already_clears_the_elr_as_well() -> None:
    swapped = (*ACCEPTED, *HEARS, "b1 replaces its log by the copy", "b1 applies metadata")
    walk = moved(*swapped, ALONE, "b1 begins to copy its log", "b1 copies a record", **FORGETFUL, log_dir_moves=2)
    assert (is_elsewhere(walk.state["broker"]["b1"]), electable(walk)) == (True, ["b2"])
    walk.take("controller accepts b1's copy")
    assert (electable(walk), walk.state["broker"]["b1"]["directory_to_hear"]) == ([], True)
