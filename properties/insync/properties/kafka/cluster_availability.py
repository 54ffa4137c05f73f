"""When a cluster can be written to: no promises, as enough failures end it; `insync ask` counts the failures."""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import Replica
from insync.model import And, Condition, Implies, Not, Or, StateView, for_all
from insync.properties import invariant

__all__ = ["a_leader_is_there", "writes_are_taken"]


def _known(model: Cluster, s: StateView) -> Condition:
    """Whether the controller has fenced every broker that is down, so that it has done what it can."""
    return for_all(model.all(Replica), lambda r: Or(s.broker[r].running, s.controller.fenced.contains(r)))


@invariant(Cluster)
def a_leader_is_there(model: Cluster, s: StateView) -> Condition:
    """When the controller knows of every broker that is down, the partition has a leader."""
    return Implies(_known(model, s), Not(s.changes[0].leader.is_none()))


@invariant(Cluster)
def writes_are_taken(model: Cluster, s: StateView) -> Condition:
    """When the controller knows of every broker that is down, there is a leader that takes writes with acks=all.

    Its ISR has min.insync.replicas members, or as many as the release caps that at.
    """
    newest = s.changes[0]
    enough = for_all(
        model.all(Replica), lambda r: Implies(newest.leader == r, newest.isr.count() >= model.minimum_at(s, r))
    )
    return Implies(_known(model, s), And(Not(newest.leader.is_none()), enough))
