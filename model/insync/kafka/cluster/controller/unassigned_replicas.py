"""Replicas that a reassignment adds, with `log_dir_failures`: when a broker names the directory of one (KIP-858).

The controller does not know the directory of such a replica until its broker names it. The broker does so when a later
change lists the directories again. It compares directory ids as Java objects, and a record that is read yields new
objects, so equal ids count as changed. A change lists the directories if their list differs: a replica comes or goes,
the replicas get another order, or a broker names a directory. A replica that gets another place in an equal list counts
as changed too. Without such a change the broker never names the directory (N-18).

In the model a broker names a directory in the step of the change that causes it; that is no change of the partition.

Kafka: TopicDelta.localChanges, PartitionChangeBuilder.setAssignmentChanges, ReplicaManager.maybeUpdateTopicAssignment.
"""

from __future__ import annotations

from collections.abc import Sequence

from insync.kafka.cluster.broker_state import BrokerState, DirectoryId, FailedLogDir
from insync.kafka.cluster.controller.reassignment import Assigned
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Implies, Not, Num, Or, SetValue, require, set_of, when

__all__ = ["UnassignedReplicas"]


class UnassignedReplicas(Part):
    """Replicas in a directory that the controller does not know, and when their brokers name it."""

    def note_unassigned(self, s: ClusterState, assigned: Assigned) -> None:
        """Note that the controller does not know the directories of the replicas that it adds.

        Kafka: PartitionChangeBuilder.setAssignmentChanges, DirectoryId.UNASSIGNED.
        """
        if not self.features.leaves_unassigned:
            return
        for replica in self.all(Replica):
            with when(And(assigned.replicas.contains(replica), Not(s.registrations[0].replicas.contains(replica)))):
                s.broker[replica].directory = DirectoryId.UNASSIGNED

    def is_unassigned(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether the controller does not know in which directory a replica is."""
        return s.broker[replica].directory == DirectoryId.UNASSIGNED

    def unassigned(self, s: ClusterState) -> SetValue:
        """The replicas whose directory the controller does not know."""
        return self._those([self.is_unassigned(s, replica) for replica in self.all(Replica)])

    def every_listed(self, s: ClusterState) -> SetValue | None:
        """The replicas whose directory is listed again when a broker names one: all."""
        return s.registrations[0].replicas if self.features.leaves_unassigned else None

    def listed(self, s: ClusterState, assigned: Assigned) -> SetValue | None:
        """The replicas whose directory is listed again by a change to an assignment.

        The list stays equal if it is as long as before and the replicas in known directories keep their places. An
        equal list is not written: then only a replica with another place counts. Kafka: PartitionChangeBuilder.
        """
        cluster = self.cluster
        if not self.features.leaves_unassigned:
            return None
        present = cluster.reassignment.assigned(s)
        known = present.replicas - self.unassigned(s)
        places = zip(cluster.replica_order.ranks(present), cluster.replica_order.ranks(assigned), strict=True)
        moved = self._those([Not(before == after) for before, after in places])
        same = And(
            known.is_subset(assigned.replicas),
            present.replicas.count() == assigned.replicas.count(),
            (known & moved).is_empty(),
        )
        return If(same, moved & assigned.replicas, assigned.replicas)

    def listed_to_prefer(self, s: ClusterState, replica: Replica) -> SetValue | None:
        """The same for an operator who puts a replica first, to have it elected, and then restores the order.

        With a budget for another order that is a step of its own.
        """
        cluster = self.cluster
        if not self.features.leaves_unassigned or self.features.can_reorder:
            return None
        present = cluster.reassignment.assigned(s)
        ranks, unassigned = cluster.replica_order.ranks(present), self.unassigned(s)
        before = self._those([ranks[r] < ranks[replica] for r in self.all(Replica)]) & present.replicas
        known = Not(before.is_subset(unassigned))
        changes = Or(known, And(Not(unassigned.contains(replica)), Not(before.is_empty())))
        return If(changes, present.replicas, set())

    def _those(self, conditions: Sequence[Condition]) -> SetValue:
        """The set of the brokers whose condition holds."""
        chosen = set_of([])
        for replica, holds in zip(self.all(Replica), conditions, strict=True):
            chosen = chosen | If(holds, set_of([replica]), set())
        return chosen

    def hears_list(self, s: ClusterState, replica: Replica, place: Num | int) -> Condition:
        """Whether the changes that a broker applies, up to a place, list its directory again."""
        if not self.features.leaves_unassigned:
            return False
        b, places = s.broker[replica], range(self.b.metadata_lag + 1)
        heard = [
            And(s.registrations[at].listed.contains(replica), self._is_to_come(b, at), place <= at) for at in places
        ]
        return Or(*heard)

    def name_directory_late(self, s: ClusterState, replica: Replica, listed: Condition, members: SetValue) -> None:
        """A broker names a directory that the controller does not know, because metadata has listed it again.

        So does a broker that is taken out and added again before it applies either change.

        Args:
            s: the state, with the broker's new view.
            replica: the broker.
            listed: whether its metadata has listed the directory again.
            members: the replicas in its former view.
        """
        cluster = self.cluster
        if not self.features.leaves_unassigned:
            return
        b = s.broker[replica]
        newer = [
            Implies(b.image_lag > at, s.registrations[at].replicas.contains(replica))
            for at in range(self.b.metadata_lag)
        ]
        assigned = And(
            members.contains(replica),
            cluster.image.is_assigned(cluster.image.registration_of(s, replica), replica),
            *newer,
        )
        names = And(listed, assigned, cluster.image.is_online(s, replica), self.is_unassigned(s, replica))
        require(Implies(names, cluster.quorum.is_active(s)))
        with when(names):
            self._name(s, replica)

    def name_up_to_date(self, s: ClusterState, listed: SetValue, members: SetValue) -> None:
        """Brokers that are up to date apply a change at once, and name a directory that it lists again.

        Args:
            s: the state, with the change.
            listed: the replicas whose directory the change lists again.
            members: the replicas before the change.
        """
        if not self.features.leaves_unassigned:
            return
        for replica in self.all(Replica):
            b = s.broker[replica]
            hears = And(
                self.cluster.image.is_online(s, replica),
                b.image_lag == 0,
                Not(b.isr_from_response),
                members.contains(replica),
            )
            with when(And(hears, listed.contains(replica), self.is_unassigned(s, replica))):
                self._note_name(s, replica)

    def name_at_start(self, s: ClusterState, replica: Replica) -> None:
        """A broker that starts names the directory of a replica whose directory the controller does not know.

        If that directory has failed, the broker creates an empty log in another one. Start and naming are one step. It
        may change the ELR, as every naming may (`elr_when_named`).
        Kafka: TopicDelta.localChanges, Partition.createLogInAssignedDirectoryId.
        """
        if not self.features.leaves_unassigned:
            return
        b, unassigned = s.broker[replica], self.is_unassigned(s, replica)
        with when(And(unassigned, self.cluster.log_dirs.is_offline(s, replica))):
            self.cluster.log.delete_log(s, replica)
            b.failed_log_dir = FailedLogDir.FUTURE_LOG
        with when(unassigned):
            b.to_assign = False  # the controller never knew the directory that is gone
            self._name(s, replica)
        self.forget_lists(s)

    def _name(self, s: ClusterState, replica: Replica) -> None:
        """The controller learns the directory of a replica, and brokers that are up to date apply that at once."""
        self._note_name(s, replica)
        self.name_up_to_date(s, s.registrations[0].replicas, s.registrations[0].replicas)

    def _note_name(self, s: ClusterState, replica: Replica) -> None:
        if self.features.named_elr_differs:
            s.controller.elr = self.cluster.assignments.elr_when_named(s)
        s.broker[replica].directory = DirectoryId.LOG
        s.registrations[0].listed = s.registrations[0].replicas
        self.cluster.quorum.commit_at_once(s)

    def keep_list(self, s: ClusterState, leader: Replica, place: Num | int) -> None:
        """Keep the older list for a leader whose metadata lacks two ISR changes that it knows from responses."""
        if self.features.leaves_unassigned:
            b = s.broker[leader]
            with when(And(b.isr_from_response, s.registrations[b.image_lag].listed.contains(leader))):
                s.registrations[place].listed |= {leader}

    def forget_lists(self, s: ClusterState) -> None:
        """Forget lists that no broker needs: the controller knows the directory, or the broker has applied the list."""
        if not self.features.leaves_unassigned:
            return
        for place in range(self.b.metadata_lag + 1):
            late = [And(s.broker[r].running, self._is_to_come(s.broker[r], place)) for r in self.all(Replica)]
            s.registrations[place].listed &= self.unassigned(s) & self._those(late)

    def _is_to_come(self, broker: BrokerState, place: Num | int) -> Condition:
        """Whether a broker has not applied a change by metadata yet; it may know the change from a response."""
        return Or(broker.image_lag > place, And(broker.isr_from_response, broker.image_lag == place))
