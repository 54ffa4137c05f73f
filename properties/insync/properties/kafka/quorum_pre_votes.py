"""What the quorum promises since KIP-996, as the module kraft_kip_996 says it, and what pre-votes are for."""

from __future__ import annotations

from insync.kafka.quorum.kraft_996 import Kraft996
from insync.kafka.quorum.pre_voter import PreVoterState
from insync.kafka.quorum.voter import Value, Voter, Written
from insync.kafka.quorum.voter_log import is_later, last_epoch
from insync.model import And, Condition, Implies, Not, Or, StateView, count, one_of
from insync.properties import Failure, invariant, leads_to, said

__all__ = [
    "a_leader_is_elected_again",
    "acknowledged_values_last",
    "states_are_consistent",
    "working_leader_is_not_deposed",
]

_DELIVERY = ("handle_vote_request(i, candidate, epoch)", "handle_vote(i, voter, epoch)", "become_leader(i)")


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
    return said(
        "{candidate} stands for election, though a majority fetches from {leader}, which leads.", **failure.bindings
    )


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


@leads_to(Kraft996, weak=_DELIVERY)
def a_leader_is_elected_again(model: Kraft996, s: StateView, candidate: Voter) -> tuple[Condition, Condition]:
    """A candidate of the last epoch for whom a majority votes or still can leads it in the end.

    Restarts and disruptions are used up, as in each of them a candidate may begin anew. Who resigns from the last epoch
    goes on to one that nobody can lead, and takes its vote along.
    """
    me = s.server[candidate]

    def supports(other: Voter) -> Condition:
        you = s.server[other]
        behind = Not(is_later(last_epoch(you), you.end, last_epoch(me), me.end))
        voted = And(you.epoch == me.epoch, you.voted_for == candidate)
        return Or(voted, And(you.epoch < me.epoch, behind))

    supported = 2 * (1 + count(model.all(Voter), lambda j: And(j != candidate, supports(j)))) > model.b.servers
    over = And(s.disruptions == model.b.disruptions, s.restarts == model.b.restarts)
    stands = And(over, me.epoch == model.b.epochs, me.state == PreVoterState.CANDIDATE, supported)
    return stands, Or(me.state == PreVoterState.LEADER, Not(supported))
