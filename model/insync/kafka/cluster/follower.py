"""The follower: fetching, and cutting back what the leader does not have.

Kafka: AbstractFetcherThread, ReplicaFetcherThread, and Partition.fetchRecords on the leader's side.
"""

from __future__ import annotations

from insync.kafka.cluster.actor import Actor
from insync.kafka.cluster.indices import epoch_bumps
from insync.kafka.cluster.replies import Reply
from insync.kafka.cluster.state import ClusterState
from insync.kafka.releases import Truncation
from insync.kafka.replica import Replica
from insync.model import And, Condition, If, Not, Num, Or, action, maximum, minimum, require, when

__all__ = ["Follower"]


class Follower(Actor):
    """What a broker does that follows another one."""

    # ------------------------------------------------------------------------------------------------------- actions

    @action(label="{follower} fetches from {leader}")
    def fetch(self, s: ClusterState, follower: Replica, leader: Replica) -> None:
        """A follower fetches one record at its log end, or learns where its log must be cut.

        With late replies the leader's half of it alone; `receive` is the other half.
        Kafka: Partition.fetchRecords, AbstractFetcherThread.processFetchRequest.
        """
        reply, left_out = self.serve(s, follower, leader)
        with when(Not(left_out)):
            self.send(s, follower, reply)

    @action(label="{follower}'s fetcher stops")
    def pause_fetching(self, s: ClusterState, follower: Replica) -> None:
        """A fetch fails and its partition waits to be tried again; the follower may leave the ISR meanwhile.

        Kafka: AbstractFetcherThread.markPartitionFailed, delayPartitions.
        """
        f = s.broker[follower]
        require(s.spent.pauses < self.b.pauses, self.is_online(s, follower), Not(f.paused))
        s.spent.pauses += 1
        f.paused = True

    @action(label="{follower}'s fetcher goes on")
    def resume_fetching(self, s: ClusterState, follower: Replica) -> None:
        """The partition is tried again."""
        require(s.broker[follower].paused)
        s.broker[follower].paused = False

    @action(label="{follower}'s quota is used up")
    def throttle(self, s: ClusterState, follower: Replica) -> None:
        """A follower has used up its replication quota; while it is outside the ISR its fetches get no records.

        Kafka: ReplicationQuotaManager.isQuotaExceeded, ReplicaManager.shouldLeaderThrottle.
        """
        f = s.broker[follower]
        require(s.spent.throttles < self.b.throttles, self.is_online(s, follower), Not(f.throttled))
        s.spent.throttles += 1
        f.throttled = True

    @action(label="{follower}'s quota has room")
    def unthrottle(self, s: ClusterState, follower: Replica) -> None:
        """Time has passed, and the quota has room again (Kafka: ReplicationQuotaManager.isQuotaExceeded)."""
        require(s.broker[follower].throttled)
        s.broker[follower].throttled = False

    @action(label="{follower} asks {leader} where to truncate")
    def ask_epoch_end(self, s: ClusterState, follower: Replica, leader: Replica) -> None:
        """A new follower asks for the end of its last epoch and cuts its log there.

        Until 2.8 this came before the first fetch of an epoch. The answer was an offset only before KIP-279; then it is
        the largest epoch of the leader up to the one asked for as well, and the follower may have to ask again.
        Kafka: ReplicaFetcherThread.maybeTruncate, AbstractFetcherThread.getOffsetTruncationState.
        """
        f = s.broker[follower]
        require(follower != leader, f.truncating)
        require(self.follows_in_view(s, follower, leader), self.leads(s, leader))
        if self.rules.fence_truncation:
            require(self.view_of(s, follower).epoch == self.view_of(s, leader).epoch)
        if self.rules.truncation is Truncation.EPOCH_OFFSET:
            self.truncate_to(s, follower, self.end_by_offset(s, leader, follower))
            f.truncating = False
        else:
            self.truncate_by_pair(s, follower, leader)

    # -------------------------------------------------------------------------------------------- rules about fetching

    def follows_in_view(self, s: ClusterState, follower: Replica, leader: Replica) -> Condition:
        """Whether a broker runs and believes that the other one leads."""
        view = self.view_of(s, follower)
        return And(self.is_online(s, follower), view.leader == leader, self.is_assigned(view, follower))

    def follows(self, s: ClusterState, follower: Replica, leader: Replica) -> Condition:
        """Whether a broker fetches from the other one: it follows it and has nothing to truncate first."""
        f = s.broker[follower]
        return And(self.follows_in_view(s, follower, leader), Not(f.truncating), Not(f.paused))

    def serve(self, s: ClusterState, follower: Replica, leader: Replica) -> tuple[Reply, Condition]:
        """The leader's half of a fetch: what it answers, and whether it leaves the partition out of that.

        Kafka: ReplicaManager.fetchMessages, Partition.fetchRecords.
        """
        require(follower != leader, self.follows(s, follower, leader), self.leads(s, leader))
        require(self.fetch_allowed(s, follower, leader))
        f, l, view = s.broker[follower], s.broker[leader], self.view_of(s, leader)
        spared = view.isr.contains(follower) if self.guards.throttle_spares_isr else False
        require(Or(Not(f.throttled), spared))
        if self.rules.isr_within_replicas:
            require(self.is_assigned(view, follower))
        if self.rules.truncation is Truncation.ON_FETCH:
            # A leader that cannot say where the epoch ends answers OFFSET_OUT_OF_RANGE. The follower then looks at the
            # ends of the leader's log, and asks again for ever where its own end lies between them.
            require(Or(Not(self.asks_unknown_epoch(s, leader, follower)), f.leo > l.leo, f.leo < l.start))
        require(Not(f.reply.waiting), self.begins_at_end(s, follower))
        self.forget_fetcher(s, follower)
        self.truncate_without_epochs(s, follower)
        reply = self.answer(s, leader, follower)
        left_out = self.leaves_out(s, follower, reply)
        self.count_fetch(s, leader, follower, reply)
        self.note_told(s, follower, reply)
        return reply, left_out

    def fetch_allowed(self, s: ClusterState, follower: Replica, leader: Replica) -> Condition:
        """Whether the leader serves a fetch: both must be in the same epoch (Partition.checkCurrentLeaderEpoch)."""
        if not self.rules.fence_fetch:
            return True
        same = self.view_of(s, follower).epoch == self.view_of(s, leader).epoch
        return same if self.rules.session_keeps_epoch else Or(same, s.broker[follower].session)

    def answer(self, s: ClusterState, leader: Replica, follower: Replica) -> Reply:
        """What the leader finds at the follower's log end (Partition.readRecords, LeaderEpochFileCache.endOffsetFor).

        An epoch above the leader's own, or an offset beyond its end, is an error in Kafka. The follower then asks for
        that end and truncates there without a look at epochs (AbstractFetcherThread.handleOutOfRangeError,
        fetchOffsetAndTruncate). Here it is one answer with the other: diverging, at the leader's end, of an epoch so
        large that it cuts nothing by itself.
        """
        f, l = s.broker[follower], s.broker[leader]
        any_epoch = epoch_bumps(self.b)
        beyond = f.leo > l.leo
        parted: Condition = False
        floor, end_of = self.floor_epoch(s, leader, f.term), self.end_of_epoch(s, leader, f.term)
        if self.rules.truncation is Truncation.ON_FETCH:
            # A leader that knows no epoch up to the one asked for names that one, with the start of the first it knows.
            earlier = And(floor >= 0, floor < f.term)
            answered = And(f.term >= 0, Not(f.last_fetched_epoch_empty), f.term <= l.term)
            parted = And(answered, Or(earlier, end_of < f.leo))
        diverging = And(Or(parted, beyond), f.leo >= l.start)
        named = If(floor < 0, maximum(f.term, 0), floor)
        return Reply(
            offset=f.leo,
            some=And(Not(diverging), l.start <= f.leo, f.leo < l.leo),
            record=l.log[minimum(f.leo, self.b.records - 1)],  # read only where there is one
            hw=l.hw,
            diverging=diverging,
            epoch=If(parted, named, any_epoch),
            end=If(parted, end_of, l.leo),
            start=l.start,
            refused=Or(f.leo < l.start, And(beyond, Not(parted))),
        )

    def asks_unknown_epoch(self, s: ClusterState, leader: Replica, follower: Replica) -> Condition:
        """Whether a fetch names an epoch above the leader's newest one (LeaderEpochFileCache.endOffsetFor)."""
        f = s.broker[follower]
        return And(f.term > s.broker[leader].term, Not(f.last_fetched_epoch_empty))

    def count_fetch(self, s: ClusterState, leader: Replica, follower: Replica, reply: Reply) -> None:
        """The leader notes the follower's log end; if that is another one, it commits what has reached the ISR with it.

        Before that Kafka's leader asks for a follower that has caught up to be taken into the ISR, and so waits for it.
        Here that is a step of its own (`expand_isr`), and the leader waits all the same.
        Kafka: Partition.updateFollowerFetchState, with Replica.updateFetchStateOrThrow, maybeExpandIsr and
        maybeIncrementLeaderHW.
        """
        l, f = s.broker[leader], s.broker[follower]
        known, outside = l.known[follower], Or(f.leo > l.leo, f.leo < l.start)
        moves = Not(known.end == reply.offset)
        with when(Not(Or(reply.diverging, outside) if self.rules.ignore_diverging_fetch else outside)):
            known.end = reply.offset
            known.current = True
            self.note_start(s, leader, follower)
            with when(moves):
                self.advance_watermark(s, leader, asked_for=self.asks_within_fetch(s, leader, follower))

    # --------------------------------------------------------------------------------------------------- the reply

    def process(self, s: ClusterState, follower: Replica, reply: Reply) -> None:
        """The follower truncates, or appends the record and takes over the high watermark, which may fall.

        Kafka: AbstractFetcherThread.processFetchRequest.
        """
        f = s.broker[follower]
        matches = f.leo == reply.offset if self.guards.reply_matches_offset else True
        f.last_fetched_epoch_empty = False
        with when(And(Not(reply.diverging), matches)):
            self.process_partition_data(s, follower, reply)
        with when(reply.diverging):
            self.truncate_on_fetch_response(s, follower, reply)

    def process_partition_data(self, s: ClusterState, follower: Replica, reply: Reply) -> None:
        """Append the record, then take over the leader's high watermark and log start offset.

        The high watermark is never below the start of the follower's own log (UnifiedLog.updateHighWatermark).
        A follower whose log ends before the leader's begins starts anew there. In Kafka that takes an error and a
        request (AbstractFetcherThread.handleOutOfRangeError); here it comes with the reply.
        Kafka: ReplicaFetcherThread.processPartitionData.
        """
        f = s.broker[follower]
        appends = And(reply.some, f.leo < self.b.records)
        if self.features.late_replies and self.rules.skip_later_epochs:
            appends = And(appends, s.epoch_of[reply.record] <= self.view_of(s, follower).epoch)
        with when(appends):
            self.append(s, follower, reply.record, s.epoch_of[reply.record])
        reached = maximum(f.start, minimum(reply.hw, f.leo)) if self.features.deletes else minimum(reply.hw, f.leo)
        self.answer_passed(s, follower, reached)
        f.hw = reached
        f.last_fetched_epoch_empty = Not(appends)
        with when(reply.offset < reply.start):
            self.start_at(s, follower, reply.start)
        self.raise_start(s, follower, minimum(reply.start, f.hw))

    def truncate_without_epochs(self, s: ClusterState, follower: Replica) -> None:
        """A follower whose cache is empty cuts its log back to its high watermark before its first fetch of an epoch.

        Of a log with records that is so only if they were deleted, and found again in a crash (`find_older_start`).
        Kafka: AbstractFetcherThread.maybeTruncate, truncateToHighWatermark.
        """
        if self.features.finds_older_starts:
            f = s.broker[follower]
            with when(f.to_cut):
                self.truncate(s, follower, f.hw)
                f.term = -1  # the epochs of the records that are left are lost as well
                f.to_cut = False

    def truncate_on_fetch_response(self, s: ClusterState, follower: Replica, reply: Reply) -> None:
        """Cut the log back to where it agrees with the leader's.

        Kafka: AbstractFetcherThread.truncateOnFetchResponse, getOffsetTruncationState.
        """
        f = s.broker[follower]
        end = minimum(f.leo, reply.end, self.end_of_epoch(s, follower, reply.epoch))
        if self.rules.watermark_after_truncation:
            self.truncate(s, follower, end)
            return
        # A race: the high watermark is set, and a reader comes before the truncation. Where it rises, the step ends
        # between the two, and the next fetch truncates.
        reached = minimum(reply.hw, f.leo)
        early = f.hw < reached
        with when(Not(early)):
            self.truncate(s, follower, end)
        with when(early):
            f.hw = reached

    def start_at(self, s: ClusterState, follower: Replica, start: Num) -> None:
        """Delete the whole log and begin anew at an offset.

        Kafka: AbstractFetcherThread.fetchOffsetAndTruncate, UnifiedLog.truncateFullyAndStartAt.
        """
        f = s.broker[follower]
        f.leo = start
        f.hw = start
        f.base = start
        f.term = -1

    # -------------------------------------------------------------------------------- truncation before the first fetch

    def truncates_first(self, same_leader: Condition) -> Condition:
        """Whether a follower truncates before it fetches in a new epoch: not always if its leader stays the same."""
        return Or(Not(same_leader), self.rules.truncate_on_every_epoch)

    def end_by_offset(self, s: ClusterState, leader: Replica, follower: Replica) -> Num:
        """The end of the follower's last epoch as a leader answers before KIP-279: an offset, or nothing.

        There is no answer if the leader knows no larger epoch than the one asked for and that is not its latest; the
        follower then falls back to its high watermark. Kafka 0.11: LeaderEpochFileCache.endOffsetFor.
        """
        f, l = s.broker[follower], s.broker[leader]
        end = self.end_of_epoch(s, leader, f.term)
        begins = Or(l.leo == 0, self.epoch_at(s, leader, 0) > f.term)
        undefined = Or(f.term < 0, f.term > l.term, And(begins, f.term < l.term))
        return If(undefined, f.hw, minimum(f.leo, end))

    def truncate_by_pair(self, s: ClusterState, follower: Replica, leader: Replica) -> None:
        """Cut the log where the leader's answer, an epoch and its end, says so (KIP-279).

        An epoch that the follower does not know makes it ask again, from its own largest epoch below.
        Kafka: AbstractFetcherThread.getOffsetTruncationState, LeaderEpochFileCache.endOffsetFor.
        """
        f, l = s.broker[follower], s.broker[leader]
        floor = self.floor_epoch(s, leader, f.term)
        unknown_to_leader = False if self.rules.cache_epoch_on_election else floor < 0
        undefined = Or(f.term < 0, f.term > l.term, unknown_to_leader)
        leader_epoch = If(floor < 0, f.term, floor)
        leader_end = minimum(f.leo, self.end_of_epoch(s, leader, f.term))
        # The follower looks up the leader's epoch in its own cache. Since KAFKA-7415 that lookup names the epoch asked
        # for where all that the cache has are later.
        found = self.floor_epoch(s, follower, leader_epoch)
        follower_epoch = If(found < 0, leader_epoch, found) if self.rules.cache_epoch_on_election else found
        follower_end = self.end_of_epoch(s, follower, leader_epoch)
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
            self.truncate(s, follower, end)

    def start_to_follow(self, s: ClusterState, follower: Replica, same_leader: Condition) -> None:
        """Begin to follow in a new epoch: forget the leadership, and truncate first if the release does it so.

        Kafka: Partition.makeFollower, ReplicaManager.makeFollowers.
        """
        f = s.broker[follower]
        f.epoch_start = 0
        f.leads_since = 0
        self.forget_starts(s, follower)
        for other, is_other in self.beside(follower):
            with when(is_other):
                self.forget(f.known[other])
        f.last_fetched_epoch_empty = False
        with when(Not(same_leader)):
            f.session = False
        with when(self.truncates_first(same_leader)):
            f.truncating = True
            if self.rules.truncation is Truncation.HIGH_WATERMARK:
                self.truncate(s, follower, f.hw)
        f.to_cut = And(f.term < 0, f.hw < f.leo)
        self.note_place(s, follower)
