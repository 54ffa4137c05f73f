"""The order of the replicas, in which the controller looks for a leader, with `replica_order_changes`.

The first replica is the preferred leader. Operators choose the order, and a reassignment that takes nobody in or out
changes it alone. Without a budget for that the order is that of the brokers' numbers, and any member of the ISR may be
preferred.

Kafka: ReplicationControlManager.changePartitionReassignment, PartitionReassignmentReplicas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from insync.kafka.cluster.controller.reassignment import Assigned
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import CLIENTS, CONTROLLER, Coded, arrow, operation, step
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Not, Num, Or, SetValue, require

__all__ = ["ReplicaOrder"]


class ReplicaOrder(Part):
    """How operators order the replicas, and what reassignments make of that."""

    @step(
        "operator puts {replica} first",
        needs=operation("the order of replicas is changed, so that {replica} is preferred"),
        drawn=arrow(CLIENTS, CONTROLLER, "{replica} first"),
        classes=Coded("`alterPartitionReassignments`"),
        on=lambda f: f.can_reorder,
    )
    def reorder(self, s: ClusterState, replica: Replica) -> None:
        """An operator names the same replicas in another order, this one before all others, which keep theirs.

        It is a change of the partition, so a proposal of the leader that is on its way is late. The leader stays if it
        may lead, and a reassignment that is under way goes on: nobody is taken in or out, so it keeps those.
        Kafka: ReplicationControlManager.changePartitionReassignment.
        """
        cluster = self.cluster
        require(cluster.quorum.is_active(s), s.spent.replica_order_changes < self.b.replica_order_changes)
        require(cluster.image.is_assigned(s.registrations[0], replica), Not(self.is_first(s, replica)))
        s.spent.replica_order_changes += 1
        present, place = cluster.reassignment.assigned(s), s.controller.places[replica]
        behind = [present.places[r] + If(present.places[r] < place, 1, 0) for r in self.all(Replica)]
        places = tuple(If(replica == r, 0, behind[r]) for r in self.all(Replica))
        change = cluster.builder.build_change(
            s, s.registrations[0].isr, assigned=replace(present, places=places), clean=True
        )
        require(cluster.builder.can_write(s, change))
        cluster.builder.write_change(s, change)

    def places_of(self, s: ClusterState) -> tuple[Num | int, ...]:
        """The place of each broker in the order of replicas; none where that is always the order of numbers."""
        return tuple(s.controller.places[r] for r in self.all(Replica)) if self.features.can_reorder else ()

    def is_first(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether a replica is the preferred leader."""
        return s.controller.places[replica] == 0

    def ranks(self, assigned: Assigned) -> tuple[Num | int, ...]:
        """The place of each broker in the order of replicas, by number where no operator changes it.

        During a reassignment those who are to go come last, as Kafka's list has those first who are asked for. Of who
        has no replica it says nothing. Kafka: PartitionReassignmentReplicas.
        """
        if self.features.can_reorder:
            return assigned.places
        keys = [If(assigned.removing.contains(r), self.b.replicas, 0) + int(r) for r in self.all(Replica)]
        before = [
            [And(assigned.replicas.contains(other), keys[other] < keys[r]) for other in self.all(Replica) if other != r]
            for r in self.all(Replica)
        ]
        return tuple(sum([If(one, 1, 0) for one in each], start=0) for each in before)

    def in_order(self, assigned: Assigned, asked: SetValue) -> Assigned:
        """An assignment with its replicas in the order that a request leaves: first those whom it asks for.

        They stay in the order that they have, those who come behind the others, as another step can change that. Then
        come those who are to go and then those who have no replica, both by number.

        Args:
            assigned: the replicas, those to come and to go included, with the places before.
            asked: those who are asked for; all replicas where nothing is asked for.
        """
        if not (self.features.can_reorder and self.features.reassigns):
            return assigned
        members, count = self.all(Replica), self.b.replicas
        keys = [
            If(asked.contains(r), assigned.places[r], If(assigned.replicas.contains(r), count, 2 * count) + int(r))
            for r in members
        ]
        before = [[keys[other] < keys[r] for other in members if other != r] for r in members]
        return replace(assigned, places=tuple(sum([If(one, 1, 0) for one in each], start=0) for each in before))

    def first_in_order(self, valid: Callable[[Replica], Condition], assigned: Assigned) -> Num | int:
        """The first valid replica in the order of an assignment, -1 if there is none."""
        chosen: Num | int = -1
        least: Num | int = self.b.replicas
        for replica in self.all(Replica):
            place = assigned.places[replica]
            before = And(valid(replica), place < least)
            chosen, least = If(before, int(replica), chosen), If(before, place, least)
        return chosen

    def moves(self, s: ClusterState, assigned: Assigned) -> Condition:
        """Whether some broker has another place by an assignment than it has now."""
        return Or(*[Not(now == then) for now, then in zip(self.places_of(s), assigned.places, strict=True)])
