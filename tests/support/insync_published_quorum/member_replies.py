"""How servers take fetches and the responses to them from the network, where voters come and go.

An action says what is in the message that it takes, so that a trace tells it.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from insync.kafka.published.quorum.fetches import Result
from insync.kafka.published.quorum.voter import Value, Voter
from insync.model import NONE, If, StateView, action, record, require
from insync_published_quorum.actor import PublishedActor
from insync_published_quorum.member_fetches import MemberReply
from insync_published_quorum.members import HeardEpoch, MemberPlace
from insync_published_quorum.message_sets import LedEpoch

__all__ = ["MemberReplies"]


class Asker(Enum):
    """What one who fetches takes itself for."""

    VOTER = "voter"
    OBSERVER = "observer"


class Sender(Enum):
    """Whether the leader that answers a fetch leads on, or has left by what the fetch has committed."""

    LEADER = "leader"
    FORMER_LEADER = "former leader"


class MemberReplies(PublishedActor):
    """The steps in which a fetch is answered, and those in which the answer arrives."""

    @action(label="{i} answers the fetch of {asker} {follower} from {offset}@{record_epoch}, epoch {epoch}")
    def handle_fetch(
        self,
        s: StateView,
        i: Voter,
        follower: Voter,
        epoch: HeardEpoch,
        offset: MemberPlace,
        record_epoch: LedEpoch,
        asker: Asker,
    ) -> None:
        """A server answers a fetch. TLA+: RejectFetchRequest, DivergingFetchRequest, AcceptFetchRequestFrom..."""
        self.request(epoch, offset, record_epoch)
        self.answer(s, i, follower, epoch, offset, record_epoch, observer=asker is Asker.OBSERVER)

    @action(label="{i} answers the fetch of {follower}, which has nothing yet, epoch {epoch}")
    def handle_first_fetch(self, s: StateView, i: Voter, follower: Voter, epoch: HeardEpoch) -> None:
        """A server answers the fetch of a new one. TLA+: as handle_fetch."""
        self.answer(s, i, follower, epoch, 0, 0, observer=True)

    def answer(
        self, s: StateView, i: Voter, follower: Voter, epoch: int, offset: int, record_epoch: int, *, observer: bool
    ) -> None:
        """Take a fetch, and send the response to it."""
        request = record(epoch=epoch, offset=offset, last_epoch=record_epoch, observer=observer)
        self.receive(s, "fetches", i, follower, request)
        reply = self.answer_fetch(s, i, follower, epoch, offset, record_epoch, observer)
        s.replies[i][follower].add(reply.message(request))

    @action(label="{i} receives {value}@{record_epoch} from {sender} {source}, HW {high_watermark}")
    def handle_record(
        self,
        s: StateView,
        i: Voter,
        source: Voter,
        high_watermark: MemberPlace,
        record_epoch: LedEpoch,
        value: Value,
        sender: Sender,
    ) -> None:
        """A server appends a value. TLA+: HandleFetchResponse."""
        self.handle_accepted(s, i, source, Result.RECORD, sender, high_watermark, record_epoch, value=value)

    @action(label="{i} receives the first record of epoch {record_epoch} from {sender} {source}, HW {high_watermark}")
    def handle_leader_change(
        self, s: StateView, i: Voter, source: Voter, high_watermark: MemberPlace, record_epoch: LedEpoch, sender: Sender
    ) -> None:
        """A server appends the first record of all, or that with which a leader began. TLA+: HandleFetchResponse."""
        self.handle_accepted(s, i, source, Result.RECORD, sender, high_watermark, record_epoch)

    @action(label="{i} receives from {sender} {source} that {new} is added @{record_epoch}, HW {high_watermark}")
    def handle_addition(
        self,
        s: StateView,
        i: Voter,
        source: Voter,
        high_watermark: MemberPlace,
        record_epoch: LedEpoch,
        new: Voter,
        sender: Sender,
    ) -> None:
        """A server appends that a voter is added. TLA+: HandleFetchResponse."""
        require(self.b.additions > 0)
        self.handle_accepted(s, i, source, Result.RECORD, sender, high_watermark, record_epoch, added=new)

    @action(label="{i} receives from {sender} {source} that {old} is removed @{record_epoch}, HW {high_watermark}")
    def handle_removal(
        self,
        s: StateView,
        i: Voter,
        source: Voter,
        high_watermark: MemberPlace,
        record_epoch: LedEpoch,
        old: Voter,
        sender: Sender,
    ) -> None:
        """A server appends that a voter is removed. TLA+: HandleFetchResponse."""
        require(self.b.removals > 0)
        self.handle_accepted(s, i, source, Result.RECORD, sender, high_watermark, record_epoch, removed=old)

    @action(label="{i} receives nothing new from {sender} {source}, HW {high_watermark}")
    def handle_nothing(
        self, s: StateView, i: Voter, source: Voter, high_watermark: MemberPlace, sender: Sender
    ) -> None:
        """A server hears of the high watermark. TLA+: HandleFetchResponse."""
        self.handle_accepted(s, i, source, Result.EMPTY, sender, high_watermark, 0)

    @action(label="{i} hears of {source} that logs part at {end}@{record_epoch}, HW {high_watermark}")
    def handle_diverging(
        self,
        s: StateView,
        i: Voter,
        source: Voter,
        high_watermark: MemberPlace,
        record_epoch: LedEpoch,
        end: MemberPlace,
    ) -> None:
        """A server cuts its log. TLA+: HandleFetchResponse."""
        self.handle_accepted(s, i, source, Result.DIVERGING, Sender.LEADER, high_watermark, record_epoch, end=end)

    @action(label="{i} hears that {source} does not lead, epoch {epoch}, HW {high_watermark}")
    def handle_not_leader(
        self, s: StateView, i: Voter, source: Voter, epoch: LedEpoch, high_watermark: MemberPlace
    ) -> None:
        """A server asked one that does not lead and knows nobody who does. TLA+: HandleFetchResponse."""
        self.handle_reply(s, i, source, MemberReply(Result.NOT_LEADER, NONE, epoch, high_watermark, 0, NONE, 0))

    @action(label="{i} hears of {source} that {leader} leads, epoch {epoch}, HW {high_watermark}")
    def handle_other_leader(
        self, s: StateView, i: Voter, source: Voter, epoch: LedEpoch, high_watermark: MemberPlace, leader: Voter
    ) -> None:
        """A server asked one that does not lead and knows who does, or did. TLA+: HandleFetchResponse."""
        self.handle_reply(s, i, source, MemberReply(Result.NOT_LEADER, leader, epoch, high_watermark, 0, NONE, 0))

    @action(label="{i} hears of {source} that its epoch is wrong, epoch {epoch}, HW {high_watermark}")
    def handle_wrong_epoch(
        self, s: StateView, i: Voter, source: Voter, epoch: LedEpoch, high_watermark: MemberPlace, fenced: bool
    ) -> None:
        """A server asked the leader of another epoch. TLA+: HandleFetchResponse."""
        error = If(fenced, Result.FENCED, Result.UNKNOWN)
        self.handle_reply(s, i, source, MemberReply(error, source, epoch, high_watermark, 0, NONE, 0))

    def handle_accepted(
        self,
        s: StateView,
        i: Voter,
        source: Voter,
        result: Result,
        sender: Sender,
        high_watermark: int,
        epoch: int,
        value: Any = NONE,
        end: int = 0,
        added: Any = NONE,
        removed: Any = NONE,
    ) -> None:
        """Take a response of the leader of the epoch in which the fetch was sent, which leaves with it or does not."""
        require(self.b.removals > 0 or sender is Sender.LEADER)
        asked, leader = s.server[i].pending.value.epoch, source if sender is Sender.LEADER else NONE
        reply = MemberReply(result, leader, asked, high_watermark, epoch, value, end, added, removed)
        self.handle_reply(s, i, source, reply)

    def handle_reply(self, s: StateView, i: Voter, source: Voter, reply: MemberReply) -> None:
        """Take the response to the fetch that is under way; others stay until the same fetch is under way again."""
        me = s.server[i]
        require(me.pending.is_some(), me.pending.value.to == source)
        self.receive(s, "replies", i, source, reply.message(self.fetch_of(me, me.pending.value.epoch)))
        self.take_reply(s, i, reply)
