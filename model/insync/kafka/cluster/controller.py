"""The controller: elections, fencing, registrations, and what it makes of a leader's proposal for the ISR.

Kafka: ReplicationControlManager, PartitionChangeBuilder, ClusterControlManager.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from insync.kafka.cluster.actor import Actor
from insync.kafka.cluster.assignment import Assigned, Completion
from insync.kafka.cluster.metadata import Change
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import (
    And,
    Condition,
    If,
    Implies,
    Not,
    Num,
    Or,
    SetValue,
    action,
    maximum,
    minimum,
    require,
    set_of,
    when,
)

__all__ = ["Controller", "PartitionChange"]


@dataclass(frozen=True, slots=True)
class PartitionChange:
    """What the controller makes of the partition.

    Attributes:
        change: what the brokers hear.
        elr: the eligible leader replicas.
        last_leader: the last known leader, -1 for none.
        assigned: the replicas, and what is to become of them.
        thin: whether a reassignment has ended with too small an ISR.
        differs: whether any of this differs from what holds.
    """

    change: Change
    elr: SetValue
    last_leader: Num | int
    assigned: Assigned
    thin: Condition
    differs: Condition


class Controller(Actor):
    """What the controller does by itself and when it is asked."""

    # ------------------------------------------------------------------------------------------------------- actions

    @action(label="controller fences {replica}")
    def fence(self, s: ClusterState, replica: Replica) -> None:
        """A broker's session has expired: it leaves the ISR, and another leads if it led.

        The controller cannot tell a broker that has crashed from one that is cut off; only the latter is limited.
        Kafka: ReplicationControlManager.handleBrokerFenced.
        """
        running = s.broker[replica].running
        require(self.is_active(s), Not(s.controller.fenced.contains(replica)))
        require(Not(s.quorum.unwatched.contains(replica)))
        require(Implies(running, s.spent.fencings < self.b.fencings))
        with when(running):
            s.spent.fencings += 1
        self.leave_isr(s, replica)

    @action(label="controller fences {first} and {second} at once")
    def fence_two(self, s: ClusterState, first: Replica, second: Replica) -> None:
        """Two sessions expire, and both changes are computed from the same ISR, so the second brings back the first.

        Kafka: QuorumController.maybeFenceReplicas, as it was before KAFKA-13173.
        """
        require(not self.guards.fence_one_at_a_time, first != second)
        old = s.changes[0].isr
        require(old.contains(second))
        self.fence(s, first)
        require(Not(s.controller.fenced.contains(second)), Not(s.broker[second].running))
        s.controller.fenced |= {second}
        change = self.build_change(s, old - {second})
        require(self.can_write(s, change))
        self.write_change(s, change)

    @action(label="controller unfences {replica}")
    def unfence(self, s: ClusterState, replica: Replica) -> None:
        """A registered broker is heard of again; if nobody leads, it may be elected.

        Kafka: ReplicationControlManager.handleBrokerUnfenced.
        """
        require(self.is_active(s))
        require(s.controller.fenced.contains(replica), s.broker[replica].running, Not(s.broker[replica].stopping))
        s.controller.fenced -= {replica}
        leaderless, change = s.changes[0].leader.is_none(), self.build_change(s, s.changes[0].isr)
        require(Implies(leaderless, self.can_write(s, change)))
        with when(leaderless):
            self.write_change(s, change)

    @action(label="controller elects {replica}")
    def elect(self, s: ClusterState, replica: Replica) -> None:
        """A member of the ISR is made leader although nothing has failed, as when the preferred leader is asked for.

        Without a budget for another order of replicas any member may be preferred: the operator puts it first, and the
        order back after the election. Kafka: PartitionChangeBuilder.electPreferredLeader.
        """
        require(self.is_active(s), s.spent.elections < self.b.elections)
        newest = s.changes[0]
        require(newest.isr.contains(replica), Not(newest.leader == replica))
        require(Not(s.controller.fenced.contains(replica)), Not(s.controller.without_directory.contains(replica)))
        if self.features.can_reorder:
            require(self.is_first(s, replica))
        s.spent.elections += 1
        s.controller.last_leader = None
        change = replace(self.newest(s), leader=replica + 0, epoch=newest.epoch + 1)
        change = replace(change, listed=self.listed_to_prefer(s, replica))
        require(self.has_room(s, change))
        self.write_metadata(s, change)

    @action(label="controller accepts the ISR")
    def accept_isr(self, s: ClusterState) -> None:
        """The controller writes a proposed ISR that passes its checks.

        Kafka: ReplicationControlManager.alterPartition, PartitionChangeBuilder.maybePopulateTargetElr.
        """
        require(self.is_active(s), self.awaits_proposal(s), self.is_eligible(s))
        newest, isr = s.changes[0], s.alter.isr
        # A larger ISR may end a reassignment, and with it a leadership; and a leader may be known to have no directory.
        if self.features.reassigns or self.features.names_directories:
            made = self.build_change(s, isr)
            require(self.can_write(s, made))
            told = replace(made.change, replied=made.change.leader == newest.leader)
            self.write_change(s, replace(made, change=told))
            self.forget_proposal(s)
            return
        s.controller.elr = self.next_elr(s, isr, set(), self.assigned(s))
        bump = False if self.rules.shrink_keeps_epoch else Not(newest.isr.is_subset(isr))
        change = replace(self.newest(s), epoch=newest.epoch + If(bump, 1, 0), isr=isr, replied=True)
        require(self.has_room(s, change))
        self.write_metadata(s, change)
        self.forget_proposal(s)

    @action(label="controller refuses the ISR")
    def refuse_isr(self, s: ClusterState) -> None:
        """The controller refuses a proposed ISR with a member that is not eligible; the sender goes back to its own.

        After other refusals the sender waits for the metadata that will tell it more, so they are no steps.
        Kafka: ReplicationControlManager.validateAlterPartitionData, Partition.handleAlterPartitionError.
        """
        require(self.is_active(s), self.all_committed(s), self.awaits_proposal(s), Not(self.is_eligible(s)))
        self.answer_refusal(s)
        self.forget_committed_proposal(s)

    # --------------------------------------------------------------------------------------- rules about a proposal

    def answer_refusal(self, s: ClusterState) -> None:
        """The leader hears that its proposal is refused, and goes back to the ISR that it had."""
        for replica in self.all(Replica):
            b = s.broker[replica]
            with when(And(s.changes[0].leader == replica, b.pending == s.alter.isr)):
                b.pending = set()
        self.forget_proposal(s)

    def awaits_proposal(self, s: ClusterState) -> Condition:
        """Whether a proposal is on its way from the leader, in its epoch, about the partition as it is."""
        return Not(s.alter.isr.is_empty())

    def makes_late(self, s: ClusterState, change: Change) -> Condition:
        """Whether a change makes a proposal late that is on its way: by the partition epoch, or the leader epoch alone.

        Kafka: ReplicationControlManager.validateAlterPartitionData.
        """
        if self.guards.compare_partition_epoch:
            return Not(change.configuration)
        return change.epoch != s.changes[0].epoch

    def is_eligible(self, s: ClusterState) -> Condition:
        """Whether all members proposed may be in the ISR (ReplicationControlManager.ineligibleReplicasForIsr)."""
        unfenced = (s.alter.isr & s.controller.fenced).is_empty() if self.rules.isr_needs_unfenced else True
        if self.fixes.isr_needs_directory:
            unfenced = And(unfenced, (s.alter.isr & s.controller.without_directory).is_empty())
        current = s.alter.current if self.rules.isr_needs_broker_epoch else True
        if self.features.reassigns and self.rules.isr_within_replicas:
            current = And(current, s.alter.isr.is_subset(s.changes[0].replicas))
        return And(unfenced, current)

    def forget_proposal(self, s: ClusterState) -> None:
        """No proposal is on its way any more."""
        s.alter.isr = set()
        s.alter.current = False

    # --------------------------------------------------------------------------------------------------- elections

    def leave_isr(self, s: ClusterState, replica: Replica) -> None:
        """Fence a broker: it leaves the ISR if it is in it, and another leads if it led."""
        s.controller.fenced |= {replica}
        self.take_out(s, replica)

    def take_out(self, s: ClusterState, replica: Replica, seen: Condition = True) -> None:
        """Take a replica that may not lead any more out of the ISR, if it is seen (generateLeaderAndIsrUpdates)."""
        isr = s.changes[0].isr
        member, change = And(isr.contains(replica), seen), self.build_change(s, isr - {replica})
        require(Implies(member, self.can_write(s, change)))
        with when(member):
            self.write_change(s, change)

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
        completion = self.complete_reassignment(isr, assigned or self.assigned(s))
        isr, replicas, leader = completion.isr, completion.assigned, s.changes[0].leader.or_else(-1)
        elr = self.next_elr(s, isr, set(unclean), replicas)

        def acceptable(replica: Replica) -> Condition:
            return And(self.is_assigned(replicas, replica), self.may_serve(s, replica))

        def valid(replica: Replica) -> Condition:
            eligible = And(isr.is_empty(), elr.contains(replica))
            return And(acceptable(replica), Or(isr.contains(replica), eligible))

        safe = self.first(valid, leader, replicas)
        last = s.controller.last_leader.or_else(-1)
        elected = If(And(safe < 0, self.may_elect_last_leader(s, isr, elr) if knows_elr else False), last, safe)
        if self.features.unclean and not clean:
            anybody = self.first(self.of_the_longest(s, acceptable), leader, replicas)
            elected = If(elected < 0, anybody, elected)
        made = self._outcome(s, completion, elected, elected != safe, elr)
        return made if knows_elr else replace(made, elr=set_of([]), last_leader=last)

    def first(self, valid: Callable[[Replica], Condition], leader: Num | int, assigned: Assigned) -> Num:
        """The present leader if it is valid, else the first valid replica, -1 if there is none."""
        ordered = self.features.can_reorder and self.guards.elects_in_order
        chosen = self.first_in_order(valid, assigned) if ordered else self.first_by_number(valid, assigned)
        stays = Or(*[And(leader == r, valid(r)) for r in self.all(Replica)])
        return If(stays, leader, chosen)

    def of_the_longest(
        self, s: ClusterState, acceptable: Callable[[Replica], Condition]
    ) -> Callable[[Replica], Condition]:
        """Who is acceptable and has the longest log of the last epoch among those, if an election asks for that.

        It asks running brokers, and their answers and the election are one step.
        Kafka: none; GetReplicaLogInfo of KIP-966, part 2.
        """
        if not self.fixes.unclean_elects_longest_log:
            return acceptable

        def last_epoch(replica: Replica) -> Num:
            b = s.broker[replica]
            return If(b.leo > b.start, self.epoch_at(s, replica, maximum(b.leo - 1, 0)), -1)

        def longer(one: Replica, other: Replica) -> Condition:
            epoch, least, longer_log = last_epoch(one), last_epoch(other), s.broker[one].leo > s.broker[other].leo
            return Or(epoch > least, And(epoch == least, longer_log))

        def answers(replica: Replica) -> Condition:
            return And(acceptable(replica), self.is_online(s, replica))

        def longest(replica: Replica) -> Condition:
            beaten = [And(answers(other), longer(other, replica)) for other in self.others(replica)]
            return And(answers(replica), Not(Or(*beaten)))

        return longest

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
        without: Condition = s.controller.without_directory.contains(replica)
        if self.features.leaves_unassigned:
            without = And(without, s.changes[0].replicas.contains(replica))
        return And(Not(s.controller.fenced.contains(replica)), Not(without))

    def may_elect_last_leader(self, s: ClusterState, isr: SetValue, elr: SetValue) -> Condition:
        """Whether the last known leader may be elected: there is nobody else, and it is not fenced (KAFKA-19522)."""
        last = s.controller.last_leader
        lives = Or(*[And(last == r, self.may_serve(s, r)) for r in self.all(Replica)])
        return And(isr.is_empty(), elr.is_empty(), lives if self.rules.last_leader_must_live else last.is_some())

    def _outcome(
        self, s: ClusterState, completion: Completion, elected: Num, unclean: Condition, elr: SetValue
    ) -> PartitionChange:
        """What an election writes: an unclean leader is the whole ISR, and the epoch is bumped as the release does it.

        Without eligible leader replicas the last member stays in the ISR. Kafka: PartitionChangeBuilder.build.
        """
        newest, isr, assigned = self.newest(s), completion.isr, completion.assigned
        alone = set_of([elected])  # the empty set for -1
        if self.features.elr:
            new = If(Or(unclean, And(isr.is_empty(), elected >= 0)), alone, isr)
        else:
            new = If(unclean, alone, If(isr.is_empty(), newest.isr, isr))
        left = If(unclean, set(), elr - alone)
        leaderless = elected < 0 if self.rules.last_leader_when_leaderless else new.is_empty()
        loses_leader = And(leaderless, newest.leader >= 0)
        last = If(elected >= 0, -1, If(loses_leader, newest.leader, s.controller.last_leader.or_else(-1)))
        bump = Or(elected != newest.leader, Not(newest.replicas.is_subset(assigned.replicas)))
        if not self.rules.shrink_keeps_epoch:
            bump = Or(bump, Not(newest.isr.is_subset(new)))
        differs = Or(
            elected != newest.leader,
            Not(new == newest.isr),
            Not(left == s.controller.elr),
            self.is_reassigned(s, assigned),
        )
        change = Change(elected, newest.epoch + If(bump, 1, 0), new, assigned.replicas)
        return PartitionChange(change, left, last, assigned, completion.thin, differs)

    def can_write(self, s: ClusterState, made: PartitionChange) -> Condition:
        """Whether Kafka writes a change, and the brokers can still hear of it; the action must require it."""
        return And(self.has_replica(s, made.change.leader), Implies(made.differs, self.has_room(s, made.change)))

    def write_change(self, s: ClusterState, made: PartitionChange) -> None:
        """Write a change, if it differs from what holds."""
        s.thin_move = Or(s.thin_move, made.thin)
        change = made.change
        if change.listed is None:
            change = replace(change, listed=self.listed(s, made.assigned))
        s.controller.elr = made.elr
        s.controller.last_leader = self.perhaps(made.last_leader)
        s.controller.adding = made.assigned.adding
        s.controller.removing = made.assigned.removing
        if self.features.can_reorder:
            s.controller.places = list(made.assigned.places)
        self.forget_untold(s, made.assigned)
        self.note_unassigned(s, made.assigned)
        with when(made.differs):
            self.write_metadata(s, change)
        if self.features.names_directories and self.features.reassigns:
            self.commit_at_once(s)  # brokers forget to name directories by it

    def next_elr(self, s: ClusterState, isr: SetValue, unclean: object, assigned: Assigned) -> SetValue:
        """Who may lead besides the ISR: whoever left it since it became too small, and has not been unclean since."""
        if not self.features.elr:
            return s.controller.elr
        left = ((s.controller.elr | s.changes[0].isr) - isr) - unclean
        if self.features.reassigns and self.fixes.elr_within_replicas:
            left = left & assigned.replicas
        least = self.minimum(s)
        if self.fixes.minimum_by_own_partition:
            own = assigned.replicas.count() if self.features.reassigns else self.b.replicas - self.b.spares
            least = minimum(least, own)
        return If(isr.count() >= least, set(), left)

    def minimum(self, s: ClusterState) -> Num:
        """min.insync.replicas as the controller knows it, but no more than partition 0 of the topic has replicas.

        Kafka: ReplicationControlManager.getTopicEffectiveMinIsr.
        """
        zero = self.b.partition_zero
        needed = min(self.b.min_insync, zero) if zero else self.needed_of(s.changes[0])
        return If(s.controller.minimum_is_one, 1, needed)
