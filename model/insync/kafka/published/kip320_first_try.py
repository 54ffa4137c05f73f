"""The first try at KIP-320, never shipped: followers truncate only when a fetch shows that the logs differ."""

from __future__ import annotations

from insync.kafka.published.kip279 import Kip279
from insync.kafka.published.replication import Epoch, Replica
from insync.model import And, Condition, Not, Num, Or, StateView, action, require

__all__ = ["Kip320FirstTry"]


class Kip320FirstTry(Kip279):
    """KIP-320, first try: a fetch carries the epoch of the last record fetched, and the leader compares it.

    Leader and follower need not be in the same leader epoch, and that is the hole: a follower of an older epoch
    may count for the high watermark, and truncate what it counted for when it catches up.
    """

    @action(label="{follower} becomes follower of {leader} @{epoch}")
    def become_follower(self, s: StateView, follower: Replica, leader: Replica, epoch: Epoch) -> None:
        """A replica learns of a new leader and keeps its log as it is.

        TLA+: BecomeFollower. Kafka: Partition.makeFollower.
        """
        require(follower != leader, s.requests[epoch].leader == leader)
        require(self.is_newer(s, follower, epoch))
        self.adopt(s, follower, leader, epoch)

    @action(label="{follower} truncates to match {leader}")
    def follower_truncate(self, s: StateView, follower: Replica, leader: Replica) -> None:
        """A follower that is ahead of the leader, or whose last record has another epoch there, cuts its log back.

        TLA+: FollowerTruncate. Kafka: AbstractFetcherThread.truncateOnFetchResponse.
        """
        require(follower != leader, self.believes_it_leads(s, leader), self.follows(s, leader, follower))
        require(self.needs_truncation(s, leader, follower))
        self.truncate(s, follower, self.truncation_offset(s, leader, follower))

    def caught_up(self, s: StateView, leader: Replica, follower: Replica, end: Num) -> Condition:
        """As before, and the last of these records has the same epoch in both logs; the leader must believe it leads.

        TLA+: IsFollowerCaughtUpToLeaderEpoch.
        """
        return And(
            self.believes_it_leads(s, leader),
            super().caught_up(s, leader, follower, end),
            Or(end == 0, self.epoch_at(s, leader, end - 1) == self.epoch_at(s, follower, end - 1)),
        )

    def may_join_isr(self, s: StateView, leader: Replica, follower: Replica) -> Condition:
        """As before, and the leader's high watermark has reached its own epoch."""
        return And(super().may_join_isr(s, leader, follower), self.has_committed_own_epoch(s, leader))

    def may_fetch(self, s: StateView, leader: Replica, follower: Replica) -> Condition:
        """The leader serves a follower whose last record it has with the same epoch."""
        return self.caught_up(s, leader, follower, s.replica[follower].leo)

    def needs_truncation(self, s: StateView, leader: Replica, follower: Replica) -> Condition:
        """Whether a fetch would show the follower that its log is not a prefix (TLA+: FollowerNeedsTruncation)."""
        f, l = s.replica[follower], s.replica[leader]
        last = f.leo - 1
        differs = And(f.leo > 0, last < l.leo, Not(self.epoch_at(s, leader, last) == self.epoch_at(s, follower, last)))
        return Or(f.leo > l.leo, differs)
