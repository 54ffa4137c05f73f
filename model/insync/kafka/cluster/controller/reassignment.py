"""The replicas of the partition: an operator gives it to other brokers, and may take that back; how that ends.

It is modelled as the KRaft controller does it, so there is none with the releases in which a leader writes the ISR
itself. Without a budget for reassignments the replicas never change.

Kafka: ReplicationControlManager.alterPartitionReassignments, PartitionReassignmentReplicas,
PartitionChangeBuilder.completeReassignmentIfNeeded.
"""

from __future__ import annotations

from dataclasses import dataclass

from insync.kafka.cluster.indices import Target
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import CLIENTS, CONTROLLER, Coded, arrow, operation, step
from insync.kafka.releases import ReassignmentEnd
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Implies, Not, Num, Or, SetValue, minimum, require, set_of

__all__ = ["Assigned", "Completion", "Reassignment"]


@dataclass(frozen=True, slots=True)
class Assigned:
    """Who has a replica, and what is to become of them.

    Attributes:
        replicas: all that have one, those included that are to come and to go.
        adding: those that are to come: they stay when the reassignment ends, and go when it is taken back.
        removing: those that are to go when it ends.
        places: the place of each broker in the order of replicas; none where that never changes.
    """

    replicas: SetValue
    adding: SetValue
    removing: SetValue
    places: tuple[Num | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """What a reassignment has come to.

    Attributes:
        assigned: the replicas after it.
        isr: the ISR after it.
        under_min_isr: whether it has ended with fewer members of the ISR than min.insync.replicas.
    """

    assigned: Assigned
    isr: SetValue
    under_min_isr: Condition


class Reassignment(Part):
    """What operators ask the controller to do with the replicas, and how a reassignment ends."""

    @step(
        "operator assigns the partition to {target}",
        needs=operation("the partition is assigned to other replicas"),
        drawn=arrow(CLIENTS, CONTROLLER, "assign {target}"),
        classes=Coded("`alterPartitionReassignments`"),
        brokers=Coded("as an operator asks for it"),
        on=lambda f: f.can_reassign,
    )
    def reassign(self, s: ClusterState, target: Target) -> None:
        """An operator names the brokers that shall have a replica; until they are all in the ISR nobody is removed.

        What this adds and removes is reckoned from all that have a replica now. While another reassignment is under
        way, what that adds or removes stays if this one adds or removes nobody: a replica may then be to come and to
        go. If it changes the leader, nobody is elected who may lack records, although the topic may allow that.
        Kafka: ReplicationControlManager.changePartitionReassignment, which hands on sets that are not empty alone, and
        is the one of those who change the partition that does not ask whether unclean elections are allowed.
        """
        cluster = self.cluster
        require(cluster.quorum.is_active(s), int(target) > 0)
        require(s.spent.reassignments < self.b.reassignments)
        present = self.assigned(s)
        require(Or(present.replicas != target, Not(present.adding.is_empty()), Not(present.removing.is_empty())))
        s.spent.reassignments += 1
        adding, removing = (present.replicas | target) - present.replicas, present.replicas - target
        if not self.fixes.reassignment_forgets_former:
            adding = If(adding.is_empty(), present.adding, adding)
            removing = If(removing.is_empty(), present.removing, removing)
        assigned = Assigned(present.replicas | target, adding, removing, present.places)
        if self.features.can_reorder:
            assigned = cluster.replica_order.in_order(assigned, assigned.replicas - (present.replicas - target))
        change = cluster.builder.build_change(s, s.registrations[0].isr, assigned=assigned, clean=True)
        require(cluster.builder.can_write(s, change))
        cluster.builder.write_change(s, change)

    @step(
        "operator cancels the reassignment",
        needs=operation("a reassignment is taken back"),
        drawn=arrow(CLIENTS, CONTROLLER, "cancel"),
        classes=Coded("`alterPartitionReassignments`"),
        on=lambda f: f.can_reassign,
    )
    def cancel_reassignment(self, s: ClusterState) -> None:
        """An operator takes a reassignment back: who was to be added is out, and who was to be removed stays.

        If that leaves no member in the ISR, the first replica becomes one, whatever its log has. This counts as an
        unclean election and is refused unless those are allowed.
        Kafka: ReplicationControlManager.cancelPartitionReassignment, PartitionReassignmentRevert.
        """
        cluster = self.cluster
        require(cluster.quorum.is_active(s))
        require(s.spent.reassignments < self.b.reassignments)
        present = self.assigned(s)
        require(Or(Not(present.adding.is_empty()), Not(present.removing.is_empty())))
        s.spent.reassignments += 1
        old, isr = present.replicas - present.adding, s.registrations[0].isr - present.adding
        if self.guards.cancel_needs_member and not self.features.unclean_leader_election:
            require(Not(isr.is_empty()))
        needed = minimum(self.needed, old.count())
        thin = And(isr.count() < needed, s.registrations[0].isr.count() >= needed)
        if self.fixes.cancel_keeps_minimum:
            require(Not(thin))
        first = cluster.builder.first(old.contains, -1, present)
        change = cluster.builder.build_change(
            s, If(isr.is_empty(), set_of([first]), isr), assigned=Assigned(old, old - old, old - old, present.places)
        )
        require(cluster.builder.can_write(s, change))
        s.reassigned_under_min_isr = Or(s.reassigned_under_min_isr, thin)
        cluster.builder.write_change(s, change)

    def assigned(self, s: ClusterState) -> Assigned:
        """The present assignment."""
        return Assigned(
            s.registrations[0].replicas,
            s.controller.adding,
            s.controller.removing,
            self.cluster.replica_order.places_of(s),
        )

    def complete_reassignment(self, isr: SetValue, assigned: Assigned) -> Completion:
        """End a reassignment, if it can end with this ISR; it is tried with every change.

        Kafka: PartitionReassignmentReplicas.maybeCompleteReassignment; `ReassignmentEnd` says what releases wait for.
        """
        left, staying = isr - assigned.removing, assigned.replicas - assigned.removing
        under_way = Not(And(assigned.adding.is_empty(), assigned.removing.is_empty()))
        ends = And(under_way, Not(left.is_empty()), Not(staying.is_empty()), self.may_end(left, assigned))
        thin = And(ends, left.count() < minimum(self.needed, staying.count()))
        after = Assigned(
            If(ends, staying, assigned.replicas),
            If(ends, set(), assigned.adding),
            If(ends, set(), assigned.removing),
            assigned.places,
        )
        return Completion(self.cluster.replica_order.in_order(after, after.replicas), If(ends, left, isr), thin)

    def may_end(self, left: SetValue, assigned: Assigned) -> Condition:
        """Whether those are in the ISR for whom a reassignment waits, by the ISR without those who go."""
        staying = assigned.replicas - assigned.removing
        if self.rules.reassignment_ends is ReassignmentEnd.TARGETS:
            return staying.is_subset(left)
        added = assigned.adding.is_subset(left)
        if self.rules.reassignment_ends is ReassignmentEnd.ADDED:
            return added
        fewer = assigned.adding.count() < assigned.removing.count()
        return And(added, Implies(fewer, staying.is_subset(left)))

    def has_replica(self, s: ClusterState, chosen: Num | int) -> Condition:
        """Whether a broker, or nobody (-1), has a replica already.

        A change that would elect a broker which it adds is refused: the code throws, and the request is an error.
        Kafka: LeaderAcceptor.test, PartitionRegistration.directory.
        """
        if not self.features.reassigns:
            return True
        return Or(chosen < 0, *[And(chosen == r, s.registrations[0].replicas.contains(r)) for r in self.all(Replica)])

    def is_reassigned(self, s: ClusterState, assigned: Assigned) -> Condition:
        """Whether an assignment differs from the present one."""
        present = self.assigned(s)
        same = And(
            assigned.replicas == present.replicas,
            assigned.adding == present.adding,
            assigned.removing == present.removing,
        )
        return Or(Not(same), self.cluster.replica_order.moves(s, assigned))
