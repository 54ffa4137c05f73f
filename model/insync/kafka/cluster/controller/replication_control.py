"""The controller: fencing, elections, and what it makes of a leader's proposal for the ISR.

Kafka: ReplicationControlManager.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from insync.kafka.cluster.controller.metadata_log import Registration
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import (
    CONTROLLER,
    Coded,
    Moment,
    Never,
    accepts_isr,
    failure,
    mark,
    nothing,
    operation,
    step,
)
from insync.kafka.replica import Replica
from insync.model import (
    And,
    Arrow,
    Condition,
    Demand,
    Drawn,
    Hardness,
    If,
    Implies,
    Mark,
    MarkKind,
    Not,
    require,
    when,
)

__all__ = ["ReplicationControl"]


def _silence(moment: Moment) -> Demand | None:
    """The controller gets no heartbeat of a running broker for too long; one that does not run is fenced by itself."""
    if not moment.was("replica")["running"]:
        return None
    text = "{replica} runs, but the controller gets no heartbeat of it for broker.session.timeout.ms"
    return Demand(moment.number, Hardness.DELAY, text.format(**moment.given))


def _draw_two_fenced(moment: Moment) -> Sequence[Drawn]:
    return [Mark(moment.given[name], "fenced", MarkKind.FENCED) for name in ("first", "second")]


def _draw_refusal(moment: Moment) -> Sequence[Drawn]:
    leader = moment.before["registrations"][0]["leader"]
    return [Arrow(CONTROLLER, leader, "refused", reply=True) if leader else Mark(CONTROLLER, "refuses")]


class ReplicationControl(Part):
    """What the controller does by itself and when it is asked."""

    @step(
        "controller fences {replica}",
        needs=_silence,
        drawn=mark("replica", "fenced", MarkKind.FENCED),
        classes=Coded(
            "half of a session passes, all others send a heartbeat, the other half passes, and the "
            "controller's own task finds the broker (`maybeFenceOneStaleBroker`)"
        ),
        brokers=Coded("the broker's heartbeats are held until its session has expired"),
    )
    def fence(self, s: ClusterState, replica: Replica) -> None:
        """A broker's session has expired: it leaves the ISR, and another leads if it led.

        The controller cannot tell a broker that has crashed from one that is cut off; only the latter is limited.
        Kafka: ReplicationControlManager.handleBrokerFenced.
        """
        running = s.broker[replica].running
        require(self.cluster.quorum.is_active(s), Not(s.controller.fenced.contains(replica)))
        require(Not(s.quorum.unwatched.contains(replica)))
        require(Implies(running, s.spent.fencings < self.b.fencings))
        with when(running):
            s.spent.fencings += 1
        self.leave_isr(s, replica)

    @step(
        "controller fences {first} and {second} at once",
        needs=failure("the sessions of {first} and {second} expire at the same time"),
        drawn=_draw_two_fenced,
        never=Never("Kafka's controller fences one broker at a time since 3.0"),
    )
    def fence_two(self, s: ClusterState, first: Replica, second: Replica) -> None:
        """Two sessions expire, and both changes are computed from the same ISR, so the second brings back the first.

        Kafka: QuorumController.maybeFenceReplicas, as it was before KAFKA-13173.
        """
        cluster = self.cluster
        require(not self.guards.fence_one_at_a_time, first != second)
        old = s.registrations[0].isr
        require(old.contains(second))
        self.fence(s, first)
        require(Not(s.controller.fenced.contains(second)), Not(s.broker[second].running))
        s.controller.fenced |= {second}
        change = cluster.builder.build_change(s, old - {second})
        require(cluster.builder.can_write(s, change))
        cluster.builder.write_change(s, change)

    @step(
        "controller unfences {replica}",
        drawn=mark("replica", "unfenced", MarkKind.UP),
        classes=Coded(
            "a heartbeat of a broker that is ready; the controller unfences it if it has read of its "
            "registration (`BrokerHeartbeatManager.calculateNextBrokerState`)"
        ),
        brokers=Coded("the broker's heartbeats pass again"),
    )
    def unfence(self, s: ClusterState, replica: Replica) -> None:
        """The controller gets a heartbeat of a registered broker again; if nobody leads, it may be elected.

        Kafka: ReplicationControlManager.handleBrokerUnfenced.
        """
        cluster = self.cluster
        require(cluster.quorum.is_active(s))
        require(
            s.controller.fenced.contains(replica),
            s.broker[replica].running,
            Not(s.broker[replica].in_controlled_shutdown),
        )
        s.controller.fenced -= {replica}
        leaderless = s.registrations[0].leader.is_none()
        change = cluster.builder.build_change(s, s.registrations[0].isr)
        require(Implies(leaderless, cluster.builder.can_write(s, change)))
        with when(leaderless):
            cluster.builder.write_change(s, change)

    @step(
        "controller elects {replica}",
        needs=operation("{replica} is made leader although nothing has failed, as the preferred one is"),
        drawn=nothing,
        classes=Coded(
            "the replicas are reordered, time passes until the controller's own task elects the preferred "
            "leader (`maybeBalancePartitionLeaders`), and the order is put back"
        ),
        brokers=Coded("the replicas are reordered, the preferred leader is elected, and the order is put back"),
    )
    def elect(self, s: ClusterState, replica: Replica) -> None:
        """A member of the ISR is made leader although nothing has failed, as when the preferred leader is asked for.

        Without a budget for another order of replicas any member may be preferred: the operator puts it first, and the
        order back after the election. Kafka: PartitionChangeBuilder.electPreferredLeader.
        """
        cluster = self.cluster
        require(cluster.quorum.is_active(s), s.spent.preferred_elections < self.b.preferred_elections)
        newest = s.registrations[0]
        require(newest.isr.contains(replica), Not(newest.leader == replica))
        require(Not(s.controller.fenced.contains(replica)), Not(s.controller.offline_replicas.contains(replica)))
        if self.features.can_reorder:
            require(cluster.replica_order.is_first(s, replica))
        s.spent.preferred_elections += 1
        s.controller.last_known_leader = None
        registration = replace(cluster.metadata_log.newest(s), leader=replica + 0, epoch=newest.epoch + 1)
        registration = replace(registration, listed=cluster.unassigned.listed_to_prefer(s, replica))
        require(cluster.metadata_log.has_room(s, registration))
        cluster.metadata_log.write_metadata(s, registration)

    @step(
        "controller accepts the ISR",
        drawn=accepts_isr,
        classes=Coded("the request that the leader has sent, handled by `ReplicationControlManager.alterPartition`"),
        brokers=Coded("the leader's request passes"),
    )
    def accept_alter_partition(self, s: ClusterState) -> None:
        """The controller writes a proposed ISR that passes its checks.

        Kafka: ReplicationControlManager.alterPartition, PartitionChangeBuilder.maybePopulateTargetElr.
        """
        cluster = self.cluster
        require(cluster.quorum.is_active(s), self.awaits_proposal(s), self.is_eligible(s))
        newest, isr = s.registrations[0], s.alter_partition.isr
        # A larger ISR may end a reassignment, and with it a leadership; and a leader may be known to have no directory.
        if self.features.reassigns or self.features.names_directories:
            made = cluster.builder.build_change(s, isr)
            require(cluster.builder.can_write(s, made))
            told = replace(made.registration, is_response=made.registration.leader == newest.leader)
            cluster.builder.write_change(s, replace(made, registration=told))
            self.forget_proposal(s)
            return
        s.controller.elr = cluster.builder.next_elr(s, isr, set(), cluster.reassignment.assigned(s))
        bump = False if self.rules.shrink_keeps_epoch else Not(newest.isr.is_subset(isr))
        registration = replace(
            cluster.metadata_log.newest(s), epoch=newest.epoch + If(bump, 1, 0), isr=isr, is_response=True
        )
        require(cluster.metadata_log.has_room(s, registration))
        cluster.metadata_log.write_metadata(s, registration)
        self.forget_proposal(s)

    @step(
        "controller refuses the ISR",
        drawn=_draw_refusal,
        classes=Coded(
            "the request that the leader has sent, handled by `ReplicationControlManager.alterPartition`; "
            "one that is too late is refused when its sender asks again"
        ),
    )
    def reject_alter_partition(self, s: ClusterState) -> None:
        """The controller refuses a proposed ISR with a member that is not eligible; the sender goes back to its own.

        After other refusals the sender waits for the metadata that will tell it more, so they are no steps.
        Kafka: ReplicationControlManager.validateAlterPartitionData, Partition.handleAlterPartitionError.
        """
        cluster = self.cluster
        require(
            cluster.quorum.is_active(s),
            cluster.quorum.all_committed(s),
            self.awaits_proposal(s),
            Not(self.is_eligible(s)),
        )
        self.answer_refusal(s)
        cluster.quorum.forget_committed_proposal(s)

    def answer_refusal(self, s: ClusterState) -> None:
        """The leader learns that its proposal is refused, and goes back to the ISR that it had."""
        for replica in self.all(Replica):
            b = s.broker[replica]
            with when(And(s.registrations[0].leader == replica, b.pending_isr == s.alter_partition.isr)):
                b.pending_isr = set()
        self.forget_proposal(s)

    def awaits_proposal(self, s: ClusterState) -> Condition:
        """Whether a proposal is on its way from the leader, in its epoch, about the partition as it is."""
        return Not(s.alter_partition.isr.is_empty())

    def makes_late(self, s: ClusterState, registration: Registration) -> Condition:
        """Whether a change makes a proposal late that is on its way: by the partition epoch, or the leader epoch alone.

        Kafka: ReplicationControlManager.validateAlterPartitionData.
        """
        if self.guards.compare_partition_epoch:
            return Not(registration.configuration)
        return registration.epoch != s.registrations[0].epoch

    def is_eligible(self, s: ClusterState) -> Condition:
        """Whether all members proposed may be in the ISR (ReplicationControlManager.ineligibleReplicasForIsr)."""
        unfenced = (s.alter_partition.isr & s.controller.fenced).is_empty() if self.rules.isr_needs_unfenced else True
        if self.fixes.isr_needs_directory:
            unfenced = And(unfenced, (s.alter_partition.isr & s.controller.offline_replicas).is_empty())
        current = s.alter_partition.broker_epochs_are_current if self.rules.isr_needs_broker_epoch else True
        if self.features.reassigns and self.rules.isr_within_replicas:
            current = And(current, s.alter_partition.isr.is_subset(s.registrations[0].replicas))
        return And(unfenced, current)

    def forget_proposal(self, s: ClusterState) -> None:
        """No proposal is on its way any more."""
        s.alter_partition.isr = set()
        s.alter_partition.broker_epochs_are_current = False

    def leave_isr(self, s: ClusterState, replica: Replica) -> None:
        """Fence a broker: it leaves the ISR if it is in it, and another leads if it led."""
        s.controller.fenced |= {replica}
        self.take_out(s, replica)

    def take_out(self, s: ClusterState, replica: Replica, seen: Condition = True) -> None:
        """Take a replica that may not lead any more out of the ISR, if it is seen (generateLeaderAndIsrUpdates)."""
        cluster = self.cluster
        isr = s.registrations[0].isr
        member, change = And(isr.contains(replica), seen), cluster.builder.build_change(s, isr - {replica})
        require(Implies(member, cluster.builder.can_write(s, change)))
        with when(member):
            cluster.builder.write_change(s, change)
