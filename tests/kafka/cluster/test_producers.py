"""Producers that send a record again: with idempotence a leader takes it once and in order, without it does not."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync.properties.kafka import cluster
from insync_walk import Walk, shared_cluster

CALM: dict[str, int | str] = {"replicas": 2, "lossy_crashes": 0, "shrinks": 0, "records": 3, "retries": 1}


def pair(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{**CALM, "elections": 1, **bounds}), *labels)


OLD: dict[str, int | str] = {"release": "2.8"}
AGAIN = ("b1 appends a record", "r0 is sent again to b1")


def test_without_idempotence_a_leader_appends_what_it_has() -> None:
    walk = pair(*AGAIN, **OLD)
    assert walk.cells["b1"] == "L0 [| r0@0 r1@0]"
    assert walk.state["sent"]["r1"] == "r0"


def test_with_idempotence_it_says_so_once_its_high_watermark_has_passed_it() -> None:
    walk = pair("b1 appends a record", "b2 fetches from b1")
    assert not [label for label in walk.enabled if "again" in label or "already" in label]
    moved = ("controller elects b2", "b2 applies metadata 0", "b1 applies metadata 0", "b1 fetches from b2")
    walk = pair("b1 appends a record", "b2 fetches from b1", *moved)
    assert walk.state["acked"] == [], "b1 leads no more, and has told nobody"
    assert walk.take("b2 has r0 already, and says so").state["acked"] == ["r0"]


LOST = ("b1 appends a record", "controller elects b2", "b2 applies metadata 0")


def test_a_record_that_the_new_leader_lacks_is_appended_there_in_order() -> None:
    walk = pair(*LOST, "r0 is sent again to b2", "b2 appends a record")
    assert walk.cells["b2"] == "L1 [| r1@1 r2@1]"
    assert [walk.state["sent"][record] for record in ("r1", "r2")] == ["r0", "r2"]


def test_what_comes_late_is_refused_with_idempotence_and_out_of_order_without() -> None:
    late = (*LOST, "b2 appends a record")
    assert "r0 is sent again to b2" not in pair(*late).enabled
    walk = pair(*late, "r0 is sent again to b2", **OLD)
    assert [walk.state["sent"][record] for record in ("r1", "r2")] == ["r1", "r0"]


def test_a_gap_is_refused_with_idempotence() -> None:
    gap = ("b1 appends a record", "b2 fetches from b1", "b1 appends a record", *LOST[1:])
    assert "b2 appends a record" not in pair(*gap, records=4).enabled
    assert "b2 appends a record" in pair(*gap, "r1 is sent again to b2", records=4).enabled
    assert "b2 appends a record" in pair(*gap, **OLD).enabled


@pytest.mark.parametrize("acks", ["1", "all"])
def test_with_idempotence_a_record_is_stored_once_and_in_order(acks: str) -> None:
    model = Cluster(**{**CALM, "acks": acks, "elections": 1, "fencings": 0, "retries": 2, "metadata_lag": 1})
    assert check(model, properties=["records_are_stored_once"]).verdict == "holds"


def test_all_that_holds_without_retries_holds_with_them() -> None:
    model = Cluster(**{**CALM, "records": 2, "fencings": 1, "metadata_lag": 1})
    assert check(model, properties=cluster.__all__).verdict == "holds"


def test_without_idempotence_the_reason_names_what_was_sent_again() -> None:
    (found,) = check(Cluster(**CALM, **OLD), properties=["records_are_stored_once"]).violations
    assert found.trace.reason == (
        "b1 has what was sent twice, or out of order: its log is [| r0@0 r1@0], where r1 is r0 again."
    )


def test_without_retries_nothing_is_sent_again() -> None:
    assert not [action for action in Cluster().program.actions if "again" in action.label]
