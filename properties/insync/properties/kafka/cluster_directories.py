"""What is asked of a cluster whose brokers have several directories."""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import Replica
from insync.model import And, Condition, Implies, Not, Or, StateView, for_all
from insync.properties import invariant
from insync.properties.kafka import cluster_reasons as reasons

__all__ = ["failed_directories_are_noticed"]


@invariant(Cluster, because=reasons.unnoticed)
def failed_directories_are_noticed(model: Cluster, s: StateView) -> Condition:
    """The controller knows of each replica whose directory has failed, or what its broker tells of that concerns it.

    Where this fails, a leader without a log stays the leader until its broker is started again.
    """
    if not model.directories_fail:
        return True

    def noticed(replica: Replica) -> Condition:
        told = Not(s.broker[replica].elsewhere) if model.rules.failed_directory_is_told else False
        return Or(s.controller.without_directory.contains(replica), told)

    def is_offline(replica: Replica) -> Condition:
        return And(s.broker[replica].running, s.broker[replica].offline)

    return for_all(model.all(Replica), lambda replica: Implies(is_offline(replica), noticed(replica)))
