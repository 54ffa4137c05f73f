"""An invariant of brokers that have lost their replica by a reassignment."""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, Implies, Not, for_all
from insync.properties import invariant
from insync.properties.kafka import cluster_reasons as reasons

__all__ = ["removed_brokers_serve_nobody"]


@invariant(Cluster, because=reasons.unremoved)
def removed_brokers_serve_nobody(model: Cluster, s: ClusterState) -> Condition:
    """A broker that has no replica by its own metadata has no records: it takes no writes and serves no reads.

    One whose metadata is late may do both until it learns of its removal.
    """

    def serves_nobody(replica: Replica) -> Condition:
        b = s.broker[replica]
        removed = Not(model.image.is_assigned(s.registrations[b.image_lag], replica))
        return Implies(And(model.image.is_online(s, replica), removed), b.leo == 0)

    return for_all(model.all(Replica), serves_nobody)
