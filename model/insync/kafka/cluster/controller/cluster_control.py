"""Brokers that register, also a second time, and that ask to stop, as the controller handles it.

A second registration gives a running broker a new broker epoch until 3.8 (KAFKA-16952). Brokers register again after an
upgrade of the metadata version, to name their directories (KIP-858). Until 3.8 the controller treats that as a new
process. With the rule `same_incarnation_keeps_epoch` a second registration changes nothing, so the model has no such
step.

Kafka: ClusterControlManager.registerBroker, BrokerLifecycleManager.resendBrokerRegistration,
ReplicationControlManager.handleBrokerInControlledShutdown.
"""

from __future__ import annotations

from collections.abc import Sequence

from insync.kafka.cluster.broker_state import FailedLogDir
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import CONTROLLER, Coded, Moment, Never, arrow, operation, step
from insync.kafka.replica import Replica
from insync.model import (
    And,
    Arrow,
    Demand,
    Drawn,
    Hardness,
    If,
    Implies,
    Mark,
    MarkKind,
    Not,
    Or,
    require,
    when,
)

__all__ = ["ClusterControl"]


def _early_registration(moment: Moment) -> Demand | None:
    """A broker that is not fenced yet can hardly register.

    While its session lasts another incarnation is refused, and when it ends the controller fences it as the next thing
    it does: ClusterControlManager.registerBroker, BrokerHeartbeatManager.hasValidSession.
    """
    replica = moment.given["replica"]
    if replica in moment.before["controller"]["fenced"]:
        return None
    text = f"{replica} registers when its session has ended and before it is fenced"
    stalls = f"{text}: the controller stalls in ClusterControlManager.registerBroker"
    return Demand(moment.number, Hardness.RACE, stalls)


def _draw_registration(moment: Moment) -> Sequence[Drawn]:
    replica = moment.given["replica"]
    return [Mark(replica, "starts", MarkKind.UP), Arrow(replica, CONTROLLER, "registers")]


class ClusterControl(Part):
    """The controller's half of a registration and of a controlled shutdown."""

    @step(
        "{replica} asks to stop",
        needs=operation("{replica} is told to stop"),
        drawn=arrow("{replica}", CONTROLLER, "wants to stop"),
        classes=Coded(
            "a heartbeat that asks for the shutdown: one that leads is in controlled shutdown until the "
            "others have read who leads, any other is let go at once, and fenced"
        ),
        brokers=Never("a broker that stops cannot be held between what it asks and its end"),
    )
    def begin_stop(self, s: ClusterState, replica: Replica) -> None:
        """A broker wants to stop: the controller gives its leadership to another and takes it out of the ISR.

        The broker runs on, and leads as far as it knows until metadata tells it otherwise. To the controller it is as
        one that is fenced: it may not lead, nor be in the ISR.
        Kafka: ReplicationControlManager.handleBrokerInControlledShutdown, ClusterControlManager.isActive.
        """
        cluster = self.cluster
        b, spent = s.broker[replica], s.spent
        asks_again = (
            And(b.in_controlled_shutdown, Not(s.controller.fenced.contains(replica)))
            if self.features.quorum_decides
            else False
        )
        require(
            cluster.quorum.is_active(s),
            b.running,
            Or(
                asks_again, And(Not(b.in_controlled_shutdown), spent.controlled_shutdowns < self.b.controlled_shutdowns)
            ),
        )
        spent.controlled_shutdowns += If(asks_again, 0, 1)
        cluster.replication_control.leave_isr(s, replica)
        b.in_controlled_shutdown = True

    @step(
        "{replica} starts and registers",
        needs=_early_registration,
        drawn=_draw_registration,
        classes=Coded(
            "`QuorumController.registerBroker`, and the session of the former incarnation ends while that is handled"
        ),
        brokers=Coded("the process starts, with its heartbeats held"),
    )
    def register(self, s: ClusterState, replica: Replica) -> None:
        """A broker starts again and registers as a new incarnation, fenced until the controller gets its heartbeats.

        Unless it was stopped cleanly, it leaves ISR and ELR, in releases that do so. In KRaft its session may have
        expired without the controller having fenced it yet (KAFKA-18106). It begins with the newest metadata.
        Kafka: ClusterControlManager.registerBroker, ReplicationControlManager.handleBrokerShutdown.
        """
        cluster = self.cluster
        b, controller = s.broker[replica], s.controller
        require(cluster.quorum.is_active(s), Not(b.running))
        if self.rules.register_needs_fenced:
            require(controller.fenced.contains(replica))
        controller.fenced |= {replica}
        isr = s.registrations[0].isr
        leaves_elr = self.rules.unclean_leaves_elr
        was_electable = controller.elr.contains(replica) if leaves_elr else False
        member = Or(isr.contains(replica), was_electable)
        clean = (
            And(b.clean_shutdown, b.failed_log_dir == FailedLogDir.NONE) if self.rules.clean_stop_is_noticed else False
        )
        unclean = And(member, Not(clean))
        if (self.features.elr and leaves_elr) or self.rules.register_leaves_isr:
            change = cluster.builder.build_change(s, isr - {replica}, unclean={replica} if leaves_elr else ())
            require(Implies(unclean, cluster.builder.can_write(s, change)))
            with when(unclean):
                cluster.builder.write_change(s, change)
        if (self.features.quorum_decides or self.features.may_leave_twice) and self.rules.register_leaves_isr:
            cluster.replication_control.take_out(s, replica, seen=clean)
        b.clean_shutdown = False
        s.quorum.unwatched -= {replica}
        cluster.log_dirs.register_directory(s, replica)
        self.take_broker_epoch(s, replica)
        b.running = True
        cluster.assignments.take_accepted_copy(s, replica)
        with when(Not(cluster.log_dirs.is_offline(s, replica))):
            cluster.publisher.apply_local_delta(s, replica, -1, False, False)

    @step(
        "{replica} registers once more",
        needs=operation("{replica} registers once more, as after an upgrade of metadata.version"),
        classes=Never(),
    )
    def register_again(self, s: ClusterState, replica: Replica) -> None:
        """A broker that runs gets another broker epoch, and learns of it at once.

        Two effects are left out: 3.7.0 also fences the broker (KAFKA-16757), and with eligible leader replicas 3.8
        treats it as a broker that did not stop cleanly.
        Kafka: ClusterControlManager.registerBroker.
        """
        require(
            not self.guards.same_incarnation_keeps_epoch, self.cluster.quorum.is_active(s), s.broker[replica].running
        )
        self.take_broker_epoch(s, replica)

    def take_broker_epoch(self, s: ClusterState, replica: Replica) -> None:
        """Give a broker another epoch, so that requests and fetches with the former one are refused."""
        cluster = self.cluster
        for other, is_other in self.beside(replica):
            with when(is_other):
                s.broker[other].remote_replicas[replica].broker_epoch_is_current = False
        with when(s.alter_partition.isr.contains(replica)):
            s.alter_partition.broker_epochs_are_current = False
        cluster.alter_partition.outdate_retry_of(s, replica)
        with when(s.registrations[0].leader == replica):
            cluster.replication_control.forget_proposal(s)  # it was sent in the epoch before
        cluster.quorum.commit_at_once(s)
