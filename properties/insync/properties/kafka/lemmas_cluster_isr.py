"""Lemmas about a cluster, 4 of 5: what a leader knows of its followers, and what of the ISR it has not learned.

The leader counts with the maximal ISR (KIP-497): the one that it has learned of, and the one that it has proposed.
These lemmas say that nobody may be elected whom it does not count, as long as the controller is in its epoch.
"""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, Implies, Not
from insync.properties import lemma
from insync.properties.kafka.cluster_terms import electable_replicas
from insync.properties.kafka.lemmas_cluster_terms import (
    epoch_of,
    every_offset,
    every_other,
    every_place,
    has_same_record,
    heard_at,
    may_lead_later,
    places,
    proposes,
)

__all__ = [
    "electable_replicas_are_of_this_life",
    "elections_are_among_the_counted",
    "followers_have_what_is_counted",
    "isr_shrinks_until_its_leader_hears",
    "isr_shrinks_while_its_leader_does_not_hear",
    "new_members_have_caught_up",
]


@lemma(Cluster)
def followers_have_what_is_counted(model: Cluster, s: ClusterState, leader: Replica, follower: Replica) -> Condition:
    """A follower whose log end a leader knows is in no earlier epoch, and has the records that the leader counts.

    The latter is said of a follower that is in the leader's epoch and has not crashed since it fetched.
    """
    remote = s.broker[leader].remote_replicas[follower]
    both = And(model.image.leads(s, leader), s.broker[follower].running)
    mine, other = epoch_of(model, s, leader), epoch_of(model, s, follower)
    together = And(both, remote.broker_epoch_is_current, mine == other)

    def has(offset: int) -> Condition:
        counted = And(together, offset < remote.leo.or_else(0))
        return Implies(counted, has_same_record(s, leader, follower, offset))

    if leader == follower:
        return True
    return And(Implies(And(both, remote.leo.is_some()), mine <= other), every_offset(model, has))


@lemma(Cluster)
def isr_shrinks_while_its_leader_does_not_hear(model: Cluster, s: ClusterState, leader: Replica) -> Condition:
    """What a leader has not learned of its epoch takes members out: each ISR is a part of those before, and of its own.

    Only the leader adds members, and its proposals are refused once it has missed a change (partition epoch, KIP-497).
    """

    def shrinks(place: int) -> Condition:
        unheard = range(place)
        counted = model.high_watermark.maximal_isr(s, leader)
        parts = []
        for at in unheard:
            same = s.registrations[at].epoch == epoch_of(model, s, leader)
            older = [
                s.registrations[at].isr.is_subset(s.registrations[between].isr) for between in range(at + 1, place)
            ]
            parts.append(Implies(same, And(s.registrations[at].isr.is_subset(counted), *older)))
        return Implies(heard_at(model, s, leader, place), And(*parts))

    return every_place(model, shrinks, first=1)


@lemma(Cluster)
def elections_are_among_the_counted(model: Cluster, s: ClusterState, leader: Replica) -> Condition:
    """While the controller is in a leader's epoch, ISR and ELR are a part of every ISR before that had the minimum.

    So a leader that has learned of one, and may move its high watermark, counts with all who may be elected.
    """

    def covers(place: int) -> Condition:
        electable, least = electable_replicas(model, s), model.topic_config.minimum(s)
        enough = s.registrations[place].isr.count() >= least
        heard = Implies(enough, electable.is_subset(model.high_watermark.maximal_isr(s, leader)))
        between = [
            Implies(s.registrations[at].isr.count() >= least, electable.is_subset(s.registrations[at].isr))
            for at in range(1, place)
        ]
        in_epoch = And(heard_at(model, s, leader, place), s.registrations[0].epoch == epoch_of(model, s, leader))
        return Implies(in_epoch, And(heard, *between))

    return every_place(model, covers)


@lemma(Cluster)
def isr_shrinks_until_its_leader_hears(model: Cluster, s: ClusterState, leader: Replica) -> Condition:
    """The two lemmas before hold as well from the change on by which a broker is to lead, before it learns of that.

    Without it an ISR grows in an epoch whose leader has not begun, and that would not count with the new member.
    """

    def shrinks(place: int) -> Condition:
        registration = s.registrations[place]
        late = And(registration.leader == leader, s.broker[leader].running, s.broker[leader].image_lag > place)
        parts = [
            Implies(
                s.registrations[at].epoch == registration.epoch, s.registrations[at].isr.is_subset(registration.isr)
            )
            for at in range(place)
        ]
        counted = And(
            s.registrations[0].epoch == registration.epoch, registration.isr.count() >= model.topic_config.minimum(s)
        )
        return Implies(late, And(*parts, Implies(counted, electable_replicas(model, s).is_subset(registration.isr))))

    return every_place(model, shrinks, first=1)


@lemma(Cluster)
def new_members_have_caught_up(model: Cluster, s: ClusterState, leader: Replica) -> Condition:
    """A replica that is to join the ISR has reached the leader's high watermark and start of epoch in its present life.

    KAFKA-7128 and KIP-903; without it somebody joins who lacks what was committed before.
    """
    b = s.broker[leader]
    sent = And(proposes(model, s, leader), s.alter_partition.broker_epochs_are_current, b.running)

    def reached(member: Replica) -> Condition:
        joins = And(sent, s.alter_partition.isr.contains(member), Not(s.registrations[0].isr.contains(member)))
        remote = b.remote_replicas[member]
        end = remote.leo.or_else(-1)
        caught_up = And(end >= b.hw, end >= b.leader_epoch_start, end >= 0, remote.broker_epoch_is_current)
        return Implies(And(joins, s.broker[member].running), caught_up)

    return every_other(model, leader, reached)


@lemma(Cluster)
def electable_replicas_are_of_this_life(model: Cluster, s: ClusterState, leader: Replica) -> Condition:
    """What a leader knows of a follower in its epoch that may lead later is of the follower's present life.

    A broker that crashes leaves ISR and ELR (KAFKA-18106, KAFKA-15586). With N-01 this fails: a leader that is elected
    again keeps what it knew of a member that has crashed and come back meanwhile.
    """

    def known_now(follower: Replica, place: int) -> Condition:
        epoch, remote = epoch_of(model, s, leader), s.broker[leader].remote_replicas[follower]
        later = may_lead_later(model, s, follower, epoch, place)
        together = And(heard_at(model, s, leader, place), epoch_of(model, s, follower) == epoch)
        return Implies(And(together, later, remote.leo.is_some()), remote.broker_epoch_is_current)

    return every_other(model, leader, lambda follower: And(*[known_now(follower, place) for place in places(model)]))
