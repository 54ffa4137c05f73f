"""When a cluster can be written to; `insync ask` counts the failures that end it.

`running_replicas_have_a_leader` is more: no number of failures ends that, once they have passed.
"""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, Implies, Not, Or, for_all
from insync.properties import invariant
from insync.properties.kafka import cluster_reasons as reasons

__all__ = ["a_leader_is_there", "reassignments_can_end", "running_replicas_have_a_leader", "writes_are_taken"]


def _known(model: Cluster, s: ClusterState) -> Condition:
    """Whether the controller knows of every broker that is down or has lost its directory: it has done what it can."""
    return for_all(model.all(Replica), lambda r: Or(model.image.is_online(s, r), Not(model.builder.may_serve(s, r))))


@invariant(Cluster)
def a_leader_is_there(model: Cluster, s: ClusterState) -> Condition:
    """When the controller knows of every broker that is down, the partition has a leader."""
    return Implies(_known(model, s), Not(s.registrations[0].leader.is_none()))


@invariant(Cluster)
def writes_are_taken(model: Cluster, s: ClusterState) -> Condition:
    """When the controller knows of every broker that is down, there is a leader that takes writes with acks=all.

    Its ISR has min.insync.replicas members, or as many as the release caps that at.
    """
    newest = s.registrations[0]
    enough = for_all(
        model.all(Replica),
        lambda r: Implies(newest.leader == r, newest.isr.count() >= model.topic_config.minimum_at(s, r)),
    )
    return Implies(_known(model, s), And(Not(newest.leader.is_none()), enough))


@invariant(Cluster, because=reasons.leaderless)
def running_replicas_have_a_leader(model: Cluster, s: ClusterState) -> Condition:
    """When all replicas of the partition run, and none of them is fenced, about to stop or offline, it has a leader.

    The controller elects one at the latest when the last of them is unfenced, so where this fails nothing that heals
    will bring a leader. `a_leader_again` says the same of runs.
    """
    newest = s.registrations[0]

    def serves(replica: Replica) -> Condition:
        return And(model.image.is_online(s, replica), model.builder.may_serve(s, replica))

    all_serve = for_all(model.all(Replica), lambda r: Or(Not(model.image.is_assigned(newest, r)), serves(r)))
    return Implies(all_serve, Not(newest.leader.is_none()))


@invariant(Cluster, because=reasons.endless)
def reassignments_can_end(model: Cluster, s: ClusterState) -> Condition:
    """A reassignment that is under way ends as soon as all replicas that are to stay are in the ISR."""
    if not model.features.reassigns:
        return True
    assigned = model.reassignment.assigned(s)
    under_way = Not(And(assigned.adding.is_empty(), assigned.removing.is_empty()))
    return Implies(under_way, model.reassignment.may_end(assigned.replicas - assigned.removing, assigned))
