"""How what a server hears changes what it is, with reconfiguration: `pre_vote_transitions` as KIP-853 was before it.

Each function is named after the operator of the module kraft_kip_853_functions, which took it from QuorumState and
KafkaRaftClient of Kafka 3.2. A transition that Kafka refuses with an exception leads to the illegal state.
"""

from __future__ import annotations

from typing import Any

from insync.kafka.published.quorum.transitions import is_known
from insync.kafka.published.quorum.voter import Voter
from insync.model import NONE, And, Condition, If, Not, Num, Or, RecordView, one_of, set_of
from insync_published_quorum.members import MemberState, Role
from insync_published_quorum.pre_vote_transitions import Step, become, either, is_same, unchanged

__all__ = [
    "ILLEGAL",
    "Step",
    "become",
    "either",
    "follower",
    "heard",
    "leader",
    "maybe_transition",
    "observer",
    "resigned",
    "stands",
    "unattached",
    "unchanged",
    "voted",
]

ILLEGAL = Step(MemberState.ILLEGAL, 0, NONE, set_of([]), NONE)
"""Where Kafka throws (TLA+: SetIllegalState)."""


def observer(epoch: Num | int) -> Step:
    """Know no leader, which an observer may in any epoch (TLA+: TransitionToUnattached of an observer)."""
    return Step(MemberState.UNATTACHED, epoch, NONE, set_of([]), NONE)


def unattached(me: RecordView, epoch: Num | int) -> Step:
    """An epoch whose leader is not known; of a voter a later one (TLA+: TransitionToUnattached)."""
    return either(And(me.role == Role.VOTER, epoch <= me.epoch), ILLEGAL, observer(epoch))


def voted(now: Step, epoch: Num | int, peer: Voter) -> Step:
    """Vote for another server (TLA+: TransitionToVoted)."""
    known = And(now.epoch == epoch, now.state != MemberState.UNATTACHED)
    return either(known, ILLEGAL, Step(MemberState.VOTED, epoch, NONE, set_of([]), peer))


def follower(me: RecordView, i: Voter, leader: Any, epoch: Num | int) -> Step:
    """Follow a leader: another server, and in its own epoch neither a leader nor who follows already may.

    TLA+: TransitionToFollower.
    """
    settled = And(me.epoch == epoch, one_of(me.state, MemberState.FOLLOWER, MemberState.LEADER))
    legal = Step(MemberState.FOLLOWER, epoch, leader, set_of([]), If(epoch > me.epoch, NONE, me.voted_for))
    return either(Or(is_same(leader, i), settled, epoch < me.epoch), ILLEGAL, legal)


def leader(me: RecordView, i: Voter) -> Step:
    """Lead, and remember the vote (TLA+: TransitionToLeader, of a candidate)."""
    return Step(MemberState.LEADER, me.epoch, i, set_of([]), me.voted_for)


def resigned(me: RecordView) -> Step:
    """Lead no longer (TLA+: TransitionToResigned, of a leader)."""
    return Step(MemberState.RESIGNED, me.epoch, NONE, set_of([]), me.voted_for)


def stands(me: RecordView, i: Voter) -> Step:
    """Stand for election in the next epoch, and vote for oneself (TLA+: TransitionToCandidate)."""
    return Step(MemberState.CANDIDATE, me.epoch + 1, NONE, set_of([i]), i)


def maybe_transition(me: RecordView, i: Voter, leader: Any, epoch: Num | int) -> Step:
    """What a server becomes that hears of an epoch and perhaps of its leader (TLA+: MaybeTransition)."""
    named, follows = is_known(leader), follower(me, i, leader, epoch)
    later = either(named, follows, unattached(me, epoch))
    same = either(learns(me, i, leader), follows, unchanged(me))
    return either(is_consistent(me, i, leader, epoch), either(epoch > me.epoch, later, same), ILLEGAL)


def heard(me: RecordView, i: Voter, leader: Any, epoch: Num | int, wrong: Condition) -> tuple[Step, Condition]:
    """What a server does with the epoch, leader and error of a response, and whether that is all.

    TLA+: MaybeHandleCommonResponse. Kafka: KafkaRaftClient.maybeHandleCommonResponse.

    Args:
        me: the server.
        i: its name.
        leader: who leads, as far as the sender knows.
        epoch: the sender's.
        wrong: whether the sender does not lead, or the request was of an earlier epoch than its own.
    """
    stale, newer, news = epoch < me.epoch, Or(epoch > me.epoch, wrong), learns(me, i, leader)
    same = either(news, follower(me, i, leader, epoch), unchanged(me))
    told = either(newer, maybe_transition(me, i, leader, epoch), same)
    return either(stale, unchanged(me), told), Or(stale, newer, news)


def learns(me: RecordView, i: Voter, leader: Any) -> Condition:
    """Whether a server is told of a leader that it does not know, and that is not itself."""
    return And(is_known(leader), me.leader.is_none(), Not(is_same(leader, i)))


def is_consistent(me: RecordView, i: Voter, leader: Any, epoch: Num | int) -> Condition:
    """Whether what is said of the leader agrees with what is known (TLA+: HasConsistentLeader).

    Who led the epoch and has resigned, or was removed from the voters, may still be taken for the leader by others.
    """
    if leader is NONE:
        return True
    led = And(me.epoch == epoch, Or(me.role == Role.OBSERVER, me.state == MemberState.RESIGNED))
    agrees = Or(epoch != me.epoch, Not(is_known(leader)), me.leader.is_none(), me.leader == leader)
    return If(is_same(leader, i), Or(me.state == MemberState.LEADER, led), agrees)
