"""Fetch sessions, with `fetch_sessions`: requests and responses name the partition only where there is something new.

A request leaves the partition out where offset, log start, epoch and last fetched epoch are what the follower has named
last; the leader takes them from the session, so that is the same fetch. A response leaves it out where it has no
records, no error and no divergence, and the session has told high watermark and log start before. What is modelled is
the session that a follower has with the leader it follows: one with a former leader counts as ended.

Kafka: FetchSession.CachedPartition, FetchSessionHandler (KIP-227).
"""

from __future__ import annotations

from collections.abc import Sequence

from insync.kafka.cluster.broker.fetch_response import FetchResponse
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import Coded, Moment, Never, delay, mark, step
from insync.kafka.replica import Replica
from insync.model import And, Arrow, Condition, Drawn, If, Not, require, when

__all__ = ["EVERY_FETCH_IS_FULL", "FetchSessions"]

EVERY_FETCH_IS_FULL = Never("every fetch is let pass on a new connection here, and so is a full one")


def _draw_lost_reply(moment: Moment) -> Sequence[Drawn]:
    follower, leader = moment.given["follower"], moment.given["leader"]
    return [Arrow(follower, leader, "fetch"), Arrow(leader, follower, "response", reply=True, lost=True)]


class FetchSessions(Part):
    """What leaders and followers remember of the fetches before."""

    @step(
        "{follower}'s fetch session is evicted",
        needs=delay("the leader of {follower} needs the place of its fetch session for another one"),
        drawn=mark("follower", "session evicted"),
        classes=Coded("`FetchSessionCacheShard.remove`; the next fetch is refused, and asked anew"),
        brokers=EVERY_FETCH_IS_FULL,
        on=lambda f: f.sessions,
    )
    def evict_session(self, s: ClusterState, follower: Replica) -> None:
        """The leader gives a session's place to another one; the next fetch is refused, and that after it is full.

        The refusal brings nothing but FETCH_SESSION_ID_NOT_FOUND, or INVALID_FETCH_SESSION_EPOCH where the two do not
        agree how many fetches there were, so it is one step with the eviction.
        Kafka: FetchSessionCacheShard.tryEvict, FetchManager.newContext, FetchSessionHandler.handleResponse.
        """
        require(s.spent.lost_fetch_responses < self.b.lost_fetch_responses, s.broker[follower].session)
        s.spent.lost_fetch_responses += 1
        self.end_session(s, follower)

    @step(
        "{leader} answers a fetch of {follower}, and the response is lost",
        needs=delay("the connection of {follower} to {leader} breaks when {leader} has answered a fetch"),
        drawn=_draw_lost_reply,
        classes=Coded("the leader answers, and the connection breaks in `RemoteLeaderEndPoint.fetch`"),
        brokers=EVERY_FETCH_IS_FULL,
        on=lambda f: f.sessions,
    )
    def lose_fetch_response(self, s: ClusterState, follower: Replica, leader: Replica) -> None:
        """The connection breaks when the leader has counted a fetch and told its high watermark to the session.

        The follower does not know what it has missed, so it begins another session.
        Kafka: AbstractFetcherThread.processFetchRequest, FetchSessionHandler.handleError.
        """
        require(s.spent.lost_fetch_responses < self.b.lost_fetch_responses)
        s.spent.lost_fetch_responses += 1
        self.cluster.fetcher.serve(s, follower, leader)
        if self.guards.lost_reply_ends_session:
            self.end_session(s, follower)

    def leaves_out(self, s: ClusterState, follower: Replica, response: FetchResponse) -> Condition:
        """Whether the leader leaves the partition out of what it answers (CachedPartition.maybeUpdateResponseData)."""
        if not self.features.sessions:
            return False
        f = s.broker[follower]
        told = And(f.session, f.session_high_watermark == response.hw)
        if self.features.deletes:
            told = And(told, f.session_log_start == response.log_start)
        if self.fixes.named_is_answered:
            told = And(told, f.session_fetch.offset == f.leo, f.session_fetch.latest_epoch == f.latest_epoch)
        return And(told, Not(response.has_record), Not(response.diverging), Not(response.refused))

    def note_told(self, s: ClusterState, follower: Replica, response: FetchResponse) -> None:
        """Keep in the session what a fetch has named, and what its response has told; an error tells nothing.

        Kafka: CachedPartition.updateRequestParams, maybeUpdateResponseData.
        """
        f = s.broker[follower]
        f.session = True
        f.session_high_watermark = If(response.refused, None, response.hw)
        f.session_log_start = If(response.refused, 0, response.log_start)
        f.session_fetch.offset = f.leo
        f.session_fetch.latest_epoch = f.latest_epoch

    def end_session(self, s: ClusterState, follower: Replica) -> None:
        """The next fetch is a full one, and its response names the partition."""
        if not self.features.sessions:
            return
        f = s.broker[follower]
        f.session = False
        self.forget_told(s, follower)

    def forget_told(self, s: ClusterState, follower: Replica) -> None:
        """The next response names the partition."""
        f = s.broker[follower]
        f.session_high_watermark = None
        f.session_log_start = 0
        f.session_fetch.offset = 0
        f.session_fetch.latest_epoch = -1

    def end_sessions_with(self, s: ClusterState, leader: Replica) -> None:
        """A leader that goes down forgets its sessions, and the connections of its followers break."""
        if self.features.sessions:
            for follower, is_other in self.beside(leader):
                with when(And(is_other, self.cluster.image.registration_of(s, follower).leader == leader)):
                    self.end_session(s, follower)

    def carry_session(self, s: ClusterState, follower: Replica, anew: Condition, same_leader: Condition) -> None:
        """A broker has a new view: it begins another session with another leader, and names its epoch to the same one.

        Kafka: FetchSessionHandler.Builder.build, AbstractFetcherManager.addFetcherForPartitions.
        """
        cluster = self.cluster
        if not self.features.sessions:
            return
        stays = And(same_leader, cluster.image.is_assigned(cluster.image.registration_of(s, follower), follower))
        with when(Not(stays)):
            self.end_session(s, follower)
        if self.fixes.named_is_answered:
            with when(anew):
                self.forget_told(s, follower)
