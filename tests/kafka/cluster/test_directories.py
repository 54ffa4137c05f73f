"""The directories of a broker: moving a log to another one, taking that back, and a directory that is gone."""

from __future__ import annotations

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync.properties.kafka import cluster
from insync_walk import Walk, shared_cluster

CALM: dict[str, int | str] = {"replicas": 2, "lossy_crashes": 0, "fencings": 0, "shrinks": 0, "records": 1}


def pair(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{**CALM, "fencings": 1, **bounds}), *labels)


def test_a_move_that_is_taken_back_leaves_the_log_as_it_is_and_may_begin_again() -> None:
    moving = ("b1 appends a record", "b1 begins to copy its log", "b1 copies a record")
    walk = pair(*moving, "b1 drops the copy of its log", moves=2)
    assert walk.cells["b1"] == "L0 [| r0@0]"
    assert walk.state["broker"]["b1"]["copied"] is None
    assert "b1 begins to copy its log" in walk.enabled
    assert "b1 drops the copy of its log" not in walk.enabled


def test_who_has_no_replica_has_nothing_to_move() -> None:
    beside = pair(moves=1, spares=1, min_insync=1)
    assert "b1 begins to copy its log" in beside.enabled
    assert "b2 begins to copy its log" not in beside.enabled
    removed = pair("operator assigns the partition to {b1}", moves=1, reassignments=1, min_insync=1)
    assert "b2 begins to copy its log" in removed.enabled, "it has not heard of that yet"
    removed.take("b2 applies metadata 0")
    assert "b2 begins to copy its log" not in removed.enabled


def test_with_moves_and_moves_taken_back_all_that_holds_without_them_holds() -> None:
    model = Cluster(**{**CALM, "fencings": 1, "moves": 2})
    assert check(model, properties=cluster.__all__).verdict == "holds"


STOPPED = ("b1 appends a record", "b2 fetches from b1", "b2 asks to stop", "b2 stops cleanly", "b2 loses its directory")


def test_who_has_lost_its_directory_has_an_empty_log_and_stays_electable_after_a_clean_stop() -> None:
    bounds: dict[str, int | str] = {"stops": 1, "directory_losses": 1}
    walk = pair(*STOPPED, "b2 starts and registers", **bounds)
    assert walk.cells["b2"] == "F0 [|]"
    assert walk.cells["controller"] == "b1@0 ISR b1 ELR b2 fenced b2"
    assert "b2 loses its directory" not in walk.enabled
    fixed = pair(*STOPPED, "b2 starts and registers", **bounds, defect="N-04", fixed="on")
    assert fixed.cells["controller"] == "b1@0 ISR b1 fenced b2", "its stop does not count as a clean one"


def test_a_crash_and_a_lost_directory_lose_nothing_as_an_unclean_stop_is_noticed() -> None:
    bounds: dict[str, int | str] = {"crashes": 1, "directory_losses": 1, "fencings": 1}
    model = Cluster(**{**CALM, **bounds})
    assert check(model, properties=cluster.__all__).verdict == "holds"
