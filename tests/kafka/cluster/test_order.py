"""The order of replicas, in which the controller looks for a leader: the opposite one breaks nothing else.

In Kafka it is that of the assignment, which operators choose; in `cluster` it is that of the brokers' numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from insync.explorer import check
from insync.kafka.cluster.controller.partition_change_builder import PartitionChangeBuilder
from insync.kafka.cluster.controller.reassignment import Assigned
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Not, Num, part
from insync.properties.kafka import cluster
from insync.properties.registry import invariants_of
from insync_walk import Walk, shared_cluster


class Opposite(PartitionChangeBuilder):
    """Elects the replica with the highest number."""

    def first_by_number(self, valid: Callable[[Replica], Condition], assigned: Assigned) -> Num | int:
        """The valid replica of the greatest number, -1 if there is none."""
        chosen: Num | int = -1
        for last in (True, False) if self.b.reassignments else (False,):
            for replica in self.all(Replica):
                goes = assigned.removing.contains(replica) if self.b.reassignments else False
                chosen = If(And(valid(replica), goes if last else Not(goes)), int(replica), chosen)
        return chosen


class OppositeOrder(Cluster):
    """A cluster whose first replica is the one with the highest number; b1 leads at first all the same."""

    name = "opposite_order"
    builder = part(Opposite)


def test_another_one_is_elected_when_the_leader_fails() -> None:
    assert Walk(shared_cluster(), "controller fences b1").state["registrations"][0]["leader"] == "b2"
    assert Walk(OppositeOrder(), "controller fences b1").state["registrations"][0]["leader"] == "b3"


@pytest.mark.slow
def test_all_properties_hold_of_the_newest_release() -> None:
    assert check(OppositeOrder(records=1), properties=cluster.__all__).verdict == "holds"


def found_as_soon(name: str) -> None:
    entry = DEFECTS[name]
    broken = check(OppositeOrder(**entry.witness), properties=[entry.breaks])
    assert [found.trace_length for found in broken.violations] == ([] if entry.harmless else [entry.length])
    assert check(OppositeOrder(**entry.fixed_witness), properties=[entry.breaks]).verdict == "holds"


OF_ORDER = "M-22"
"""The entry that is about the order itself."""

QUICK = ("C-6", "N-08", "N-15", "R-12", "R-15", "R-26", "R-31", "R-39")


@pytest.mark.slow_but("R-26")
@pytest.mark.parametrize("name", QUICK)
def test_a_defect_is_found_in_as_many_steps_and_its_fix_holds(name: str) -> None:
    found_as_soon(name)


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", [n for n in DEFECTS if n not in (*QUICK, OF_ORDER)])
def test_so_is_every_other_defect_of_states(name: str) -> None:
    if DEFECTS[name].breaks not in invariants_of(Cluster()):
        pytest.skip("it is about runs, which take a graph of all states")
    found_as_soon(name)
