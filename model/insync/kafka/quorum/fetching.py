"""How the quorum replicates: clients write to the leader, and the others fetch from it, a record at a time."""

from __future__ import annotations

from insync.kafka.quorum.part import Part, step
from insync.kafka.quorum.replicated_log import common_end, end_of_epoch, epoch_at, is_valid_position
from insync.kafka.quorum.sorts import (
    FetchEpoch,
    LastEpoch,
    LedEpoch,
    LogEnd,
    LogOffset,
    Value,
    Voter,
    VoterState,
    Written,
)
from insync.kafka.quorum.state import FAILED, FetchResponse, KraftState, Result, ServerState
from insync.model import (
    NONE,
    And,
    Condition,
    If,
    Not,
    Num,
    Or,
    maximum,
    minimum,
    one_of,
    record,
    require,
    when,
)

__all__ = ["Fetching"]

FOLLOWER, LEADER = VoterState.FOLLOWER, VoterState.LEADER
UNATTACHED, VOTED = VoterState.UNATTACHED, VoterState.VOTED


class Fetching(Part):
    """The steps of replication."""

    @step("client sends {value} to {i}")
    def client_request(self, s: KraftState, i: Voter, value: Value) -> None:
        """A leader appends a client's value. Kafka: KafkaRaftClient.prepareAppend."""
        me = s.server[i]
        require(value < self.b.records, me.state == LEADER, s.written[value] == Written.NEVER)
        require(me.end < self.quorum.capacity)
        self.quorum.replicated_log.append(me, value=value)
        s.written[value] = Written.ASKED
        self.commit(s, i)

    @step("{i} fetches from {leader}")
    def send_fetch_request(self, s: KraftState, i: Voter, leader: Voter) -> None:
        """A server that waits for no response fetches from its leader; an observer without one, from a voter with one.

        Kafka: KafkaRaftClient.pollFollower, pollUnattached.
        """
        me, you = s.server[i], s.server[leader]
        follows = And(me.state == FOLLOWER, me.leader == leader)
        if self.features.changes_voters:
            contains = self.quorum.voter_set.contains
            follows = Or(follows, And(self.looks_for_leader(me, i), contains(you, leader), you.leader.is_some()))
        require(i != leader, me.fetches_from.is_none(), follows)
        self.quorum.request_manager.send_fetch(s, i, leader)

    def looks_for_leader(self, me: ServerState, i: Voter) -> Condition:
        """Return whether a server runs, is no voter by its own log, and has no leader."""
        observes = And(self.quorum.voter_set.runs(me), Not(self.quorum.voter_set.contains(me, i)))
        return And(observes, one_of(me.state, UNATTACHED, VOTED))

    @step("{i} stops waiting for the response to its fetch", on=lambda f: f.changes_voters)
    def observer_fetch_timeout(self, s: KraftState, i: Voter) -> None:
        """An observer without a leader gives its fetch up, and keeps its vote. Kafka: pollUnattached."""
        me = s.server[i]
        require(self.looks_for_leader(me, i), me.fetches_from.is_some())
        me.fetches_from = NONE
        self.quorum.settle(s, i)

    # ------------------------------------------------------------------------------------------------------ the leader

    @step("{i} answers {follower}'s fetch of epoch {epoch} from {fetch_offset}@{last_fetched_epoch}")
    def handle_fetch(
        self,
        s: KraftState,
        i: Voter,
        follower: Voter,
        epoch: FetchEpoch,
        fetch_offset: LogOffset,
        last_fetched_epoch: LastEpoch,
    ) -> None:
        """A server responds to a fetch: with the next record, with where the logs diverge, or with an error.

        A leader learns how far the other server has its log, and may commit. The response has one record at most.
        Kafka: KafkaRaftClient.handleFetchRequest, tryCompleteFetchRequest.

        Args:
            s: the state.
            i: the server that responds.
            follower: the server that fetches.
            epoch: the epoch of the fetch.
            fetch_offset: the end of the follower's log.
            last_fetched_epoch: the epoch of its last record, 0 of an empty log.
        """
        requests = self.quorum.request_manager
        is_end = If(fetch_offset == 0, last_fetched_epoch == 0, last_fetched_epoch >= LedEpoch.numbers(self.b).start)
        require(i != follower, is_end, last_fetched_epoch <= epoch)
        me, end = s.server[i], LogEnd.number(self.b, fetch_offset, last_fetched_epoch)
        require(s.fetches[follower][i][epoch][end])
        s.fetches[follower][i][epoch][end] = False
        leads = me.state == LEADER
        wrong = Or(Not(leads), me.epoch != epoch)
        error = If(leads, If(epoch < me.epoch, Result.FENCED, Result.UNKNOWN), Result.NOT_LEADER)
        diverging = And(Not(wrong), Not(is_valid_position(me, fetch_offset, last_fetched_epoch)))
        accepted = And(Not(wrong), Not(diverging))
        new = And(accepted, fetch_offset < me.end)
        result = If(wrong, error, If(diverging, Result.DIVERGING, If(new, Result.RECORD, Result.EMPTY)))
        parting = end_of_epoch(me, last_fetched_epoch)
        with when(accepted):
            me.fetched[follower] = fetch_offset
            self.commit(s, i, fetch_offset)
        came = self.quorum.replicated_log.record_after(me, fetch_offset)
        with when(requests.awaits_fetch(s.server[follower], i, epoch, end)):
            s.fetch_responses[follower] = record(
                result=result,
                leader=If(result == Result.NOT_LEADER, me.leader, NONE),  # of all others the sender is the leader
                epoch=If(wrong, me.epoch, 0),  # of all others it is that of the fetch
                high_watermark=If(accepted, minimum(me.high_watermark, fetch_offset + 1), me.high_watermark),
                record_epoch=If(new, epoch_at(me, fetch_offset + 1), If(diverging, epoch_at(me, parting), 0)),
                value=If(new, came.value, NONE),
                end=If(diverging, parting, 0),
                added=If(new, came.added, NONE),
                removed=If(new, came.removed, NONE),
            )
        if self.features.removes_voters:
            self.quorum.reconfiguration.leave(s, i, accepted)

    def commit(self, s: KraftState, i: Voter, within: Num | int | None = None) -> None:
        """Advance the leader's high watermark to what a majority has, if that is higher and of its own epoch.

        Kafka: LeaderState.maybeUpdateHighWatermark.

        Args:
            s: the state.
            i: the leader.
            within: the highest offset that a majority may have now and had not before; the end of the log by default.
        """
        me = s.server[i]
        within = me.end if within is None else within
        agreed, was = self.agreed(me, i, within), me.high_watermark
        own = epoch_at(me, agreed) == me.epoch if self.rules.guards.commits_own_epoch else True
        rises = And(agreed > was, own)
        for value in self.all(Value):
            places = [
                And(offset <= within, was < offset, offset <= agreed, me.log[offset - 1].value == value)
                for offset in range(1, self.quorum.capacity + 1)
            ]
            with when(And(rises, s.written[value] == Written.ASKED, Or(*places))):
                s.written[value] = Written.ACKNOWLEDGED
        with when(rises):
            me.high_watermark = agreed

    def agreed(self, me: ServerState, i: Voter, within: Num | int) -> Num | int:
        """Return up to where a majority of the voters has fetched a leader's log, within an end of it.

        A leader that is no voter any more does not count itself.
        """
        contains, found = self.quorum.voter_set.contains, 0
        besides = [] if self.rules.guards.only_voters_count else [If(contains(me, i), 0, 1)]
        for offset in range(1, self.quorum.capacity + 1):
            has = [If(And(contains(me, j), Or(j == i, me.fetched[j] >= offset)), 1, 0) for j in self.all(Voter)]
            enough = 2 * sum([*has, *besides], start=0) > self.quorum.voter_set.size(me)
            found = If(And(offset <= within, enough), offset, found)
        return found

    # --------------------------------------------------------------------------------------------------- the followers

    @step("{i} takes what it has fetched")
    def handle_records(self, s: KraftState, i: Voter) -> None:
        """A server appends the record that came; its high watermark never falls.

        Kafka: KafkaRaftClient.handleFetchResponse, FollowerState.updateHighWatermark.
        """
        me, came = self.take_response(s, i, Result.RECORD, Result.EMPTY)
        before: Num = me.high_watermark
        with when(came.result == Result.RECORD):
            self.quorum.replicated_log.append(
                me, epoch=came.record_epoch, value=came.value, added=came.added, removed=came.removed
            )
        me.high_watermark = maximum(before, came.high_watermark)
        self.follow(s, i)

    @step("{i} cuts its log where it parts from the leader's")
    def handle_diverging(self, s: KraftState, i: Voter) -> None:
        """A follower truncates to where its log diverges. Kafka: KafkaRaftClient.handleFetchResponse."""
        me, came = self.take_response(s, i, Result.DIVERGING)
        self.quorum.replicated_log.truncate(me, common_end(me, came.end, came.record_epoch))
        self.follow(s, i)

    @step("{i} gets an error in response to its fetch")
    def handle_fetch_error(self, s: KraftState, i: Voter) -> None:
        """A server learns that the other one does not lead its epoch: NOT_LEADER, FENCED or UNKNOWN.

        Kafka: KafkaRaftClient.maybeHandleCommonResponse.
        """
        me, came = self.take_response(s, i, *FAILED)
        leader = If(came.result == Result.NOT_LEADER, came.leader, me.fetches_from)
        wrong = came.result != Result.UNKNOWN
        there, _ = self.quorum.quorum_state.handle_common_response(me, i, leader, came.epoch, wrong)
        me.fetches_from = NONE
        self.quorum.quorum_state.become(me, there)
        s.fetch_responses[i] = NONE
        self.quorum.settle(s, i)

    def take_response(self, s: KraftState, i: Voter, *results: Result) -> tuple[ServerState, FetchResponse]:
        """Require that the response to the fetch has come, with one of these results; return server and response."""
        response = s.fetch_responses[i]
        require(response.is_some(), one_of(response.value.result, *results))
        return s.server[i], response.value

    def follow(self, s: KraftState, i: Voter) -> None:
        """Take the voters of the log as it is now, and follow the server that has responded."""
        me = s.server[i]
        self.quorum.voter_set.switch(me)
        if self.features.changes_voters:
            with when(me.leader.is_none()):
                leader = me.fetches_from.value
                self.quorum.quorum_state.become(me, self.quorum.quorum_state.follower(me, i, leader, me.epoch))
        if self.features.pre_votes:
            me.has_fetched = True
        me.fetches_from, s.fetch_responses[i] = NONE, NONE
        self.quorum.settle(s, i)
