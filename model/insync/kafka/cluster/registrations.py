"""A broker that registers once more while it runs, where `same_incarnation_keeps_epoch` says so (KAFKA-16952).

KIP-858 has brokers do so after an upgrade of the metadata version, to name their directories. Until 3.8 the controller
takes that for the registration of a new process and gives it another broker epoch. With the rule it changes nothing, so
there is no such step.

Kafka: BrokerLifecycleManager.resendBrokerRegistration, ClusterControlManager.registerBroker.
"""

from __future__ import annotations

from insync.kafka.cluster.state import Actor, Replica
from insync.model import StateView, action, require, when

__all__ = ["Registrations"]


class Registrations(Actor):
    """What becomes of requests and fetches that name the broker epoch before."""

    @action(label="{replica} registers once more")
    def register_again(self, s: StateView, replica: Replica) -> None:
        """A broker that runs gets another broker epoch, and learns of it at once.

        What the controller does at a start besides is not done here: 3.7.0 also fences the broker (KAFKA-16757), and
        with eligible leader replicas 3.8 takes it for one that was not stopped cleanly.
        Kafka: ClusterControlManager.registerBroker.
        """
        require(not self.rules.same_incarnation_keeps_epoch, self.is_active(s), s.broker[replica].running)
        self.take_broker_epoch(s, replica)

    def take_broker_epoch(self, s: StateView, replica: Replica) -> None:
        """Give a broker another epoch: what was sent with the one before, or speaks of it, is too late."""
        for other, is_other in self.beside(replica):
            with when(is_other):
                s.broker[other].known[replica].current = False
        with when(s.alter.isr.contains(replica)):
            s.alter.current = False
        self.outdate_retry_of(s, replica)
        with when(s.changes[0].leader == replica):
            self.forget_proposal(s)  # it was sent in the epoch before
        self.commit_at_once(s)
