"""How the controller decides about the partition: who leads, who is in ISR and ELR, and whether the epoch moves.

Kafka: PartitionChangeBuilder.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from insync.kafka.cluster.controller.metadata_log import Registration
from insync.kafka.cluster.controller.reassignment import Assigned, Completion
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Implies, Not, Num, Or, SetValue, minimum, set_of, when

__all__ = ["PartitionChange", "PartitionChangeBuilder"]


@dataclass(frozen=True, slots=True)
class PartitionChange:
    """What the controller makes of the partition.

    Attributes:
        registration: what the brokers learn.
        elr: the eligible leader replicas.
        last_known_leader: the last known leader, -1 for none.
        assigned: the replicas, and what is to become of them.
        under_min_isr: whether a reassignment has ended with too small an ISR.
        differs: whether any of this differs from what holds.
    """

    registration: Registration
    elr: SetValue
    last_known_leader: Num | int
    assigned: Assigned
    under_min_isr: Condition
    differs: Condition


class PartitionChangeBuilder(Part):
    """What the controller makes of the partition: leader, ISR, ELR and epoch."""

    def build_change(
        self,
        s: ClusterState,
        isr: SetValue,
        unclean: Collection[Replica] = (),
        assigned: Assigned | None = None,
        *,
        clean: bool = False,
        knows_elr: bool = True,
    ) -> PartitionChange:
        """Decide leader, ISR and ELR after a failure or a return, and end a reassignment that can end.

        The leader stays if it may; else the first member in the order of assignment leads; else, with an ISR that has
        become empty, a member of the ELR, the last known leader, or anybody who lives if unclean elections are allowed.
        Kafka: PartitionChangeBuilder.build.

        Args:
            s: the state.
            isr: the ISR without the replica that failed.
            unclean: who has come back after an unclean stop.
            assigned: the replicas and what is to become of them, where an operator changes that.
            clean: whether nobody is elected who may lack records, whatever the topic allows.
            knows_elr: whether it is made as if there were eligible leader replicas; else it empties them (N-17).
        """
        cluster = self.cluster
        completion = cluster.reassignment.complete_reassignment(isr, assigned or cluster.reassignment.assigned(s))
        isr, replicas, leader = completion.isr, completion.assigned, s.registrations[0].leader.or_else(-1)
        elr = self.next_elr(s, isr, set(unclean), replicas)

        def acceptable(replica: Replica) -> Condition:
            return And(cluster.image.is_assigned(replicas, replica), self.may_serve(s, replica))

        def valid(replica: Replica) -> Condition:
            eligible = And(isr.is_empty(), elr.contains(replica))
            return And(acceptable(replica), Or(isr.contains(replica), eligible))

        safe = self.first(valid, leader, replicas)
        last = s.controller.last_known_leader.or_else(-1)
        elected = If(And(safe < 0, self.may_elect_last_known_leader(s, isr, elr) if knows_elr else False), last, safe)
        if self.features.unclean_leader_election and not clean:
            anybody = self.first(cluster.recovery.candidates(s, acceptable, elr), leader, replicas)
            elected = If(elected < 0, anybody, elected)
        made = self._outcome(s, completion, elected, elected != safe, elr)
        return made if knows_elr else replace(made, elr=set_of([]), last_known_leader=last)

    def first(self, valid: Callable[[Replica], Condition], leader: Num | int, assigned: Assigned) -> Num:
        """The present leader if it is valid, else the first valid replica, -1 if there is none."""
        ordered = self.features.can_reorder and self.guards.elects_in_order
        chosen = (
            self.cluster.replica_order.first_in_order(valid, assigned)
            if ordered
            else self.first_by_number(valid, assigned)
        )
        stays = Or(*[And(leader == r, valid(r)) for r in self.all(Replica)])
        return If(stays, leader, chosen)

    def first_by_number(self, valid: Callable[[Replica], Condition], assigned: Assigned) -> Num | int:
        """The valid replica of the least number, -1 if there is none.

        During a reassignment those who are to go come last. Kafka: PartitionReassignmentReplicas.replicas.
        """
        chosen: Num | int = -1
        for last in (True, False) if self.features.reassigns else (False,):
            for replica in reversed(self.all(Replica)):
                goes = assigned.removing.contains(replica) if self.features.reassigns else False
                chosen = If(And(valid(replica), goes if last else Not(goes)), int(replica), chosen)
        return chosen

    def may_serve(self, s: ClusterState, replica: Replica) -> Condition:
        """Whether a broker is not fenced, and not known for a failed directory with its log (LeaderAcceptor.test).

        Of one that has no replica yet no directory is looked at: where it would lead the code throws (`has_replica`).
        """
        without: Condition = s.controller.offline_replicas.contains(replica)
        if self.features.leaves_unassigned:
            without = And(without, s.registrations[0].replicas.contains(replica))
        return And(Not(s.controller.fenced.contains(replica)), Not(without))

    def may_elect_last_known_leader(self, s: ClusterState, isr: SetValue, elr: SetValue) -> Condition:
        """Whether the last known leader may be elected: there is nobody else, and it is not fenced (KAFKA-19522)."""
        last = s.controller.last_known_leader
        lives = Or(*[And(last == r, self.may_serve(s, r)) for r in self.all(Replica)])
        return And(isr.is_empty(), elr.is_empty(), lives if self.rules.last_leader_must_live else last.is_some())

    def _outcome(
        self, s: ClusterState, completion: Completion, elected: Num, unclean: Condition, elr: SetValue
    ) -> PartitionChange:
        """What an election writes: an unclean leader is the whole ISR, and the epoch is bumped as the release does it.

        Without eligible leader replicas the last member stays in the ISR. Kafka: PartitionChangeBuilder.build.
        """
        cluster = self.cluster
        newest, isr, assigned = cluster.metadata_log.newest(s), completion.isr, completion.assigned
        alone = set_of([elected])  # the empty set for -1
        if self.features.elr:
            new = If(Or(unclean, And(isr.is_empty(), elected >= 0)), alone, isr)
        else:
            new = If(unclean, alone, If(isr.is_empty(), newest.isr, isr))
        left = If(unclean, set(), elr - alone)
        leaderless = elected < 0 if self.rules.last_leader_when_leaderless else new.is_empty()
        loses_leader = And(leaderless, newest.leader >= 0)
        last = If(elected >= 0, -1, If(loses_leader, newest.leader, s.controller.last_known_leader.or_else(-1)))
        bump = Or(elected != newest.leader, Not(newest.replicas.is_subset(assigned.replicas)))
        if not self.rules.shrink_keeps_epoch:
            bump = Or(bump, Not(newest.isr.is_subset(new)))
        differs = Or(
            elected != newest.leader,
            Not(new == newest.isr),
            Not(left == s.controller.elr),
            cluster.reassignment.is_reassigned(s, assigned),
        )
        registration = Registration(elected, newest.epoch + If(bump, 1, 0), new, assigned.replicas)
        return PartitionChange(registration, left, last, assigned, completion.under_min_isr, differs)

    def can_write(self, s: ClusterState, made: PartitionChange) -> Condition:
        """Whether Kafka writes a change, and the brokers can still learn of it; the action must require it."""
        cluster = self.cluster
        return And(
            cluster.reassignment.has_replica(s, made.registration.leader),
            Implies(made.differs, cluster.metadata_log.has_room(s, made.registration)),
        )

    def write_change(self, s: ClusterState, made: PartitionChange) -> None:
        """Write a change, if it differs from what holds."""
        cluster = self.cluster
        s.reassigned_under_min_isr = Or(s.reassigned_under_min_isr, made.under_min_isr)
        registration = made.registration
        if registration.listed is None:
            registration = replace(registration, listed=cluster.unassigned.listed(s, made.assigned))
        s.controller.elr = made.elr
        s.controller.last_known_leader = cluster.metadata_log.as_option(made.last_known_leader)
        s.controller.adding = made.assigned.adding
        s.controller.removing = made.assigned.removing
        if self.features.can_reorder:
            s.controller.places = list(made.assigned.places)
        cluster.assignments.forget_untold(s, made.assigned)
        cluster.unassigned.note_unassigned(s, made.assigned)
        with when(made.differs):
            cluster.metadata_log.write_metadata(s, registration)
        if self.features.names_directories and self.features.reassigns:
            cluster.quorum.commit_at_once(s)  # brokers forget to name directories by it

    def next_elr(self, s: ClusterState, isr: SetValue, unclean: object, assigned: Assigned) -> SetValue:
        """The ELR after a change: replicas that left the ISR since it is too small, and were not unclean since."""
        if not self.features.elr:
            return s.controller.elr
        left = ((s.controller.elr | s.registrations[0].isr) - isr) - unclean
        if self.features.reassigns and self.fixes.elr_within_replicas:
            left = left & assigned.replicas
        least = self.cluster.topic_config.minimum(s)
        if self.fixes.minimum_by_own_partition:
            own = assigned.replicas.count() if self.features.reassigns else self.b.replicas - self.b.spares
            least = minimum(least, own)
        return If(isr.count() >= least, set(), left)
