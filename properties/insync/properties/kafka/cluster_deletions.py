"""What an operator may rely on that was told that records are deleted."""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, Implies, Not, for_all
from insync.properties import invariant
from insync.properties.kafka import cluster_reasons as reasons
from insync.properties.kafka.cluster_terms import is_leader

__all__ = ["answered_deletions_are_done", "deleted_records_stay_away"]


@invariant(Cluster, because=reasons.undone)
def answered_deletions_are_done(model: Cluster, s: ClusterState) -> Condition:
    """When an operator was told that records are deleted, no replica that ran and was not fenced had one of them.

    A replica does not count if the leader had not learned yet that it runs and is not fenced.
    """
    return Not(s.undone) if model.features.deletes else True


@invariant(Cluster, because=reasons.undead)
def deleted_records_stay_away(model: Cluster, s: ClusterState) -> Condition:
    """The leader has no record that an operator was told to be deleted."""
    if not model.features.deletes:
        return True

    def gone(leader: Replica, offset: int) -> Condition:
        return Not(And(offset < s.deleted_below, model.log.holds(s, leader, offset)))

    return for_all(
        model.all(Replica),
        lambda leader: Implies(
            is_leader(model, s, leader), for_all(range(model.b.records), lambda offset: gone(leader, offset))
        ),
    )
