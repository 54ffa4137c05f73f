"""A group coordinator that answers by offsets, whoever leads (KAFKA-20634)."""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync_walk import Walk, shared_cluster

BOUNDS: dict[str, int | str] = {
    "replicas": 2,
    "records": 2,
    "min_insync_replicas": 1,
    "power_failures": 0,
    "fencings": 0,
    "isr_shrinks": 0,
    "preferred_elections": 1,
    "defect": "R-57",
}
DEPOSED = ("b1 appends a record", "controller elects b2", "b2 applies metadata")


def kept(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{**BOUNDS, **bounds}), *labels)


def test_what_is_cut_off_is_answered_for_when_another_record_has_its_offset() -> None:
    fetches = ["b1 fetches from b2"] * 4
    walk = kept(*DEPOSED, "b2 appends a record", "b1 applies metadata", *fetches)
    assert walk.cells["b1"] == "F1 [r1@1 |]"
    assert set(walk.state["acked"]) == {"r0", "r1"}
    sound = kept(*DEPOSED, "b2 appends a record", "b1 applies metadata", *fetches, fixed="on")
    assert sound.state["acked"] == ["r1"]


def test_what_is_there_still_is_answered_for_by_who_follows() -> None:
    fetched = ("b1 appends a record", "b2 fetches from b1", "controller elects b2", "b2 applies metadata")
    walk = kept(*fetched, "b1 applies metadata", "b1 fetches from b2", "b1 fetches from b2")
    assert walk.state["acked"] == ["r0"], "it is committed"


def test_a_leader_answers_once_and_who_crashes_not_at_all() -> None:
    walk = kept("b1 appends a record", "b2 fetches from b1", "b2 fetches from b1")
    assert walk.state["acked"] == ["r0"]
    assert walk.state["broker"]["b1"]["coordinator_writes"] == [None, None]
    down = kept("b1 appends a record", "b1 crashes, its log ends at 1", crashes=1)
    assert down.state["broker"]["b1"]["coordinator_writes"] == [None, None]


def test_nothing_waits_with_the_fix() -> None:
    model = Cluster(**BOUNDS, fixed="on")
    assert "coordinator_writes" not in model.decode(model.program.initials[0])["broker"]["b1"]
