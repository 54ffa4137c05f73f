"""The controller's changes of the partition on their way to the brokers.

`changes` holds the latest ones, the newest at place 0. A broker's `lag` is the place of the one that it has applied, so
the brokers' views of the partition take no room of their own. What no broker can apply any more is cleared. Where the
bound `metadata_lag` is 0, metadata is atomic: every running broker acts on a change in the step that makes it.
"""

from __future__ import annotations

from typing import Any

from insync.kafka.cluster.log import Logs
from insync.kafka.cluster.state import Replica
from insync.model import (
    NONE,
    And,
    Condition,
    If,
    Implies,
    Not,
    Num,
    Or,
    SetValue,
    StateView,
    minimum,
    record,
    require,
    snapshot,
)

__all__ = ["Metadata"]


class Metadata(Logs):
    """Committing changes, and forgetting those that every broker has passed."""

    name = "cluster_metadata"

    def commit(
        self,
        s: StateView,
        when: Condition,
        leader: Num | int,
        epoch: Num,
        isr: SetValue,
        writer: Replica | None = None,
        replicas: SetValue | None = None,
    ) -> None:
        """Append a change to the metadata log; it bumps the partition epoch (PartitionRegistration.merge).

        A change of the ISR alone says nothing to a follower that is up to date: it counts as applied at once, which
        spares steps that nobody could see. The same goes for a change that a leader has written itself (`writer`).

        Args:
            s: the state.
            when: whether there is a change at all.
            leader: who leads from now on, -1 for nobody.
            epoch: the leader epoch.
            isr: the ISR.
            writer: the leader that wrote this change to ZooKeeper, and so knows it.
            replicas: the replicas, where they change.
        """
        of_isr_only = And(leader == s.changes[0].leader.or_else(-1), epoch == s.changes[0].epoch)
        assigned = s.changes[0].replicas if replicas is None else replicas
        if replicas is not None:
            of_isr_only = And(of_isr_only, assigned == s.changes[0].replicas)
        atomic = self.b.metadata_lag == 0
        before = snapshot(s.changes[0])
        for replica in self.all(Replica):
            b = s.broker[replica]
            if replica == writer or atomic:
                continue
            unseen = And(of_isr_only, b.lag == 0, Not(leader == replica))
            waits = And(when, b.running, Not(unseen))
            require(Implies(waits, b.lag < self.b.metadata_lag))
            b.lag = If(waits, minimum(b.lag + 1, self.b.metadata_lag), b.lag)  # the guard keeps it below
        for place in reversed(range(self.b.metadata_lag)):
            s.changes[place + 1] = If(when, s.changes[place], s.changes[place + 1])
        decided = record(
            leader=self.perhaps(leader),
            epoch=epoch,
            isr=isr,
            minimum_is_one=s.controller.minimum_is_one,
            replicas=assigned,
        )
        s.changes[0] = If(when, decided, s.changes[0])
        s.alter.fresh = And(s.alter.fresh, Not(when))
        if atomic:
            self._tell_everybody(s, when, before, writer)
        self.forget_passed_changes(s)

    def _tell_everybody(self, s: StateView, when: Condition, before: Any, writer: Replica | None) -> None:
        """Let every running broker act on a change in the step that makes it, where metadata is never late."""
        for replica in self.all(Replica):
            if replica != writer:
                led, same_leader = before.leader == replica, before.leader == s.changes[0].leader
                self.adopt(s, replica, before.epoch, led, same_leader, And(when, s.broker[replica].running))

    def adopt(
        self,
        s: StateView,
        replica: Replica,
        epoch: Num | int,
        led: Condition,
        same_leader: Condition,
        when: Condition = True,
    ) -> None:
        """What a broker does about a change of the partition: see `Broker.adopt`."""
        raise NotImplementedError

    def forget_passed_changes(self, s: StateView) -> None:
        """Clear the changes that every running broker has passed, so that they tell no states apart."""
        nothing = record(
            leader=NONE,
            epoch=0,
            isr=set(),
            minimum_is_one=False if self.b.minimum_changes else 0,
            replicas=set() if self.b.reassignments else 0,
        )
        for place in range(1, self.b.metadata_lag + 1):
            late = [And(s.broker[r].running, s.broker[r].lag >= place) for r in self.all(Replica)]
            s.changes[place] = If(Or(*late), s.changes[place], nothing)

    def perhaps(self, replica: Num | int) -> object:
        """A replica by its number, or none for -1."""
        return If(replica < 0, NONE, replica)
