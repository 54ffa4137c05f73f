"""How what a server hears changes what it is, since KIP-996: `transitions` with votes, which go with the state.

Each function is named after the operator of the module kraft_kip_996_functions, which took it from QuorumState and
KafkaRaftClient. A transition that Kafka refuses with an exception leads to the illegal state.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from insync.kafka.published.quorum.transitions import is_known
from insync.kafka.published.quorum.voter import Voter
from insync.model import NONE, And, Condition, If, Not, Num, Or, RecordView, one_of, set_of
from insync_published_quorum.pre_voter import PreVoterState

__all__ = [
    "ILLEGAL",
    "Step",
    "become",
    "boot_time_unattached",
    "candidate",
    "either",
    "follower",
    "heard",
    "leader",
    "maybe_transition",
    "prospective",
    "resigned",
    "unattached",
    "unchanged",
    "voted",
]


@dataclass(frozen=True, slots=True)
class Step:
    """What a server will be: its state, epoch, leader, the votes that it has, and for whom it has voted."""

    state: Any
    epoch: Num | int
    leader: Any
    votes: Any
    voted_for: Any


ILLEGAL = Step(PreVoterState.ILLEGAL, 0, NONE, set_of([]), NONE)
"""Where Kafka throws (TLA+: SetIllegalState)."""


def become(me: RecordView, step: Step) -> None:
    """Let the server be so (TLA+: ApplyState)."""
    me.state, me.epoch, me.leader = step.state, step.epoch, step.leader
    me.votes, me.voted_for = step.votes, step.voted_for


def either(condition: Condition, one: Step, other: Step) -> Step:
    """One of two."""
    return Step(
        If(condition, one.state, other.state),
        If(condition, one.epoch, other.epoch),
        If(condition, one.leader, other.leader),
        If(condition, one.votes, other.votes),
        If(condition, one.voted_for, other.voted_for),
    )


def unchanged(me: RecordView) -> Step:
    """What the server is now (TLA+: NoTransition)."""
    return Step(me.state, me.epoch, me.leader, me.votes, me.voted_for)


def unattached(me: RecordView, epoch: Num | int) -> Step:
    """An epoch whose leader is not known: a later one, or that in which a pre-vote was in vain.

    The vote is forgotten with the epoch alone. TLA+: TransitionToUnattached.
    """
    return Step(PreVoterState.UNATTACHED, epoch, NONE, set_of([]), If(epoch > me.epoch, NONE, me.voted_for))


def boot_time_unattached(me: RecordView) -> Step:
    """Who restarts and remembers its vote, but no leader (TLA+: BootTimeUnattached)."""
    return Step(PreVoterState.UNATTACHED, me.epoch, NONE, set_of([]), me.voted_for)


def follower(me: RecordView, i: Voter, leader: Any, epoch: Num | int) -> Step:
    """Follow a leader: another server, and in its own epoch neither a leader nor who follows already may.

    TLA+: TransitionToFollower.
    """
    settled = And(me.epoch == epoch, one_of(me.state, PreVoterState.FOLLOWER, PreVoterState.LEADER))
    vote = If(epoch > me.epoch, NONE, me.voted_for)
    legal = Step(PreVoterState.FOLLOWER, epoch, leader, set_of([]), vote)
    return either(Or(settled, is_same(leader, i)), ILLEGAL, legal)


def prospective(me: RecordView, i: Voter) -> Step:
    """Ask whether one would be elected, and remember the leader (TLA+: TransitionToProspective)."""
    return Step(PreVoterState.PROSPECTIVE, me.epoch, me.leader, set_of([i]), me.voted_for)


def candidate(me: RecordView, i: Voter) -> Step:
    """Stand for election in the next epoch, and vote for oneself (TLA+: TransitionToCandidate)."""
    return Step(PreVoterState.CANDIDATE, me.epoch + 1, NONE, set_of([i]), i)


def leader(me: RecordView, i: Voter) -> Step:
    """Lead, and forget the vote (TLA+: TransitionToLeader)."""
    return Step(PreVoterState.LEADER, me.epoch, i, set_of([]), NONE)


def resigned(me: RecordView, i: Voter) -> Step:
    """Lead no longer, and remember that one did (TLA+: TransitionToResigned)."""
    return Step(PreVoterState.RESIGNED, me.epoch, i, set_of([]), NONE)


def voted(now: Step, peer: Voter) -> Step:
    """Vote for another server, once (TLA+: TransitionToUnattachedAddVote, TransitionToProspectiveAddVote)."""
    return either(is_known(now.voted_for), ILLEGAL, replace(now, voted_for=peer))


def maybe_transition(me: RecordView, i: Voter, leader: Any, epoch: Num | int) -> Step:
    """What a server becomes that hears of an epoch and perhaps of its leader (TLA+: MaybeTransition)."""
    named = is_known(leader)
    follows = follower(me, i, leader, epoch)
    later = either(named, follows, unattached(me, epoch))
    learned = either(And(named, me.leader.is_none()), follows, unchanged(me))
    return either(is_consistent(me, i, leader, epoch), either(epoch > me.epoch, later, learned), ILLEGAL)


def heard(
    me: RecordView, i: Voter, leader: Any, epoch: Num | int, wrong: Condition, failed: Condition
) -> tuple[Step, Condition]:
    """What a server does with the epoch, leader and error of a response, and whether that is all.

    A response without an error that tells of the leader makes a follower, which then takes what else is in it.
    TLA+: MaybeHandleCommonResponse. Kafka: KafkaRaftClient.maybeHandleCommonResponse.

    Args:
        me: the server.
        i: its name.
        leader: who leads, as far as the sender knows.
        epoch: the sender's.
        wrong: whether the sender does not lead, or the request was of an earlier epoch than its own.
        failed: whether there is an error at all.
    """
    stale, newer = epoch < me.epoch, Or(epoch > me.epoch, wrong)
    learns = And(is_known(leader), me.leader.is_none())
    same = either(learns, follower(me, i, leader, epoch), unchanged(me))
    told = either(newer, maybe_transition(me, i, leader, epoch), same)
    return either(stale, unchanged(me), told), Or(stale, newer, And(learns, failed))


def is_consistent(me: RecordView, i: Voter, leader: Any, epoch: Num | int) -> Condition:
    """Whether what is said of the leader agrees with what is known (TLA+: HasConsistentLeader)."""
    if leader is NONE:
        return True
    led = one_of(me.state, PreVoterState.RESIGNED, PreVoterState.PROSPECTIVE, PreVoterState.UNATTACHED)
    leads = Or(me.state == PreVoterState.LEADER, And(me.epoch == epoch, led))
    agrees = Or(epoch != me.epoch, Not(is_known(leader)), me.leader.is_none(), me.leader == leader)
    return If(is_same(leader, i), leads, agrees)


def is_same(leader: Any, i: Voter) -> Condition:
    """Whether an optional leader is this server."""
    return False if leader is NONE else leader == i
