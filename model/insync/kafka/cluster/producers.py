"""A producer that sends a record again when it has no answer, and what makes a leader take it once (KIP-98).

All records are those of one producer here, sent one after the other without waiting. Its sequence numbers are not
kept: a leader knows them by its log, as Kafka's does when it has read it. A producer that gets a new epoch, and begins
to count anew, is not modelled. Kafka: KafkaProducer, Sender, ProducerStateManager, ProducerAppendInfo.
"""

from __future__ import annotations

from insync.kafka.cluster.configuration import Acks
from insync.kafka.cluster.state import Actor, RecordNumber, Replica
from insync.model import And, Condition, Not, Num, Or, StateView, action, maximum, require, when

__all__ = ["Producers"]


class Producers(Actor):
    """What a producer does that has no answer."""

    @action(label="{record} is sent again to {leader}")
    def send_again(self, s: StateView, leader: Replica, record: RecordNumber) -> None:
        """A leader appends a record that has been sent before, to this leader or to another one.

        It is a record of its own with the content of the former. With idempotence a leader appends it only if it does
        not have it, and has the one that was sent before it, or none at all.
        Kafka: Sender.canRetry, ProducerAppendInfo.checkSequence.
        """
        require(self.acks is not Acks.NONE, s.spent.retries < self.b.retries, self.waits_for_answer(s, record))
        if self.rules.producers_are_idempotent:
            require(self.is_next(s, leader, int(record)))
        s.spent.retries += 1
        self.append_sent(s, leader, int(record))

    @action(label="{leader} has {record} already, and says so")
    def acknowledge_again(self, s: StateView, leader: Replica, record: RecordNumber) -> None:
        """A record is sent again to a leader that has it, which answers when its high watermark has passed it.

        With acks=1 none is sent again: the leader acknowledges what it appends.
        Kafka: UnifiedLog.analyzeAndValidateProducerState, ProducerStateEntry.findDuplicateBatch.
        """
        require(self.b.retries > 0, self.rules.producers_are_idempotent, self.acks is Acks.ALL)
        require(self.leads(s, leader), self.waits_for_answer(s, record))
        l, view = s.broker[leader], self.view_of(s, leader)
        require(view.isr.count() >= self.minimum_at(s, leader))
        places = range(self.b.records)
        has_it = {at: And(self.holds(s, leader, at), at < l.hw, s.sent[l.log[at]] == record) for at in places}
        require(Or(*has_it.values()))
        for at, there in has_it.items():
            with when(there):
                s.acked |= {l.log[at]}

    def waits_for_answer(self, s: StateView, record: RecordNumber) -> Condition:
        """Whether a record was sent for the first time under this number, and is not acknowledged under any."""
        answered = [And(s.acked.contains(r), s.sent[int(r)] == record) for r in self.all(RecordNumber)]
        return And(s.written > int(record), s.sent[int(record)] == record, Not(Or(*answered)))

    def is_next(self, s: StateView, leader: Replica, record: Num | int) -> Condition:
        """Whether a record follows upon the last one in a leader's log, as it was sent; or the log has none.

        Kafka: ProducerAppendInfo.checkSequence, inSequence.
        """
        l = s.broker[leader]
        last = s.sent[l.log[maximum(l.leo - 1, 0)]]
        first_sent = [And(s.sent[n] == n, n < s.written) for n in range(self.b.records)]
        between = [And(first_sent[n], last < n, n < record) for n in range(self.b.records)]
        return Or(l.leo <= l.start, And(last < record, Not(Or(*between))))
