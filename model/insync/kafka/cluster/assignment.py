"""The replicas of the partition, and how a reassignment comes to its end.

Kafka: PartitionReassignmentReplicas, PartitionChangeBuilder.completeReassignmentIfNeeded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from insync.kafka.cluster.metadata import Metadata
from insync.kafka.cluster.state import Replica
from insync.model import And, Condition, If, Implies, Not, Num, Or, SetValue, StateView, minimum, require

__all__ = ["Assigned", "Assignment"]


@dataclass(frozen=True, slots=True)
class Assigned:
    """Who has a replica, and what is to become of them.

    Attributes:
        replicas: all that have one, those included that are to come and to go.
        adding: those that are to come: they stay when the reassignment ends, and go when it is taken back.
        removing: those that are to go when it ends.
    """

    replicas: SetValue
    adding: SetValue
    removing: SetValue


class Assignment(Metadata):
    """What the controller knows of the replicas. Without a budget for reassignments they never change."""

    name = "cluster_assignment"

    def assigned(self, s: StateView) -> Assigned:
        """The present assignment."""
        return Assigned(s.changes[0].replicas, s.controller.adding, s.controller.removing)

    def needed_of(self, view: Any) -> Num | int:
        """min.insync.replicas, but no more than there are replicas by some change."""
        if not self.b.reassignments:
            return min(self.needed, self.b.replicas - self.b.spares)
        return minimum(self.needed, view.replicas.count())

    def complete_reassignment(
        self, s: StateView, when: Condition, isr: SetValue, assigned: Assigned
    ) -> tuple[SetValue, Assigned]:
        """The ISR and the assignment after a reassignment has ended, if it can; it is tried with every change.

        All replicas that stay must be in the ISR; before KAFKA-15665 it was enough that those are who were added.
        Kafka: PartitionReassignmentReplicas.maybeCompleteReassignment.
        """
        if not self.b.reassignments:
            return isr, assigned
        left, staying = isr - assigned.removing, assigned.replicas - assigned.removing
        waits_for = staying if self.rules.reassignment_needs_targets else assigned.adding
        under_way = Not(And(assigned.adding.is_empty(), assigned.removing.is_empty()))
        ends = And(under_way, Not(left.is_empty()), Not(staying.is_empty()), waits_for.is_subset(left))
        thin = left.count() < minimum(self.needed, staying.count())
        s.thin_move = Or(s.thin_move, And(when, ends, thin))
        ended = Assigned(
            If(ends, staying, assigned.replicas),
            If(ends, set(), assigned.adding),
            If(ends, set(), assigned.removing),
        )
        return If(ends, left, isr), ended

    def refuse_newcomer(self, s: StateView, when: Condition, chosen: Num) -> None:
        """Refuse a change that would elect a broker which it adds: the code throws, and the request is an error.

        Kafka: LeaderAcceptor.test, PartitionRegistration.directory.
        """
        if self.b.reassignments:
            replica = Or(*[And(chosen == r, s.changes[0].replicas.contains(r)) for r in self.all(Replica)])
            require(Implies(when, Or(chosen < 0, replica)))

    def note_assignment(self, s: StateView, when: Condition, assigned: Assigned) -> Condition:
        """Write down what is to become of the replicas, where `when`, and say whether the assignment changes."""
        controller = s.controller
        same = And(
            assigned.replicas == s.changes[0].replicas,
            assigned.adding == controller.adding,
            assigned.removing == controller.removing,
        )
        controller.adding = If(when, assigned.adding, controller.adding)
        controller.removing = If(when, assigned.removing, controller.removing)
        return Not(same)
