"""What operators may expect of the order in which they name replicas."""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, Implies, Not, exists
from insync.properties import step_invariant
from insync.properties.kafka import cluster_reasons as reasons

__all__ = ["elections_go_by_order"]


@step_invariant(Cluster, because=reasons.out_of_order)
def elections_go_by_order(model: Cluster, before: ClusterState, after: ClusterState, replica: Replica) -> Condition:
    """The replica that becomes the leader is the first, in the order of replicas, of the ISR's members that may lead.

    An unclean leader is in the ISR alone, and a leader stays whatever its place is.
    """
    if not model.features.can_reorder:
        return True
    was, newest, places = before.registrations[0], after.registrations[0], after.controller.places
    elected = And(newest.leader == replica, Not(was.leader == replica), was.epoch < newest.epoch)

    def comes_first(other: Replica) -> Condition:
        return And(newest.isr.contains(other), model.builder.may_serve(after, other), places[other] < places[replica])

    return Implies(elected, Not(exists(model.all(Replica), comes_first)))
