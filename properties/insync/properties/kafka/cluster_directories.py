"""Properties of a cluster whose brokers have several log directories."""

from __future__ import annotations

from insync.kafka.cluster.broker_state import DirectoryId
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, Implies, Not, Or, for_all
from insync.properties import invariant
from insync.properties.kafka import cluster_reasons as reasons

__all__ = ["failed_directories_are_noticed", "isr_members_have_directories"]


@invariant(Cluster, because=reasons.unnoticed)
def failed_directories_are_noticed(model: Cluster, s: ClusterState) -> Condition:
    """The controller knows of each replica whose directory has failed, or its broker's report concerns the replica.

    Where this fails, a leader without a log stays the leader until its broker is started again.
    """
    if not model.features.directories_fail:
        return True

    def noticed(replica: Replica) -> Condition:
        b = s.broker[replica]
        told: Condition = False
        if model.rules.failed_directory_is_told:
            elsewhere = b.directory == DirectoryId.FUTURE_LOG
            told = Or(b.directory == DirectoryId.LOG, And(elsewhere, b.to_assign))
        return Or(s.controller.offline_replicas.contains(replica), told)

    def is_offline(replica: Replica) -> Condition:
        return And(s.broker[replica].running, model.log_dirs.is_offline(s, replica))

    return for_all(model.all(Replica), lambda replica: Implies(is_offline(replica), noticed(replica)))


@invariant(Cluster, because=reasons.directoryless)
def isr_members_have_directories(model: Cluster, s: ClusterState) -> Condition:
    """No unfenced member of the ISR has its log in a directory that the controller knows to have failed.

    Such a member may not be elected: if it is the only one left, nobody leads until its broker is started again. A
    broker whose directory was gone at its start names another one, and may be elected then. Without ELR the last member
    stays in the ISR, and nobody leads.
    """
    if not model.features.directories_fail:
        return True
    controller, isr, alone = s.controller, s.registrations[0].isr, s.registrations[0].leader.is_none()

    def is_sound(replica: Replica) -> Condition:
        member = And(isr.contains(replica), Not(controller.fenced.contains(replica)))
        last = False if model.features.elr else And(isr.count() == 1, alone)
        names = s.broker[replica].to_assign
        return Implies(member, Or(Not(controller.offline_replicas.contains(replica)), last, names))

    return for_all(model.all(Replica), lambda replica: is_sound(replica))
