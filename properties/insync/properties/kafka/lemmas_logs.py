"""Lemmas about Kafka's replication: the records in the logs, their epochs, and when two logs agree."""

from __future__ import annotations

from insync.kafka.published import Replication
from insync.kafka.published.replication import Epoch, RecordOffset, Replica
from insync.model import And, Condition, Implies, StateView, for_all
from insync.properties import lemma
from insync.properties.kafka.lemmas_terms import epoch_of, every_pair, every_record, in_its_epoch, of_leader

__all__ = [
    "epoch_and_offset_name_a_record",
    "equal_records_have_equal_pasts",
    "followers_have_a_prefix",
    "leader_has_all_of_its_epoch",
    "log_epochs_never_decrease",
    "record_epochs_had_a_leader",
    "record_ids_are_unique",
]


@lemma(Replication)
def log_epochs_never_decrease(model: Replication, s: StateView) -> Condition:
    """Along a log the epochs of the records never decrease, and none is above the epoch that the replica is in."""

    def ordered(replica: Replica, offset: int) -> Condition:
        log, leo = s.replica[replica].log, s.replica[replica].leo
        mine = log[offset].value.epoch

        def no_smaller(later: int) -> Condition:
            return Implies(And(offset < later, later < leo), mine <= log[later].value.epoch)

        return And(mine <= epoch_of(s, replica), for_all(RecordOffset, no_smaller))

    return every_record(model, s, ordered)


@lemma(Replication)
def record_epochs_had_a_leader(model: Replication, s: StateView) -> Condition:
    """A record of an epoch was written by the leader of that epoch, which is in it or has been."""

    def written(replica: Replica, offset: int) -> Condition:
        mine = s.replica[replica].log[offset].value.epoch

        def by(epoch: Epoch) -> Condition:
            is_named = s.requests[epoch].leader.is_some()
            entered = of_leader(model, s, epoch, lambda leader: epoch <= epoch_of(s, leader))
            return Implies(mine == epoch, And(epoch < s.next_epoch, is_named, entered))

        return for_all(model.all(Epoch), by)

    return every_record(model, s, written)


@lemma(Replication)
def equal_records_have_equal_pasts(model: Replication, s: StateView) -> Condition:
    """Two logs with the same record at an offset are the same below it."""

    def match(one: Replica, other: Replica, offset: int) -> Condition:
        def before(earlier: int) -> Condition:
            return Implies(earlier < offset, model.same_record(s, one, other, earlier))

        return Implies(model.same_record(s, one, other, offset), for_all(RecordOffset, before))

    return every_pair(model, match)


@lemma(Replication)
def followers_have_a_prefix(model: Replication, s: StateView) -> Condition:
    """The log of a follower that is in its leader's epoch is a prefix of the leader's log."""

    def prefix(leader: Replica, follower: Replica) -> Condition:
        follows = in_its_epoch(model, s, leader, follower)
        return Implies(follows, for_all(RecordOffset, lambda offset: has(leader, follower, offset)))

    def has(leader: Replica, follower: Replica, offset: int) -> Condition:
        return Implies(offset < s.replica[follower].leo, model.same_record(s, leader, follower, offset))

    def all_follow(leader: Replica) -> Condition:
        return for_all([r for r in model.all(Replica) if r != leader], lambda follower: prefix(leader, follower))

    return for_all(model.all(Replica), all_follow)


@lemma(Replication)
def record_ids_are_unique(model: Replication, s: StateView) -> Condition:
    """A record that is in two logs is at the same offset in both, in one epoch; and no log has a record twice."""
    replicas = model.all(Replica)

    def unique(one: Replica, other: Replica, a: int, b: int) -> Condition:
        x, y = s.replica[one], s.replica[other]
        both = And(a < x.leo, b < y.leo, x.log[a].value.id == y.log[b].value.id)
        return Implies(both, And(a == b, x.log[a].value.epoch == y.log[b].value.epoch))

    def of_one(one: Replica) -> Condition:
        others = [other for other in replicas if one <= other]
        return for_all(others, lambda other: for_all(RecordOffset, RecordOffset, lambda a, b: unique(one, other, a, b)))

    return for_all(replicas, of_one)


@lemma(Replication)
def leader_has_all_of_its_epoch(model: Replication, s: StateView) -> Condition:
    """While a leader is in its epoch, its log has every record of that epoch that is in any log, at the same offset."""

    def has(replica: Replica, offset: int) -> Condition:
        mine = s.replica[replica].log[offset].value.epoch

        def by(leader: Replica) -> Condition:
            leads = And(model.believes_it_leads(s, leader), s.replica[leader].epoch == mine)
            return Implies(leads, model.same_record(s, leader, replica, offset))

        return for_all(model.all(Replica), by)

    return every_record(model, s, has)


@lemma(Replication)
def epoch_and_offset_name_a_record(model: Replication, s: StateView) -> Condition:
    """Two logs whose records at an offset have the same epoch have the same record there."""

    def same(one: Replica, other: Replica, offset: int) -> Condition:
        a, b = s.replica[one], s.replica[other]
        both = And(offset < a.leo, offset < b.leo, a.log[offset].value.epoch == b.log[offset].value.epoch)
        return Implies(both, a.log[offset].value.id == b.log[offset].value.id)

    return every_pair(model, same)
