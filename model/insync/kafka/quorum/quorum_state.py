"""The transitions of a server: its state, epoch, leader and vote (Kafka: QuorumState, EpochState).

A transition that Kafka refuses with an exception leads to the illegal state.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from insync.kafka.quorum.part import Part
from insync.kafka.quorum.sorts import Voter, VoterState
from insync.kafka.quorum.state import ServerState, Some
from insync.model import NONE, And, Condition, EnumValue, If, Not, Num, OptionValue, Or, one_of, set_of, when

__all__ = ["QuorumState", "Transition", "either", "is_known", "resigned", "unattached", "unchanged"]

FOLLOWER, LEADER, RESIGNED = VoterState.FOLLOWER, VoterState.LEADER, VoterState.RESIGNED


@dataclass(frozen=True, slots=True)
class Transition:
    """What a server will be; an optional leader or vote is an option, a server, or NONE."""

    state: EnumValue | VoterState
    epoch: Num | int
    leader: Some
    voted_for: Some


ILLEGAL = Transition(VoterState.ILLEGAL, 0, NONE, NONE)
"""Where Kafka throws."""


def unchanged(me: ServerState) -> Transition:
    """Return what the server is now."""
    return Transition(me.state, me.epoch, me.leader, me.voted_for)


def unattached(epoch: Num | int) -> Transition:
    """Return an epoch without a known leader. Kafka: QuorumState.transitionToUnattached."""
    return Transition(VoterState.UNATTACHED, epoch, NONE, NONE)


def resigned(me: ServerState, i: Voter) -> Transition:
    """Return the end of a server's leadership of its epoch. Kafka: QuorumState.transitionToResigned."""
    return Transition(RESIGNED, me.epoch, i, NONE)


def either(condition: Condition, one: Transition, other: Transition) -> Transition:
    """Return one of two transitions."""
    return Transition(
        If(condition, one.state, other.state),
        If(condition, one.epoch, other.epoch),
        If(condition, one.leader, other.leader),
        If(condition, one.voted_for, other.voted_for),
    )


class QuorumState(Part):
    """The transitions that depend on the server's state, and how a server makes one."""

    def become(self, me: ServerState, transition: Transition) -> None:
        """Make a transition; in another epoch the server waits for no fetch, and has fetched from no leader."""
        with when(transition.epoch != me.epoch):
            me.fetches_from = NONE
            if self.features.pre_votes:
                me.has_fetched = False
        me.state, me.epoch = transition.state, transition.epoch
        me.leader, me.voted_for = transition.leader, transition.voted_for

    def requests_votes(self, me: ServerState) -> Condition:
        """Return whether a server waits for votes or pre-votes."""
        both = VoterState.CANDIDATE, VoterState.PROSPECTIVE
        return one_of(me.state, *both) if self.features.pre_votes else me.state == VoterState.CANDIDATE

    def throw(self, me: ServerState) -> None:
        """Make a transition that Kafka refuses."""
        self.become(me, ILLEGAL)

    def voted(self, now: Transition, epoch: Num | int, candidate: Voter) -> Transition:
        """Vote for a server; a prospective voter stays one.

        Kafka: QuorumState.unattachedAddVotedState, prospectiveAddVotedState.
        """
        cast = replace(now, voted_for=candidate)
        new = Transition(VoterState.VOTED, epoch, NONE, candidate)
        return either(now.state == VoterState.PROSPECTIVE, cast, new) if self.features.pre_votes else new

    def follower(self, me: ServerState, i: Voter, leader: Some, epoch: Num | int) -> Transition:
        """Follow another server; a server that leads or follows in this epoch already may not.

        Kafka: QuorumState.transitionToFollower.
        """
        settled = And(me.epoch == epoch, one_of(me.state, FOLLOWER, LEADER))
        kept = self.rules.release.vote_survives_following
        vote = If(epoch > me.epoch, NONE, me.voted_for) if kept else NONE
        legal = Transition(FOLLOWER, epoch, leader, vote)
        return either(Or(is_same(leader, i), settled, epoch < me.epoch), ILLEGAL, legal)

    def maybe_transition(self, me: ServerState, i: Voter, leader: Some, epoch: Num | int) -> Transition:
        """Return what a server becomes when a message names an epoch, and perhaps its leader.

        Kafka: KafkaRaftClient.maybeTransition.
        """
        named, follows = is_known(leader), self.follower(me, i, leader, epoch)
        later = either(named, follows, unattached(epoch))
        same = either(learns(me, i, leader), follows, unchanged(me))
        return either(self.is_consistent(me, i, leader, epoch), either(epoch > me.epoch, later, same), ILLEGAL)

    def handle_common_response(
        self, me: ServerState, i: Voter, leader: Some, epoch: Num | int, wrong: Condition
    ) -> tuple[Transition, Condition]:
        """Return what a server does with the epoch, leader and error of a response, and whether that is all.

        Kafka: KafkaRaftClient.maybeHandleCommonResponse.

        Args:
            me: the server.
            i: its name.
            leader: whom the sender takes for the leader.
            epoch: the sender's.
            wrong: whether the sender does not lead, or the request was of an earlier epoch than its own.
        """
        stale, newer, news = epoch < me.epoch, Or(epoch > me.epoch, wrong), learns(me, i, leader)
        same = either(news, self.follower(me, i, leader, epoch), unchanged(me))
        current = either(newer, self.maybe_transition(me, i, leader, epoch), same)
        return either(stale, unchanged(me), current), Or(stale, newer, news)

    def is_consistent(self, me: ServerState, i: Voter, leader: Some, epoch: Num | int) -> Condition:
        """Return whether the leader that is named agrees with the server's own. Kafka: hasConsistentLeader.

        Others may still take a server for the leader that led the epoch and has resigned, or was removed from the
        voters.
        """
        if leader is NONE:
            return True
        led: Condition = me.state == RESIGNED
        if self.features.changes_voters:
            led = Or(led, Not(self.quorum.voter_set.contains(me, i)))
        agrees = Or(epoch != me.epoch, Not(is_known(leader)), me.leader.is_none(), me.leader == leader)
        return If(is_same(leader, i), Or(me.state == LEADER, And(me.epoch == epoch, led)), agrees)

    def forget(self, me: ServerState) -> None:
        """Lose what a server has in memory alone."""
        me.votes, me.high_watermark, me.fetches_from = set_of([]), 0, NONE
        me.fetched = dict.fromkeys(self.all(Voter), 0)


def learns(me: ServerState, i: Voter, leader: Some) -> Condition:
    """Return whether a message names a leader to a server that has none, and that is not this leader."""
    return And(is_known(leader), me.leader.is_none(), Not(is_same(leader, i)))


def is_known(leader: Some) -> Condition:
    """Return whether an optional leader is a server."""
    if leader is NONE:
        return False
    return leader.is_some() if isinstance(leader, OptionValue) else True


def is_same(leader: Some, i: Voter) -> Condition:
    """Return whether an optional leader is this server."""
    return False if leader is NONE else leader == i
