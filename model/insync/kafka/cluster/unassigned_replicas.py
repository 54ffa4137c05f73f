"""Replicas that a reassignment adds, with `directory_failures`: when a broker names the directory of one (KIP-858).

The controller does not know in which directory of its broker such a replica is. The broker names it when it finds the
directory listed anew, in metadata that had it as a replica before: it compares the ids as objects, and those that are
read from a record are others. A change lists directories if the list is another one than before, as it takes somebody
in or out, orders the replicas, or names a directory; a replica in another place of the same list is at another object
too. Where there is no such change the broker keeps silent (N-18).

That a broker names a directory is one step with what makes it do so, and no change of the partition.

Kafka: TopicDelta.localChanges, PartitionChangeBuilder.setAssignmentChanges, ReplicaManager.maybeUpdateTopicAssignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from insync.kafka.cluster.assignment import Assigned
from insync.kafka.cluster.state import Actor, Replica
from insync.model import And, Condition, If, Implies, Not, Num, Or, SetValue, StateView, require, set_of, when

__all__ = ["UnassignedReplicas"]


class UnassignedReplicas(Actor):
    """Of whom the controller does not know the directory, and how it gets to know it."""

    def note_unassigned(self, s: StateView, assigned: Assigned) -> None:
        """The controller does not know in which directory a replica is that it adds, and the broker does not say.

        Kafka: PartitionChangeBuilder.setAssignmentChanges, DirectoryId.UNASSIGNED.
        """
        if not self.leaves_unassigned:
            return
        added = assigned.replicas - s.changes[0].replicas
        s.controller.unassigned = (s.controller.unassigned | added) & assigned.replicas

    # -------------------------------------------------------------------------------------- what a change lists anew

    def every_listed(self, s: StateView) -> SetValue | None:
        """The replicas that find their directory listed anew where one of them is named: all."""
        return s.changes[0].replicas if self.leaves_unassigned else None

    def listed(self, s: StateView, assigned: Assigned) -> SetValue | None:
        """The replicas that find their directory listed anew by a change that makes this the assignment.

        The list is the same if those whose directory is known stay where they are, and it is as long as before. Then
        it is not written, and anew to whoever has another place in it. Kafka: PartitionChangeBuilder.
        """
        if not self.leaves_unassigned:
            return None
        present = self.assigned(s)
        known = present.replicas - s.controller.unassigned
        places = zip(self.ranks(present), self.ranks(assigned), strict=True)
        moved = self._those([Not(before == after) for before, after in places])
        same = And(
            known.is_subset(assigned.replicas),
            present.replicas.count() == assigned.replicas.count(),
            (known & moved).is_empty(),
        )
        return If(same, moved & assigned.replicas, assigned.replicas)

    def listed_to_prefer(self, s: StateView, replica: Replica) -> SetValue | None:
        """The same where an operator puts a replica first, to have it elected, and then the order back.

        With a budget for another order that is a step of its own.
        """
        if not self.leaves_unassigned or self.can_reorder:
            return None
        present = self.assigned(s)
        ranks, unassigned = self.ranks(present), s.controller.unassigned
        before = self._those([ranks[r] < ranks[replica] for r in self.all(Replica)]) & present.replicas
        known = Not(before.is_subset(unassigned))
        changes = Or(known, And(Not(unassigned.contains(replica)), Not(before.is_empty())))
        return If(changes, present.replicas, set())

    def _those(self, conditions: Sequence[Condition]) -> SetValue:
        """The brokers of which a condition holds."""
        chosen = set_of([])
        for replica, holds in zip(self.all(Replica), conditions, strict=True):
            chosen = chosen | If(holds, set_of([replica]), set())
        return chosen

    # ------------------------------------------------------------------------------------------- who names a directory

    def hears_list(self, s: StateView, replica: Replica, place: Any) -> Condition:
        """Whether a broker finds its directory listed anew by the changes that it applies up to a place."""
        if not self.leaves_unassigned:
            return False
        b, places = s.broker[replica], range(self.b.metadata_lag + 1)
        heard = [And(s.changes[at].listed.contains(replica), self._is_to_come(b, at), place <= at) for at in places]
        return Or(*heard)

    def name_directory_late(self, s: StateView, replica: Replica, listed: Condition, members: SetValue) -> None:
        """A broker names a directory that the controller does not know, as it has found it listed anew.

        Who is taken out and added again before it hears of either does so too.

        Args:
            s: the state, with the broker's new view.
            replica: the broker.
            listed: whether it has found that.
            members: the replicas by its former view.
        """
        if not self.leaves_unassigned:
            return
        b = s.broker[replica]
        newer = [Implies(b.lag > at, s.changes[at].replicas.contains(replica)) for at in range(self.b.metadata_lag)]
        assigned = And(members.contains(replica), self.is_assigned(self.view_of(s, replica), replica), *newer)
        names = And(listed, assigned, self.is_online(s, replica), s.controller.unassigned.contains(replica))
        require(Implies(names, self.is_active(s)))
        with when(names):
            self._name(s, replica)
            self.commit_at_once(s)

    def name_up_to_date(self, s: StateView, listed: SetValue, members: SetValue) -> None:
        """Whoever has applied all else hears at once of a change, and names a directory that is listed anew.

        Args:
            s: the state, with the change.
            listed: who finds its directory listed anew.
            members: the replicas before it.
        """
        if not self.leaves_unassigned:
            return
        for replica in self.all(Replica):
            b = s.broker[replica]
            hears = And(self.is_online(s, replica), b.lag == 0, Not(b.repeats), members.contains(replica))
            with when(And(hears, listed.contains(replica), s.controller.unassigned.contains(replica))):
                self._note_name(s, replica)

    def name_at_start(self, s: StateView, replica: Replica) -> None:
        """A broker that starts finds in its first metadata a replica without a directory, and says where it is.

        If that directory has failed, it begins anew in another one. The start and what it tells are one step, and the
        ELR may be another one by it, as by any directory (`elr_when_named`).
        Kafka: TopicDelta.localChanges, Partition.createLogInAssignedDirectoryId.
        """
        if not self.leaves_unassigned:
            return
        b, unassigned = s.broker[replica], s.controller.unassigned.contains(replica)
        with when(And(unassigned, b.offline)):
            self.delete_log(s, replica)
            b.offline = False
            b.other_failed = True
        with when(unassigned):
            b.untold = False  # of a directory that is gone the controller has known nothing
            self._name(s, replica)
        self.forget_lists(s)

    def _name(self, s: StateView, replica: Replica) -> None:
        """The controller hears in which directory a replica is, and all who have applied all else hear of that."""
        self._note_name(s, replica)
        self.name_up_to_date(s, s.changes[0].replicas, s.changes[0].replicas)

    def _note_name(self, s: StateView, replica: Replica) -> None:
        if self.named_elr_differs:
            s.controller.elr = self.elr_when_named(s)
        s.controller.unassigned -= {replica}
        s.changes[0].listed = s.changes[0].replicas

    # ------------------------------------------------------------------------------------- what is still to be heard

    def keep_list(self, s: StateView, leader: Replica, place: Any) -> None:
        """A leader to whom metadata has to bring two ISRs, which replies have told it, hears of the lists of both."""
        if self.leaves_unassigned:
            b = s.broker[leader]
            with when(And(b.repeats, s.changes[b.lag].listed.contains(leader))):
                s.changes[place].listed |= {leader}

    def forget_lists(self, s: StateView) -> None:
        """Forget who finds its directory listed anew where the controller knows it, or it has heard of that."""
        if not self.leaves_unassigned:
            return
        for place in range(self.b.metadata_lag + 1):
            late = [And(s.broker[r].running, self._is_to_come(s.broker[r], place)) for r in self.all(Replica)]
            s.changes[place].listed &= s.controller.unassigned & self._those(late)

    def _is_to_come(self, broker: Any, place: Num | int) -> Condition:
        """Whether metadata has still to bring a change to a broker, which a reply may have brought before."""
        return Or(broker.lag > place, And(broker.repeats, broker.lag == place))
