"""Reassignment: an operator gives the partition to other brokers, and may take that back.

Kafka: ReplicationControlManager.alterPartitionReassignments. It is modelled as the KRaft controller does it, so there
is none with the releases in which a leader writes the ISR itself.
"""

from __future__ import annotations

from insync.kafka.cluster.assignment import Assigned
from insync.kafka.cluster.controller import Controller
from insync.kafka.cluster.state import Target
from insync.kafka.releases import IsrWrite
from insync.model import And, If, Not, Or, StateView, action, minimum, require

__all__ = ["Reassignment"]


class Reassignment(Controller):
    """What operators ask the controller to do with the replicas."""

    name = "cluster_reassignment"

    @action(label="operator assigns the partition to {target}")
    def reassign(self, s: StateView, target: Target) -> None:
        """An operator names the brokers that shall have a replica; until they are all in the ISR nobody is removed.

        Kafka: ReplicationControlManager.changePartitionReassignment.
        """
        require(self.can_reassign, int(target) > 0)
        require(s.spent.reassignments < self.b.reassignments)
        present = self.assigned(s)
        require(Or(present.replicas != target, Not(present.adding.is_empty()), Not(present.removing.is_empty())))
        s.spent.reassignments += 1
        assigned = Assigned(
            present.replicas | target, (present.replicas | target) - present.replicas, present.replicas - target
        )
        self.settle(s, True, s.changes[0].isr, lambda r: Not(s.controller.fenced.contains(r)), assigned=assigned)

    @action(label="operator cancels the reassignment")
    def cancel_reassignment(self, s: StateView) -> None:
        """An operator takes a reassignment back: who was to be added is out, and who was to be removed stays.

        If that leaves no member in the ISR, the first replica becomes one, whatever its log has. This counts as an
        unclean election and is refused unless those are allowed.
        Kafka: ReplicationControlManager.cancelPartitionReassignment, PartitionReassignmentRevert.
        """
        require(self.can_reassign)
        require(s.spent.reassignments < self.b.reassignments)
        present = self.assigned(s)
        require(Or(Not(present.adding.is_empty()), Not(present.removing.is_empty())))
        s.spent.reassignments += 1
        old, isr = present.replicas - present.adding, s.changes[0].isr - present.adding
        if self.rules.cancel_needs_member and not self.unclean:
            require(Not(isr.is_empty()))
        needed = minimum(self.needed, old.count())
        thin = And(isr.count() < needed, s.changes[0].isr.count() >= needed)
        if self.rules.cancel_keeps_minimum:
            require(Not(thin))
        s.thin_move = Or(s.thin_move, thin)
        first = self.singleton(self.first(lambda r: old.contains(r), -1))
        isr = If(isr.is_empty(), first, isr)
        reverted = Assigned(old, old - old, old - old)
        self.settle(s, True, isr, lambda r: Not(s.controller.fenced.contains(r)), assigned=reverted)

    @property
    def can_reassign(self) -> bool:
        """Whether there are reassignments at all."""
        return self.b.reassignments > 0 and self.rules.isr_write is IsrWrite.PROPOSED
