"""What the quorum promises where voters come and go, as the module kraft_kip_853 says it."""

from __future__ import annotations

from insync.kafka.quorum.kraft_853 import Kraft853
from insync.kafka.quorum.members import MemberState, Role
from insync.kafka.quorum.voter import Value, Voter, Written
from insync.model import And, Condition, Implies, Or, StateView, one_of
from insync.properties import invariant

__all__ = ["acknowledged_values_stay_with_a_voter", "states_match_roles"]


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

    Kafka's may have resigned as well. TLA+: StatesMatchRoles.
    """
    me = s.server[server]
    states = (MemberState.LEADER, MemberState.FOLLOWER, MemberState.UNATTACHED, MemberState.VOTED)
    may = one_of(me.state, *states, *[MemberState.RESIGNED] * model.resigns_as_observer)
    return And(Implies(me.role == Role.OBSERVER, may), Implies(me.state == MemberState.UNATTACHED, me.leader.is_none()))
