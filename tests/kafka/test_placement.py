"""Replica placement: where replicas lie, and which partitions suffer when brokers fail."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.placement import Placement, replicas_of
from insync.model import UserError
from insync_walk import Walk


def test_partition_i_begins_on_broker_i_and_goes_round() -> None:
    assert [replicas_of(partition, 3, 4) for partition in range(5)] == [
        [0, 1, 2],
        [1, 2, 3],
        [2, 3, 0],
        [3, 0, 1],
        [0, 1, 2],
    ]


def test_no_partition_has_two_replicas_on_one_broker() -> None:
    for partition in range(24):
        assert len(set(replicas_of(partition, 5, 7))) == 5


def test_one_failure_costs_nothing_but_redundancy() -> None:
    assert check(Placement()).verdict == "holds"


def test_two_failures_stop_writes_and_three_take_a_partition_away() -> None:
    two = check(Placement(failures=2))
    assert [(v.property, v.trace_length) for v in two.violations] == [("every_partition_takes_writes", 3)]
    three = check(Placement(failures=3), properties=["every_partition_has_a_leader"])
    assert [v.trace_length for v in three.violations] == [4]


def test_two_failures_far_apart_harm_no_partition_of_two_replicas() -> None:
    walk = Walk(Placement(replicas=2, min_insync_replicas=1, failures=2), "b1 fails", "b3 fails")
    assert walk.cells["replicas left"] == "p0 1/2, p1 1/2, p2 1/2, p3 1/2"
    assert walk.take("b1 returns", "b4 fails").cells["replicas left"] == "p1 1/2, p2 0/2, p3 1/2"


def test_the_next_replica_in_order_leads() -> None:
    assert Walk(Placement()).cells["b2"] == "leads p1"
    walk = Walk(Placement(), "b1 fails")
    assert (walk.cells["b1"], walk.cells["b2"]) == ("down", "leads p0 p1")


def test_more_replicas_than_brokers_are_the_users_mistake() -> None:
    with pytest.raises(UserError, match="3 replicas need as many brokers"):
        Placement(brokers=2)


@pytest.mark.parametrize(("min_insync_replicas", "remarks"), [(1, 0), (2, 0), (3, 0), (4, 1), (5, 1)])
def test_only_a_minimum_above_the_replicas_means_less_than_it_says(min_insync_replicas: int, remarks: int) -> None:
    assert len(Placement(replicas=3, min_insync_replicas=min_insync_replicas).remarks()) == remarks


@pytest.mark.parametrize("failures", [0, 1])
def test_a_minimum_above_the_replicas_counts_as_all_of_them(failures: int) -> None:
    verdicts = {
        check(Placement(brokers=3, replicas=2, min_insync_replicas=least, failures=failures)).verdict
        for least in (2, 3, 7)
    }
    assert verdicts == {"violated" if failures else "holds"}
