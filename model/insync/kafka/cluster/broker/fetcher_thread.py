"""The follower: fetching, and cutting back what the leader does not have.

Kafka: AbstractFetcherThread, ReplicaFetcherThread, and Partition.fetchRecords on the leader's side.
"""

from __future__ import annotations

from collections.abc import Sequence

from insync.kafka.cluster.broker.fetch_response import FetchResponse
from insync.kafka.cluster.indices import epoch_bumps
from insync.kafka.cluster.part import Part
from insync.kafka.cluster.state import ClusterState
from insync.kafka.cluster.steps import Coded, Moment, Never, delay, mark, step, what_came
from insync.kafka.releases import Truncation
from insync.kafka.replica import Replica
from insync.model import And, Arrow, Condition, Drawn, If, Not, Num, Or, maximum, minimum, require, when

__all__ = ["FetcherThread"]


def _draw_fetch(moment: Moment) -> Sequence[Drawn]:
    """With late responses the request alone; `receive` is the response."""
    follower, leader = moment.given["follower"], moment.given["leader"]
    asked = Arrow(follower, leader, f"fetch at {moment.was('follower')['leo']}")
    late = moment.now("follower").get("fetch_response")
    if late is not None and late["waiting"]:
        return [asked]
    return [asked, Arrow(leader, follower, what_came(moment), reply=True)]


class FetcherThread(Part):
    """What a broker does that follows another one, and the leader's half of a fetch."""

    @step(
        "{follower} fetches from {leader}",
        drawn=_draw_fetch,
        by_view=True,
        classes=Coded(
            "`RemoteLeaderEndPoint.buildFetch`, the leader's `fetchMessages`, then "
            "`AbstractFetcherThread.processFetchRequest`, which waits for `receive` with "
            "`late_fetch_responses`"
        ),
        brokers=Coded("the follower's connection is ended, so that it fetches anew; that one request passes"),
    )
    def fetch(self, s: ClusterState, follower: Replica, leader: Replica) -> None:
        """A follower fetches one record at its log end, or learns where its log must be cut.

        With late responses the leader's half of it alone; `receive` is the other half.
        Kafka: Partition.fetchRecords, AbstractFetcherThread.processFetchRequest.
        """
        response, left_out = self.serve(s, follower, leader)
        with when(Not(left_out)):
            self.cluster.responses.send(s, follower, response)

    @step(
        "{follower}'s fetcher stops",
        needs=delay("the fetcher of {follower} fails, and its partition waits to be tried again"),
        drawn=mark("follower", "fetcher stops"),
        classes=Coded("nothing: nobody fetches here but by a command"),
    )
    def pause_fetching(self, s: ClusterState, follower: Replica) -> None:
        """A fetch fails and its partition waits to be tried again; the follower may leave the ISR meanwhile.

        Kafka: AbstractFetcherThread.handlePartitionsWithErrors, delayPartitions.
        """
        f = s.broker[follower]
        require(
            s.spent.fetch_failures < self.b.fetch_failures,
            self.cluster.image.is_online(s, follower),
            Not(f.fetch_delayed),
        )
        s.spent.fetch_failures += 1
        f.fetch_delayed = True

    @step(
        "{follower}'s fetcher goes on",
        drawn=mark("follower", "fetcher goes on"),
        classes=Coded("nothing: nobody fetches here but by a command"),
    )
    def resume_fetching(self, s: ClusterState, follower: Replica) -> None:
        """The partition is tried again."""
        require(s.broker[follower].fetch_delayed)
        s.broker[follower].fetch_delayed = False

    @step(
        "{follower}'s quota is used up",
        needs=delay("{follower} has used up its replication quota"),
        drawn=mark("follower", "quota used up"),
        classes=Never(),
    )
    def throttle(self, s: ClusterState, follower: Replica) -> None:
        """A follower has used up its replication quota; while it is outside the ISR its fetches get no records.

        Kafka: ReplicationQuotaManager.isQuotaExceeded, ReplicaManager.shouldLeaderThrottle.
        """
        f = s.broker[follower]
        require(s.spent.throttles < self.b.throttles, self.cluster.image.is_online(s, follower), Not(f.throttled))
        s.spent.throttles += 1
        f.throttled = True

    @step("{follower}'s quota has room", drawn=mark("follower", "quota has room"), classes=Never())
    def unthrottle(self, s: ClusterState, follower: Replica) -> None:
        """Time has passed, and the quota has room again (Kafka: ReplicationQuotaManager.isQuotaExceeded)."""
        require(s.broker[follower].throttled)
        s.broker[follower].throttled = False

    def follows_in_view(self, s: ClusterState, follower: Replica, leader: Replica) -> Condition:
        """Whether a broker runs and believes that the other one leads."""
        cluster = self.cluster
        view = cluster.image.registration_of(s, follower)
        return And(
            cluster.image.is_online(s, follower), view.leader == leader, cluster.image.is_assigned(view, follower)
        )

    def follows(self, s: ClusterState, follower: Replica, leader: Replica) -> Condition:
        """Whether a broker fetches from the other one: it follows it and has nothing to truncate first."""
        f = s.broker[follower]
        return And(self.follows_in_view(s, follower, leader), Not(f.truncating), Not(f.fetch_delayed))

    def serve(self, s: ClusterState, follower: Replica, leader: Replica) -> tuple[FetchResponse, Condition]:
        """The leader's half of a fetch: what it answers, and whether it leaves the partition out of that.

        Kafka: ReplicaManager.fetchMessages, Partition.fetchRecords.
        """
        cluster = self.cluster
        require(follower != leader, self.follows(s, follower, leader), cluster.image.leads(s, leader))
        require(self.fetch_allowed(s, follower, leader))
        f, l, view = s.broker[follower], s.broker[leader], cluster.image.registration_of(s, leader)
        spared = view.isr.contains(follower) if self.guards.throttle_spares_isr else False
        require(Or(Not(f.throttled), spared))
        if self.rules.isr_within_replicas:
            require(cluster.image.is_assigned(view, follower))
        if self.rules.truncation is Truncation.ON_FETCH:
            # A leader that does not know where the epoch ends answers OFFSET_OUT_OF_RANGE. The follower then requests
            # the leader's log start and log end. It retries for ever if its own log end lies between them.
            require(Or(Not(self.asks_unknown_epoch(s, leader, follower)), f.leo > l.leo, f.leo < l.log_start))
        require(Not(f.fetch_response.waiting), cluster.stale_fetcher.begins_at_end(s, follower))
        cluster.stale_fetcher.forget_fetcher(s, follower)
        self.truncate_without_epochs(s, follower)
        response = self.answer(s, leader, follower)
        left_out = cluster.sessions.leaves_out(s, follower, response)
        cluster.partition.count_fetch(s, leader, follower, response)
        cluster.sessions.note_told(s, follower, response)
        return response, left_out

    def fetch_allowed(self, s: ClusterState, follower: Replica, leader: Replica) -> Condition:
        """Whether the leader serves a fetch: both must be in the same epoch (Partition.checkCurrentLeaderEpoch)."""
        cluster = self.cluster
        if not self.rules.fence_fetch:
            return True
        same = cluster.image.registration_of(s, follower).epoch == cluster.image.registration_of(s, leader).epoch
        return same if self.rules.session_keeps_epoch else Or(same, s.broker[follower].session)

    def answer(self, s: ClusterState, leader: Replica, follower: Replica) -> FetchResponse:
        """What the leader finds at the follower's log end (Partition.readRecords, LeaderEpochFileCache.endOffsetFor).

        An epoch above the leader's own, or an offset beyond its end, is an error in Kafka. The follower then asks for
        that end and truncates there without a look at epochs (AbstractFetcherThread.handleOutOfRangeError,
        fetchOffsetAndTruncate). Here it is one answer with the other: diverging, at the leader's end, of an epoch so
        large that it cuts nothing by itself.
        """
        cluster = self.cluster
        f, l = s.broker[follower], s.broker[leader]
        any_epoch = epoch_bumps(self.b)
        beyond = f.leo > l.leo
        parted: Condition = False
        floor = cluster.log.floor_epoch(s, leader, f.latest_epoch)
        end_of = cluster.log.end_of_epoch(s, leader, f.latest_epoch)
        if self.rules.truncation is Truncation.ON_FETCH:
            # A leader that knows no epoch up to the one asked for names that one, with the start of the first it knows.
            earlier = And(floor >= 0, floor < f.latest_epoch)
            answered = And(f.latest_epoch >= 0, Not(f.last_fetched_epoch_empty), f.latest_epoch <= l.latest_epoch)
            parted = And(answered, Or(earlier, end_of < f.leo))
        diverging = And(Or(parted, beyond), f.leo >= l.log_start)
        named = If(floor < 0, maximum(f.latest_epoch, 0), floor)
        return FetchResponse(
            offset=f.leo,
            has_record=And(Not(diverging), l.log_start <= f.leo, f.leo < l.leo),
            record=l.log[minimum(f.leo, self.b.records - 1)],  # read only where there is one
            hw=l.hw,
            diverging=diverging,
            epoch=If(parted, named, any_epoch),
            end=If(parted, end_of, l.leo),
            log_start=l.log_start,
            refused=Or(f.leo < l.log_start, And(beyond, Not(parted))),
        )

    def asks_unknown_epoch(self, s: ClusterState, leader: Replica, follower: Replica) -> Condition:
        """Whether a fetch names an epoch above the leader's newest one (LeaderEpochFileCache.endOffsetFor)."""
        f = s.broker[follower]
        return And(f.latest_epoch > s.broker[leader].latest_epoch, Not(f.last_fetched_epoch_empty))

    def process(self, s: ClusterState, follower: Replica, response: FetchResponse) -> None:
        """The follower truncates, or appends the record and takes over the high watermark, which may fall.

        Kafka: AbstractFetcherThread.processFetchRequest.
        """
        f = s.broker[follower]
        matches = f.leo == response.offset if self.guards.reply_matches_offset else True
        f.last_fetched_epoch_empty = False
        with when(And(Not(response.diverging), matches)):
            self.process_partition_data(s, follower, response)
        with when(response.diverging):
            self.truncate_on_fetch_response(s, follower, response)

    def process_partition_data(self, s: ClusterState, follower: Replica, response: FetchResponse) -> None:
        """Append the record, then take over the leader's high watermark and log start offset.

        The high watermark is never below the start of the follower's own log (UnifiedLog.updateHighWatermark).
        A follower whose log ends before the leader's begins starts anew there. In Kafka that takes an error and a
        request (AbstractFetcherThread.handleOutOfRangeError); here it comes with the response.
        Kafka: ReplicaFetcherThread.processPartitionData.
        """
        cluster = self.cluster
        f = s.broker[follower]
        appends = And(response.has_record, f.leo < self.b.records)
        if self.features.late_fetch_responses and self.rules.skip_later_epochs:
            appends = And(appends, s.epoch_of[response.record] <= cluster.image.registration_of(s, follower).epoch)
        with when(appends):
            cluster.log.append(s, follower, response.record, s.epoch_of[response.record])
        reached = (
            maximum(f.log_start, minimum(response.hw, f.leo)) if self.features.deletes else minimum(response.hw, f.leo)
        )
        cluster.coordinator.answer_passed(s, follower, reached)
        f.hw = reached
        f.last_fetched_epoch_empty = Not(appends)
        with when(response.offset < response.log_start):
            self.start_at(s, follower, response.log_start)
        cluster.log.raise_start(s, follower, minimum(response.log_start, f.hw))

    def truncate_without_epochs(self, s: ClusterState, follower: Replica) -> None:
        """A follower whose cache is empty cuts its log back to its high watermark before its first fetch of an epoch.

        Of a log with records that is so only if they were deleted, and found again in a crash (`find_older_start`).
        Kafka: AbstractFetcherThread.maybeTruncate, truncateToHighWatermark.
        """
        if self.features.finds_older_starts:
            f = s.broker[follower]
            with when(f.truncates_to_hw):
                self.cluster.log.truncate(s, follower, f.hw)
                f.latest_epoch = -1  # the epochs of the records that are left are lost as well
                f.truncates_to_hw = False

    def truncate_on_fetch_response(self, s: ClusterState, follower: Replica, response: FetchResponse) -> None:
        """Cut the log back to where it agrees with the leader's.

        Kafka: AbstractFetcherThread.truncateOnFetchResponse, getOffsetTruncationState.
        """
        cluster = self.cluster
        f = s.broker[follower]
        end = minimum(f.leo, response.end, cluster.log.end_of_epoch(s, follower, response.epoch))
        if self.rules.watermark_after_truncation:
            cluster.log.truncate(s, follower, end)
            return
        # A race: the high watermark is set, and a reader comes before the truncation. Where it rises, the step ends
        # between the two, and the next fetch truncates.
        reached = minimum(response.hw, f.leo)
        early = f.hw < reached
        with when(Not(early)):
            cluster.log.truncate(s, follower, end)
        with when(early):
            f.hw = reached

    def start_at(self, s: ClusterState, follower: Replica, start: Num) -> None:
        """Delete the whole log and begin anew at an offset.

        Kafka: AbstractFetcherThread.fetchOffsetAndTruncate, UnifiedLog.truncateFullyAndStartAt.
        """
        f = s.broker[follower]
        f.leo = start
        f.hw = start
        f.segment_base = start
        f.latest_epoch = -1
