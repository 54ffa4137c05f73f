"""The directories of a broker: moving a log to another one, taking that back, and a directory that is gone."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync.properties.kafka import cluster
from insync_walk import Walk, shared_cluster

CALM: dict[str, int | str] = {"replicas": 2, "power_failures": 0, "fencings": 0, "isr_shrinks": 0, "records": 1}


def pair(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{**CALM, "fencings": 1, **bounds}), *labels)


def test_a_move_that_is_taken_back_leaves_the_log_as_it_is_and_may_begin_again() -> None:
    moving = ("b1 appends a record", "b1 begins to copy its log", "b1 copies a record")
    walk = pair(*moving, "b1 drops the copy of its log", log_dir_moves=2)
    assert walk.cells["b1"] == "L0 [| r0@0]"
    assert walk.state["broker"]["b1"]["future_leo"] is None
    assert "b1 begins to copy its log" in walk.enabled
    assert "b1 drops the copy of its log" not in walk.enabled


def test_a_copy_that_ends_before_the_log_begins_begins_anew_there() -> None:
    written = ("b1 appends a record", "b2 fetches from b1", "b1 appends a record", "b2 fetches from b1")
    told, deletes = ("b2 fetches from b1", "b2 fetches from b1"), "b1 deletes a record"
    deleted = ("b2 fetches from b1", deletes, *told, deletes)
    walk = pair(*written, *deleted, "b1 begins to copy its log", log_dir_moves=1, records=3, delete_records=2)
    assert walk.take("b1 copies a record").state["broker"]["b1"]["future_leo"] == 2
    assert "b1 copies a record" not in walk.enabled
    walk.take("b1 appends a record", "b1 copies a record")
    assert walk.state["broker"]["b1"]["future_leo"] == 3


def test_who_has_no_replica_has_nothing_to_move() -> None:
    beside = pair(log_dir_moves=1, spares=1, min_insync_replicas=1)
    assert "b1 begins to copy its log" in beside.enabled
    assert "b2 begins to copy its log" not in beside.enabled
    removed = pair("operator assigns the partition to {b1}", log_dir_moves=1, reassignments=1, min_insync_replicas=1)
    assert "b2 begins to copy its log" in removed.enabled, "it has not heard of that yet"
    removed.take("b2 applies metadata")
    assert "b2 begins to copy its log" not in removed.enabled


def test_with_moves_and_moves_taken_back_all_that_holds_without_them_holds() -> None:
    model = Cluster(**{**CALM, "fencings": 1, "log_dir_moves": 2})
    assert check(model, properties=cluster.__all__).verdict == "holds"


STOPPED = ("b1 appends a record", "b2 fetches from b1", "b2 asks to stop", "b2 stops cleanly", "b2 loses its directory")


def test_who_has_lost_its_directory_has_an_empty_log_and_stays_electable_after_a_clean_stop() -> None:
    bounds: dict[str, int | str] = {"controlled_shutdowns": 1, "log_dir_failures": 1}
    walk = pair(*STOPPED, "b2 starts and registers", **bounds)
    assert walk.cells["b2"] == "F0 [|]"
    assert walk.cells["controller"] == "b1@0 ISR b1 ELR b2 fenced b2 offline b2"
    assert "b2 loses its directory" not in walk.enabled
    fixed = pair(*STOPPED, "b2 starts and registers", **bounds, defect="N-04", fixed="on")
    assert fixed.cells["controller"] == "b1@0 ISR b1 fenced b2 offline b2", "its stop does not count as a clean one"


LOST: dict[str, int | str] = {"crashes": 1, "log_dir_failures": 1, "fencings": 1}


@pytest.mark.slow
def test_a_crash_and_a_lost_directory_lose_nothing_as_an_unclean_stop_is_noticed() -> None:
    model = Cluster(**{**CALM, **LOST}, release="4.3")
    assert check(model, properties=cluster.__all__).verdict == "holds"


def test_up_to_4_2_they_lose_a_record_as_the_new_directory_clears_the_elr_which_is_n_17() -> None:
    model = shared_cluster(**{**CALM, **LOST})
    (violation,) = check(model, properties=["electable_replicas_are_complete"]).violations
    assert violation.trace_length == 11
    walk = pair("b1 appends a record", "b2 fetches from b1", "b2 fetches from b1", **LOST)
    walk.take("b2 crashes, its log ends at 1", "b2 loses its directory", "controller fences b1")
    walk.take("b2 starts and registers", "b1 applies metadata")
    assert walk.cells["controller"] == "none@2 ISR  ELR b1 fenced b1 b2 offline b2 last b2"
    walk.take("b2 names the directory of its log")
    assert walk.cells["controller"] == "none@2 ISR  fenced b1 b2 last b2"
    walk.take("controller unfences b2")
    assert walk.cells["controller"] == "b2@3 ISR b2 fenced b1", "without r0, which b1 has"


ALONE = ("b1 appends a record", "b2 asks to stop", "b1 asks to stop", "b1 stops cleanly", "b1 loses its directory")
NAMED = "b1 names the directory of its log"
UNNAMED = (*ALONE, "b1 starts and registers")
ENDED: dict[str, int | str] = {"controlled_shutdowns": 2, "log_dir_failures": 1, "fencings": 0, "release": "4.3"}


def test_who_is_unfenced_before_its_new_directory_is_known_is_not_elected_and_not_afterwards() -> None:
    walk = pair(*UNNAMED, **ENDED)
    assert walk.cells["controller"] == "none@1 ISR  ELR b1 b2 fenced b1 b2 offline b1 last b1"
    walk.take("controller unfences b1")
    assert walk.cells["controller"] == "none@1 ISR  ELR b1 b2 fenced b2 offline b1 last b1"
    walk.take(NAMED)
    assert walk.cells["controller"] == "none@1 ISR  ELR b1 b2 fenced b2 last b1", "nothing makes it look again"
    assert NAMED not in walk.enabled
    heard = (NAMED, "b2 applies metadata", "controller unfences b1")
    assert pair(*UNNAMED, *heard, **ENDED).cells["controller"] == "b1@2 ISR b1 ELR b2 fenced b2"


def test_to_name_a_directory_is_a_change_of_the_partition_in_which_a_leader_that_has_none_goes() -> None:
    lost = ("b1 appends a record", "b1 crashes, its log ends at 1", "b1 loses its directory", "b1 starts and registers")
    walk = pair(*lost, **LOST, release="3.9")
    assert walk.cells["controller"] == "b1@0 ISR b1 b2 fenced b1 offline b1", "up to 3.9 who registers leads on"
    walk.take(NAMED)
    assert walk.cells["controller"] == "b2@1 ISR b1 b2 fenced b1"
    assert walk.state["broker"]["b2"]["image_lag"] == 1


def test_as_the_last_member_ends_the_controller_looks_at_who_may_lead_by_now() -> None:
    lost = ("b1 appends a record", "b1 crashes, its log ends at 1", "b1 loses its directory", "controller fences b1")
    back = ("b1 starts and registers", "controller unfences b1", "b2 asks to stop", NAMED)
    walk = pair(
        *lost, *back, **LOST, controlled_shutdowns=1, release="3.9", unclean_leader_election="on", metadata_lag=4
    )
    assert walk.cells["controller"] == "none@2 ISR b2 fenced b2"
    walk.take("b2 stops cleanly")
    assert walk.cells["controller"] == "b1@3 ISR b1 fenced b2"


def test_who_is_elected_while_nobody_leads_leaves_no_last_leader() -> None:
    lost = ("b1 appends a record", "b1 crashes, its log ends at 1", "b1 loses its directory", "b1 starts and registers")
    back = ("controller unfences b1", "operator assigns the partition to {b1}", "b2 applies metadata")
    joins = ("b1 fetches from b2", "b2 adds b1 to the ISR", "controller accepts the ISR")
    bounds: dict[str, int | str] = {
        "reassignments": 1,
        "preferred_elections": 1,
        "metadata_lag": 4,
        "min_insync_replicas": 1,
    }
    walk = pair(*lost, *back, *joins, NAMED, **LOST, **bounds, release="4.3")
    assert walk.cells["controller"] == "none@2 ISR b1 of b1 last b2"
    walk.take("controller elects b1")
    assert walk.cells["controller"] == "b1@3 ISR b1 of b1"


def test_nobody_names_a_directory_before_3_7_or_of_a_replica_that_is_none_any_more() -> None:
    lost = (*ALONE[:1], "b1 crashes, its log ends at 1", "b1 loses its directory", "controller fences b1")
    assert "to_assign" not in pair(*lost, **LOST, release="3.6").state["broker"]["b1"]
    assert "to_assign" not in pair(log_dir_moves=1).state["broker"]["b1"]
    removed = pair(*lost, "b1 starts and registers", **LOST, reassignments=2, min_insync_replicas=1)
    assert NAMED in removed.enabled
    removed.take("operator assigns the partition to {b2}", "b1 applies metadata")
    assert NAMED not in removed.enabled
    removed.take("b2 applies metadata", "operator assigns the partition to {b1, b2}")
    assert removed.state["controller"]["offline_replicas"] == [], "it gets a directory that is there"
