"""How a server of the quorum comes back: with what it has on disk, and as what."""

from __future__ import annotations

from enum import Enum

from insync.kafka.published.quorum.voter import QuorumActor, Voter, VoterState
from insync.kafka.published.quorum.voter_log import FIRST_EPOCH, truncate
from insync.kafka.quorum.mail import FencingEpoch, LogOffset
from insync.model import NONE, If, RecordView, StateView, Switch, action, record, require, set_of, when

__all__ = ["Flush", "RestartAs", "Restarts"]


class RestartAs(Enum):
    """As what a server comes back: as Kafka does it, without a mistake of its, or with one of those that were made.

    With `follower` who knows the leader of its epoch follows it, as up to 3.9, also if it has voted for itself.
    """

    KAFKA = "kafka"
    FOLLOWER = "follower"
    LEADER = "leader"
    UNATTACHED = "unattached"
    EMPTY_DISK = "empty_disk"


class Flush(Enum):
    """When a server flushes its log: before it says what it has, or never."""

    ALWAYS = "always"
    NEVER = "never"


class Restarts(QuorumActor):
    """Servers that crash and come back at once, and what was on its way to them and from them still is.

    But who has lost its disk gets no answer to what it asked before.
    """

    restart_as: RestartAs
    flush: Flush
    pre_votes: Switch

    @action(label="{i} restarts with {kept} records")
    def restart(self, s: StateView, i: Voter, kept: LogOffset) -> None:
        """A server comes back with its epoch, its vote and as much of its log as was flushed, or more.

        Who led has resigned, and says so where leaders resign; a candidate is one again with its own vote, a follower
        knows its leader.
        Kafka: QuorumState.initialize.
        """
        me = s.server[i]
        everything = self.flush is Flush.ALWAYS and self.restart_as is not RestartAs.EMPTY_DISK
        lost = kept == 0 if self.restart_as is RestartAs.EMPTY_DISK else True
        require(s.restarts < self.b.restarts, kept == me.end if everything else kept <= me.end, lost)
        before = me.epoch
        s.restarts += 1
        self.forget(me)
        truncate(me, kept)
        if self.restart_as is RestartAs.EMPTY_DISK:
            me.state, me.epoch, me.leader, me.voted_for = VoterState.UNATTACHED, FIRST_EPOCH, NONE, NONE
        else:
            if self.pre_votes:
                self.come_back_since_996(me, i)
            me.votes = If(me.state == VoterState.CANDIDATE, set_of([i]), set_of([]))
            with when(me.state == VoterState.LEADER):
                self.come_back_from_leading(me)
            with when(me.state == VoterState.RESIGNED):
                self.tell_the_end(s, i)
            if self.only_awaited:
                self.ask_anew(s, i)
        self.settle(s, i, before)

    def ask_anew(self, s: StateView, i: Voter) -> None:
        """A candidate that restarts knows nothing of what it asked, and asks all others again."""
        with when(s.server[i].state == VoterState.CANDIDATE):
            s.votes[i] = set_of([])
            s.invalid[i], s.too_early[i] = set_of([]), set_of([])
            for j, is_other in self.beside(i):
                with when(is_other):
                    s.refusals[i][j] = NONE
                    for epoch in self.all(FencingEpoch):
                        s.fences[i][j][epoch] = record(nobody=0, leader=dict.fromkeys(self.all(Voter), 0))
            self.ask_for_votes(s, i)

    def come_back_from_leading(self, me: RecordView) -> None:
        """What becomes of a leader that restarts."""
        if self.restart_as in (RestartAs.KAFKA, RestartAs.FOLLOWER):
            me.state = VoterState.RESIGNED
        elif self.restart_as is RestartAs.UNATTACHED:
            me.state, me.leader, me.voted_for = VoterState.UNATTACHED, NONE, NONE
