"""Reassignment: an operator gives the partition to other brokers, and may take that back.

Kafka: ReplicationControlManager.alterPartitionReassignments. It is modelled as the KRaft controller does it, so there
is none with the releases in which a leader writes the ISR itself.
"""

from __future__ import annotations

from insync.kafka.cluster.actor import Actor
from insync.kafka.cluster.assignment import Assigned
from insync.kafka.cluster.indices import Target
from insync.kafka.cluster.state import ClusterState
from insync.model import And, If, Not, Or, action, minimum, require, set_of

__all__ = ["Reassignment"]


class Reassignment(Actor):
    """What operators ask the controller to do with the replicas."""

    @action(label="operator assigns the partition to {target}")
    def reassign(self, s: ClusterState, target: Target) -> None:
        """An operator names the brokers that shall have a replica; until they are all in the ISR nobody is removed.

        What this adds and removes is reckoned from all that have a replica now. While another reassignment is under
        way, what that adds or removes stays if this one adds or removes nobody: a replica may then be to come and to
        go. If it changes the leader, nobody is elected who may lack records, although the topic may allow that.
        Kafka: ReplicationControlManager.changePartitionReassignment, which hands on sets that are not empty alone, and
        is the one of those who change the partition that does not ask whether unclean elections are allowed.
        """
        require(self.features.can_reassign, self.is_active(s), int(target) > 0)
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
            assigned = self.in_order(assigned, assigned.replicas - (present.replicas - target))
        change = self.build_change(s, s.changes[0].isr, assigned=assigned, clean=True)
        require(self.can_write(s, change))
        self.write_change(s, change)

    @action(label="operator cancels the reassignment")
    def cancel_reassignment(self, s: ClusterState) -> None:
        """An operator takes a reassignment back: who was to be added is out, and who was to be removed stays.

        If that leaves no member in the ISR, the first replica becomes one, whatever its log has. This counts as an
        unclean election and is refused unless those are allowed.
        Kafka: ReplicationControlManager.cancelPartitionReassignment, PartitionReassignmentRevert.
        """
        require(self.features.can_reassign, self.is_active(s))
        require(s.spent.reassignments < self.b.reassignments)
        present = self.assigned(s)
        require(Or(Not(present.adding.is_empty()), Not(present.removing.is_empty())))
        s.spent.reassignments += 1
        old, isr = present.replicas - present.adding, s.changes[0].isr - present.adding
        if self.guards.cancel_needs_member and not self.features.unclean:
            require(Not(isr.is_empty()))
        needed = minimum(self.needed, old.count())
        thin = And(isr.count() < needed, s.changes[0].isr.count() >= needed)
        if self.fixes.cancel_keeps_minimum:
            require(Not(thin))
        first = self.first(old.contains, -1, present)
        change = self.build_change(
            s, If(isr.is_empty(), set_of([first]), isr), assigned=Assigned(old, old - old, old - old, present.places)
        )
        require(self.can_write(s, change))
        s.thin_move = Or(s.thin_move, thin)
        self.write_change(s, change)
