"""The replicas of the partition, and how a reassignment comes to its end.

Kafka: PartitionReassignmentReplicas, PartitionChangeBuilder.completeReassignmentIfNeeded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from insync.kafka.cluster.actor import Actor
from insync.kafka.cluster.state import ClusterState
from insync.kafka.releases import ReassignmentEnd
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Implies, Not, Num, Or, SetValue, minimum

__all__ = ["Assigned", "Assignment", "Completion"]


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
        thin: whether it has ended with fewer members of the ISR than min.insync.replicas.
    """

    assigned: Assigned
    isr: SetValue
    thin: Condition


class Assignment(Actor):
    """What the controller knows of the replicas. Without a budget for reassignments they never change."""

    def assigned(self, s: ClusterState) -> Assigned:
        """The present assignment."""
        return Assigned(s.changes[0].replicas, s.controller.adding, s.controller.removing, self.places_of(s))

    def needed_of(self, view: Any) -> Num | int:
        """min.insync.replicas, but no more than there are replicas by some change."""
        if not self.features.reassigns:
            return min(self.needed, self.b.replicas - self.b.spares)
        return minimum(self.needed, view.replicas.count())

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
        return Completion(self.in_order(after, after.replicas), If(ends, left, isr), thin)

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

    def has_replica(self, s: ClusterState, chosen: Num) -> Condition:
        """Whether a broker, or nobody (-1), has a replica already.

        A change that would elect a broker which it adds is refused: the code throws, and the request is an error.
        Kafka: LeaderAcceptor.test, PartitionRegistration.directory.
        """
        if not self.features.reassigns:
            return True
        return Or(chosen < 0, *[And(chosen == r, s.changes[0].replicas.contains(r)) for r in self.all(Replica)])

    def is_reassigned(self, s: ClusterState, assigned: Assigned) -> Condition:
        """Whether an assignment differs from the present one."""
        present = self.assigned(s)
        same = And(
            assigned.replicas == present.replicas,
            assigned.adding == present.adding,
            assigned.removing == present.removing,
        )
        return Or(Not(same), self.moves(s, assigned))
