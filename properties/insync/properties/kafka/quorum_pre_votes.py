"""What the quorum promises since KIP-996, as the module kraft_kip_996 says it, and what pre-votes are for."""

from __future__ import annotations

from insync.kafka.quorum.kraft_996 import Kraft996
from insync.kafka.quorum.pre_voter import PreVoterState
from insync.kafka.quorum.voter import Value, Voter, Written
from insync.model import And, Condition, Implies, Not, Or, StateView, count, one_of
from insync.properties import Failure, invariant

__all__ = ["acknowledged_values_last", "states_are_consistent", "working_leader_is_not_deposed"]


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


def _deposed(failure: Failure) -> str:
    candidate, leader = failure.bindings["candidate"], failure.bindings["leader"]
    return f"{candidate} stands for election, though a majority fetches from {leader}, which leads."


@invariant(Kraft996, because=_deposed)
def working_leader_is_not_deposed(model: Kraft996, s: StateView, candidate: Voter, leader: Voter) -> Condition:
    """Nobody stands for election against a leader from which a majority fetches, the leader included.

    One disruption must not suffice for that: a server that was cut off and is back. What pre-votes are for (KIP-996).
    """
    me, you = s.server[candidate], s.server[leader]

    def fetches(i: Voter) -> Condition:
        other = s.server[i]
        follows = And(other.state == PreVoterState.FOLLOWER, other.leader == leader, other.epoch == you.epoch)
        return Or(i == leader, And(follows, other.has_fetched))

    works = And(model.leads(you), 2 * count(model.all(Voter), fetches) > model.b.servers)
    return Not(And(works, me.state == PreVoterState.CANDIDATE, me.epoch > you.epoch))
