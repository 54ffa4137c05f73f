"""Lemmas about a cluster, 5 of 5: what is committed is kept.

1. While nobody has left a leader's epoch, everybody who may lead later is one whom the leader counts
   (`elections_are_among_the_counted`), so what it commits they have.
2. Once the controller is in a later epoch, a leader that has not learned of it may still commit what the members of an
   ISR of its epoch have fetched. Then those who may lead later have not left the epoch either and are of that ISR, or
   they have the record (`later_leaders_have_what_may_be_committed`). The same holds while the leader has not even
   learned of its own election (`later_leaders_are_of_an_isr_not_left`).
3. So each record that was seen has an epoch of commitment: all who may lead from there on are in that epoch or a later
   one, and have the record (`committed_records_are_kept`). They never lose it: who truncates does so against the leader
   of a later epoch, which has it too; who loses it in a crash leaves ISR and ELR before it may lead.
"""

from __future__ import annotations

from insync.kafka.cluster.indices import RecordNumber
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, Implies, Num, Or, for_all
from insync.properties import lemma
from insync.properties.kafka.cluster_terms import electable_replicas, is_leader
from insync.properties.kafka.lemmas_cluster_terms import (
    awaits,
    epoch_of,
    every_offset,
    every_other,
    every_place,
    has_same_record,
    heard_at,
    is_current,
    is_proposed,
    may_lead_later,
    offsets,
    places,
    stays_or_reaches,
)

__all__ = [
    "acknowledged_records_are_seen",
    "committed_records_are_kept",
    "later_leaders_are_of_an_isr_not_left",
    "later_leaders_have_what_may_be_committed",
    "leaders_begin_after_what_is_seen",
    "records_are_seen_in_order",
    "what_leaders_show_is_seen",
]


@lemma(Cluster)
def records_are_seen_in_order(model: Cluster, s: ClusterState) -> Condition:
    """A consumer that has seen a record could have seen all before it."""
    return And(*[Or(s.seen[at].is_none(), s.seen[at - 1].is_some()) for at in offsets(model) if at])


@lemma(Cluster)
def acknowledged_records_are_seen(model: Cluster, s: ClusterState) -> Condition:
    """Every record that was acknowledged has been below the high watermark of a leader."""

    def is_seen(record: RecordNumber) -> Condition:
        return Or(*[And(s.seen[at].is_some(), s.seen[at] == record) for at in offsets(model)])

    return for_all(model.all(RecordNumber), lambda record: Implies(s.acked.contains(record), is_seen(record)))


@lemma(Cluster)
def what_leaders_show_is_seen(model: Cluster, s: ClusterState, replica: Replica) -> Condition:
    """What is below a high watermark, of any broker and also of one that is down, is what was seen there first."""
    b = s.broker[replica]
    return every_offset(model, lambda at: Implies(at < b.hw, And(s.seen[at].is_some(), s.seen[at] == b.log[at])))


@lemma(Cluster)
def leaders_begin_after_what_is_seen(model: Cluster, s: ClusterState, leader: Replica) -> Condition:
    """What was seen is below the newest leader's high watermark, or below the start of its epoch.

    So who joins its ISR has all that was seen: it has reached both (KAFKA-7128).
    """
    b = s.broker[leader]

    def passed(offset: int) -> Condition:
        return Implies(s.seen[offset].is_some(), Or(offset < b.hw, offset < b.leader_epoch_start))

    return Implies(is_leader(model, s, leader), every_offset(model, passed))


@lemma(Cluster)
def later_leaders_are_of_an_isr_not_left(model: Cluster, s: ClusterState, leader: Replica) -> Condition:
    """While a broker has not learned that it leads, and nobody has left its ISR, all who may lead later are members.

    It may find them there when it learns of it, and commit with them. Nobody leads in a later epoch yet.
    """

    def awaited(place: int) -> Condition:
        epoch, isr = s.registrations[place].epoch, s.registrations[place].isr
        late = And(
            awaits(model, s, leader, place),
            s.registrations[0].epoch > epoch,
            isr.count() >= model.topic_config.minimum(s),
        )
        not_left = And(late, stays_or_reaches(model, s, leader, isr, epoch, None))

        def is_member(later: Replica) -> Condition:
            member = And(epoch_of(model, s, later) <= epoch, isr.contains(later))
            none_leads = Implies(model.image.leads(s, later), epoch_of(model, s, later) <= epoch)
            return And(Implies(may_lead_later(model, s, later, epoch, place), member), none_leads)

        return Implies(not_left, every_other(model, leader, is_member))

    return every_place(model, awaited, first=1)


@lemma(Cluster)
def later_leaders_have_what_may_be_committed(model: Cluster, s: ClusterState, leader: Replica) -> Condition:
    """What a leader of an earlier epoch may still commit is with all who may lead later, or can be yet.

    It may commit an offset by an ISR of its epoch if each member has fetched beyond it or is in the epoch still. Then a
    replica that may lead later is a member in the epoch still, or is in a later one and has the leader's record there.
    Leaders of later epochs have begun after it.
    """

    def heard(place: int) -> Condition:
        return And(*[by_isr_of(place, at) for at in range(1, place + 1)])

    def by_isr_of(place: int, at: int) -> Condition:
        epoch, registration = epoch_of(model, s, leader), s.registrations[at]
        isr = model.high_watermark.maximal_isr(s, leader) if at == place else registration.isr
        of_epoch = And(
            registration.epoch == epoch,
            s.registrations[0].epoch > epoch,
            registration.isr.count() >= model.topic_config.minimum(s),
        )
        earlier = And(heard_at(model, s, leader, place), of_epoch)

        def kept(offset: int) -> Condition:
            may_commit = And(earlier, stays_or_reaches(model, s, leader, isr, epoch, offset))

            def keeps(later: Replica) -> Condition:
                now = epoch_of(model, s, later)
                stays = And(now <= epoch, isr.contains(later))
                has_it = And(now > epoch, has_same_record(s, leader, later, offset))
                began_after = Implies(
                    And(model.image.leads(s, later), now > epoch), offset < s.broker[later].leader_epoch_start
                )
                return And(Implies(may_lead_later(model, s, later, epoch, place), Or(stays, has_it)), began_after)

            return Implies(may_commit, every_other(model, leader, keeps))

        return every_offset(model, kept)

    return every_place(model, heard, first=1)


@lemma(Cluster)
def committed_records_are_kept(model: Cluster, s: ClusterState) -> Condition:
    """A record that was seen was committed in some epoch, and all who may lead since then have kept it.

    They are in that epoch or a later one: those who may be elected or join the ISR, and those who lead, or are named
    leader by a change that they have not learned of. The epoch is looked for among those of the changes, in which every
    broker is: between two of them a later one asks nothing more of anybody.
    """

    def keeps(replica: Replica, offset: int, record: Num, commit: Num) -> Condition:
        b, now = s.broker[replica], epoch_of(model, s, replica)
        leads = And(model.image.leads(s, replica), commit <= now)
        named = [
            And(
                s.registrations[at].leader == replica,
                b.image_lag >= at,
                commit <= s.registrations[at].epoch,
                is_current(model, s, at),
            )
            for at in places(model)
        ]
        elected = electable_replicas(model, s).contains(replica)
        may_lead = And(b.running, Or(elected, is_proposed(model, s, replica), leads, *named))
        return Implies(may_lead, And(commit <= now, offset < b.leo, b.log[offset] == record))

    def kept(offset: int) -> Condition:
        record = s.seen[offset].or_else(0)

        def since(commit: Num) -> Condition:
            known = And(s.epoch_of[record] <= commit, commit <= s.registrations[0].epoch)
            return And(known, *[keeps(replica, offset, record, commit) for replica in model.all(Replica)])

        return Or(s.seen[offset].is_none(), *[since(s.registrations[at].epoch) for at in places(model)])

    return every_offset(model, kept)
