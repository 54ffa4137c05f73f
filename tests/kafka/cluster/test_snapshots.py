"""Brokers that catch up by a snapshot of the metadata: what it tells them, and what it does not (KAFKA-16892)."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync.properties.kafka.cluster_removals import removed_brokers_serve_nobody
from insync_walk import Walk, shared_cluster

REMOVED = removed_brokers_serve_nobody.__name__
SMALL: dict[str, int | str] = {
    "replicas": 2,
    "min_insync_replicas": 1,
    "records": 1,
    "power_failures": 0,
    "fencings": 0,
    "isr_shrinks": 0,
    "snapshots": 1,
}
REASSIGNED: dict[str, int | str] = {**SMALL, "reassignments": 2, "metadata_lag": 3}
TO_B2 = "operator assigns the partition to {b2}"
BACK = "operator assigns the partition to {b1, b2}"
LOADS = "b1 loads a snapshot of the metadata"


DIRECTORIES = (
    "snapshots are looked at only without log_dir_failures: what a snapshot tells of directories is not modelled."
)


def late(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{**REASSIGNED, **bounds}), *labels)


def test_without_a_budget_there_is_no_snapshot_and_nothing_is_kept() -> None:
    assert "kept" not in Walk(shared_cluster()).state["broker"]["b1"]
    assert not [action for action in Cluster().program.actions if "snapshot" in action.label]


def test_a_broker_that_is_up_to_date_loads_none() -> None:
    assert LOADS not in late().enabled
    assert LOADS in late(TO_B2).enabled


def test_a_removed_leader_is_not_told_and_leads_on() -> None:
    walk = late(TO_B2, LOADS)
    assert walk.cells["b1"] == "L0 [|] ?"
    walk.take("b1 appends a record")
    assert walk.cells["b1"] == "L0 [| r0@0] ?"
    assert walk.state["broker"]["b1"]["image_lag"] == 0


def test_a_removed_follower_is_not_told_either() -> None:
    walk = late("operator assigns the partition to {b1}", "b2 loads a snapshot of the metadata")
    assert walk.cells["b2"] == "F0 [|] ?"
    assert "b2 fetches from b1" in walk.enabled, "b1 has not heard yet, and leads the former epoch"
    walk.take("b1 applies metadata")
    assert "b2 fetches from b1" not in walk.enabled, "the epoch has ended"


def test_by_the_changes_themselves_it_is_told() -> None:
    assert late(TO_B2, "b1 applies metadata").cells["b1"] == "out [|]"


def test_it_is_told_of_the_next_change_that_makes_it_a_replica_and_keeps_its_log_till_then() -> None:
    walk = late(TO_B2, LOADS, "b1 appends a record", BACK, acks="1")
    assert walk.cells["b1"] == "L0 [| r0@0] ~1 ?"
    walk.take("b1 applies metadata")
    assert walk.cells["b1"] == "F1 [| r0@0]", "Kafka finds the partition that it has, with its log"


def test_it_asks_for_no_isr_that_would_be_accepted() -> None:
    walk = late(TO_B2, LOADS, "b1 appends a record", "b1 drops b2 from the ISR", acks="1", isr_shrinks=1)
    assert walk.cells["b1"] == "L0 [| r0@0] -b2 ?"
    assert "controller accepts the ISR" not in walk.enabled


def test_the_reply_tells_it_the_isr_that_it_has_asked_for_before() -> None:
    walk = late(
        "controller fences b2",
        "controller unfences b2",
        "b1 applies metadata",
        "b2 fetches from b1",
        "b1 adds b2 to the ISR",
        fencings=1,
    )
    walk.take("controller accepts the ISR", TO_B2)
    assert walk.cells["b1"] == "L0 [|] +b2 ~2"
    walk.take(LOADS)
    assert walk.cells["b1"] == "L0 [|] ?"
    assert walk.state["broker"]["b1"]["kept"]["isr"] == ["b1", "b2"]


def test_a_start_ends_it() -> None:
    walk = late(TO_B2, LOADS, "b1 appends a record", "b1 crashes, its log ends at 1", crashes=1)
    walk.take("controller fences b1").take("b1 starts and registers")
    assert walk.cells["b1"] == "out [|]"


def test_a_snapshot_tells_a_leader_its_state_once_more() -> None:
    walk = late(
        "b1 appends a record",
        "b1 drops b2 from the ISR",
        "controller fences b3",
        replicas=3,
        isr_shrinks=1,
        fencings=1,
        reassignments=0,
    )
    assert walk.cells["b1"].endswith("-b2 ~1")
    walk.take(LOADS)
    assert walk.cells["b1"] == "L0 [| r0@0]", "as with any metadata, its request is forgotten"


@pytest.mark.parametrize("release", ["3.3", "4.1", "4.3"])
def test_every_release_of_kraft_lets_a_removed_broker_serve(release: str) -> None:
    (found,) = check(Cluster(**REASSIGNED, release=release, acks="1"), properties=[REMOVED]).violations
    assert len(found.trace.steps) == 4
    assert found.trace.reason == (
        "By its own metadata b1 has no replica any more, and it leads on in epoch 0: its log is [| r0@0]."
    )


def test_with_the_fix_none_serves_and_a_snapshot_is_a_batch() -> None:
    fixed = {**REASSIGNED, "defect": "R-70", "fixed": "on", "acks": "1"}
    assert check(Cluster(**fixed), properties=[REMOVED]).verdict == "holds"


def test_with_acks_all_no_snapshot_loses_a_record_and_no_consumer_reads_another_history() -> None:
    model = Cluster(**{**REASSIGNED, "fencings": 1, "min_insync_replicas": 2})
    assert check(model).verdict == "holds", "the properties that clients notice, of all states"


def test_brokers_of_the_zookeeper_era_load_none() -> None:
    model = Cluster(**SMALL, release="3.1.1")
    assert not [action for action in model.program.actions if "snapshot" in action.label]
    assert model.remarks() == [
        "Kafka 3.1.1 keeps its metadata in ZooKeeper; brokers load snapshots with KRaft, from 3.3 on."
    ]


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"metadata_lag": 0}, "With metadata_lag 0 no broker is late, so none loads a snapshot."),
        ({"log_dir_failures": 1}, DIRECTORIES),
    ],
)
def test_a_budget_that_does_nothing_is_answered_for(bounds: dict[str, int | str], said: str) -> None:
    model = Cluster(**SMALL, **bounds)
    assert said in model.remarks()
    assert not [action for action in model.program.actions if "snapshot" in action.label]


def test_after_an_unclean_election_it_acknowledges_with_acks_all_too() -> None:
    alone = ("b1 appends a record", "b1 drops b2 from the ISR", "controller accepts the ISR", "b1 applies metadata")
    more: dict[str, int | str] = {
        "unclean_leader_election": "on",
        "elr": "off",
        "isr_shrinks": 1,
        "fencings": 1,
        "records": 2,
    }
    walk = late(*alone, "controller fences b1", TO_B2, LOADS, "b1 appends a record", **more)
    assert walk.cells["b1"] == "L0 [r0@0 r1@0 |] ?"
    assert walk.state["acked"] == ["r0", "r1"], "alone in the ISR that it knows; b2, elected uncleanly, has neither"
