"""An AlterPartition whose answer is lost: it comes again, and is refused without any effect."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync_evaluator import reached
from insync_walk import Walk, shared_cluster

BOUNDS: dict[str, int | str] = {
    "replicas": 2, "records": 1, "min_insync_replicas": 1, "power_failures": 0, "isr_shrinks": 1, "fencings": 1,
}  # fmt: skip
UNHEARD, AGAIN = (
    "controller accepts the ISR, and its response is lost",
    "controller receives the AlterPartition request again",
)
DROPPED = ("b1 drops b2 from the ISR", UNHEARD)
BACK = ("b1 drops b2 from the ISR", "controller accepts the ISR", "b1 applies metadata", "b2 fetches from b1")


def pair(*labels: str, **bounds: int | str) -> Walk:
    return Walk(shared_cluster(**{**BOUNDS, "lost_alter_partition_responses": 1, **bounds}), *labels)


def test_the_isr_is_written_and_the_leader_waits_for_metadata() -> None:
    walk = pair(*DROPPED)
    assert walk.cells["controller"] == "b1@0 ISR b1"
    assert walk.cells["b1"] == "L0 [|] -b2 ~1"
    assert walk.state["alter_partition_retry"]["isr"] == ["b1"]
    assert walk.take("b1 applies metadata").cells["b1"] == "L0 [|]"


def test_the_request_that_comes_again_is_refused_and_only_then_the_next_one_is_sent() -> None:
    walk = pair(*DROPPED, "b1 applies metadata", "b2 fetches from b1")
    assert "b1 adds b2 to the ISR" not in walk.enabled
    before = walk.state
    walk.take(AGAIN)
    assert walk.state == {**before, "alter_partition_retry": {"isr": [], "broker_epochs_are_current": False}}
    assert {"b1 adds b2 to the ISR"} <= walk.enabled
    assert AGAIN not in walk.enabled


def test_a_leader_that_may_not_ask_yet_does_not_wait_for_who_has_caught_up() -> None:
    """As walks beside Kafka 4.1.2 do: the request that is not attempted is no proposal, so the ISR alone counts."""
    lowered = ("b1 appends a record", "min.insync.replicas changes", *DROPPED, "b1 applies metadata")
    walk = pair(*lowered, min_insync_replicas=2, config_changes=1, metadata_lag=2)
    assert walk.cells["b1"] == "L0 [| r0@0]"
    assert walk.take("b2 fetches from b1").cells["b1"] == "L0 [r0@0 |]"


def test_an_answer_is_lost_as_often_as_the_budget_says() -> None:
    walk = pair(*DROPPED, "b1 applies metadata", "b2 fetches from b1", AGAIN, "b1 adds b2 to the ISR")
    assert UNHEARD not in walk.enabled
    assert "controller accepts the ISR" in walk.enabled


def test_a_request_of_another_leader_epoch_does_not_come_again() -> None:
    assert pair(*DROPPED, "controller fences b1").state["alter_partition_retry"]["isr"] == []
    assert pair(*DROPPED, release="3.5").state["alter_partition_retry"]["isr"] == [], (
        "the shrink itself has bumped the epoch"
    )


def test_a_request_names_incarnations() -> None:
    added = (*BACK, "b1 adds b2 to the ISR", UNHEARD)
    assert pair(*added).state["alter_partition_retry"] == {"isr": ["b1", "b2"], "broker_epochs_are_current": True}
    crashed = (*added, "b2 crashes, its log ends at 0", "b2 starts and registers")
    assert pair(*crashed, crashes=1).state["alter_partition_retry"] == {
        "isr": ["b1", "b2"],
        "broker_epochs_are_current": False,
    }
    gone = (*DROPPED, "b1 crashes, its log ends at 0", "b1 starts and registers")
    assert pair(*gone, crashes=1, release="3.9").state["alter_partition_retry"] == {
        "isr": [],
        "broker_epochs_are_current": False,
    }


def test_a_leader_that_has_its_answer_by_no_reply_has_none_to_come() -> None:
    walk = pair(*DROPPED, late_alter_partition_responses="on")
    assert "b1 receives the AlterPartition response" not in walk.enabled
    assert (
        "b1 receives the AlterPartition response"
        in pair(DROPPED[0], "controller accepts the ISR", late_alter_partition_responses="on").enabled
    )


def is_kept(path: str) -> bool:
    """Whether a cell is no request that comes again, nor what that costs."""
    return not path.startswith("alter_partition_retry.") and "lost_alter_partition_responses" not in path


@pytest.mark.slow_for("2.7", "3.5")
@pytest.mark.parametrize("release", ["2.7", "3.5", "4.1"])
def test_a_request_that_comes_again_reaches_nothing_that_is_not_reached_without(release: str) -> None:
    bounds: dict[str, int | str] = {**BOUNDS, "metadata_lag": 1, "release": release}
    assert reached(Cluster(**bounds, lost_alter_partition_responses=2), is_kept) == reached(Cluster(**bounds), is_kept)


@pytest.mark.slow
def test_taken_for_a_new_one_it_has_a_member_back_that_lacks_a_record() -> None:
    broken: dict[str, int | str] = {**BOUNDS, "lost_alter_partition_responses": 1, "defect": "M-16"}
    assert check(Cluster(**broken), properties=["electable_replicas_are_complete"]).verdict == "violated"
    assert check(Cluster(**broken, fixed="on"), properties=["electable_replicas_are_complete"]).verdict == "holds"
    alone = {**broken, "lost_alter_partition_responses": 0}
    assert check(Cluster(**alone), properties=["electable_replicas_are_complete"]).verdict == "holds"


@pytest.mark.slow
def test_it_costs_nothing_where_no_answer_is_lost() -> None:
    assert Cluster().program.schema.bits == 139
    assert Cluster(lost_alter_partition_responses=1).program.schema.bits > 139
