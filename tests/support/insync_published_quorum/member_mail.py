"""The messages of `kraft_853`: how they are sent, and which of them go nowhere."""

from __future__ import annotations

from typing import Any

from insync.kafka.published.quorum.voter import Voter
from insync.kafka.published.quorum.voter_log import last_epoch
from insync.model import And, RecordView, SetValue, StateView, record, when
from insync_published_quorum.actor import PublishedActor
from insync_published_quorum.members import MemberState, Role

__all__ = ["KINDS", "MemberMail"]

KINDS = ("vote_requests", "votes", "begins", "fetches", "replies")
"""The kinds of messages."""


class MemberMail(PublishedActor):
    """What servers send, all of whom it reaches that have not lost their disks."""

    def ask_for_votes(self, s: StateView, i: Voter) -> None:
        """Send a vote request to the other voters. TLA+: SendAll of RequestVoteRequest."""
        me = s.server[i]
        for j, is_other in self.beside(i):
            with when(And(is_other, me.members.contains(j), s.server[j].state != MemberState.DEAD)):
                s.vote_requests[i][j].add(self.position_of(me))

    def announce(self, s: StateView, i: Voter, voters: SetValue) -> None:
        """Tell voters who leads. TLA+: SendAllOnce and Send of BeginQuorumEpochRequest."""
        for j, is_other in self.beside(i):
            with when(And(is_other, voters.contains(j), s.server[j].state != MemberState.DEAD)):
                s.begins[i][j].add(s.server[i].epoch)

    def cut_off(self, s: StateView, i: Voter) -> None:
        """Drop what is on its way from a server and to it. TLA+: DisconnectDeadServer."""
        for j, is_other in self.beside(i):
            with when(is_other):
                for kind in KINDS:
                    getattr(s, kind)[i][j].clear()
                    getattr(s, kind)[j][i].clear()

    def send_fetch(self, s: StateView, i: Voter, leader: Voter) -> None:
        """Send a fetch, if one like it is not under way. TLA+: Send of FetchRequest."""
        with when(s.server[leader].state != MemberState.DEAD):
            s.fetches[i][leader].add(self.fetch_of(s.server[i], s.server[i].epoch))

    def fetch_of(self, me: RecordView, epoch: Any) -> Any:
        """A server's fetch: the epoch, the end of its log, and whether it takes itself for an observer."""
        observer = me.role == Role.OBSERVER
        return record(epoch=epoch, offset=me.end, last_epoch=last_epoch(me), observer=observer)
