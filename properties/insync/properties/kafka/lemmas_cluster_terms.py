"""What the lemmas about a cluster speak of: registrations on their way, terms and records, and who may lead later.

A *place* is one in `registrations`: 0 is the controller's newest one, and a broker's `image_lag` is the place of the
one that it has applied.
"""

from __future__ import annotations

from collections.abc import Callable

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Not, Num, Or, SetValue
from insync.properties.kafka.cluster_terms import electable_replicas

__all__ = [
    "awaits",
    "epoch_of",
    "every_offset",
    "every_other",
    "every_place",
    "has_same_record",
    "heard_at",
    "is_current",
    "is_proposed",
    "last_epoch",
    "may_lead_later",
    "offsets",
    "places",
    "proposes",
    "stays_or_reaches",
]


def places(model: Cluster, first: int = 0) -> range:
    """The places of changes from one on."""
    return range(first, model.b.metadata_lag + 1)


def offsets(model: Cluster) -> range:
    """The offsets of a log."""
    return range(model.b.records)


def every_place(model: Cluster, holds: Callable[[int], Condition], first: int = 0) -> Condition:
    """Whether something holds of every place from one on."""
    return And(*[holds(place) for place in places(model, first)])


def every_offset(model: Cluster, holds: Callable[[int], Condition]) -> Condition:
    """Whether something holds of every offset."""
    return And(*[holds(offset) for offset in offsets(model)])


def every_other(model: Cluster, replica: Replica, holds: Callable[[Replica], Condition]) -> Condition:
    """Whether something holds of every replica but one."""
    return And(*[holds(other) for other in model.image.others(replica)])


def is_current(model: Cluster, s: ClusterState, place: int) -> Condition:
    """Whether the change at a place is the newest, or one that some running broker has not passed yet."""
    if place == 0:
        return True
    return Or(*[And(s.broker[replica].running, s.broker[replica].image_lag >= place) for replica in model.all(Replica)])


def awaits(model: Cluster, s: ClusterState, leader: Replica, place: int) -> Condition:
    """Whether a broker is to lead by the change at a place, and has not learned of that epoch yet."""
    b, registration = s.broker[leader], s.registrations[place]
    return And(
        registration.leader == leader, b.running, b.image_lag > place, epoch_of(model, s, leader) < registration.epoch
    )


def heard_at(model: Cluster, s: ClusterState, leader: Replica, place: int) -> Condition:
    """Whether a broker leads by the change at a place, which is the last that it has learned of."""
    return And(model.image.leads(s, leader), s.broker[leader].image_lag == place)


def epoch_of(model: Cluster, s: ClusterState, replica: Replica) -> Num:
    """The leader epoch that a broker believes to be in."""
    epoch: Num = model.image.registration_of(s, replica).epoch
    return epoch


def last_epoch(model: Cluster, s: ClusterState, replica: Replica) -> Num:
    """The epoch of the last record of a log, -1 if it is empty."""
    last: Num | int = -1
    for offset in offsets(model):
        last = If(offset < s.broker[replica].leo, model.log.epoch_at(s, replica, offset), last)
    return If(s.broker[replica].leo == 0, -1, last)


def has_same_record(s: ClusterState, one: Replica, other: Replica, offset: int) -> Condition:
    """Whether two logs have the same record at an offset."""
    a, b = s.broker[one], s.broker[other]
    return And(offset < a.leo, offset < b.leo, a.log[offset] == b.log[offset])


def proposes(model: Cluster, s: ClusterState, leader: Replica) -> Condition:
    """Whether a proposal is on its way that the newest leader has sent; no other may still be accepted."""
    return And(model.replication_control.awaits_proposal(s), s.registrations[0].leader == leader)


def is_proposed(model: Cluster, s: ClusterState, replica: Replica) -> Condition:
    """Whether a broker is a member of a proposal that the controller may accept."""
    return And(
        model.replication_control.awaits_proposal(s),
        s.alter_partition.broker_epochs_are_current,
        s.alter_partition.isr.contains(replica),
    )


def may_lead_later(model: Cluster, s: ClusterState, replica: Replica, epoch: Num, place: int) -> Condition:
    """Whether a running broker may lead in an epoch after that of the change at a place.

    It may be elected, is in a proposal that may be accepted, leads in a later epoch, or is to lead in one by a change
    that it has not passed.
    """
    b = s.broker[replica]
    leads = And(model.image.leads(s, replica), epoch_of(model, s, replica) > epoch)
    named = [
        And(s.registrations[at].leader == replica, b.image_lag >= at, s.registrations[at].epoch > epoch)
        for at in range(place)
    ]
    elected = electable_replicas(model, s).contains(replica)
    return And(b.running, Or(elected, is_proposed(model, s, replica), leads, *named))


def stays_or_reaches(
    model: Cluster, s: ClusterState, leader: Replica, members: SetValue, epoch: Num, offset: int | None
) -> Condition:
    """Whether each other member of an ISR may still be counted for an offset, by the leader of the ISR's epoch.

    Either it has not left the epoch, so that it may fetch yet, or the leader knows that it has fetched beyond the
    offset, if there is one.
    """

    def counts(member: Replica) -> Condition:
        stays = And(s.broker[member].running, epoch_of(model, s, member) <= epoch)
        if offset is None:
            return stays
        return Or(stays, offset < s.broker[leader].remote_replicas[member].leo.or_else(0))

    return every_other(model, leader, lambda member: Or(Not(members.contains(member)), counts(member)))
