"""What pre-votes are for in the network of `kraft`, where a message may be on its way for long."""

from __future__ import annotations

from insync.kafka.published.quorum.voter import Voter, VoterState
from insync.kafka.quorum.kraft import Kraft
from insync.model import And, Condition, Not, StateView
from insync.properties import Failure, invariant, said

__all__ = ["working_leaders_are_left_alone"]


def _stands(failure: Failure) -> str:
    return said(
        "{candidate} stands for election, and a leader has worked ever since it began to ask.", **failure.bindings
    )


@invariant(Kraft, because=_stands)
def working_leaders_are_left_alone(model: Kraft, s: StateView, candidate: Voter) -> Condition:
    """Nobody stands who began to ask whether it would be elected while a majority fetched from a leader, and has since.

    What KIP-996 is for. Answers of earlier asking must not be on their way: a pre-vote that was given while nobody led
    counts also when it comes late. Needs `pre_votes` and `askers`, without which nothing is noted.
    """
    me = s.server[candidate]
    return Not(And(me.state == VoterState.CANDIDATE, me.asks_beside))
