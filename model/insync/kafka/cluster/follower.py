"""The follower: fetching, and cutting back what the leader does not have.

Kafka: AbstractFetcherThread, ReplicaFetcherThread, and Partition.fetchRecords on the leader's side.
"""

from __future__ import annotations

from dataclasses import dataclass

from insync.kafka.cluster.leader import Leader
from insync.kafka.cluster.settings import epoch_bumps
from insync.kafka.cluster.state import Replica
from insync.kafka.releases import Truncation
from insync.model import And, Condition, If, Not, Num, Or, StateView, action, maximum, minimum, record, require

__all__ = ["Follower", "Reply"]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a leader answers to a fetch.

    Attributes:
        offset: where the follower fetched.
        some: whether there is a record.
        record: the record at that offset.
        hw: the leader's high watermark before it counted this fetch.
        diverging: whether the logs part before the offset; then there is no record.
        epoch: the largest epoch of the leader up to the follower's, where they diverge.
        end: the end of that epoch at the leader, or the leader's log end where the offset is beyond it.
        start: where the leader's log begins.
    """

    offset: Num
    some: Condition
    record: Num
    hw: Num
    diverging: Condition
    epoch: Num | int
    end: Num
    start: Num | int


class Follower(Leader):
    """What a broker does that follows another one."""

    name = "cluster_follower"

    # ------------------------------------------------------------------------------------------------------- actions

    @action(label="{follower} fetches from {leader}")
    def fetch(self, s: StateView, follower: Replica, leader: Replica) -> None:
        """A follower fetches one record at its log end, or learns where its log must be cut.

        With late replies the leader's half of it alone; `receive` is the other half.
        Kafka: Partition.fetchRecords, AbstractFetcherThread.processFetchRequest.
        """
        require(follower != leader, self.follows(s, follower, leader), self.leads(s, leader))
        require(self.fetch_allowed(s, follower, leader))
        if self.b.throttles:
            spared = self.view_of(s, leader).isr.contains(follower) if self.rules.throttle_spares_isr else False
            require(Or(Not(s.broker[follower].throttled), spared))
        if self.rules.isr_within_replicas:
            require(self.is_assigned(self.view_of(s, leader), follower))
        f = s.broker[follower]
        if self.rules.truncation is Truncation.ON_FETCH:
            require(f.term <= s.broker[leader].term)  # else the leader does not know the epoch, and answers an error
        if self.late_replies:
            require(Not(f.reply.waiting))
        reply = self.answer(s, leader, follower)
        self.count_fetch(s, leader, follower, reply)
        if "session" in self.optional_fields:
            f.session = True
        if not self.late_replies:
            self.process(s, follower, reply)
            return
        f.reply = record(
            waiting=True,
            offset=reply.offset,
            record=If(reply.some, reply.record, None),
            hw=reply.hw,
            diverging=reply.diverging,
            epoch=If(reply.diverging, reply.epoch, 0),
            end=If(reply.diverging, reply.end, 0),
            start=reply.start,
        )

    @action(label="{follower} receives the reply")
    def receive(self, s: StateView, follower: Replica) -> None:
        """A fetch's reply arrives; it is used if the follower's log still ends where it did when it asked.

        Kafka: AbstractFetcherThread.processFetchRequest, truncateOnFetchResponse.
        """
        require(self.late_replies, s.broker[follower].running)
        f = s.broker[follower]
        require(f.reply.waiting)
        waiting = f.reply
        reply = Reply(
            offset=waiting.offset,
            some=waiting.record.is_some(),
            record=waiting.record.or_else(0),
            hw=waiting.hw,
            diverging=waiting.diverging,
            epoch=waiting.epoch,
            end=waiting.end,
            start=waiting.start if self.b.deletions else 0,
        )
        self.process(s, follower, reply)
        self.forget_reply(s, follower, True)

    @action(label="{follower}'s fetcher stops")
    def pause_fetching(self, s: StateView, follower: Replica) -> None:
        """A fetch fails and its partition waits to be tried again; the follower may leave the ISR meanwhile.

        Kafka: AbstractFetcherThread.markPartitionFailed, delayPartitions.
        """
        f = s.broker[follower]
        require(self.b.pauses > 0)
        require(s.spent.pauses < self.b.pauses, f.running, Not(f.paused))
        s.spent.pauses += 1
        f.paused = True

    @action(label="{follower}'s fetcher goes on")
    def resume_fetching(self, s: StateView, follower: Replica) -> None:
        """The partition is tried again."""
        require(self.b.pauses > 0)
        f = s.broker[follower]
        require(f.paused)
        f.paused = False

    @action(label="{follower}'s quota is used up")
    def throttle(self, s: StateView, follower: Replica) -> None:
        """A follower has used up its replication quota; while it is outside the ISR its fetches get no records.

        Kafka: ReplicationQuotaManager.isQuotaExceeded, ReplicaManager.shouldLeaderThrottle.
        """
        f = s.broker[follower]
        require(self.b.throttles > 0)
        require(s.spent.throttles < self.b.throttles, f.running, Not(f.throttled))
        s.spent.throttles += 1
        f.throttled = True

    @action(label="{follower}'s quota has room")
    def unthrottle(self, s: StateView, follower: Replica) -> None:
        """Time has passed, and the quota has room again (Kafka: ReplicationQuotaManager.isQuotaExceeded)."""
        require(self.b.throttles > 0)
        f = s.broker[follower]
        require(f.throttled)
        f.throttled = False

    @action(label="{follower} asks {leader} where to truncate")
    def ask_epoch_end(self, s: StateView, follower: Replica, leader: Replica) -> None:
        """A new follower asks for the end of its last epoch and cuts its log there.

        Until 2.8 this came before the first fetch of an epoch. The answer was an offset only before KIP-279; then it is
        the largest epoch of the leader up to the one asked for as well, and the follower may have to ask again.
        Kafka: ReplicaFetcherThread.maybeTruncate, AbstractFetcherThread.getOffsetTruncationState.
        """
        require(follower != leader, "truncating" in self.optional_fields)
        f, l = s.broker[follower], s.broker[leader]
        require(f.truncating, self.follows_in_view(s, follower, leader), self.leads(s, leader))
        if self.rules.fence_truncation:
            require(self.view_of(s, follower).epoch == self.view_of(s, leader).epoch)
        if self.rules.truncation is Truncation.EPOCH_OFFSET:
            self.truncate(s, follower, self.end_by_offset(s, leader, follower))
            f.truncating = False
            return
        floor = self.floor_epoch(s, leader, f.term)
        undefined = Or(f.term < 0, f.term > l.term)
        if not self.rules.cache_epoch_on_election:
            undefined = Or(undefined, floor < 0)
        answered = If(floor < 0, f.term, floor)
        end = minimum(f.leo, self.end_of_epoch(s, leader, f.term))
        own_floor, own_end = self.floor_epoch(s, follower, answered), self.end_of_epoch(s, follower, answered)
        if self.rules.cache_epoch_on_election:
            # The same lookup, which since KAFKA-7415 names the epoch asked for where all that it has are later.
            own_floor = If(own_floor < 0, answered, own_floor)
        # An epoch that the follower does not know makes it ask again, from its own largest epoch below.
        again = And(Not(undefined), own_floor >= 0, own_floor < answered)
        end = If(again, own_end, If(own_floor < 0, end, minimum(end, own_end)))
        self.truncate(s, follower, If(undefined, f.hw, end))
        f.truncating = again

    # -------------------------------------------------------------------------------------------- rules about fetching

    @property
    def optional_fields(self) -> frozenset[str]:
        """The fields of a broker that the rules at hand need."""
        asks = self.rules.truncation in (Truncation.EPOCH_OFFSET, Truncation.EPOCH_PAIR)
        sessions = self.rules.fence_fetch and not self.rules.session_keeps_epoch
        needed = {
            "truncating": asks,
            "session": sessions,
            "epochless": not self.rules.empty_reply_keeps_epoch,
            "paused": self.b.pauses > 0,
            "throttled": self.b.throttles > 0,
        }
        return frozenset(name for name, used in needed.items() if used)

    def follows_in_view(self, s: StateView, follower: Replica, leader: Replica) -> Condition:
        """Whether a broker runs and takes the other one for the leader."""
        view = self.view_of(s, follower)
        return And(s.broker[follower].running, view.leader == leader, self.is_assigned(view, follower))

    def follows(self, s: StateView, follower: Replica, leader: Replica) -> Condition:
        """Whether a broker fetches from the other one: it follows it and has nothing to truncate first."""
        ready = Not(s.broker[follower].truncating) if "truncating" in self.optional_fields else True
        if self.b.pauses:
            ready = And(ready, Not(s.broker[follower].paused))
        return And(self.follows_in_view(s, follower, leader), ready)

    def fetch_allowed(self, s: StateView, follower: Replica, leader: Replica) -> Condition:
        """Whether the leader serves a fetch: both must be in the same epoch (Partition.checkCurrentLeaderEpoch)."""
        same = self.view_of(s, follower).epoch == self.view_of(s, leader).epoch
        if not self.rules.fence_fetch:
            return True
        return same if self.rules.session_keeps_epoch else Or(same, s.broker[follower].session)

    def answer(self, s: StateView, leader: Replica, follower: Replica) -> Reply:
        """What the leader finds at the follower's log end (Partition.readRecords)."""
        f, l = s.broker[follower], s.broker[leader]
        beyond = f.leo > l.leo
        epoch: Num | int = epoch_bumps(self.b)
        end, diverging = l.leo, beyond
        if self.rules.truncation is Truncation.ON_FETCH:
            floor, end_of = self.floor_epoch(s, leader, f.term), self.end_of_epoch(s, leader, f.term)
            parted = And(f.term >= 0, Or(floor < f.term, end_of < f.leo))
            if not self.rules.empty_reply_keeps_epoch:
                parted = And(parted, Not(f.epochless))
            # Without an epoch below, the answer names the epoch asked for and where the leader's log begins.
            epoch = If(parted, If(floor < 0, maximum(f.term, 0), floor), epoch)
            end = If(parted, end_of, l.leo)
            diverging = Or(parted, beyond)
        start = self.start_of(s, leader)
        diverging = And(diverging, f.leo >= start)
        some = And(Not(diverging), start <= f.leo, f.leo < l.leo)
        found = l.log[minimum(f.leo, self.b.records - 1)]
        return Reply(f.leo, some, found, l.hw, diverging, epoch, end, start)

    def count_fetch(self, s: StateView, leader: Replica, follower: Replica, reply: Reply) -> None:
        """The leader notes the follower's log end, and commits what has reached the ISR with it.

        Kafka: Replica.updateFetchStateOrThrow, then Partition.maybeIncrementLeaderHW.
        """
        l, f = s.broker[leader], s.broker[follower]
        beyond = f.leo > l.leo
        outside = Or(beyond, f.leo < self.start_of(s, leader))
        counts = Not(Or(reply.diverging, outside) if self.rules.ignore_diverging_fetch else outside)
        known = l.known[follower]
        known.end = If(counts, reply.offset, known.end)
        known.current = Or(counts, known.current)
        self.advance_watermark(s, leader)

    def process(self, s: StateView, follower: Replica, reply: Reply) -> None:
        """The follower truncates, or appends the record and takes over the high watermark, which may fall.

        Kafka: AbstractFetcherThread.truncateOnFetchResponse, ReplicaFetcherThread.processPartitionData.
        """
        f = s.broker[follower]
        end, hw = f.leo, f.hw
        matches = end == reply.offset if self.rules.reply_matches_offset else True
        appends = And(reply.some, matches, end < self.b.records)
        diverging = reply.diverging
        if not self.rules.watermark_after_truncation:
            # The high watermark moves first, and a reader may come before the truncation, which the next fetch makes.
            early = And(diverging, hw < minimum(reply.hw, end))
            hw = If(early, minimum(reply.hw, end), hw)
            diverging = And(diverging, Not(early))
        own = self.end_of_epoch(s, follower, reply.epoch)
        cut = If(diverging, minimum(end, reply.end, own), end)
        new = If(appends, reply.record, 0)
        took = minimum(reply.hw, end + If(appends, 1, 0))
        term = f.term
        self.truncate(s, follower, cut)
        f.term = If(diverging, f.term, maximum(term, If(appends, s.epoch_of[new], -1)))
        for offset in range(self.b.records):
            f.log[offset] = If(And(appends, end == offset), new, f.log[offset])
        f.leo = cut + If(appends, 1, 0)
        uses = And(Not(reply.diverging), matches)
        if not self.rules.empty_reply_keeps_epoch:
            f.epochless = And(uses, Not(appends))
        f.hw = If(uses, took, minimum(hw, cut))
        if self.b.deletions:
            self.follow_log_start(s, follower, reply, uses)

    def follow_log_start(self, s: StateView, follower: Replica, reply: Reply, uses: Condition) -> None:
        """Delete what the leader has deleted; if that is more than the follower has, begin anew where its log begins.

        Kafka: AbstractFetcherThread.fetchOffsetAndTruncate, UnifiedLog.truncateFullyAndStartAt.
        """
        f = s.broker[follower]
        behind = And(uses, reply.offset < reply.start)
        f.leo = If(behind, reply.start, f.leo)
        f.hw = If(behind, reply.start, f.hw)
        f.term = If(behind, -1, f.term)
        self.start_at(s, follower, If(uses, minimum(reply.start, f.hw), 0))

    def drops_reply(self, same_leader: Condition) -> Condition:
        """Whether a reply is dropped that arrives in a later epoch than it was asked for in.

        A fetcher that has to truncate first is not ready for data. Kafka: AbstractFetcherThread.processFetchRequest.
        """
        if self.rules.drop_stale_reply:
            return True
        asks = "truncating" in self.optional_fields
        return And(asks, Or(Not(same_leader), self.rules.truncate_on_every_epoch))

    def forget_reply(self, s: StateView, follower: Replica, when: Condition) -> None:
        """No reply is on its way any more, where `when` holds."""
        f = s.broker[follower]
        nothing = record(waiting=False, offset=0, record=None, hw=0, diverging=False, epoch=0, end=0, start=0)
        f.reply = If(when, nothing, f.reply)

    def end_by_offset(self, s: StateView, leader: Replica, follower: Replica) -> Num:
        """The end of the follower's last epoch as a leader answers before KIP-279: an offset, or nothing.

        There is no answer if the leader knows no larger epoch than the one asked for and that is not its latest; the
        follower then falls back to its high watermark. Kafka 0.11: LeaderEpochFileCache.endOffsetFor.
        """
        f, l = s.broker[follower], s.broker[leader]
        end = self.end_of_epoch(s, leader, f.term)
        begins = Or(l.leo == 0, self.epoch_at(s, leader, 0) > f.term)
        undefined = Or(f.term < 0, f.term > l.term, And(begins, f.term < l.term))
        return If(undefined, f.hw, minimum(f.leo, end))

    def start_to_follow(self, s: StateView, follower: Replica, anew: Condition, same_leader: Condition) -> None:
        """Begin to follow, where `anew`: forget the leadership, and truncate first if the release does it so.

        Kafka: Partition.makeFollower, ReplicaManager.makeFollowers.
        """
        f = s.broker[follower]
        f.epoch_start = If(anew, 0, f.epoch_start)
        f.leads_since = If(anew, 0, f.leads_since)
        for other in self.others(follower):
            f.known[other].end = If(anew, None, f.known[other].end)
            f.known[other].current = And(f.known[other].current, Not(anew))
        skips = And(same_leader, not self.rules.truncate_on_every_epoch)
        truncates = And(anew, Not(skips))
        if self.rules.truncation is Truncation.HIGH_WATERMARK:
            self.truncate(s, follower, If(truncates, f.hw, f.leo))
        elif "truncating" in self.optional_fields:
            f.truncating = Or(f.truncating, truncates)
        if not self.rules.empty_reply_keeps_epoch:
            f.epochless = And(f.epochless, Not(anew))
        if "session" in self.optional_fields:
            f.session = And(f.session, Or(Not(anew), same_leader))
