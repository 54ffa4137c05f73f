"""What the quorum promises of its voters, where they stay and where they come and go, and what pre-votes are for."""

from __future__ import annotations

from insync.kafka.quorum.kraft import Kraft
from insync.kafka.quorum.sorts import Value, Voter, VoterState, Written
from insync.kafka.quorum.state import KraftState
from insync.model import And, Condition, Implies, Not, Or, one_of
from insync.properties import Failure, invariant, said

__all__ = [
    "acknowledged_values_stay_with_a_voter",
    "removed_voters_stay_away",
    "states_match_roles",
    "working_leaders_are_left_alone",
]


@invariant(Kraft)
def acknowledged_values_stay_with_a_voter(model: Kraft, s: KraftState, value: Value) -> Condition:
    """An acknowledged value is in the log of a server that is a voter by it.

    TLA+: AckedValueNotLost, Durability.
    """
    places = [
        And(model.voter_set.contains(s.server[i], i), s.server[i].log[place].value == value)
        for i in model.all(Voter)
        for place in range(model.capacity)
    ]
    return Implies(s.written[value] == Written.ACKNOWLEDGED, Or(*places))


@invariant(Kraft)
def states_match_roles(model: Kraft, s: KraftState, server: Voter) -> Condition:
    """A server that is Unattached has no leader, and an observer requests neither votes nor pre-votes.

    TLA+: StatesMatchRoles, ValidRolesAndStates.
    """
    me = s.server[server]
    has_none = Implies(me.state == VoterState.UNATTACHED, me.leader.is_none())
    requests = one_of(me.state, VoterState.CANDIDATE, VoterState.PROSPECTIVE)
    return And(has_none, Or(Not(requests), model.voter_set.contains(me, server)))


@invariant(Kraft)
def removed_voters_stay_away(model: Kraft, s: KraftState, server: Voter, voter: Voter) -> Condition:
    """No log says of a server that it was removed from the voters and then added again.

    An operator may want that. A controller that joins by itself does it without an operator (KAFKA-19850).
    """
    removed: Condition = False
    returns: list[Condition] = []
    for entry in s.server[server].log if model.features.changes_voters else ():
        returns.append(And(entry.added == voter, removed))
        removed = Or(removed, entry.removed == voter)
    return Not(Or(*returns))


def _stands(failure: Failure) -> str:
    return said(
        "{candidate} stands for election, and a leader has worked ever since it requested pre-votes.",
        **failure.bindings,
    )


@invariant(Kraft, because=_stands)
def working_leaders_are_left_alone(model: Kraft, s: KraftState, candidate: Voter) -> Condition:
    """No server stands that requested pre-votes while a majority fetched from a leader, and has since.

    What KIP-996 is for. No responses to earlier requests may be on their way: a pre-vote that was given while nobody
    led counts also when it comes late. Needs `askers`, without which nothing is noted, and a release with pre-votes.
    """
    me = s.server[candidate]
    return Not(And(me.state == VoterState.CANDIDATE, me.asks_beside))
