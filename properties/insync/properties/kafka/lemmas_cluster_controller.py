"""Lemmas about a cluster, 2 of 5: what the controller decides, and what it costs.

A budget of the model pays for each new leader epoch and for each replica that leaves the ISR, and a proof needs that.
The last of these lemmas is Kafka's own argument for eligible leader replicas. A replica that ISR and ELR lack, below
min.insync.replicas, was lost in an unclean crash. With fewer such crashes than min.insync.replicas one is left.
"""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Implies, Not, Num, Or
from insync.properties import lemma
from insync.properties.kafka.cluster_terms import electable_replicas
from insync.properties.kafka.lemmas_cluster_terms import every_place, is_current

__all__ = [
    "a_minimum_of_one_leaves_one_eligible",
    "an_epoch_has_one_leader",
    "electable_replicas_are_paid_for",
    "epochs_are_paid_for",
    "epochs_never_fall",
    "isr_and_elr_are_apart",
    "leaders_are_members",
    "nobody_leads_without_an_isr",
    "stops_are_paid_for",
]


@lemma(Cluster)
def epochs_never_fall(model: Cluster, s: ClusterState) -> Condition:
    """A later change is of the same leader epoch or a larger one."""

    def kept(place: int) -> Condition:
        return Implies(is_current(model, s, place), s.registrations[place].epoch <= s.registrations[place - 1].epoch)

    return every_place(model, kept, first=1)


@lemma(Cluster)
def an_epoch_has_one_leader(model: Cluster, s: ClusterState) -> Condition:
    """Changes of the same leader epoch have the same leader; else two could write records of one epoch."""

    def kept(place: int) -> Condition:
        older, newer = s.registrations[place], s.registrations[place - 1]
        same = And(is_current(model, s, place), older.epoch == newer.epoch)
        return Implies(same, older.leader == newer.leader)

    return every_place(model, kept, first=1)


@lemma(Cluster)
def leaders_are_members(model: Cluster, s: ClusterState, replica: Replica) -> Condition:
    """A leader is in the ISR of every change that names it."""
    return every_place(
        model, lambda at: Implies(s.registrations[at].leader == replica, s.registrations[at].isr.contains(replica))
    )


@lemma(Cluster)
def isr_and_elr_are_apart(model: Cluster, s: ClusterState) -> Condition:
    """No fenced broker is in the ISR, nobody is in both ISR and ELR, and an ISR with the minimum needs no ELR.

    Without eligible leader replicas the last member stays in the ISR when it is fenced; then nobody leads.
    """
    isr, elr = s.registrations[0].isr, s.controller.elr
    enough, unfenced = isr.count() >= model.topic_config.minimum(s), (isr & s.controller.fenced).is_empty()
    if not model.features.elr:
        return And(Or(unfenced, s.registrations[0].leader.is_none()), isr.count() >= 1)
    return And(unfenced, (isr & elr).is_empty(), Implies(enough, elr.is_empty()))


@lemma(Cluster)
def a_minimum_of_one_leaves_one_eligible(model: Cluster, s: ClusterState) -> Condition:
    """With min.insync.replicas 1 the ELR has one member at most: it fills when the last one leaves the ISR."""
    return Implies(model.topic_config.minimum(s) == 1, s.controller.elr.count() <= 1)


@lemma(Cluster)
def nobody_leads_without_an_isr(model: Cluster, s: ClusterState) -> Condition:
    """Where nobody leads the ISR is empty, and all of the ELR is fenced: an unfenced one would have been elected.

    Without eligible leader replicas the ISR has one member then, which is fenced.
    """
    isr, fenced = s.registrations[0].isr, s.controller.fenced
    nobody = And(isr.is_empty(), s.controller.elr.is_subset(fenced))
    alone = And(isr.count() == 1, isr.is_subset(fenced))
    return Implies(s.registrations[0].leader.is_none(), nobody if model.features.elr else alone)


def _down(model: Cluster, s: ClusterState, replica: Replica, *, lost: bool = False) -> Condition:
    """Whether a broker is down, or is so and may have lost records."""
    down = Not(s.broker[replica].running)
    return And(down, Not(s.broker[replica].clean_shutdown)) if lost and model.features.controlled_shutdowns else down


@lemma(Cluster)
def epochs_are_paid_for(model: Cluster, s: ClusterState) -> Condition:
    """An election bumps the leader epoch once, and a failure at most twice, also if the bumps are still to come.

    A failure ends a leadership, and another begins. A broker that is down and not fenced yet can still do both, a
    partition without a leader the latter. Before 3.6 an ISR that shrinks bumps it too. Without this the epoch
    leaves its domain, which is as large as the budgets allow.
    """
    fenced = s.controller.fenced
    due: list[Num] = [If(And(_down(model, s, r), Not(fenced.contains(r))), 2, 0) for r in model.all(Replica)]
    leaderless = If(s.registrations[0].leader.is_none(), 1, 0)
    failures = s.spent.fencings + s.spent.crashes + s.spent.controlled_shutdowns
    shrinks: Num | int = 0
    if not model.rules.shrink_keeps_epoch:
        shrinks = s.spent.isr_shrinks
        due.append(
            If(
                And(
                    model.replication_control.awaits_proposal(s),
                    Not(s.registrations[0].isr.is_subset(s.alter_partition.isr)),
                ),
                1,
                0,
            )
        )
    return sum(due, start=s.registrations[0].epoch + leaderless) <= 2 * failures + s.spent.preferred_elections + shrinks


@lemma(Cluster)
def stops_are_paid_for(model: Cluster, s: ClusterState) -> Condition:
    """Each broker that is down has crashed or was stopped."""
    down: list[Num] = [If(_down(model, s, replica), 1, 0) for replica in model.all(Replica)]
    return sum(down, start=0 * s.written) <= s.spent.crashes + s.spent.controlled_shutdowns


@lemma(Cluster)
def electable_replicas_are_paid_for(model: Cluster, s: ClusterState) -> Condition:
    """ISR and ELR lack at most one of min.insync.replicas members for each crash whose broker runs again.

    Without it ISR and ELR become empty without a crash, the last known leader is elected, and its log may be any.
    Where there is no ELR nobody is elected who is not in the ISR, and nothing of the kind is needed.
    """
    if not model.features.elr:
        return True
    down: list[Num] = [If(_down(model, s, replica, lost=True), 1, 0) for replica in model.all(Replica)]
    return sum(down, start=model.topic_config.minimum(s)) <= electable_replicas(model, s).count() + s.spent.crashes
