"""How the quorum replicates: clients write to the leader, and the others fetch from it, a record at a time."""

from __future__ import annotations

from insync.kafka.quorum.part import Part, step
from insync.kafka.quorum.replicated_log import common_end, end_of_epoch, epoch_at, is_valid_position
from insync.kafka.quorum.sorts import HeardEpoch, LogEnd, Value, Voter, VoterState, Written
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
        """A server that waits for no answer fetches from its leader; an observer that knows none, from who knows one.

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
        """Return whether a server runs, is no voter by its own log, and knows no leader."""
        observes = And(self.quorum.voter_set.runs(me), Not(self.quorum.voter_set.contains(me, i)))
        return And(observes, one_of(me.state, UNATTACHED, VOTED))

    @step("{i} waits for no answer to its fetch any more", on=lambda f: f.changes_voters)
    def observer_fetch_timeout(self, s: KraftState, i: Voter) -> None:
        """An observer that knows no leader gives its fetch up, and keeps its vote. Kafka: pollUnattached."""
        me = s.server[i]
        require(self.looks_for_leader(me, i), me.fetches_from.is_some())
        me.fetches_from = NONE
        self.quorum.settle(s, i)

    # ------------------------------------------------------------------------------------------------------ the leader

    @step("{i} answers {follower}'s fetch of epoch {epoch} from {end}")
    def handle_fetch(self, s: KraftState, i: Voter, follower: Voter, epoch: HeardEpoch, end: LogEnd) -> None:
        """A server answers a fetch: with the next record, with where the logs part, or with an error.

        A leader learns how far the other server is, and may commit.
        Kafka: KafkaRaftClient.handleFetchRequest, tryCompleteFetchRequest.
        """
        requests = self.quorum.request_manager
        me, position, position_epoch = s.server[i], requests.offset_of(end), requests.epoch_of(end)
        require(i != follower, position_epoch <= epoch, s.fetches[follower][i][epoch][end])
        s.fetches[follower][i][epoch][end] = False
        leads = me.state == LEADER
        wrong = Or(Not(leads), me.epoch != epoch)
        error = If(leads, If(epoch < me.epoch, Result.FENCED, Result.UNKNOWN), Result.NOT_LEADER)
        diverging = And(Not(wrong), Not(is_valid_position(me, position, position_epoch)))
        accepted = And(Not(wrong), Not(diverging))
        new = And(accepted, position < me.end)
        result = If(wrong, error, If(diverging, Result.DIVERGING, If(new, Result.RECORD, Result.EMPTY)))
        parting = end_of_epoch(me, position_epoch)
        with when(accepted):
            me.fetched[follower] = position
            self.commit(s, i, position)
        came = me.log[min(position, self.quorum.capacity - 1) if isinstance(position, int) else position]
        with when(requests.awaits_fetch(s.server[follower], i, epoch, end)):
            s.fetch_answers[follower] = record(
                result=result,
                leader=If(result == Result.NOT_LEADER, me.leader, NONE),  # of all others the sender is the leader
                epoch=If(wrong, me.epoch, 0),  # of all others it is that of the fetch
                high_watermark=If(accepted, minimum(me.high_watermark, position + 1), me.high_watermark),
                record_epoch=If(new, epoch_at(me, position + 1), If(diverging, epoch_at(me, parting), 0)),
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
        """Return up to where a majority of the voters has a leader's log within an end of it, as far as it knows.

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
        me, came = self.take_answer(s, i, Result.RECORD, Result.EMPTY)
        known: Num = me.high_watermark
        with when(came.result == Result.RECORD):
            self.quorum.replicated_log.append(
                me, epoch=came.record_epoch, value=came.value, added=came.added, removed=came.removed
            )
        me.high_watermark = maximum(known, came.high_watermark)
        self.follow(s, i)

    @step("{i} cuts its log where it parts from the leader's")
    def handle_diverging(self, s: KraftState, i: Voter) -> None:
        """A server hears where its log parts from that of the leader. Kafka: KafkaRaftClient.handleFetchResponse."""
        me, came = self.take_answer(s, i, Result.DIVERGING)
        self.quorum.replicated_log.truncate(me, common_end(me, came.end, came.record_epoch))
        self.follow(s, i)

    @step("{i} hears that it did not ask the leader of its epoch")
    def handle_fetch_error(self, s: KraftState, i: Voter) -> None:
        """A server learns that the one it fetches from does not lead its epoch.

        Kafka: KafkaRaftClient.maybeHandleCommonResponse.
        """
        me, came = self.take_answer(s, i, *FAILED)
        leader = If(came.result == Result.NOT_LEADER, came.leader, me.fetches_from)
        wrong = came.result != Result.UNKNOWN
        there, _ = self.quorum.quorum_state.heard(me, i, leader, came.epoch, wrong)
        me.fetches_from = NONE
        self.quorum.quorum_state.become(me, there)
        s.fetch_answers[i] = NONE
        self.quorum.settle(s, i)

    def take_answer(self, s: KraftState, i: Voter, *results: Result) -> tuple[ServerState, FetchResponse]:
        """Require that an answer to the fetch under way has come, one of these; return the server and the answer."""
        answer = s.fetch_answers[i]
        require(answer.is_some(), one_of(answer.value.result, *results))
        return s.server[i], answer.value

    def follow(self, s: KraftState, i: Voter) -> None:
        """Go by the log as it is now, and follow the server that has answered, which an observer may not have known."""
        me = s.server[i]
        self.quorum.voter_set.switch(me)
        if self.features.changes_voters:
            with when(me.leader.is_none()):
                leader = me.fetches_from.value
                self.quorum.quorum_state.become(me, self.quorum.quorum_state.follower(me, i, leader, me.epoch))
        if self.features.asks_first:
            me.has_fetched = True
        me.fetches_from, s.fetch_answers[i] = NONE, NONE
        self.quorum.settle(s, i)
