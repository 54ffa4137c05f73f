"""Truncation before the first fetch of an epoch, until 2.8: by the high watermark, or by a question about epochs.

Kafka: AbstractFetcherThread.maybeTruncate and getOffsetTruncationState, OffsetsForLeaderEpoch (KIP-101, KIP-279).
"""

from __future__ import annotations

from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import Never, exchange, step, what_came
from insync.kafka.releases import Truncation
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Not, Num, Or, minimum, require, when

__all__ = ["LeaderEpochRequests"]


class LeaderEpochRequests(Part):
    """What a follower asks about epochs before it fetches in a new one."""

    @step(
        "{follower} asks {leader} where to truncate",
        drawn=exchange("follower", "leader", "epoch end?", what_came),
        by_view=True,
        never=Never("Kafka truncates with a fetch since 2.8, and asks no such question"),
    )
    def ask_epoch_end(self, s: ClusterState, follower: Replica, leader: Replica) -> None:
        """A new follower asks for the end of its last epoch and cuts its log there.

        Until 2.8 this came before the first fetch of an epoch. The answer was an offset only before KIP-279; then it is
        the largest epoch of the leader up to the one asked for as well, and the follower may have to ask again.
        Kafka: ReplicaFetcherThread.maybeTruncate, AbstractFetcherThread.getOffsetTruncationState.
        """
        cluster = self.cluster
        f = s.broker[follower]
        require(follower != leader, f.truncating)
        require(cluster.fetcher.follows_in_view(s, follower, leader), cluster.image.leads(s, leader))
        if self.rules.fence_truncation:
            require(cluster.image.registration_of(s, follower).epoch == cluster.image.registration_of(s, leader).epoch)
        if self.rules.truncation is Truncation.EPOCH_OFFSET:
            self.truncate_to(s, follower, self.end_by_offset(s, leader, follower))
            f.truncating = False
        else:
            self.truncate_by_pair(s, follower, leader)

    def truncates_first(self, same_leader: Condition) -> Condition:
        """Whether a follower truncates before it fetches in a new epoch: not always if its leader stays the same."""
        return Or(Not(same_leader), self.rules.truncate_on_every_epoch)

    def end_by_offset(self, s: ClusterState, leader: Replica, follower: Replica) -> Num:
        """The end of the follower's last epoch as a leader answers before KIP-279: an offset, or nothing.

        There is no answer if the leader knows no larger epoch than the one asked for and that is not its latest; the
        follower then falls back to its high watermark. Kafka 0.11: LeaderEpochFileCache.endOffsetFor.
        """
        cluster = self.cluster
        f, l = s.broker[follower], s.broker[leader]
        end = cluster.log.end_of_epoch(s, leader, f.latest_epoch)
        begins = Or(l.leo == 0, cluster.log.epoch_at(s, leader, 0) > f.latest_epoch)
        undefined = Or(
            f.latest_epoch < 0, f.latest_epoch > l.latest_epoch, And(begins, f.latest_epoch < l.latest_epoch)
        )
        return If(undefined, f.hw, minimum(f.leo, end))

    def truncate_by_pair(self, s: ClusterState, follower: Replica, leader: Replica) -> None:
        """Cut the log where the leader's answer, an epoch and its end, says so (KIP-279).

        An epoch that the follower does not know makes it ask again, from its own largest epoch below.
        Kafka: AbstractFetcherThread.getOffsetTruncationState, LeaderEpochFileCache.endOffsetFor.
        """
        cluster = self.cluster
        f, l = s.broker[follower], s.broker[leader]
        floor = cluster.log.floor_epoch(s, leader, f.latest_epoch)
        unknown_to_leader = False if self.rules.cache_epoch_on_election else floor < 0
        undefined = Or(f.latest_epoch < 0, f.latest_epoch > l.latest_epoch, unknown_to_leader)
        leader_epoch = If(floor < 0, f.latest_epoch, floor)
        leader_end = minimum(f.leo, cluster.log.end_of_epoch(s, leader, f.latest_epoch))
        # The follower looks up the leader's epoch in its own cache. Since KAFKA-7415 that lookup names the epoch asked
        # for where all that the cache has are later.
        found = cluster.log.floor_epoch(s, follower, leader_epoch)
        follower_epoch = If(found < 0, leader_epoch, found) if self.rules.cache_epoch_on_election else found
        follower_end = cluster.log.end_of_epoch(s, follower, leader_epoch)
        asks_again = And(Not(undefined), follower_epoch >= 0, follower_epoch < leader_epoch)
        agreed = If(follower_epoch < 0, leader_end, minimum(leader_end, follower_end))
        self.truncate_to(s, follower, If(undefined, f.hw, If(asks_again, follower_end, agreed)))
        f.truncating = asks_again

    def truncate_to(self, s: ClusterState, follower: Replica, end: Num) -> None:
        """Cut a log where its leader says; before KAFKA-10706 an end at the log's own was no truncation at all.

        The follower then kept an epoch without records that the leader does not know, and asked about it for ever.
        Kafka: Log.truncateTo.
        """
        with when(Or(end < s.broker[follower].leo, self.rules.truncation_drops_empty_epochs)):
            self.cluster.log.truncate(s, follower, end)
