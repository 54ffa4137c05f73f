"""Whom an unclean election may take: anybody who lives, or by KIP-966 part 2 who has the longest log.

Kafka: PartitionChangeBuilder.electAnyLeader; KIP-966 part 2 (unclean.recovery.strategy, GetReplicaLogInfo), which no
release has.
"""

from __future__ import annotations

from collections.abc import Callable

from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Not, Num, Or, SetValue, maximum

__all__ = ["UncleanRecovery"]

Valid = Callable[[Replica], Condition]


class UncleanRecovery(Part):
    """Whom an unclean election may take."""

    def candidates(self, s: ClusterState, acceptable: Valid, elr: SetValue) -> Valid:
        """Return who may be elected although it may lack records.

        Where the controller asks brokers for the ends of their logs, their answers and the election are one step:
        nobody leads meanwhile, so no log grows, and a broker that crashes after its answer is as one that crashes after
        the election.

        Args:
            s: the state.
            acceptable: whether a replica may lead at all.
            elr: the eligible leader replicas; none of them is there.
        """
        if not self.fixes.unclean_elects_longest_log:
            return acceptable

        def answers(replica: Replica) -> Condition:
            return And(acceptable(replica), self.cluster.image.is_online(s, replica))

        def longest(replica: Replica) -> Condition:
            beaten = [And(answers(other), self._is_longer(s, other, replica)) for other in self.others(replica)]
            return And(answers(replica), Not(Or(*beaten)), self._need_not_wait(s, elr, answers))

        return longest

    def _need_not_wait(self, s: ClusterState, elr: SetValue, answers: Valid) -> Condition:
        """Whether all have answered who may have every committed record: the strategy Balanced of KIP-966."""
        if not self.fixes.unclean_recovery_waits:
            return True
        last = s.controller.last_known_leader
        return And(elr.is_empty(), Or(last.is_none(), *[And(last == r, answers(r)) for r in self.all(Replica)]))

    def _is_longer(self, s: ClusterState, one: Replica, other: Replica) -> Condition:
        epoch, least = self._last_epoch(s, one), self._last_epoch(s, other)
        return Or(epoch > least, And(epoch == least, s.broker[one].leo > s.broker[other].leo))

    def _last_epoch(self, s: ClusterState, replica: Replica) -> Num:
        b = s.broker[replica]
        return If(b.leo > b.log_start, self.cluster.log.epoch_at(s, replica, maximum(b.leo - 1, 0)), -1)
