"""A fetcher that begins where the log ended too early, where `fetcher_begins_at_log_end` says so (KAFKA-13266).

A broker that is to follow in a new epoch notes where its log ends, then stops the fetcher that it has, and begins
another one at that place. What the first one appends in between the second fetches again, finds that the log ends
elsewhere, and never tries again in that epoch.

Kafka: ReplicaManager.applyLocalFollowersDelta, AbstractFetcherThread.processFetchRequest, markPartitionFailed.
"""

from __future__ import annotations

from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import Never, mark, race, step
from insync.kafka.replica import Replica
from insync.model import And, Condition, Not, require, when

__all__ = ["StaleFetcher"]


class StaleFetcher(Part):
    """What becomes of a broker's fetcher when the next one is made."""

    @step(
        "{follower} stops its former fetcher",
        drawn=mark("follower", "stops its fetcher"),
        never=Never("Kafka stops a fetcher before it notes where the next one begins since 3.0"),
        on=lambda f: f.late_fetchers,
    )
    def stop_former_fetcher(self, s: ClusterState, follower: Replica) -> None:
        """What was on its way to the former fetcher is not used any more.

        Kafka: AbstractFetcherManager.removeFetcherForPartitions.
        """
        f = s.broker[follower]
        require(f.fetch_offset.is_some(), f.fetch_response.waiting)
        self.cluster.responses.forget_response(s, follower)

    @step(
        "{follower} fetches from {leader} what it has already",
        needs=race(
            "the former fetcher of {follower} has appended while ReplicaManager.applyLocalFollowersDelta has noted "
            "where the log ends, and not stopped it yet"
        ),
        by_view=True,
        never=Never("Kafka stops a fetcher before it notes where the next one begins since 3.0"),
        on=lambda f: f.late_fetchers,
    )
    def fetch_again(self, s: ClusterState, follower: Replica, leader: Replica) -> None:
        """A fetcher gets a record for a place at which the log does not end any more, and gives the partition up.

        That the leader takes this for an end of the follower's log, one that is too low, is left out.
        Kafka: ReplicaFetcherThread.processPartitionData, which throws "Offset mismatch".
        """
        cluster = self.cluster
        require(follower != leader)
        f = s.broker[follower]
        require(
            cluster.fetcher.follows(s, follower, leader),
            cluster.image.leads(s, leader),
            cluster.fetcher.fetch_allowed(s, follower, leader),
        )
        require(Not(f.fetch_response.waiting), f.fetch_offset.or_else(f.leo) < f.leo)
        f.fetch_offset = None
        f.fetch_failed = True

    def begins_at_end(self, s: ClusterState, follower: Replica) -> Condition:
        """Whether a follower's fetcher is at work, and at the end of the log."""
        f = s.broker[follower]
        return And(Not(f.fetch_failed), f.fetch_offset.or_else(f.leo) >= f.leo) if self.features.late_fetchers else True

    def note_place(self, s: ClusterState, follower: Replica) -> None:
        """Note where the next fetcher is to begin, if an answer to the one before it may still come.

        A partition that was given up is tried again with that.
        """
        if self.features.late_fetchers:
            f = s.broker[follower]
            f.fetch_failed = False
            f.fetch_offset = None
            with when(f.fetch_response.waiting):
                f.fetch_offset = f.leo

    def forget_fetcher(self, s: ClusterState, replica: Replica) -> None:
        """There is no fetcher, or it goes by the end of the log."""
        if self.features.late_fetchers:
            s.broker[replica].fetch_offset = None
            s.broker[replica].fetch_failed = False
