"""A producer that sends a record again when it has no answer, and what makes a leader take it once (KIP-98).

All records are those of one producer here, sent one after the other without waiting. Its sequence numbers are not
kept: a leader knows them by its log, as Kafka's does when it has read it. With `producer_restarts` it starts anew, with
the next producer epoch, and counts anew; what the former one has sent may still come.
Kafka: KafkaProducer, Sender, ProducerStateManager, ProducerAppendInfo.
"""

from __future__ import annotations

from collections.abc import Sequence

from insync.kafka.cluster.configuration import Acks
from insync.kafka.cluster.indices import RecordNumber
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import CLIENTS, Coded, Moment, Never, arrow, operation, step
from insync.kafka.replica import Replica
from insync.model import (
    And,
    Arrow,
    Condition,
    Demand,
    Drawn,
    Hardness,
    If,
    Not,
    Num,
    Or,
    maximum,
    require,
    when,
)

__all__ = ["Producer"]

_WITHOUT_NUMBERS = Never("records are sent without a producer's id, epoch or number here, each of them once")


def _late_record(moment: Moment) -> Demand | None:
    """A record that was sent before the producer has started anew."""
    record, epochs = moment.given["record"], moment.before.get("producer_epoch", {})
    if record not in epochs or epochs[record] >= moment.before["spent"]["producer_restarts"]:
        return None
    text = f"{record}, which the former producer has sent, comes late or is sent again by it"
    return Demand(moment.number, Hardness.DELAY, text)


def _draw_write(moment: Moment) -> Sequence[Drawn]:
    at = moment.was("leader")["leo"]
    return [Arrow(CLIENTS, moment.given["leader"], f"write {moment.now('leader')['log'][at]}")]


class Producer(Part):
    """What producers send, once and again."""

    @step(
        "{leader} appends a record",
        drawn=_draw_write,
        by_view=True,
        classes=Coded(
            "`ReplicaManager.appendRecords`; the answer to the producer is noted when it comes. With "
            "`retries` an idempotent producer's batch has its id, epoch and sequence number"
        ),
        brokers=Coded("a producer's request; its answer is noted when it comes"),
    )
    def write(self, s: ClusterState, leader: Replica) -> None:
        """A leader appends a producer's record; acks=1 acknowledges it at once, acks=all needs a large enough ISR.

        That it comes again is a step of its own (`Producer.send_again`). Kafka: Partition.appendRecordsToLeader.
        """
        if self.features.sends_again and self.features.is_idempotent:
            require(self.is_next(s, leader, s.written, s.spent.producer_restarts))
        if self.features.restarts_producer:
            s.producer_epoch[s.written] = s.spent.producer_restarts
        self.append_sent(s, leader, s.written)

    def append_sent(self, s: ClusterState, leader: Replica, sent: Num | int) -> None:
        """Append what a producer has sent, a new record or one that was sent before."""
        cluster = self.cluster
        require(s.written < self.b.records, cluster.image.leads(s, leader))
        view = cluster.image.registration_of(s, leader)
        if self.acks is Acks.ALL:
            require(view.isr.count() >= cluster.topic_config.minimum_at(s, leader))
        record = s.written
        if self.features.sends_again:
            s.sent[record] = sent
        s.epoch_of[record] = view.epoch
        cluster.coordinator.keep_back(s, leader, record)
        cluster.log.append(s, leader, record, view.epoch)
        s.broker[leader].seen_in_sync = set()
        if self.acks is Acks.LEADER:
            s.acked |= {record}
        s.written += 1
        cluster.high_watermark.advance_watermark(s, leader)

    @step(
        "{record} is sent again to {leader}",
        needs=_late_record,
        drawn=arrow(CLIENTS, "{leader}", "{record} again"),
        classes=Coded(
            "the batch of the record comes again with its numbers; if it is appended, it has a value of its own"
        ),
        brokers=_WITHOUT_NUMBERS,
    )
    def send_again(self, s: ClusterState, leader: Replica, record: RecordNumber) -> None:
        """A leader appends a record that has been sent before, to this leader or to another one.

        It is a record of its own with the content of the former. With idempotence a leader appends it only if it does
        not have it, and has the one that was sent before it, or none at all.
        Kafka: Sender.canRetry, ProducerAppendInfo.checkSequence.
        """
        require(self.acks is not Acks.NONE, s.spent.retries < self.b.retries, self.waits_for_answer(s, record))
        if self.features.is_idempotent:
            require(self.is_next(s, leader, record + 0, s.producer_epoch[record]))
        s.spent.retries += 1
        if self.features.restarts_producer:
            s.producer_epoch[s.written] = s.producer_epoch[record]
        self.append_sent(s, leader, record + 0)

    @step(
        "{leader} has {record} already, and says so",
        drawn=arrow(CLIENTS, "{leader}", "{record} again"),
        classes=Coded("the batch of the record comes again with its numbers"),
        brokers=_WITHOUT_NUMBERS,
        on=lambda f: f.sends_again and f.is_idempotent,
    )
    def acknowledge_again(self, s: ClusterState, leader: Replica, record: RecordNumber) -> None:
        """A record is sent again to a leader that has it, which answers when its high watermark has passed it.

        It may pass it with this request: a leader looks at its high watermark after each, whether it has appended
        anything or not. Its epoch enters the cache before it is found to be there, which counts where the log was
        replaced by a copy. Who sends with acks=1 has no numbers.
        Kafka: UnifiedLog.append, analyzeAndValidateProducerState, ProducerStateEntry.findDuplicateBatch,
        Partition.appendRecordsToLeader.
        """
        cluster = self.cluster
        require(cluster.image.leads(s, leader), self.waits_for_answer(s, record))
        l, view = s.broker[leader], cluster.image.registration_of(s, leader)
        require(view.isr.count() >= cluster.topic_config.minimum_at(s, leader))
        cluster.high_watermark.advance_watermark(s, leader)
        places = range(self.b.records)
        has_it = {at: And(cluster.log.holds(s, leader, at), at < l.hw, s.sent[l.log[at]] == record) for at in places}
        require(Or(*has_it.values()))
        if self.features.restarts_producer and self.guards.producer_keeps_id:
            require(s.producer_epoch[record] == s.producer_epoch[self.last_record(s, leader)])
        l.latest_epoch = maximum(l.latest_epoch, view.epoch)
        for at, there in has_it.items():
            with when(there):
                s.acked |= {l.log[at]}

    def waits_for_answer(self, s: ClusterState, record: RecordNumber) -> Condition:
        """Whether a record was sent for the first time under this number, and its producer has no answer for any.

        With acks=1 a leader answers as it appends, so there it is the answer that may be lost, of any record.
        """
        if self.acks is Acks.LEADER:
            return And(s.written > record, s.sent[record] == record)
        answered = [And(s.acked.contains(r), s.sent[r] == record) for r in self.all(RecordNumber)]
        return And(s.written > record, s.sent[record] == record, Not(Or(*answered)))

    @step(
        "the producer starts anew",
        needs=operation("the producer is started anew"),
        classes=Coded("nothing: a producer that starts anew tells nobody"),
        brokers=_WITHOUT_NUMBERS,
        on=lambda f: f.restarts_producer,
    )
    def restart_producer(self, s: ClusterState) -> None:
        """A producer with the same transactional.id begins, with the next producer epoch and its numbers from 0.

        Leaders learn of the epoch by the first record in it: that markers of a transaction may tell them before is left
        out. What the former producer waits for may still be sent again, by itself or late.
        Kafka: KafkaProducer.initTransactions, TransactionCoordinator.handleInitProducerId.
        """
        require(s.written > 0, s.written < self.b.records)
        require(s.spent.producer_restarts < self.b.producer_restarts)
        s.spent.producer_restarts += 1

    def last_record(self, s: ClusterState, leader: Replica) -> Num:
        """The last record of a leader's log, where it has one."""
        l = s.broker[leader]
        return l.log[maximum(l.leo - 1, 0)]

    def is_next(self, s: ClusterState, leader: Replica, record: Num | int, epoch: Num) -> Condition:
        """Whether a leader takes a record: by its sequence number, after its producer's last one in the log.

        A later epoch of the producer has to begin with its first record. If the log has nothing of a producer, any
        record of it is taken. Kafka: ProducerAppendInfo.checkProducerEpoch, checkSequence, inSequence.

        Args:
            s: the state.
            leader: the leader.
            record: the record, as it was sent first.
            epoch: the producer epoch in which it was sent.
        """
        l = s.broker[leader]
        if self.features.restarts_producer and not self.guards.producer_keeps_id:
            own = [
                And(self.cluster.log.holds(s, leader, at), s.producer_epoch[l.log[at]] == epoch)
                for at in range(self.b.records)
            ]
            last = maximum(-1, *[If(mine, s.sent[l.log[at]], -1) for at, mine in enumerate(own)])
            return Or(last < 0, self.follows_on(s, last, record))
        newest = self.last_record(s, leader)
        in_sequence = self.follows_on(s, s.sent[newest], record)
        if self.features.restarts_producer:
            known = s.producer_epoch[newest]
            earlier = [
                And(self.is_first_sent(s, n), n < record, s.producer_epoch[n] == epoch) for n in range(self.b.records)
            ]
            another = epoch > known if self.guards.old_producers_are_fenced else Not(epoch == known)
            in_sequence = Or(And(epoch == known, in_sequence), And(another, Not(Or(*earlier))))
        return Or(l.leo <= l.log_start, in_sequence)

    def follows_on(self, s: ClusterState, last: Num, record: Num | int) -> Condition:
        """Whether a record was sent right after another one."""
        between = [And(self.is_first_sent(s, n), last < n, n < record) for n in range(self.b.records)]
        return And(last < record, Not(Or(*between)))

    def is_first_sent(self, s: ClusterState, number: int) -> Condition:
        """Whether a record was sent for the first time under this number."""
        return And(s.sent[number] == number, number < s.written)
