"""KRaft as the module KRaft of Vanlightly/raft-tlaplus has it (KIP-595), to the letter, for comparison with TLC.

Its network is a bag from which nothing is taken out: a function from messages to how often each is still to be
received, 0 included. What was ever sent is asked twice (an identical message of some kinds is never sent again), so
the zeros are part of the state, and most of it. Here the bag is two collections for each kind of message and each
ordered pair of servers: the messages that were `sent`, and a bag of those that are `waiting` to be received.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from insync.kafka.published.quorum.elections import Ballot, Elections
from insync.kafka.published.quorum.fetches import Fetches, FetchReply, Result
from insync.kafka.published.quorum.voter import AnyEpoch, Value, Voter, Voters, VoterState, bounds_with
from insync.kafka.published.quorum.voter_log import last_epoch
from insync.kafka.quorum.sorts import FIRST_EPOCH
from insync.model import (
    NONE,
    And,
    Array,
    Bag,
    Bool,
    BoundValues,
    Condition,
    If,
    Int,
    Not,
    Num,
    Option,
    Or,
    Range,
    Record,
    RecordView,
    SetOf,
    State,
    StateView,
    action,
    bound,
    record,
    require,
    when,
)

__all__ = ["KraftPublished", "NamedEpoch", "Position"]


class NamedEpoch(Range):
    """An epoch that has a candidate: the first one, too, by a server that was in the illegal state and restarted."""

    lo, hi = FIRST_EPOCH, bound("elections") + FIRST_EPOCH


class Position(Range):
    """The end of a log, a position in it, or a high watermark."""

    lo, hi = 0, bound("records")


class KraftPublished(Fetches, Elections, Voters):
    """KIP-595 as published: elections, BeginQuorumEpoch, and followers that fetch; messages wait for ever.

    With restarts it enters the illegal state, which is an error of the module and not of Kafka. A server restarts as a
    follower that knows no leader, even if it led, and a follower may not become one of its own epoch again. Also as
    published: a server that has voted never stands for election again.
    """

    name = "kraft_published"
    bounds = bounds_with(2)  # with three there are 190 times as many states
    headline = (
        "leader_has_all_acknowledged_values",
        "no_log_divergence",
        "never_two_leaders_in_an_epoch",
        "no_illegal_state",
    )

    def declare(self, b: BoundValues) -> State:
        """Lay out the state: the servers, and the messages by kind, sender and receiver."""
        epoch, offset = Int(0, b.elections + FIRST_EPOCH), Int(0, b.records)
        position = {"epoch": NamedEpoch, "offset": offset, "last_epoch": epoch}
        fetches = self.fetch_positions
        return State(
            **self.voters(b),
            vote_requests=_between(Record(**position), b.elections),
            vote_responses=_between(Record(epoch=epoch, leader=Option(Voter), granted=Bool, fenced=Bool), b.elections),
            begin_requests=_between(NamedEpoch, b.elections),
            # Never received, so all of them wait.
            begin_responses=Array(Voter, Array(Voter, Bag(Record(epoch=epoch, fenced=Bool), b.elections))),
            fetch_requests=_between(Record(**position), fetches, self.copies),
            fetch_responses=_between(
                Record(
                    result=Result,
                    leader=Option(Voter),
                    epoch=epoch,
                    high_watermark=offset,
                    record_epoch=epoch,
                    value=Option(Value),
                    end=offset,
                    request=Record(**position),
                ),
                2 * fetches + 1,
                self.copies,
            ),
        )

    def voter(self, highest: int, states: type[Enum], asked: type[Range], **more: Any) -> Record:
        """What one server knows, which may fetch in the first epoch, too."""
        return super().voter(highest, states, NamedEpoch, **more)

    # ----------------------------------------------------------------------------------------------------- elections

    def ask_for_votes(self, s: StateView, i: Voter) -> None:
        """TLA+: SendMultipleOnce of RequestVoteRequest."""
        me = s.server[i]
        request = record(epoch=me.epoch, offset=me.end, last_epoch=last_epoch(me))
        self.send_once([(s.vote_requests[i][j], is_other) for j, is_other in self.beside(i)], request)

    def announce(self, s: StateView, i: Voter) -> None:
        """TLA+: SendMultipleOnce of BeginQuorumRequest."""
        self.send_once([(s.begin_requests[i][j], is_other) for j, is_other in self.beside(i)], s.server[i].epoch)

    @action(label="{i} answers the vote request of {candidate}@{epoch}")
    def handle_vote_request(
        self, s: StateView, i: Voter, candidate: Voter, epoch: NamedEpoch, offset: Position, record_epoch: AnyEpoch
    ) -> None:
        """A server answers a candidate whose log ends with that record. TLA+: HandleRequestVoteRequest."""
        require(i != candidate, is_end(offset, record_epoch))
        self.receive(s.vote_requests[candidate][i], record(epoch=epoch, offset=offset, last_epoch=record_epoch))
        ballot = self.vote(s.server[i], candidate, epoch, offset, record_epoch)
        self.send(s.vote_responses[i][candidate], ballot.message)

    @action(label="{i} gets the vote of {voter} for epoch {epoch}")
    def handle_vote(self, s: StateView, i: Voter, voter: Voter, epoch: NamedEpoch) -> None:
        """A candidate learns that a server has voted for it. TLA+: HandleRequestVoteResponse."""
        self.handle_ballot(s, i, voter, Ballot(epoch, NONE, True, False))

    @action(label="{i} is refused the vote of {voter}, epoch {epoch}")
    def handle_refusal(self, s: StateView, i: Voter, voter: Voter, epoch: AnyEpoch, fenced: bool) -> None:
        """A candidate learns that a server does not vote for it. TLA+: HandleRequestVoteResponse."""
        self.handle_ballot(s, i, voter, Ballot(epoch, NONE, False, fenced))

    @action(label="{i} is refused the vote of {voter}, epoch {epoch}, {leader} leads")
    def handle_refusal_naming(
        self, s: StateView, i: Voter, voter: Voter, epoch: NamedEpoch, fenced: bool, leader: Voter
    ) -> None:
        """A candidate learns that another server leads. TLA+: HandleRequestVoteResponse."""
        self.handle_ballot(s, i, voter, Ballot(epoch, leader, False, fenced))

    def handle_ballot(self, s: StateView, i: Voter, voter: Voter, ballot: Ballot) -> None:
        """Take a response to a vote request."""
        require(i != voter)
        self.receive(s.vote_responses[voter][i], ballot.message)
        require(self.count_vote(s.server[i], i, voter, ballot))

    @action(label="{i} learns that {leader} leads epoch {epoch}")
    def handle_begin_quorum(self, s: StateView, i: Voter, leader: Voter, epoch: NamedEpoch) -> None:
        """A server learns of a leader, and answers. TLA+: HandleBeginQuorumRequest."""
        require(i != leader)
        self.receive(s.begin_requests[leader][i], epoch)
        fenced = self.hear_of_leader(s.server[i], i, leader, epoch)
        named = If(fenced, s.server[i].epoch, epoch)
        s.begin_responses[i][leader].add(epoch=named, fenced=fenced)

    @action(label="{i} restarts")
    def restart(self, s: StateView, i: Voter) -> None:
        """A server restarts with its epoch, its vote and its log, as a follower of nobody. TLA+: Restart."""
        me = s.server[i]
        require(s.restarts < self.b.restarts)
        s.restarts += 1
        me.state, me.leader = VoterState.FOLLOWER, NONE
        self.forget(me)

    # --------------------------------------------------------------------------------------------------- replication

    def send_fetch(self, s: StateView, i: Voter, leader: Voter) -> None:
        """TLA+: Send of FetchRequest."""
        self.send(s.fetch_requests[i][leader], self.fetch_of(s.server[i]))

    def fetch_of(self, me: RecordView) -> Any:
        """The fetch that a server has under way."""
        return record(epoch=me.epoch, offset=me.end, last_epoch=last_epoch(me))

    @action(label="{i} answers {follower}'s fetch from {offset}@{record_epoch}, epoch {epoch}")
    def handle_fetch(
        self, s: StateView, i: Voter, follower: Voter, epoch: NamedEpoch, offset: Position, record_epoch: AnyEpoch
    ) -> None:
        """A server answers a fetch, but never twice alike.

        TLA+: RejectFetchRequest, DivergingFetchRequest, AcceptFetchRequest.
        """
        require(i != follower, is_end(offset, record_epoch))
        request = record(epoch=epoch, offset=offset, last_epoch=record_epoch)
        self.receive(s.fetch_requests[follower][i], request)
        reply = self.answer_fetch(s, i, follower, epoch, offset, record_epoch)
        response = reply.message(request)
        require(Not(s.fetch_responses[i][follower].sent.contains(response)))
        self.send(s.fetch_responses[i][follower], response)

    @action(label="{i} receives {value}@{record_epoch} from {source}, HW {high_watermark}")
    def handle_record(
        self, s: StateView, i: Voter, source: Voter, high_watermark: Position, record_epoch: NamedEpoch, value: Value
    ) -> None:
        """A follower appends a record. TLA+: HandleSuccessFetchResponse."""
        self.handle_accepted(s, i, source, Result.RECORD, high_watermark, record_epoch, value, 0)

    @action(label="{i} receives nothing new from {source}, HW {high_watermark}")
    def handle_nothing(self, s: StateView, i: Voter, source: Voter, high_watermark: Position) -> None:
        """A follower learns of the high watermark. TLA+: HandleSuccessFetchResponse."""
        self.handle_accepted(s, i, source, Result.EMPTY, high_watermark, 0, NONE, 0)

    @action(label="{i} learns from {source} that logs part at {end}@{record_epoch}")
    def handle_diverging(
        self, s: StateView, i: Voter, source: Voter, high_watermark: Position, record_epoch: AnyEpoch, end: Position
    ) -> None:
        """A follower cuts its log. TLA+: HandleDivergingFetchResponse."""
        require(is_end(end, record_epoch))
        self.handle_accepted(s, i, source, Result.DIVERGING, high_watermark, record_epoch, NONE, end)

    @action(label="{i} learns that {source} does not lead, epoch {epoch}")
    def handle_not_leader(
        self, s: StateView, i: Voter, source: Voter, epoch: AnyEpoch, high_watermark: Position
    ) -> None:
        """A follower asked a server that does not lead and knows nobody who does. TLA+: HandleErrorFetchResponse."""
        self.handle_reply(s, i, source, FetchReply(Result.NOT_LEADER, NONE, epoch, high_watermark, 0, NONE, 0))

    @action(label="{i} learns from {source} that {leader} leads, epoch {epoch}")
    def handle_other_leader(
        self, s: StateView, i: Voter, source: Voter, epoch: NamedEpoch, high_watermark: Position, leader: Voter
    ) -> None:
        """A follower asked a server that knows that another one leads. TLA+: HandleErrorFetchResponse."""
        self.handle_reply(s, i, source, FetchReply(Result.NOT_LEADER, leader, epoch, high_watermark, 0, NONE, 0))

    @action(label="{i} learns from {source} that its epoch is wrong, epoch {epoch}")
    def handle_wrong_epoch(
        self, s: StateView, i: Voter, source: Voter, epoch: NamedEpoch, high_watermark: Position, fenced: bool
    ) -> None:
        """A follower asked the leader of another epoch. TLA+: HandleErrorFetchResponse."""
        error = If(fenced, Result.FENCED, Result.UNKNOWN)
        self.handle_reply(s, i, source, FetchReply(error, source, epoch, high_watermark, 0, NONE, 0))

    def handle_accepted(
        self,
        s: StateView,
        i: Voter,
        source: Voter,
        result: Result,
        high_watermark: int,
        epoch: int,
        value: Any,
        end: int,
    ) -> None:
        """Take a response of the leader of the epoch in which the fetch was sent."""
        asked = s.server[i].pending.value.epoch
        self.handle_reply(s, i, source, FetchReply(result, source, asked, high_watermark, epoch, value, end))

    def handle_reply(self, s: StateView, i: Voter, source: Voter, reply: FetchReply) -> None:
        """Take the response to the fetch that is under way; others wait for ever."""
        me = s.server[i]
        require(i != source, me.pending.is_some(), me.pending.value.to == source)
        asked = record(epoch=me.pending.value.epoch, offset=me.end, last_epoch=last_epoch(me))
        self.receive(s.fetch_responses[source][i], reply.message(asked))
        self.take_reply(me, i, reply)

    # ------------------------------------------------------------------------------------------------------- the bag

    def send(self, channel: RecordView, message: Any) -> None:
        """Send a message, even if one like it was sent (TLA+: _SendNoRestriction)."""
        channel.sent.add(message)
        channel.waiting.add(message)

    def send_once(self, channels: Sequence[tuple[RecordView, Condition]], message: Any) -> None:
        """Send a message to those for whom a condition holds, if none was ever sent it (TLA+: SendMultipleOnce)."""
        require(*(Not(And(meant, channel.sent.contains(message))) for channel, meant in channels))
        for channel, meant in channels:
            with when(meant):
                self.send(channel, message)

    def receive(self, channel: RecordView, message: Any) -> None:
        """Take a message that waits (TLA+: Discard)."""
        require(channel.waiting.contains(message))
        channel.waiting.remove(message)

    @property
    def fetch_positions(self) -> int:
        """How many different fetches one server can send another; more would be reported as a violation of type_ok."""
        return self.b.records + self.b.elections

    @property
    def copies(self) -> int:
        """How many messages of one kind can wait between two servers."""
        return self.b.elections + self.b.restarts + 1


def _between(message: Any, most: int, waiting: int | None = None) -> Array:
    """Messages of a kind for each sender and receiver: at most `most` different ones, and `waiting` that wait."""
    return Array(Voter, Array(Voter, Record(sent=SetOf(message, most), waiting=Bag(message, waiting or most))))


def is_end(offset: Num | int, record_epoch: Num | int) -> Condition:
    """Whether a log can end with a record of an epoch at an offset; 0 and 0 is the empty log."""
    return Or(And(offset > 0, record_epoch > 0), And(offset == 0, record_epoch == 0))
