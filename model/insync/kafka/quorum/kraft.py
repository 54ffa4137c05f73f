"""The model `kraft`: the quorum behind the controller, to work with."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar

from insync.kafka.published.quorum.elections import Ballot, Elections
from insync.kafka.published.quorum.fetches import Fetches, FetchReply, Result
from insync.kafka.published.quorum.quorum_grid import LEGEND
from insync.kafka.published.quorum.voter import AnyEpoch, QuorumEpoch, Value, Voter, Voters, VoterState, bounds_with
from insync.kafka.published.quorum.voter_log import FIRST_EPOCH, append
from insync.kafka.quorum.mail import Answers, FencingEpoch, LogEnd, LogOffset, Mail, capacity_of
from insync.kafka.quorum.prospects import Prospects
from insync.kafka.quorum.resignations import ResignAs, Resignations
from insync.kafka.quorum.restarts import Flush, RestartAs, Restarts
from insync.model import (
    NONE,
    And,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    If,
    Not,
    Num,
    Or,
    Range,
    Record,
    RecordView,
    Setting,
    Settings,
    State,
    StateView,
    Switch,
    action,
    maximum,
    record,
    require,
)

__all__ = ["Kraft"]


class Timeouts(Enum):
    """Who stands for election when it hears of no leader."""

    PUBLISHED = "published"
    KAFKA = "kafka"


class CommitRule(Enum):
    """Up to where a leader commits what a majority has: only if that ends with its own epoch, or in any case."""

    OWN_EPOCH = "own_epoch"
    ANY_EPOCH = "any_epoch"


class Hearing(Enum):
    """What a server keeps when it hears of its leader: nothing, or what Kafka's keeps."""

    PUBLISHED = "published"
    KAFKA = "kafka"


SETTINGS = Settings(
    restart_as=Setting(RestartAs.KAFKA, "as what a server restarts: as Kafka does it, or with a defect"),
    flush=Setting(Flush.ALWAYS, "when a server flushes its log, which is what a restart spares"),
    commit_rule=Setting(CommitRule.OWN_EPOCH, "what a leader may commit"),
    timeouts=Setting(Timeouts.PUBLISHED, "who stands for election when it hears of no leader"),
    answers=Setting(Answers.ALL, "which answers to its vote requests a server takes"),
    leader_change=Setting(Switch.OFF, "whether a leader writes a record of its epoch first, as Kafka's does"),
    hearing=Setting(Hearing.PUBLISHED, "what a server keeps of its high watermark and its fetch when it hears anew"),
    pre_votes=Setting(Switch.OFF, "whether a server asks whether it would be elected, before it stands (KIP-996)"),
    askers=Setting(Switch.OFF, "whether it is noted that a leader has worked since somebody asked (with pre_votes)"),
    resign_as=Setting(ResignAs.KAFKA, "what a leader is that resigns: as Kafka has it, or with a defect"),
)


class Kraft(Prospects, Resignations, Restarts, Mail, Fetches, Elections, Voters):
    """KRaft: servers that elect a leader among themselves, and followers that fetch the metadata log from it."""

    name = "kraft"
    bounds = Bounds(**bounds_with(3), resignations=Bound(0, 0, 2, "how often a leader resigns, in all"))
    settings = SETTINGS
    legend: ClassVar[Mapping[str, str]] = {**LEGEND, "P#": "asks in epoch # whether it would be elected"}
    headline = (
        "leader_has_all_acknowledged_values",
        "no_log_divergence",
        "never_two_leaders_in_an_epoch",
        "no_illegal_state",
    )

    def __init__(self, **chosen: int | str | Enum) -> None:
        super().__init__(**chosen)
        chosen_settings = self.b.settings
        self.restart_as, self.flush = chosen_settings.restart_as, chosen_settings.flush
        self.resign_as = chosen_settings.resign_as
        self.answers: Answers = chosen_settings.answers
        self.leader_change, self.pre_votes = chosen_settings.leader_change, chosen_settings.pre_votes
        self.watches = bool(chosen_settings.pre_votes) and bool(chosen_settings.askers)
        self.keeps = chosen_settings.hearing is Hearing.KAFKA

    @property
    def capacity(self) -> int:
        """How many records a log can have."""
        return capacity_of(self.b)

    def declare(self, b: BoundValues) -> State:
        """Lay out the state: the servers, and what is on its way between them."""
        return State(**self.voters(b), **self.mail(b), **self.asked(b), **self.resigning(b))

    def voter(self, highest: int, states: type[Enum], asked: type[Range], **more: Any) -> Record:
        """Lay out what one server knows; with pre-votes it is more."""
        return super().voter(highest, states, asked, **self.asking(self.b), **more)

    def settle(self, s: StateView, i: Voter, epoch: Num) -> None:
        """Forget what a server that was in that epoch would now only discard."""
        super().settle(s, i, epoch)
        if self.b.resignations:
            self.forget_ends(s, i)
        if self.pre_votes:
            self.settle_prospects(s, i, epoch)
        if self.watches:
            self.watch_askers(s)

    def may_stand(self) -> tuple[VoterState, ...]:
        """Whoever does not lead; the published module leaves out who has voted, and knows nobody who has resigned."""
        if self.b.settings.timeouts is Timeouts.PUBLISHED:
            return super().may_stand()
        return *super().may_stand(), VoterState.VOTED, VoterState.RESIGNED

    def may_commit(self, me: RecordView, agreed: Num | int) -> Condition:
        """As published, unless the rule is left out; Kafka's takes nothing back where an old fetch comes late."""
        allowed = self.b.settings.commit_rule is CommitRule.ANY_EPOCH or super().may_commit(me, agreed)
        return And(agreed > me.high_watermark, allowed) if self.keeps else allowed

    def forgets_fetch(self, me: RecordView, leader: Voter, epoch: int) -> Condition:
        """As published; Kafka's waits on for the answer of a leader that it follows already."""
        follows = And(me.state == VoterState.FOLLOWER, me.epoch == epoch, me.leader == leader)
        return Not(follows) if self.keeps else super().forgets_fetch(me, leader, epoch)

    def follow(self, me: RecordView, reply: FetchReply, is_meant: Condition) -> None:
        """As published; the high watermark of Kafka's never falls (FollowerState.updateHighWatermark)."""
        known: Num = me.high_watermark
        super().follow(me, reply, is_meant)
        if self.keeps:
            me.high_watermark = maximum(known, me.high_watermark)

    # ----------------------------------------------------------------------------------------------------- elections

    @action(label="{i} stands for election")
    def request_vote(self, s: StateView, i: Voter) -> None:
        """A server that hears of no leader begins an epoch, votes for itself and asks the others."""
        require(not self.pre_votes)
        before = s.server[i].epoch
        super().request_vote(s, i)
        self.settle(s, i, before)

    @action(label="{i} leads")
    def become_leader(self, s: StateView, i: Voter) -> None:
        """A candidate with the votes of a majority leads, and says so."""
        before = s.server[i].epoch
        super().become_leader(s, i)
        if self.keeps:
            s.server[i].high_watermark = 0  # Kafka's knows none before a record of its own epoch is committed
        if self.leader_change:
            append(s.server[i], before, NONE)
        self.settle(s, i, before)

    @action(label="{i} answers the vote request of {candidate}@{epoch}")
    def handle_vote_request(self, s: StateView, i: Voter, candidate: Voter, epoch: QuorumEpoch) -> None:
        """A server votes or refuses to. Kafka: KafkaRaftClient.handleVoteRequest."""
        request = s.vote_requests[candidate][i][epoch]
        require(i != candidate, request.is_some())
        before = s.server[i].epoch
        end, end_epoch = request.value.offset, request.value.last_epoch
        if self.pre_votes:
            self.answer_vote_request(s, i, candidate, epoch, end, end_epoch)
        else:
            ballot = self.vote(s.server[i], candidate, epoch, end, end_epoch)
            self.send_ballot(s, i, candidate, epoch, ballot)
        s.vote_requests[candidate][i][epoch] = NONE
        self.settle(s, i, before)

    @action(label="{i} gets the vote of {voter}")
    def handle_vote(self, s: StateView, i: Voter, voter: Voter) -> None:
        """A candidate hears that a server has voted for it. Kafka: KafkaRaftClient.handleVoteResponse."""
        require(i != voter, s.votes[i].contains(voter))
        s.votes[i] = s.votes[i] - {voter}
        self.handle_ballot(s, i, voter, Ballot(s.server[i].epoch, NONE, True, False))

    @action(label="{i} hears from {voter} that {leader} leads its epoch")
    def handle_refusal(self, s: StateView, i: Voter, voter: Voter, leader: Voter) -> None:
        """A candidate hears that another server leads. Kafka: KafkaRaftClient.handleVoteResponse."""
        require(i != voter, s.refusals[i][voter] == leader)
        s.refusals[i][voter] = NONE
        self.handle_ballot(s, i, voter, Ballot(s.server[i].epoch, leader, False, False))

    @action(label="{i} hears from {voter} of epoch {epoch}")
    def handle_fence(self, s: StateView, i: Voter, voter: Voter, epoch: FencingEpoch) -> None:
        """A candidate hears that its epoch is over. Kafka: KafkaRaftClient.handleVoteResponse."""
        fence = s.fences[i][voter][epoch]
        require(i != voter, fence.nobody > 0)
        fence.nobody -= 1
        self.handle_ballot(s, i, voter, Ballot(epoch, NONE, False, True))

    @action(label="{i} hears from {voter} of epoch {epoch}, which {leader} leads")
    def handle_fence_naming(self, s: StateView, i: Voter, voter: Voter, epoch: FencingEpoch, leader: Voter) -> None:
        """A candidate hears that its epoch is over, and who leads. Kafka: KafkaRaftClient.handleVoteResponse."""
        fence = s.fences[i][voter][epoch]
        require(i != voter, fence.leader[leader] > 0)
        fence.leader[leader] -= 1
        self.handle_ballot(s, i, voter, Ballot(epoch, leader, False, True))

    def handle_ballot(self, s: StateView, i: Voter, voter: Voter, ballot: Ballot) -> None:
        """Take a response to a vote request."""
        before = s.server[i].epoch
        require(self.count_vote(s.server[i], i, voter, ballot))
        self.settle(s, i, before)

    @action(label="{i} hears that {leader} leads epoch {epoch}")
    def handle_begin_quorum(self, s: StateView, i: Voter, leader: Voter, epoch: QuorumEpoch) -> None:
        """A server hears of a leader. Kafka: KafkaRaftClient.handleBeginQuorumEpochRequest."""
        require(i != leader, s.begins[leader][i][epoch])
        before = s.server[i].epoch
        s.begins[leader][i][epoch] = False
        self.hear_of_leader(s.server[i], i, leader, epoch)
        self.settle(s, i, before)

    # --------------------------------------------------------------------------------------------------- replication

    @action(label="{i} answers {follower}'s fetch of epoch {epoch} from {end}")
    def handle_fetch(self, s: StateView, i: Voter, follower: Voter, epoch: QuorumEpoch, end: LogEnd) -> None:
        """A server answers a fetch. Kafka: KafkaRaftClient.handleFetchRequest."""
        require(i != follower, self.epoch_of(end) <= epoch, s.fetches[follower][i][epoch][end] > 0)
        s.fetches[follower][i][epoch][end] -= 1
        reply = self.answer_fetch(s, i, follower, epoch, self.offset_of(end), self.epoch_of(end))
        self.send_reply(s, i, follower, epoch, end, reply)

    @action(label="{i} receives {value}@{record_epoch}, HW {high_watermark}")
    def handle_record(
        self, s: StateView, i: Voter, high_watermark: LogOffset, record_epoch: QuorumEpoch, value: Value
    ) -> None:
        """A follower appends a record. Kafka: KafkaRaftClient.handleFetchResponse."""
        self.handle_accepted(s, i, Result.RECORD, high_watermark, record_epoch, value, 0)

    @action(label="{i} receives the record of the leader of epoch {record_epoch}, HW {high_watermark}")
    def handle_leader_change(
        self, s: StateView, i: Voter, high_watermark: LogOffset, record_epoch: QuorumEpoch
    ) -> None:
        """A follower appends the record with which its leader began. Kafka: KafkaRaftClient.handleFetchResponse."""
        require(bool(self.leader_change))
        self.handle_accepted(s, i, Result.RECORD, high_watermark, record_epoch, NONE, 0)

    @action(label="{i} receives nothing new, HW {high_watermark}")
    def handle_nothing(self, s: StateView, i: Voter, high_watermark: LogOffset) -> None:
        """A follower hears of the high watermark. Kafka: KafkaRaftClient.handleFetchResponse."""
        self.handle_accepted(s, i, Result.EMPTY, high_watermark, 0, NONE, 0)

    @action(label="{i} hears that logs part at {end}@{record_epoch}")
    def handle_diverging(
        self, s: StateView, i: Voter, high_watermark: LogOffset, record_epoch: AnyEpoch, end: LogOffset
    ) -> None:
        """A follower cuts its log. Kafka: KafkaRaftClient.handleFetchResponse."""
        require(record_epoch != FIRST_EPOCH, (end == 0) == (record_epoch == 0))
        self.handle_accepted(s, i, Result.DIVERGING, high_watermark, record_epoch, NONE, end)

    @action(label="{i} hears that it asked nobody who leads, epoch {epoch}")
    def handle_not_leader(self, s: StateView, i: Voter, epoch: AnyEpoch, high_watermark: LogOffset) -> None:
        """A follower asked a server that knows of no leader. Kafka: KafkaRaftClient.handleFetchResponse."""
        self.handle_reply(s, i, FetchReply(Result.NOT_LEADER, NONE, epoch, high_watermark, 0, NONE, 0))

    @action(label="{i} hears that {leader} leads, epoch {epoch}")
    def handle_other_leader(
        self, s: StateView, i: Voter, epoch: AnyEpoch, high_watermark: LogOffset, leader: Voter
    ) -> None:
        """A follower asked a server that knows that another one leads. Kafka: KafkaRaftClient.handleFetchResponse."""
        self.handle_reply(s, i, FetchReply(Result.NOT_LEADER, leader, epoch, high_watermark, 0, NONE, 0))

    @action(label="{i} hears that it asked the leader of epoch {epoch}")
    def handle_wrong_epoch(
        self, s: StateView, i: Voter, epoch: AnyEpoch, high_watermark: LogOffset, fenced: bool
    ) -> None:
        """A follower asked the leader of another epoch. Kafka: KafkaRaftClient.handleFetchResponse."""
        error = If(fenced, Result.FENCED, Result.UNKNOWN)
        reply = FetchReply(error, s.server[i].pending.value.to, epoch, high_watermark, 0, NONE, 0)
        self.handle_reply(s, i, reply)

    def handle_accepted(
        self, s: StateView, i: Voter, result: Result, high_watermark: int, record_epoch: int, value: Any, end: int
    ) -> None:
        """Take a response of whom the fetch was sent to, who leads the epoch of the fetch."""
        asked = s.server[i].pending.value
        self.handle_reply(s, i, FetchReply(result, asked.to, asked.epoch, high_watermark, record_epoch, value, end))

    def handle_reply(self, s: StateView, i: Voter, reply: FetchReply) -> None:
        """Take a response to the fetch that is under way."""
        me = s.server[i]
        told = reply.result is Result.NOT_LEADER
        kept = record(
            result=reply.result,
            leader=reply.leader if told else NONE,
            epoch=If(reply.failed, reply.epoch, 0),
            high_watermark=reply.high_watermark,
            record_epoch=reply.record_epoch,
            value=reply.value,
            end=reply.end,
        )
        before: Num = me.epoch
        require(me.pending.is_some(), s.replies[i].contains(kept))
        s.replies[i].remove(kept)
        self.take_reply(me, i, reply)
        if self.pre_votes:
            me.has_fetched = Or(me.has_fetched, Not(reply.failed))
        self.settle(s, i, before)
