"""The controller: elections, fencing, registrations, and what it makes of a leader's proposal for the ISR.

Kafka: ReplicationControlManager, PartitionChangeBuilder, ClusterControlManager.
"""

from __future__ import annotations

from collections.abc import Callable

from insync.kafka.cluster.assignment import Assigned, Assignment
from insync.kafka.cluster.state import Replica
from insync.model import And, Condition, If, Implies, Not, Num, Or, SetValue, StateView, action, minimum, require

__all__ = ["Controller"]

Acceptable = Callable[[Replica], Condition]


class Controller(Assignment):
    """What the controller does by itself and when it is asked."""

    name = "cluster_controller"

    # ------------------------------------------------------------------------------------------------------- actions

    @action(label="controller fences {replica}")
    def fence(self, s: StateView, replica: Replica) -> None:
        """A broker's session has expired: it leaves the ISR, and another leads if it led.

        The controller cannot tell a broker that has crashed from one that is cut off; only the latter is limited.
        Kafka: ReplicationControlManager.handleBrokerFenced.
        """
        running = s.broker[replica].running
        require(Not(s.controller.fenced.contains(replica)))
        require(Implies(running, s.spent.fencings < self.b.fencings))
        s.spent.fencings = If(running, minimum(s.spent.fencings + 1, self.b.fencings), s.spent.fencings)
        s.controller.fenced |= {replica}
        isr = s.changes[0].isr
        self.settle(s, isr.contains(replica), isr - {replica}, lambda r: Not(s.controller.fenced.contains(r)))

    @action(label="controller fences {first} and {second} at once")
    def fence_two(self, s: StateView, first: Replica, second: Replica) -> None:
        """Two sessions expire, and both changes are computed from the same ISR, so the second brings back the first.

        Kafka: QuorumController.maybeFenceReplicas, as it was before KAFKA-13173.
        """
        require(not self.rules.fence_one_at_a_time, first != second)
        old = s.changes[0].isr
        require(old.contains(second))
        self.fence(s, first)
        require(Not(s.controller.fenced.contains(second)), Not(s.broker[second].running))
        s.controller.fenced |= {second}
        self.settle(s, True, old - {second}, lambda r: Not(s.controller.fenced.contains(r)))

    @action(label="controller unfences {replica}")
    def unfence(self, s: StateView, replica: Replica) -> None:
        """A registered broker is heard of again; if nobody leads, it may be elected.

        Kafka: ReplicationControlManager.handleBrokerUnfenced.
        """
        require(s.controller.fenced.contains(replica), s.broker[replica].running)
        s.controller.fenced -= {replica}
        leaderless = s.changes[0].leader.is_none()
        self.settle(s, leaderless, s.changes[0].isr, lambda r: Not(s.controller.fenced.contains(r)))

    @action(label="controller elects {replica}")
    def elect(self, s: StateView, replica: Replica) -> None:
        """A member of the ISR is made leader although nothing has failed, as when the preferred leader is asked for.

        Kafka: PartitionChangeBuilder.electPreferredLeader, here with any member preferred.
        """
        require(s.spent.elections < self.b.elections)
        newest = s.changes[0]
        require(newest.isr.contains(replica), Not(newest.leader == replica))
        require(Not(s.controller.fenced.contains(replica)))
        s.spent.elections += 1
        self.commit(s, True, int(replica), newest.epoch + 1, newest.isr)

    @action(label="controller accepts the ISR")
    def accept_isr(self, s: StateView) -> None:
        """The controller writes a proposed ISR that passes its checks.

        Kafka: ReplicationControlManager.alterPartition, PartitionChangeBuilder.maybePopulateTargetElr.
        """
        require(s.alter.sender.is_some(), self.is_current(s), self.is_eligible(s))
        newest, isr = s.changes[0], s.alter.isr
        if self.b.reassignments:  # a larger ISR may end a reassignment, and with it a leadership
            self.settle(s, True, isr, lambda r: Not(s.controller.fenced.contains(r)))
            self.forget_proposal(s)
            return
        if self.elr:
            s.controller.elr = self.next_elr(s, isr, set(), self.assigned(s))
        bump = False if self.rules.shrink_keeps_epoch else Not(newest.isr.is_subset(isr))
        self.commit(s, True, newest.leader.or_else(-1), newest.epoch + If(bump, 1, 0), isr)
        self.forget_proposal(s)

    @action(label="controller refuses the ISR")
    def refuse_isr(self, s: StateView) -> None:
        """The controller refuses a proposed ISR; the sender goes back to its committed ISR if a member is not eligible.

        After other refusals the sender waits for the metadata that will tell it more.
        Kafka: ReplicationControlManager.validateAlterPartitionData, Partition.handleAlterPartitionError.
        """
        current = self.is_current(s)
        require(s.alter.sender.is_some(), Not(And(current, self.is_eligible(s))))
        for replica in self.all(Replica):
            b = s.broker[replica]
            returns = And(current, s.alter.sender == replica, b.pending == s.alter.isr)
            b.pending = If(returns, set(), b.pending)
        self.forget_proposal(s)

    # --------------------------------------------------------------------------------------- rules about a proposal

    def is_current(self, s: StateView) -> Condition:
        """Whether a proposal comes from the leader, in its epoch, about the partition as it is.

        An equal partition epoch implies the rest, so only a release that does not compare it looks further.
        """
        newest, alter = s.changes[0], s.alter
        if self.rules.compare_partition_epoch:
            return alter.fresh
        return And(newest.leader == alter.sender, newest.epoch == alter.epoch)

    def is_eligible(self, s: StateView) -> Condition:
        """Whether all members proposed may be in the ISR (ReplicationControlManager.ineligibleReplicasForIsr)."""
        unfenced = (s.alter.isr & s.controller.fenced).is_empty() if self.rules.isr_needs_unfenced else True
        current = s.alter.current if self.rules.isr_needs_broker_epoch else True
        if self.b.reassignments and self.rules.isr_within_replicas:
            current = And(current, s.alter.isr.is_subset(s.changes[0].replicas))
        return And(unfenced, current)

    def forget_proposal(self, s: StateView) -> None:
        """No proposal is on its way any more."""
        s.alter.sender = None
        s.alter.epoch = 0
        s.alter.isr = set()
        s.alter.fresh = False
        s.alter.current = False

    # --------------------------------------------------------------------------------------------------- elections

    def settle(
        self,
        s: StateView,
        when: Condition,
        isr: SetValue,
        acceptable: Acceptable,
        unclean: frozenset[Replica] = frozenset(),
        assigned: Assigned | None = None,
    ) -> None:
        """Decide leader, ISR and ELR after a failure or a return, and commit what has changed.

        The leader stays if it may; else the first member in the order of assignment leads; else, with an ISR that has
        become empty, a member of the ELR, the last known leader, or anybody who lives if unclean elections are allowed.
        Kafka: PartitionChangeBuilder.build.

        Args:
            s: the state.
            when: whether the partition is looked at.
            isr: the ISR without the replica that failed.
            acceptable: whether a replica may lead.
            unclean: who has come back after an unclean stop.
            assigned: the replicas and what is to become of them, where an operator changes that.
        """
        newest = s.changes[0]
        isr, assigned = self.complete_reassignment(s, when, isr, assigned or self.assigned(s))
        leader = newest.leader.or_else(-1)
        elr = self.next_elr(s, isr, unclean, assigned) if self.elr else None

        def valid(replica: Replica) -> Condition:
            eligible = And(isr.is_empty(), elr.contains(replica)) if elr is not None else False
            return And(stays(replica), acceptable(replica), Or(isr.contains(replica), eligible))

        def stays(replica: Replica) -> Condition:
            return assigned.replicas.contains(replica) if self.b.reassignments else True

        clean = self.first(valid, leader)
        chosen = clean
        if elr is not None:
            last = s.controller.last_leader
            lives = Or(*[And(last == r, acceptable(r)) for r in self.all(Replica)])
            may = And(isr.is_empty(), elr.is_empty(), lives if self.rules.last_leader_must_live else last.is_some())
            chosen = If(And(chosen < 0, may), last.or_else(-1), chosen)
        if self.unclean:
            chosen = If(chosen < 0, self.first(lambda r: And(stays(r), acceptable(r)), leader), chosen)
        self.refuse_newcomer(s, when, chosen)
        self._write(s, when, chosen, chosen != clean, isr, elr, assigned)

    def first(self, valid: Acceptable, leader: Num | int) -> Num:
        """The present leader if it is valid, else the first valid replica, -1 if there is none."""
        chosen: Num | int = -1
        for replica in reversed(self.all(Replica)):
            chosen = If(valid(replica), int(replica), chosen)
        stays = Or(*[And(leader == r, valid(r)) for r in self.all(Replica)])
        return If(stays, leader, chosen)

    def _write(
        self,
        s: StateView,
        when: Condition,
        chosen: Num,
        unclean: Condition,
        isr: SetValue,
        elr: SetValue | None,
        assigned: Assigned,
    ) -> None:
        """Commit the outcome of `settle`, if it differs from what holds (PartitionChangeBuilder.build)."""
        newest = s.changes[0]
        leader, old = newest.leader.or_else(-1), newest.isr
        alone = self.singleton(chosen)
        if elr is None:
            new = If(unclean, alone, If(isr.is_empty(), old, isr))
            changed = Or(chosen != leader, Not(new == old))
        else:
            new = If(Or(unclean, And(isr.is_empty(), chosen >= 0)), alone, isr)
            left = If(unclean, set(), elr - alone)
            changed = Or(chosen != leader, Not(new == old), Not(left == s.controller.elr))
            last = If(chosen >= 0, None, If(And(new.is_empty(), leader >= 0), leader, s.controller.last_leader))
            s.controller.elr = If(when, left, s.controller.elr)
            s.controller.last_leader = If(when, last, s.controller.last_leader)
        bump = chosen != leader
        if not self.rules.shrink_keeps_epoch:
            bump = Or(bump, Not(old.is_subset(new)))
        if self.b.reassignments:
            bump = Or(bump, Not(newest.replicas.is_subset(assigned.replicas)))
            changed = Or(changed, self.note_assignment(s, when, assigned))
            self.commit(s, And(when, changed), chosen, newest.epoch + If(bump, 1, 0), new, replicas=assigned.replicas)
            return
        self.commit(s, And(when, changed), chosen, newest.epoch + If(bump, 1, 0), new)

    def next_elr(self, s: StateView, isr: SetValue, unclean: object, assigned: Assigned) -> SetValue:
        """Who may lead besides the ISR: whoever left it since it became too small, and has not been unclean since."""
        left = ((s.controller.elr | s.changes[0].isr) - isr) - unclean
        if self.b.reassignments and self.rules.elr_within_replicas:
            left = left & assigned.replicas
        return If(isr.count() >= self.minimum(s), set(), left)

    def minimum(self, s: StateView) -> Num | int:
        """min.insync.replicas as the controller knows it, but no more than there are replicas."""
        needed = self.needed_of(s.changes[0])
        return If(s.controller.minimum_is_one, 1, needed) if self.b.minimum_changes else needed

    def singleton(self, replica: Num) -> SetValue:
        """The set of one replica by its number, the empty set for -1."""
        chosen: object = set()
        for one in self.all(Replica):
            chosen = If(replica == one, {one}, chosen)
        return chosen  # type: ignore[return-value]
