"""What brokers may expect of a controller that is followed by another one."""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import Condition, Implies, Not, Or, for_all
from insync.properties import invariant
from insync.properties.kafka import cluster_reasons as reasons

__all__ = ["decisions_can_be_heard"]


@invariant(Cluster, because=reasons.unheard)
def decisions_can_be_heard(model: Cluster, s: ClusterState) -> Condition:
    """Every running broker has learned of the newest decision about the partition, or would still accept it.

    It would not accept one of a controller with a lower epoch than it knows, and no other controller sends that.
    """
    if not (model.features.stale_controller_may_write and model.guards.brokers_refuse_deposed):
        return True

    def hears(replica: Replica) -> Condition:
        b = s.broker[replica]
        return Or(b.image_lag == 0, b.controller_epoch_is_stale, Not(s.registrations[0].by_stale_controller))

    return for_all(model.all(Replica), lambda replica: Implies(s.broker[replica].running, hears(replica)))
