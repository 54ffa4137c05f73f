"""What the modules of KIP-996 and KIP-853 promise, beside what every model of the quorum does."""

from __future__ import annotations

from insync.kafka.published.quorum.voter import Value, Voter, Written
from insync.model import And, Condition, Implies, Or, StateView, one_of
from insync.properties import invariant
from insync_published_quorum.kraft_853 import Kraft853
from insync_published_quorum.kraft_996 import Kraft996
from insync_published_quorum.members import MemberState, Role
from insync_published_quorum.pre_voter import PreVoterState

__all__ = [
    "acknowledged_values_last",
    "acknowledged_values_stay_with_a_voter",
    "states_are_consistent",
    "states_match_roles",
]


@invariant(Kraft996)
def acknowledged_values_last(model: Kraft996, s: StateView, value: Value) -> Condition:
    """A value that clients were told is written is in the log of some voter. TLA+: Durability."""
    places = [s.server[i].log[place].value == value for i in model.all(Voter) for place in range(model.capacity)]
    return Implies(s.written[value] == Written.ACKNOWLEDGED, Or(*places))


@invariant(Kraft996)
def states_are_consistent(model: Kraft996, s: StateView, server: Voter) -> Condition:
    """Who is Unattached knows no leader, and votes are counted for who asks for them alone.

    TLA+: ValidRolesAndStates. That nobody but a leader waits for a write to be committed is so by construction.
    """
    me = s.server[server]
    knows_none = Implies(me.state == PreVoterState.UNATTACHED, me.leader.is_none())
    asks = one_of(me.state, PreVoterState.PROSPECTIVE, PreVoterState.CANDIDATE)
    return And(knows_none, Implies(me.votes.count() > 0, asks))


@invariant(Kraft853)
def acknowledged_values_stay_with_a_voter(model: Kraft853, s: StateView, value: Value) -> Condition:
    """A value that clients were told is written is in the log of a server that takes itself for a voter.

    TLA+: AckedValueNotLost.
    """
    places = [
        And(s.server[i].role == Role.VOTER, s.server[i].log[place].value == value)
        for i in model.all(Voter)
        for place in range(model.capacity)
    ]
    return Implies(s.written[value] == Written.ACKNOWLEDGED, Or(*places))


@invariant(Kraft853)
def states_match_roles(model: Kraft853, s: StateView, server: Voter) -> Condition:
    """An observer leads, follows, has voted or is Unattached, and who is Unattached knows no leader.

    TLA+: StatesMatchRoles.
    """
    me = s.server[server]
    may = one_of(me.state, MemberState.LEADER, MemberState.FOLLOWER, MemberState.UNATTACHED, MemberState.VOTED)
    return And(Implies(me.role == Role.OBSERVER, may), Implies(me.state == MemberState.UNATTACHED, me.leader.is_none()))
