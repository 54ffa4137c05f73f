"""Operators who change the order of replicas: who is preferred, who is elected, and what reassignments leave of it."""

from __future__ import annotations

import pytest

from insync.explorer import check
from insync.kafka.cluster.model import Cluster
from insync.properties.kafka import cluster
from insync.properties.kafka.cluster_order import elections_go_by_order
from insync_walk import Walk, shared_cluster

ORDER = elections_go_by_order.__name__
PROMISED = (*cluster.__all__, ORDER)


def ordered(*labels: str, **bounds: int | str) -> Walk:
    wide: dict[str, int | str] = {
        "replica_order_changes": 2,
        "fencings": 2,
        "records": 1,
        "metadata_lag": 4,
        "preferred_elections": 1,
    }
    return Walk(shared_cluster(**{**wide, **bounds}), *labels)


def test_without_a_budget_the_order_is_that_of_numbers_and_costs_nothing() -> None:
    assert shared_cluster(replica_order_changes=0) == shared_cluster() or Cluster().program.schema.words == 3
    assert "places" not in Walk(shared_cluster()).state["controller"]
    assert not [action for action in Cluster().program.actions if "first" in action.label]


def test_who_is_put_first_is_elected_when_the_leader_fails() -> None:
    assert ordered("controller fences b1").cells["controller"].startswith("b2@1 ISR b2 b3 of b1 b2 b3")
    assert (
        ordered("operator puts b3 first", "controller fences b1")
        .cells["controller"]
        .startswith("b3@1 ISR b2 b3 of b3 b1 b2")
    )


def test_the_others_keep_their_order() -> None:
    walk = ordered("operator puts b2 first", "operator puts b3 first")
    assert walk.cells["controller"] == "b1@0 ISR b1 b2 b3 of b3 b2 b1"


def test_only_the_first_is_preferred() -> None:
    assert {label for label in ordered().enabled if "elects" in label} == set(), "b1 is first, and leads"
    walk = ordered("operator puts b3 first")
    assert {label for label in walk.enabled if "elects" in label} == {"controller elects b3"}
    assert walk.cells["controller"].startswith("b1@0"), "another order alone moves no leader"
    assert walk.take("controller elects b3").cells["controller"].startswith("b3@1")


def test_another_order_makes_a_proposal_late() -> None:
    walk = ordered("b1 appends a record", "b1 drops b2 from the ISR", "operator puts b3 first")
    assert "controller accepts the ISR" not in walk.enabled
    assert walk.take("b1 applies metadata").state["broker"]["b1"]["pending_isr"] == []


MOVING: dict[str, int | str] = {"reassignments": 2, "spares": 1}


def test_a_reassignment_names_those_who_stay_in_their_order_and_those_who_go_come_last() -> None:
    walk = ordered("operator puts b2 first", "operator assigns the partition to {b2, b3}", **MOVING)
    assert walk.cells["controller"] == "b1@0 ISR b1 b2 of b2 b3 b1 adding b3 removing b1"
    walk.take("operator cancels the reassignment")
    assert walk.cells["controller"] == "b1@1 ISR b1 b2 of b2 b1"


def test_who_is_to_go_may_be_put_first_and_goes_all_the_same() -> None:
    walk = ordered("operator assigns the partition to {b2, b3}", **MOVING)
    assert walk.cells["controller"] == "b1@0 ISR b1 b2 of b2 b3 b1 adding b3 removing b1"
    assert walk.take("operator puts b1 first").cells["controller"] == "b1@0 ISR b1 b2 of b1 b2 b3 adding b3 removing b1"
    walk.take("b1 applies metadata", "b3 applies metadata", "b3 fetches from b1", "b1 adds b3 to the ISR")
    assert walk.take("controller accepts the ISR").cells["controller"] == "b2@1 ISR b2 b3 of b2 b3"


def test_a_replica_that_is_added_comes_last() -> None:
    walk = ordered("operator puts b2 first", "operator assigns the partition to {b1, b2, b3}", **MOVING)
    assert walk.cells["controller"] == "b1@0 ISR b1 b2 of b2 b1 b3 adding b3"


def test_before_2_7_the_order_stays_as_it_is() -> None:
    bounds: dict[str, int | str] = {"release": "2.6", "replica_order_changes": 1}
    assert not [label for label in Walk(shared_cluster(**bounds)).enabled if "first" in label]
    assert Cluster(**bounds).remarks()[-1].startswith("Another order of replicas is modelled from 2.7 on")


@pytest.mark.slow_for("bounds2")
@pytest.mark.parametrize(
    "bounds",
    [
        {"power_failures": 0, "preferred_elections": 1},
        {"replicas": 2, "controlled_shutdowns": 1, "unclean_leader_election": "on", "replica_order_changes": 2},
        {"replicas": 2, "reassignments": 1, "power_failures": 0, "controller_failovers": 1},
    ],
)
def test_whatever_the_order_is_nothing_is_lost_by_it(bounds: dict[str, int | str]) -> None:
    given = {"records": 1, "isr_shrinks": 0, "replica_order_changes": 1, **bounds}
    without = {**given, "replica_order_changes": 0}
    kept = [p.property for p in check(Cluster(**without), properties=PROMISED).violations]
    assert [p.property for p in check(Cluster(**given), properties=PROMISED).violations] == kept
    assert ORDER not in kept


def test_who_goes_by_numbers_does_not_go_by_the_order() -> None:
    given: dict[str, int | str] = {
        "records": 1,
        "isr_shrinks": 0,
        "power_failures": 0,
        "replica_order_changes": 1,
        "defect": "M-22",
    }
    (found,) = check(Cluster(**given), properties=PROMISED).violations
    assert (found.property, found.trace_length) == (ORDER, 3)
    assert found.trace.reason == "b2 is elected from the ISR b2 b3, and the replicas are in the order b3 b1 b2."
