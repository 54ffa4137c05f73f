"""Lemmas about a cluster, 3 of 5: epochs and logs, on which truncation by epoch rests (KIP-101, KIP-279).

The *term* of a log is the newest entry of its epoch cache. In short: a leader's epoch has no records before it begins,
is written by it alone, and without a gap from one offset on; so epoch and offset name a record, and where two logs have
the same record they have the same past.
"""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, Implies, Not, Or
from insync.properties import lemma
from insync.properties.kafka.lemmas_cluster_terms import (
    awaits,
    epoch_of,
    every_offset,
    every_other,
    every_place,
    has_same_record,
    is_current,
    last_epoch,
    offsets,
)

__all__ = [
    "a_record_has_one_offset",
    "a_term_without_records_is_ones_own",
    "an_epoch_begins_at_one_offset",
    "epoch_and_offset_name_a_record",
    "equal_records_have_equal_pasts",
    "leaders_have_all_of_their_epoch",
    "leaders_have_their_term",
    "leaders_write_from_their_start",
    "log_epochs_never_fall",
    "nobody_has_an_epoch_before_its_leader",
    "terms_are_those_of_views",
]


@lemma(Cluster)
def terms_are_those_of_views(model: Cluster, s: ClusterState, replica: Replica) -> Condition:
    """A broker has learned of the newest epoch that its log knows, which its last record's does not exceed."""
    term = s.broker[replica].latest_epoch
    return And(term <= epoch_of(model, s, replica), last_epoch(model, s, replica) <= term)


@lemma(Cluster)
def log_epochs_never_fall(model: Cluster, s: ClusterState, replica: Replica) -> Condition:
    """Along a log the epochs of the records never fall, and none is above its term; truncation looks for their ends."""
    b = s.broker[replica]

    def kept(offset: int) -> Condition:
        mine = model.log.epoch_at(s, replica, offset)
        within = Implies(offset < b.leo, mine <= b.latest_epoch)
        if offset + 1 == model.b.records:
            return within
        return And(within, Implies(offset + 1 < b.leo, mine <= model.log.epoch_at(s, replica, offset + 1)))

    return every_offset(model, kept)


@lemma(Cluster)
def leaders_have_their_term(model: Cluster, s: ClusterState, replica: Replica) -> Condition:
    """The newest epoch that a leader's log knows is the one in which it leads (KAFKA-7415)."""
    return Implies(model.image.leads(s, replica), s.broker[replica].latest_epoch == epoch_of(model, s, replica))


@lemma(Cluster)
def nobody_has_an_epoch_before_its_leader(model: Cluster, s: ClusterState) -> Condition:
    """An epoch without a leader, or whose leader has not learned of it, has no records and is no log's term.

    Else a new leader would find its epoch in use, by records that it did not write.
    """

    def unused(place: int) -> Condition:
        epoch = s.registrations[place].epoch
        records = [Or(record >= s.written, s.epoch_of[record] != epoch) for record in offsets(model)]
        terms = [s.broker[replica].latest_epoch != epoch for replica in model.all(Replica)]
        leaderless = And(is_current(model, s, place), s.registrations[place].leader.is_none())
        awaited = Or(*[awaits(model, s, replica, place) for replica in model.all(Replica)])
        return And(Implies(Or(leaderless, awaited), And(*records)), Implies(awaited, And(*terms)))

    newest = And(*[s.epoch_of[record] <= s.registrations[0].epoch for record in offsets(model)])
    return And(newest, every_place(model, unused))


@lemma(Cluster)
def a_record_has_one_offset(model: Cluster, s: ClusterState, one: Replica, other: Replica) -> Condition:
    """A record is at the same offset in every log that has it, and no log has it twice."""
    x, y = s.broker[one], s.broker[other]
    pairs = [(a, b) for a in offsets(model) for b in offsets(model) if a != b and (one, a) < (other, b)]
    return And(*[Or(x.leo <= a, y.leo <= b, x.log[a] != y.log[b]) for a, b in pairs])


@lemma(Cluster)
def epoch_and_offset_name_a_record(model: Cluster, s: ClusterState, one: Replica, other: Replica) -> Condition:
    """Two records of the same epoch at the same offset are the same record (LogMatching, as Raft has it)."""
    x, y = s.broker[one], s.broker[other]

    def named(offset: int) -> Condition:
        both = And(offset < x.leo, offset < y.leo)
        same_epoch = model.log.epoch_at(s, one, offset) == model.log.epoch_at(s, other, offset)
        return Implies(And(both, same_epoch), x.log[offset] == y.log[offset])

    return every_offset(model, named) if one < other else True


@lemma(Cluster)
def equal_records_have_equal_pasts(model: Cluster, s: ClusterState, one: Replica, other: Replica) -> Condition:
    """Two logs with the same record at an offset are the same below it."""

    def match(offset: int) -> Condition:
        before = has_same_record(s, one, other, offset - 1) if offset else True
        return Implies(has_same_record(s, one, other, offset), before)

    return every_offset(model, match) if one < other else True


@lemma(Cluster)
def leaders_have_all_of_their_epoch(model: Cluster, s: ClusterState, leader: Replica, other: Replica) -> Condition:
    """While a broker leads, its log has every record of its epoch that is in any log."""

    def has(offset: int) -> Condition:
        of_epoch = And(offset < s.broker[other].leo, model.log.epoch_at(s, other, offset) == epoch_of(model, s, leader))
        return Implies(And(model.image.leads(s, leader), of_epoch), has_same_record(s, leader, other, offset))

    return every_offset(model, has) if leader != other else True


@lemma(Cluster)
def leaders_write_from_their_start(model: Cluster, s: ClusterState, leader: Replica) -> Condition:
    """The records of a leader's own epoch are those from the start of its epoch on, and no others."""
    b = s.broker[leader]

    def own(offset: int) -> Condition:
        mine, began = model.log.epoch_at(s, leader, offset), b.leader_epoch_start <= offset
        is_own = mine == epoch_of(model, s, leader)
        return Implies(
            And(model.image.leads(s, leader), offset < b.leo), And(Implies(began, is_own), Or(began, Not(is_own)))
        )

    return every_offset(model, own)


@lemma(Cluster)
def a_term_without_records_is_ones_own(model: Cluster, s: ClusterState, replica: Replica) -> Condition:
    """A log whose term has no record in it is alone with that epoch: it led, and wrote nothing, or has lost it.

    Else a follower could share its leader's newest epoch, and the leader would not see that the logs have parted.
    """
    term = s.broker[replica].latest_epoch
    empty = And(term >= 0, last_epoch(model, s, replica) < term)

    def has_none(other: Replica) -> Condition:
        b = s.broker[other]
        records = [Or(b.leo <= offset, model.log.epoch_at(s, other, offset) != term) for offset in offsets(model)]
        return And(b.latest_epoch != term, *records)

    return Implies(empty, every_other(model, replica, has_none))


@lemma(Cluster)
def an_epoch_begins_at_one_offset(model: Cluster, s: ClusterState, one: Replica, other: Replica) -> Condition:
    """A log that has a record of an epoch has all that other logs have of it at lower offsets."""
    x, y = s.broker[one], s.broker[other]

    def begins(offset: int, lower: int) -> Condition:
        same_epoch = model.log.epoch_at(s, one, offset) == model.log.epoch_at(s, other, lower)
        both = And(offset < x.leo, lower < y.leo, same_epoch)
        return Implies(both, model.log.epoch_at(s, one, lower) == model.log.epoch_at(s, other, lower))

    if one == other:
        return True
    return every_offset(model, lambda offset: And(*[begins(offset, lower) for lower in range(offset)]))
