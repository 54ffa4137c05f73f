"""KIP-320 (Kafka 2.1): fetching, truncation, ISR and high watermark are fenced by the leader epoch."""

from __future__ import annotations

from insync.kafka.published.kip279 import Kip279
from insync.kafka.published.replication import Epoch, Replica
from insync.model import And, Condition, StateView

__all__ = ["Kip320"]


class Kip320(Kip279):
    """KIP-320: leader and follower deal with each other only while both are in the same leader epoch.

    1. A follower truncates whenever its epoch changes, before it fetches.
    2. It truncates against a leader that is in that very epoch.
    3. Only members that follow the leader in its epoch count for the high watermark.
    4. Who joins the ISR must have reached the records of the leader's own epoch.
    """

    def follows(self, s: StateView, leader: Replica, follower: Replica) -> Condition:
        """The follower names this leader and is in its epoch (TLA+: IsFollowingLeaderEpoch)."""
        f, l = s.replica[follower], s.replica[leader]
        return And(f.leader == leader, f.epoch == l.epoch, self.believes_it_leads(s, leader))

    def may_join_isr(self, s: StateView, leader: Replica, follower: Replica) -> Condition:
        """As before, and the leader's high watermark has reached its own epoch."""
        return And(super().may_join_isr(s, leader, follower), self.has_committed_own_epoch(s, leader))

    def may_truncate(self, s: StateView, leader: Replica, epoch: Epoch) -> Condition:
        """The leader must believe that it leads, in the epoch of the request."""
        return And(self.believes_it_leads(s, leader), s.replica[leader].epoch == epoch)
