"""A second registration of a running broker, which gives it a new broker epoch until 3.8 (KAFKA-16952).

Brokers register again after an upgrade of the metadata version, to name their directories (KIP-858). Until 3.8 the
controller treats that as a new process. With the rule `same_incarnation_keeps_epoch` a second registration changes
nothing, so the model has no such step.

Kafka: BrokerLifecycleManager.resendBrokerRegistration, ClusterControlManager.registerBroker.
"""

from __future__ import annotations

from insync.kafka.cluster.actor import Actor
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import action, require, when

__all__ = ["Registrations"]


class Registrations(Actor):
    """Second registrations, and the requests and fetches that carry the former broker epoch."""

    @action(label="{replica} registers once more")
    def register_again(self, s: ClusterState, replica: Replica) -> None:
        """A broker that runs gets another broker epoch, and learns of it at once.

        Two effects are left out: 3.7.0 also fences the broker (KAFKA-16757), and with eligible leader replicas 3.8
        treats it as a broker that did not stop cleanly.
        Kafka: ClusterControlManager.registerBroker.
        """
        require(not self.guards.same_incarnation_keeps_epoch, self.is_active(s), s.broker[replica].running)
        self.take_broker_epoch(s, replica)

    def take_broker_epoch(self, s: ClusterState, replica: Replica) -> None:
        """Give a broker another epoch, so that requests and fetches with the former one are refused."""
        for other, is_other in self.beside(replica):
            with when(is_other):
                s.broker[other].known[replica].current = False
        with when(s.alter.isr.contains(replica)):
            s.alter.current = False
        self.outdate_retry_of(s, replica)
        with when(s.changes[0].leader == replica):
            self.forget_proposal(s)  # it was sent in the epoch before
        self.commit_at_once(s)
