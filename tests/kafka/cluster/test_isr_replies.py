"""The reply to an AlterPartition, which may reach the leader before the metadata does."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync_walk import Walk, shared_cluster

DROPPED = ("b1 drops b3 from the ISR", "controller accepts the ISR")
TOLD = (*DROPPED, "b1 receives the AlterPartition response")
KNOWN = "b1 applies metadata that it knows"
ADDED = (*TOLD, "b3 fetches from b1", "b1 adds b3 to the ISR")


def trio(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{"isr_shrinks": 1, "late_alter_partition_responses": "on", **bounds}), *labels)


def test_a_leader_hears_of_its_isr_by_the_reply_and_proposes_the_next() -> None:
    walk = trio(*TOLD)
    assert walk.cells["b1"] == "L0 [|]"
    walk.take("b3 fetches from b1", "b1 adds b3 to the ISR")
    assert walk.cells["b1"] == "L0 [|] +b3"
    assert "controller accepts the ISR" in walk.enabled


def test_metadata_that_the_leader_knows_makes_it_forget_the_proposal() -> None:
    walk = trio(*ADDED, KNOWN)
    assert walk.cells["b1"] == "L0 [|]", "it counts its former ISR"
    assert "controller accepts the ISR" in walk.enabled, "the proposal is on its way all the same"
    assert "b1 adds b3 to the ISR" not in walk.enabled, "the next one is not attempted before that is answered"
    assert KNOWN not in walk.enabled
    kept = trio(*ADDED, KNOWN, defect="N-06", fixed="on")
    assert kept.cells["b1"] == "L0 [|] +b3"


def test_metadata_that_brings_more_than_the_reply_did_comes_once() -> None:
    walk = trio(*TOLD, "controller elects b2", "b1 applies metadata", preferred_elections=1)
    assert walk.cells["b1"] == "F1 [|]"
    assert KNOWN not in walk.enabled


@pytest.mark.slow
def test_a_reply_comes_once_and_only_to_the_leader_that_asked() -> None:
    told = "b1 receives the AlterPartition response"
    assert told not in trio(*TOLD).enabled
    assert told not in trio(*DROPPED, "b1 applies metadata").enabled
    assert told not in trio("controller fences b3", fencings=1).enabled
    assert told not in trio(*DROPPED, late_alter_partition_responses="off").enabled


def test_a_reply_to_a_leader_that_crashed_is_lost() -> None:
    walk = trio(*DROPPED, "b1 crashes, its log ends at 0", "b1 starts and registers", power_failures=1)
    assert not any("is told" in label for label in walk.enabled)


@pytest.mark.slow
def test_a_reply_that_bumps_the_epoch_is_passed_over() -> None:
    assert "b1 receives the AlterPartition response" not in trio(*DROPPED, release="3.5").enabled
    assert "b1 receives the AlterPartition response" in trio(*DROPPED, release="3.6").enabled


@pytest.mark.slow
def test_before_kraft_a_reply_is_all_that_tells_a_leader() -> None:
    remarks = Cluster(release="3.2", late_alter_partition_responses="on").remarks()
    assert any("come with KRaft" in remark for remark in remarks)
    assert (
        Cluster(release="3.2", late_alter_partition_responses="on").program.schema.bits
        == Cluster(release="3.2").program.schema.bits
    )


@pytest.mark.slow
def test_replies_cost_nothing_where_they_are_off() -> None:
    assert Cluster().program.schema.bits == 139
    assert Cluster(late_alter_partition_responses="on").program.schema.bits > 139


@pytest.mark.slow
def test_an_acknowledged_record_is_lost_after_a_reply_and_one_election() -> None:
    bounds: dict[str, int | str] = {
        "records": 1,
        "power_failures": 0,
        "fencings": 0,
        "preferred_elections": 1,
        "late_alter_partition_responses": "on",
    }
    lost = check(Cluster(**bounds), properties=["no_acknowledged_record_is_lost"])
    assert lost.violations[0].trace_length == 13
    fixed = check(Cluster(**bounds, defect="N-06", fixed="on"), properties=["no_acknowledged_record_is_lost"])
    assert fixed.verdict == "holds"


RAISED: dict[str, int | str] = {
    "replicas": 2, "min_insync_replicas": 2, "records": 1, "power_failures": 0, "fencings": 1, "isr_shrinks": 1,
    "config_changes": 2, "metadata_lag": 3, "late_alter_partition_responses": "on",
}  # fmt: skip
CHANGES = "min.insync.replicas changes"
ALONE = (CHANGES, "b1 applies metadata", CHANGES, "b1 drops b2 from the ISR", "controller accepts the ISR")
"""The minimum was 1 to b1 when it was raised to 2, and it hears of its ISR before it hears of that."""


def test_a_reply_brings_the_isr_before_the_configuration_that_came_first() -> None:
    walk = Walk(shared_cluster(**RAISED), *ALONE, "b1 receives the AlterPartition response")
    assert walk.cells["b1"] == "L0 [|] m~1"
    assert walk.cells["controller"] == "b1@0 ISR b1 ELR b2"
    alone = Walk(shared_cluster(**RAISED), *ALONE, "b1 receives the AlterPartition response", "b1 appends a record")
    assert alone.cells["b1"] == "L0 [r0@0 |] m~1", "one is enough to it, and two to the controller"
    walk.take("b1 applies configuration from before its ISR")
    assert walk.cells["b1"] == "L0 [|]"
    assert "b1 appends a record" not in walk.enabled, "two are needed now"


def test_metadata_that_brings_what_a_leader_knows_brings_the_configuration_from_before() -> None:
    for label in (KNOWN, "b1 applies metadata"):
        walk = Walk(shared_cluster(**RAISED), *ALONE, "b1 receives the AlterPartition response")
        if label != KNOWN:
            walk.take("b2 applies metadata", "controller fences b1")
        walk.take(label)
        assert "m~" not in walk.cells["b1"]
        assert "b1 appends a record" not in walk.enabled, "two are needed now, or it leads no more"


def loses(**rules: bool) -> int | None:
    """The steps to a loss where a batch's configuration comes before its topics, and some more rules hold."""
    fixed = DEFECTS["N-03"]
    with patch.dict(DEFECTS, {"N-03": replace(fixed, base={**fixed.base, **rules})}):
        found = check(Cluster(**RAISED, defect="N-03", fixed="on"), properties=["no_acknowledged_record_is_lost"])
    return found.violations[0].trace_length - 1 if found.violations else None


def test_a_minimum_from_before_loses_a_record_though_each_batch_is_in_order_unless_the_reply_waits() -> None:
    assert loses(metadata_keeps_proposal=True) == 10, "without what N-06 says, which takes longer"
    assert loses(metadata_keeps_proposal=True, reply_waits_for_configuration=True) is None


def test_a_minimum_that_may_be_late_costs_nothing_where_no_reply_can_pass_it() -> None:
    bits = {lag: Cluster(**{**RAISED, "metadata_lag": lag}).program.schema.bits for lag in (1, 3)}
    waits = {"reply_waits_for_configuration": True}
    with patch.dict(DEFECTS, {"N-03": replace(DEFECTS["N-03"], base=waits, rules={})}):
        spared = {lag: Cluster(**{**RAISED, "metadata_lag": lag}, defect="N-03").program.schema.bits for lag in bits}
    assert (bits[1], bits[3]) == (spared[1], spared[3] + 4)
