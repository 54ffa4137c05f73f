"""Who votes since KIP-996, by what it is: the rules that the models with pre-votes have in common."""

from __future__ import annotations

from typing import Any

from insync.kafka.published.quorum.transitions import is_known
from insync.kafka.published.quorum.voter import Voter
from insync.model import And, Condition, If, Not, Or

__all__ = ["grants_pre_vote", "grants_vote"]


def grants_pre_vote(free: Condition, follows: Condition, has_fetched: Condition, behind: Condition) -> Condition:
    """Whether a server would vote: if it follows nobody, or nobody from whom it could fetch yet.

    TLA+: GrantPreVote. Kafka: EpochState.canGrantVote.

    Args:
        free: whether it neither follows nor leads.
        follows: whether it follows.
        has_fetched: whether a fetch from whom it follows has succeeded.
        behind: whether the log of who asks ends before its own.
    """
    return And(Or(free, And(follows, Not(has_fetched))), Not(behind))


def grants_vote(may: Condition, leader: Any, voted_for: Any, candidate: Voter, behind: Condition) -> Condition:
    """Whether a server votes: once in an epoch, and not where it knows the leader.

    TLA+: GrantVote. Kafka: QuorumState.unattachedOrProspectiveCanGrantVote.

    Args:
        may: whether it is in a state to vote.
        leader: who leads its epoch as far as it knows.
        voted_for: for whom it has voted in its epoch.
        candidate: who asks.
        behind: whether the log of who asks ends before its own.
    """
    free = And(Not(is_known(leader)), Not(behind))
    return And(may, If(is_known(voted_for), voted_for == candidate, free))
