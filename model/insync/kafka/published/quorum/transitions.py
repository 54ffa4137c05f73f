"""How a message changes a server's state, epoch and leader.

These are the functions that the TLA+ module took from Kafka's KafkaRaftClient and QuorumState, each named after it.
A transition that Kafka refuses with an exception leads to the illegal state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from insync.kafka.published.quorum.voter import Voter, VoterState
from insync.model import NONE, And, Condition, If, Not, Num, OptionValue, Or, RecordView, one_of

__all__ = ["ILLEGAL", "Transition", "become", "either", "heard", "maybe_transition", "unattached", "unchanged"]


@dataclass(frozen=True, slots=True)
class Transition:
    """The state, epoch and leader that a server will have; an optional leader is an option, a server, or NONE."""

    state: Any
    epoch: Num | int
    leader: Any


ILLEGAL = Transition(VoterState.ILLEGAL, 0, NONE)
"""Where Kafka throws (TLA+: SetIllegalState)."""


def unchanged(me: RecordView) -> Transition:
    """What the server is now (TLA+: NoTransition)."""
    return Transition(me.state, me.epoch, me.leader)


def unattached(epoch: Num | int) -> Transition:
    """A new epoch whose leader is not known (TLA+: TransitionToUnattached)."""
    return Transition(VoterState.UNATTACHED, epoch, NONE)


def either(condition: Condition, one: Transition, other: Transition) -> Transition:
    """One of two transitions."""
    return Transition(
        If(condition, one.state, other.state),
        If(condition, one.epoch, other.epoch),
        If(condition, one.leader, other.leader),
    )


def follower(me: RecordView, leader: Any, epoch: Num | int) -> Transition:
    """Follow a leader; in its own epoch neither a leader nor who follows already may (TLA+: TransitionToFollower)."""
    settled = And(me.epoch == epoch, one_of(me.state, VoterState.FOLLOWER, VoterState.LEADER))
    return either(settled, ILLEGAL, Transition(VoterState.FOLLOWER, epoch, leader))


def maybe_transition(me: RecordView, i: Voter, leader: Any, epoch: Num | int) -> Transition:
    """What a server becomes that learns of an epoch and perhaps of its leader (TLA+: MaybeTransition)."""
    named = is_known(leader)
    later = either(named, follower(me, leader, epoch), unattached(epoch))
    learned = either(And(named, me.leader.is_none()), follower(me, leader, epoch), unchanged(me))
    return either(is_consistent(me, i, leader, epoch), either(epoch > me.epoch, later, learned), ILLEGAL)


def heard(me: RecordView, i: Voter, leader: Any, epoch: Num | int, failed: Condition) -> tuple[Transition, Condition]:
    """What a server does with the epoch, the leader and the error of any response, and whether that is all.

    TLA+: MaybeHandleCommonResponse. Kafka: KafkaRaftClient.maybeHandleCommonResponse.
    """
    stale, newer = epoch < me.epoch, Or(epoch > me.epoch, failed)
    learns = And(is_known(leader), me.leader.is_none())
    there = Transition(VoterState.FOLLOWER, me.epoch, leader)
    told = either(newer, maybe_transition(me, i, leader, epoch), either(learns, there, unchanged(me)))
    return either(stale, unchanged(me), told), Or(stale, newer, learns)


def is_consistent(me: RecordView, i: Voter, leader: Any, epoch: Num | int) -> Condition:
    """Whether a message names no other leader of the epoch than its receiver has (TLA+: HasConsistentLeader).

    A leader that has resigned knows that it led the epoch, as Kafka's QuorumState does; the module has no such state.
    """
    leads = Or(me.state == VoterState.LEADER, And(me.state == VoterState.RESIGNED, me.epoch == epoch))
    agrees = Or(epoch != me.epoch, Not(is_known(leader)), me.leader.is_none(), me.leader == leader)
    return If(leader == i, leads, agrees) if leader is not NONE else True


def is_known(leader: Any) -> Condition:
    """Whether an optional leader is somebody."""
    if leader is NONE:
        return False
    return leader.is_some() if isinstance(leader, OptionValue) else True


def become(me: RecordView, transition: Transition) -> None:
    """Let the server be so."""
    me.state, me.epoch, me.leader = transition.state, transition.epoch, transition.leader
