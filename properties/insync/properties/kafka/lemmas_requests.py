"""Lemmas about Kafka's replication: the shape of its state, the requests on their way, and the controller's quorum."""

from __future__ import annotations

from insync.kafka.published import Replication
from insync.kafka.published.replication import Epoch, RecordOffset, Replica
from insync.model import NONE, And, Condition, Implies, Or, StateView, for_all
from insync.properties import lemma
from insync.properties.kafka.lemmas_terms import epoch_of, every_record, is_left, isr_of, of_leader

__all__ = [
    "high_watermark_is_within_the_log",
    "isr_shrinks_until_left",
    "leader_is_in_its_isr",
    "leaders_enter_their_epoch_first",
    "log_is_blank_from_its_end",
    "quorum_is_the_newest_request",
    "record_ids_are_old",
    "replicas_believe_their_request",
    "unsent_requests_are_blank",
]


@lemma(Replication)
def log_is_blank_from_its_end(model: Replication, s: StateView) -> Condition:
    """A log has a record at each offset below its end, and nothing from there on."""

    def consistent(replica: Replica, offset: int) -> Condition:
        entry, within = s.replica[replica].log[offset], offset < s.replica[replica].leo
        blank = And(entry.is_none(), entry.value.id == 0, entry.value.epoch == 0)
        return And(Implies(within, entry.is_some()), Or(within, blank))

    return for_all(
        model.all(Replica), lambda replica: for_all(RecordOffset, lambda offset: consistent(replica, offset))
    )


@lemma(Replication)
def high_watermark_is_within_the_log(model: Replication, s: StateView) -> Condition:
    """No high watermark lies beyond the end of its replica's log."""
    return for_all(model.all(Replica), lambda replica: s.replica[replica].hw <= s.replica[replica].leo)


@lemma(Replication)
def unsent_requests_are_blank(model: Replication, s: StateView) -> Condition:
    """A request that was not sent names no leader and no ISR."""

    def blank(epoch: Epoch) -> Condition:
        request = s.requests[epoch]
        return Or(epoch < s.next_epoch, And(request.leader == NONE, request.isr.is_empty()))

    return for_all(model.all(Epoch), blank)


@lemma(Replication)
def record_ids_are_old(model: Replication, s: StateView) -> Condition:
    """Every record in a log has been written: its number is below the next one."""
    return every_record(model, s, lambda replica, offset: s.replica[replica].log[offset].value.id < s.next_record)


@lemma(Replication)
def leader_is_in_its_isr(model: Replication, s: StateView) -> Condition:
    """The leader that a request names is in the ISR that it names, and a replica that leads is in its own."""

    def of_request(epoch: Epoch) -> Condition:
        return of_leader(model, s, epoch, lambda leader: s.requests[epoch].isr.contains(leader))

    def of_replica(leader: Replica) -> Condition:
        return Implies(model.believes_it_leads(s, leader), s.replica[leader].isr.contains(leader))

    return And(for_all(model.all(Epoch), of_request), for_all(model.all(Replica), of_replica))


@lemma(Replication)
def quorum_is_the_newest_request(model: Replication, s: StateView) -> Condition:
    """The controller's leader is that of the newest request, and so is its ISR, once that is decided."""

    def same(epoch: Epoch) -> Condition:
        quorum = And(s.quorum.leader == s.requests[epoch].leader, s.quorum.isr == isr_of(model, s, epoch))
        return Implies(s.next_epoch == epoch + 1, quorum)

    none_sent = Implies(s.next_epoch == 0, s.quorum.leader == NONE)
    return And(none_sent, for_all(model.all(Epoch), same))


@lemma(Replication)
def replicas_believe_their_request(model: Replication, s: StateView) -> Condition:
    """A replica in an epoch has its leader from that epoch's request; a replica in none knows no leader."""

    def believes(replica: Replica) -> Condition:
        r = s.replica[replica]

        def told(epoch: Epoch) -> Condition:
            return Implies(r.epoch == epoch, And(epoch < s.next_epoch, r.leader == s.requests[epoch].leader))

        return And(r.epoch.is_none() == r.leader.is_none(), for_all(model.all(Epoch), told))

    return for_all(model.all(Replica), believes)


@lemma(Replication)
def leaders_enter_their_epoch_first(model: Replication, s: StateView) -> Condition:
    """A replica in an epoch follows a leader that is in it or has been: the leader's epoch is no smaller."""

    def entered(replica: Replica, leader: Replica) -> Condition:
        return Implies(s.replica[replica].leader == leader, epoch_of(s, replica) <= epoch_of(s, leader))

    replicas = model.all(Replica)
    return for_all(replicas, lambda replica: for_all(replicas, lambda leader: entered(replica, leader)))


@lemma(Replication)
def isr_shrinks_until_left(model: Replication, s: StateView) -> Condition:
    """Until an epoch is left, every later ISR, sent or the controller's, is a part of that epoch's ISR."""

    def stays(epoch: Epoch) -> Condition:
        isr = isr_of(model, s, epoch)

        def is_part(later: Epoch) -> Condition:
            return Implies(epoch < later, s.requests[later].isr.is_subset(isr))

        parts = And(s.quorum.isr.is_subset(isr), for_all(model.all(Epoch), is_part))
        return Or(s.next_epoch <= epoch, is_left(model, s, epoch), parts)

    return for_all(model.all(Epoch), stays)
