"""What is on its way between the servers of `kraft`: a network that forgets what can have no effect any more.

It delays and reorders messages without limit, and it may as well lose them, because nobody has to receive one. Of a
message that was received nothing is left, and one that its receiver would only discard is not there; nor are responses
to BeginQuorumEpoch, which nobody reads. So the voters reach the states that they reach with the network of
`kraft_published`, whose messages stay for ever, and the states in which only messages differ are far fewer.

What is kept of a message is what its receiver can tell from others:

- A candidate asks once in an epoch, so a request is named by its epoch; a vote, or a refusal that names the leader, is
  discarded in all epochs but the candidate's own, so it needs no epoch.
- A follower discards all responses to fetches but those to the fetch that it has under way, so a response needs to say
  neither who sent it nor what was asked.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from insync.kafka.published.quorum.elections import Ballot
from insync.kafka.published.quorum.fetches import FetchReply, Result
from insync.kafka.published.quorum.voter import QuorumActor, QuorumEpoch, Value, Voter, VoterState
from insync.kafka.published.quorum.voter_log import FIRST_EPOCH, last_epoch
from insync.model import (
    NONE,
    And,
    Array,
    Bag,
    Bool,
    BoundValues,
    If,
    Int,
    Not,
    Num,
    Option,
    Or,
    Range,
    Record,
    Set,
    StateView,
    bound,
    record,
    set_of,
    when,
)

__all__ = ["Answers", "FencingEpoch", "LogEnd", "LogOffset", "Mail", "capacity_of"]


class Answers(Enum):
    """Which answers a server takes: all, or those alone that it waits for, as Kafka's does."""

    ALL = "all"
    AWAITED = "awaited"


class FencingEpoch(Range):
    """An epoch that can be later than that of a request."""

    lo, hi = FIRST_EPOCH + 2, bound("elections") + FIRST_EPOCH


class LogOffset(Range):
    """The end of a log, an offset in it, or a high watermark."""

    lo, hi = 0, bound("records")

    @classmethod
    def numbers(cls, bounds: BoundValues) -> range:
        """As many as a log can have records."""
        return range(capacity_of(bounds) + 1)


class LogEnd(Range):
    """Offset and epoch of the last record of a log as one number: 0 is the empty log, then by offset and epoch."""

    lo, hi = 0, bound("records") * bound("elections")

    @classmethod
    def numbers(cls, bounds: BoundValues) -> range:
        """As many as there are offsets and epochs."""
        return range(capacity_of(bounds) * bounds.elections + 1)


def capacity_of(bounds: BoundValues) -> int:
    """How many records a log can have: the clients' values, and one for each leader where leaders write one."""
    return max(1, bounds.records) + (bounds.elections if bounds.settings.leader_change else 0)


class Mail(QuorumActor):
    """The messages, how they are sent, and which of them go nowhere."""

    answers: Answers

    def mail(self, b: BoundValues) -> dict[str, Any]:
        """Lay out the messages: first the receiver of responses, who has sent the request, then the other server."""
        epoch, offset = Int(0, b.elections + FIRST_EPOCH), Int(0, self.capacity)
        fences = Int(0, max(1, b.elections - 1))
        reply = Record(
            result=Result,
            leader=Option(Voter),
            epoch=epoch,
            high_watermark=offset,
            record_epoch=epoch,
            value=Option(Value),
            end=offset,
        )
        return {
            "vote_requests": _pairs(Array(QuorumEpoch, Option(Record(offset=offset, last_epoch=epoch)))),
            "votes": Array(Voter, Set(Voter)),
            "refusals": _pairs(Option(Voter)),
            "fences": _pairs(Array(FencingEpoch, Record(nobody=fences, leader=Array(Voter, fences)))),
            "begins": _pairs(Array(QuorumEpoch, Bool)),
            "fetches": _pairs(Array(QuorumEpoch, Array(LogEnd, Int(0, self.copies)))),
            "replies": Array(Voter, Bag(reply, self.copies)),
        }

    @property
    def copies(self) -> int:
        """How often the same fetch can be under way: it is sent again when its sender hears of its leader again.

        With pre-votes that can be any number of times, and the last one alone is on its way.
        """
        return 1 if self.b.settings.pre_votes else 2 + self.b.restarts

    # ------------------------------------------------------------------------------------------------------- sending

    def ask_for_votes(self, s: StateView, i: Voter) -> None:
        """Send a vote request to everybody else."""
        for j, is_other in self.beside(i):
            with when(is_other):
                self.ask_for_vote(s, i, j)

    def ask_for_vote(self, s: StateView, i: Voter, j: Voter) -> None:
        """Send a vote request to another server."""
        me = s.server[i]
        for epoch in self.all(QuorumEpoch):
            with when(me.epoch == epoch):
                s.vote_requests[i][j][epoch] = record(offset=me.end, last_epoch=last_epoch(me))

    def send_ballot(self, s: StateView, voter: Voter, candidate: Voter, asked: QuorumEpoch, ballot: Ballot) -> None:
        """Answer a vote request of an epoch."""
        you = s.server[candidate]
        waits = And(you.state == VoterState.CANDIDATE, you.epoch == asked) if self.only_awaited else True
        current = And(waits, Not(ballot.fenced), ballot.epoch == you.epoch)
        with when(And(ballot.granted, current)):
            s.votes[candidate] = s.votes[candidate] | {voter}
        with when(And(Not(ballot.granted), current, you.leader.is_none())):
            s.refusals[candidate][voter] = ballot.leader
        for epoch in self.all(FencingEpoch):
            fence = s.fences[candidate][voter][epoch]
            counts = And(waits, ballot.fenced, ballot.epoch == epoch, epoch >= you.epoch)
            with when(And(counts, ballot.leader == NONE)):
                fence.nobody += 1
            for leader in self.all(Voter):
                with when(And(counts, ballot.leader == leader)):
                    fence.leader[leader] += 1

    def announce(self, s: StateView, i: Voter) -> None:
        """Send BeginQuorumEpoch to everybody else."""
        for j, is_other in self.beside(i):
            for epoch in self.all(QuorumEpoch):
                with when(And(is_other, s.server[i].epoch == epoch, s.server[j].epoch <= epoch)):
                    s.begins[i][j][epoch] = True

    def send_fetch(self, s: StateView, i: Voter, leader: Voter) -> None:
        """Send a fetch, beside those that are under way."""
        me = s.server[i]
        end = self.log_end(me.end, last_epoch(me))
        for epoch in self.all(QuorumEpoch):
            with when(me.epoch == epoch):
                same = s.fetches[i][leader][epoch]
                same[end] = 1 if self.b.settings.pre_votes else same[end] + 1

    def send_reply(
        self, s: StateView, source: Voter, follower: Voter, epoch: QuorumEpoch, end: LogEnd, reply: FetchReply
    ) -> None:
        """Answer a fetch, if the follower still waits for the answer."""
        you = s.server[follower]
        waits = And(you.pending.is_some(), you.pending.value.to == source, you.pending.value.epoch == epoch)
        asked = And(waits, self.log_end(you.end, last_epoch(you)) == end)
        told = reply.result == Result.NOT_LEADER
        failed = Or(told, reply.result == Result.FENCED, reply.result == Result.UNKNOWN)
        with when(asked):
            s.replies[follower].add(
                result=reply.result,
                leader=If(told, reply.leader, NONE),  # of all others the sender is the leader
                epoch=If(failed, reply.epoch, 0),  # of all others it is that of the fetch
                high_watermark=reply.high_watermark,
                record_epoch=reply.record_epoch,
                value=reply.value,
                end=reply.end,
            )

    # ---------------------------------------------------------------------------------------------------- forgetting

    @property
    def only_awaited(self) -> bool:
        """Whether a server ignores answers to what it no longer asks (Kafka: RequestManager.isResponseExpected)."""
        return self.answers is Answers.AWAITED

    def settle(self, s: StateView, i: Voter, epoch: Num) -> None:
        """Forget what a server that was in that epoch would now only discard."""
        me = s.server[i]
        moved = me.epoch != epoch
        done = Or(moved, me.state != VoterState.CANDIDATE) if self.only_awaited else moved
        with when(done):
            s.votes[i] = set_of([])
        for j, is_other in self.beside(i):
            with when(And(is_other, Or(done, me.leader.is_some()))):
                s.refusals[i][j] = NONE
        for past in self.all(FencingEpoch):
            gone = Or(past < me.epoch, done) if self.only_awaited else past < me.epoch
            for j, is_other in self.beside(i):
                with when(And(is_other, gone)):
                    s.fences[i][j][past].nobody = 0
                    s.fences[i][j][past].leader = dict.fromkeys(self.all(Voter), 0)
        for over in self.all(QuorumEpoch):
            for j, is_other in self.beside(i):
                with when(And(is_other, over < me.epoch)):
                    s.begins[j][i][over] = False
        with when(me.pending.is_none()):
            s.replies[i].clear()

    # ------------------------------------------------------------------------------------------------------- numbers

    def log_end(self, offset: Num | int, epoch: Num | int) -> Num | int:
        """Offset and epoch as the number of a LogEnd."""
        return If(offset == 0, 0, (offset - 1) * self.b.elections + epoch - FIRST_EPOCH)

    def offset_of(self, end: LogEnd | int) -> Num | int:
        """The offset of a LogEnd."""
        return (end + self.b.elections - 1) // self.b.elections

    def epoch_of(self, end: LogEnd | int) -> Num | int:
        """The epoch of a LogEnd."""
        return If(end == 0, 0, (end - 1) % self.b.elections + FIRST_EPOCH + 1)


def _pairs(message: Any) -> Array:
    return Array(Voter, Array(Voter, message))
