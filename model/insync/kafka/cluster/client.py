"""The clients: producers that write, and operators that change min.insync.replicas.

What they are told is noted where the high watermark moves (`Leader.tell_clients`).
"""

from __future__ import annotations

from dataclasses import replace

from insync.kafka.cluster.actor import Actor
from insync.kafka.cluster.configuration import Acks
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, Not, Num, Or, action, require, when

__all__ = ["Client"]


class Client(Actor):
    """What comes from outside the cluster."""

    @action(label="{leader} appends a record")
    def write(self, s: ClusterState, leader: Replica) -> None:
        """A leader appends a producer's record; acks=1 acknowledges it at once, acks=all needs a large enough ISR.

        That it comes again is a step of its own (`Producers.send_again`). Kafka: Partition.appendRecordsToLeader.
        """
        if self.features.sends_again and self.features.is_idempotent:
            require(self.is_next(s, leader, s.written, s.spent.producer_restarts))
        if self.features.restarts_producer:
            s.producer_epoch[s.written] = s.spent.producer_restarts
        self.append_sent(s, leader, s.written)

    def append_sent(self, s: ClusterState, leader: Replica, sent: Num) -> None:
        """Append what a producer has sent, a new record or one that was sent before."""
        require(s.written < self.b.records, self.leads(s, leader))
        view = self.view_of(s, leader)
        if self.acks is Acks.ALL:
            require(view.isr.count() >= self.minimum_at(s, leader))
        record = s.written
        if self.features.sends_again:
            s.sent[record] = sent
        s.epoch_of[record] = view.epoch
        self.keep_back(s, leader, record)
        self.append(s, leader, record, view.epoch)
        s.broker[leader].joining = set()
        if self.acks is Acks.LEADER:
            s.acked |= {record}
        s.written += 1
        self.advance_watermark(s, leader)

    @action(label="{leader} deletes a record")
    def delete_record(self, s: ClusterState, leader: Replica) -> None:
        """A leader deletes its first record, which is committed, for an operator or because it is old.

        Kafka: Partition.deleteRecordsOnLeader, UnifiedLog.deleteOldSegments.
        """
        l = s.broker[leader]
        require(s.spent.deletions < self.b.deletions, self.leads(s, leader), l.start < l.hw)
        require(self.may_delete(s, leader))
        s.spent.deletions += 1
        s.deleted |= {l.log[l.start]}
        self.raise_start(s, leader, l.start + 1)
        self.await_deletion(s, leader, l.start)

    @action(label="min.insync.replicas changes")
    def change_minimum(self, s: ClusterState) -> None:
        """An operator sets min.insync.replicas to 1, or back; `MinimumChange` says how brokers learn it.

        Where it is 1 already that is no change: nothing is written.
        It empties the ELR and forgets the last known leader, which bumps the partition epoch if there was one of them.
        Kafka: ConfigurationControlManager.incrementalAlterConfigs, ReplicationControlManager.removeTopicElrs
        (KAFKA-16540).
        """
        require(self.is_active(s), self.b.min_insync > 1, s.spent.minimum_changes < self.b.minimum_changes)
        s.spent.minimum_changes += 1
        controller = s.controller
        configuration: Condition = self.features.configures
        controller.minimum_is_one = Not(controller.minimum_is_one)
        if self.rules.minimum_change_clears_elr:
            spared = s.changes[0].leader.is_none() if self.fixes.minimum_change_needs_leader else False
            clears = And(Or(Not(controller.elr.is_empty()), controller.last_leader.is_some()), Not(spared))
            configuration = And(self.features.configures, Not(clears))
            with when(clears):
                controller.elr = set()
                controller.last_leader = None
        change = replace(self.newest(s), configuration=configuration)
        require(self.has_room(s, change))
        self.write_metadata(s, change)
