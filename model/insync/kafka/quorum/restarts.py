"""How a server comes back: with what it has on disk, and as what (Kafka: QuorumState.initialize).

Servers crash and come back at once, and what was on its way to them and from them still is.
"""

from __future__ import annotations

from insync.kafka.quorum.part import Part, step
from insync.kafka.quorum.quorum_state import resigned, unattached
from insync.kafka.quorum.sorts import FIRST_EPOCH, LogOffset, Voter, VoterState
from insync.kafka.quorum.state import KraftState
from insync.model import NONE, And, If, Not, Or, require, set_of, when

__all__ = ["Restarts"]

CANDIDATE, LEADER, PROSPECTIVE = VoterState.CANDIDATE, VoterState.LEADER, VoterState.PROSPECTIVE
ILLEGAL, RESIGNED = VoterState.ILLEGAL, VoterState.RESIGNED


class Restarts(Part):
    """Restarts, and lost disks."""

    @step("{i} restarts", on=lambda f: not (f.loses_records or f.forgets_everything))
    def restart(self, s: KraftState, i: Voter) -> None:
        """A server comes back with its epoch, its vote and its log, which were all flushed.

        Kafka: QuorumState.initialize, KafkaRaftClient.initialize.
        """
        self.come_back(s, i)

    @step("{i} restarts with {kept} records", on=lambda f: f.loses_records and not f.forgets_everything)
    def restart_unflushed(self, s: KraftState, i: Voter, kept: LogOffset) -> None:
        """A server comes back with as much of its log as was flushed, or more (KAFKA-10533)."""
        require(kept <= s.server[i].end)
        self.quorum.replicated_log.truncate(s.server[i], kept)
        self.quorum.voter_set.switch(s.server[i])
        self.come_back(s, i)

    @step("{i} restarts with an empty disk", on=lambda f: f.forgets_everything)
    def restart_empty(self, s: KraftState, i: Voter) -> None:
        """A server comes back with nothing, and all take it for the one that it was (KAFKA-14205)."""
        me = s.server[i]
        require(s.restarts < self.b.restarts, me.state != ILLEGAL)
        s.restarts += 1
        self.quorum.replicated_log.truncate(me, 0)
        self.quorum.quorum_state.forget(me)
        self.quorum.quorum_state.become(me, unattached(FIRST_EPOCH))
        self.quorum.settle(s, i)

    def come_back(self, s: KraftState, i: Voter) -> None:
        """Restart: a leader has resigned, a candidate is one again, and a prospective voter requests nothing."""
        me, runs = s.server[i], self.quorum.voter_set.runs(s.server[i])
        require(s.restarts < self.b.restarts, me.state != ILLEGAL, runs)
        s.restarts += 1
        self.quorum.quorum_state.forget(me)
        with when(me.state == LEADER):
            self.come_back_from_leading(s, i)
        if self.features.pre_votes:
            with when(me.state == PROSPECTIVE):
                self.quorum.pre_votes.give_up(me)
            me.has_fetched = False
        if self.rules.release.vote_survives_following:
            self.come_back_as_candidate(s, i)
        with when(me.state == CANDIDATE):
            me.votes = set_of([i])
            self.quorum.request_manager.send_vote_requests(s, i)
        with when(me.state == RESIGNED):
            self.quorum.request_manager.send_end_quorum(s, i)
        if self.features.pre_votes:
            self.begin_alone(s, i)
        self.quorum.settle(s, i)

    def come_back_from_leading(self, s: KraftState, i: Voter) -> None:
        """Be what a leader is after a restart."""
        me, guards = s.server[i], self.rules.guards
        if not guards.restarted_leader_resigns:
            return
        keeps = guards.restarted_leader_keeps_vote
        self.quorum.quorum_state.become(me, resigned(me, i) if keeps else unattached(me.epoch))

    def come_back_as_candidate(self, s: KraftState, i: Voter) -> None:
        """Be a candidate with its own vote, even beside a leader; a server that is no voter by its log throws.

        Kafka: QuorumState.initialize, which looks for a vote before it looks for a leader.
        """
        me = s.server[i]
        settled = Or(me.state == RESIGNED, me.state == LEADER)
        if self.rules.fixes.known_leader_outlasts_vote:
            settled = Or(settled, me.leader.is_some())
        stands = And(Not(settled), me.voted_for == i)
        with when(stands):
            me.state = If(self.quorum.voter_set.contains(me, i), CANDIDATE, ILLEGAL)
            me.leader = NONE
        with when(me.state == ILLEGAL):
            self.quorum.quorum_state.throw(me)

    def begin_alone(self, s: KraftState, i: Voter) -> None:
        """Begin an epoch as the only voter; a candidate leads at once instead.

        Kafka: KafkaRaftClient.initialize.
        """
        me = s.server[i]
        alone = And(self.quorum.voter_set.is_alone(me, i), me.state != CANDIDATE)
        require(Or(Not(alone), s.elections < self.b.elections))
        with when(alone):
            self.quorum.elections.stand(s, i)

    @step("{i} loses its disk for good", on=lambda f: f.loses_disks)
    def lose_disk(self, s: KraftState, i: Voter) -> None:
        """A voter loses its disk for good. The server in its place is another one (KIP-853: directory ids)."""
        me = s.server[i]
        require(s.lost_disks < self.b.lost_disks, self.quorum.voter_set.contains(me, i))
        s.lost_disks += 1
        self.quorum.quorum_state.forget(me)
        self.quorum.quorum_state.become(me, unattached(0))
        self.quorum.replicated_log.truncate(me, 0)
        me.members = set_of([])
        self.quorum.request_manager.cut_off(s, i)
        self.quorum.settle(s, i)
