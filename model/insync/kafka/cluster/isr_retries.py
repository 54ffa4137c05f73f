"""An AlterPartition whose answer is lost, with `alter_retries`: the leader sends it again until it is answered.

A request that is lost before the controller handles it, or whose refusal is lost, is one that the controller handles
later, which needs nothing here. What is left is one that the controller has accepted.
Kafka: DefaultAlterPartitionManager.sendRequest, NodeToControllerChannelManager, which never gives up (retryTimeoutMs).
"""

from __future__ import annotations

from insync.kafka.cluster.actor import Actor
from insync.kafka.cluster.metadata import Change
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import Condition, Implies, Not, Or, action, require, snapshot, when

__all__ = ["IsrRetries"]


class IsrRetries(Actor):
    """What becomes of a request that comes a second time."""

    @action(label="controller accepts the ISR, and its answer is lost")
    def accept_isr_unheard(self, s: ClusterState) -> None:
        """The controller writes a proposed ISR, and the connection breaks before the leader hears of it.

        The leader will send the same request again, unless another leader epoch has begun. Metadata tells it meanwhile.
        Kafka: ReplicationControlManager.alterPartition, DefaultAlterPartitionManager.maybePropagateIsrChanges.
        """
        require(s.spent.alter_retries < self.b.alter_retries, s.again.isr.is_empty())
        s.spent.alter_retries += 1
        proposed, newest = snapshot(s.alter), snapshot(s.changes[0])
        self.accept_isr(s)
        if self.features.notes_replies:
            s.changes[0].replied = False
        with when(s.changes[0].epoch == newest.epoch):
            s.again.isr = proposed.isr
            s.again.current = proposed.current

    @action(label="controller gets the request for the ISR again")
    def get_isr_again(self, s: ClusterState) -> None:
        """The request has the partition epoch with which it was made, so it is refused (INVALID_UPDATE_VERSION).

        The leader then does nothing but wait for metadata. The controller of the ZooKeeper era looks first whether the
        ISR is the same, and answers with what is there (KafkaController.tryProcessAlterPartition, read in 3.5.0), which
        is no more than metadata says.
        Kafka: ReplicationControlManager.validateAlterPartitionData, Partition.handleAlterPartitionError.
        """
        require(Not(s.again.isr.is_empty()), self.is_active(s), self.all_committed(s))
        if not (self.guards.retry_keeps_partition_epoch and self.guards.compare_partition_epoch):
            newest = s.changes[0].leader
            knows = [Implies(newest == replica, self.knows_partition(s, replica)) for replica in self.all(Replica)]
            require(Not(self.awaits_proposal(s)), *knows)
            s.alter.isr = s.again.isr
            s.alter.current = s.again.current
        self.forget_retry(s)
        self.forget_committed_retry(s)

    def may_ask(self, s: ClusterState, leader: Replica) -> Condition:
        """Whether a leader has no request on its way that will be sent again; the next one is not attempted then.

        Kafka: AlterPartitionManager.submit, which answers OPERATION_NOT_ATTEMPTED.
        """
        if not self.features.asks_again:
            return True
        return Or(s.again.isr.is_empty(), Not(s.changes[0].leader == leader))

    def outdate_retry(self, s: ClusterState, change: Change) -> None:
        """Forget a request that is late by its leader epoch; whoever gets it refuses it."""
        if self.features.asks_again:
            with when(change.epoch != s.changes[0].epoch):
                self.forget_retry(s)

    def outdate_retry_of(self, s: ClusterState, replica: Replica) -> None:
        """A broker has registered again: it is another incarnation than a request names, or than has sent it."""
        if self.features.asks_again:
            with when(s.again.isr.contains(replica)):
                s.again.current = False
            with when(s.changes[0].leader == replica):
                self.forget_retry(s)

    def forget_retry(self, s: ClusterState) -> None:
        """No request will come again."""
        s.again.isr = set()
        s.again.current = False

    def forget_committed_retry(self, s: ClusterState) -> None:
        """A request has come again, also as far as is committed."""
        if self.features.quorum_decides:
            s.quorum.again.isr = set()
            s.quorum.again.current = False
