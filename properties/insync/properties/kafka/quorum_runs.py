"""What the quorum should achieve in the end, once no more servers stand for election: elections are bounded."""

from __future__ import annotations

from insync.kafka.quorum.kraft import Kraft
from insync.kafka.quorum.voter import Value, Voter, VoterState, Written
from insync.kafka.quorum.voter_log import is_later, last_epoch
from insync.model import And, Condition, Not, Or, StateView, count
from insync.properties import leads_to, sometimes

__all__ = ["a_leader_is_elected_again", "everything_is_acknowledged"]

_DELIVERY = ("handle_vote_request(i, candidate, epoch)", "handle_vote(i, voter)", "become_leader(i)")
"""Requests for votes are answered, votes arrive, and who has enough of them leads."""


@leads_to(Kraft, weak=_DELIVERY)
def a_leader_is_elected_again(model: Kraft, s: StateView, candidate: Voter) -> tuple[Condition, Condition]:
    """A candidate of the newest epoch for whom a majority votes or still can leads it in the end.

    That is what can be asked where elections are bounded: the last one may be split, or in vain because an old leader
    has a longer log. Restarts are used up, because a candidate that restarts has lost the votes that it got.
    """
    me = s.server[candidate]

    def supports(other: Voter) -> Condition:
        you = s.server[other]
        behind = Not(is_later(last_epoch(you), you.end, last_epoch(me), me.end))
        voted = And(you.epoch == me.epoch, you.voted_for == candidate)
        return Or(voted, And(you.epoch < me.epoch, behind))

    supported = 2 * (1 + count(model.all(Voter), lambda j: And(j != candidate, supports(j)))) > model.b.servers
    settled = And(s.elections == model.b.elections, s.restarts == model.b.restarts)
    stands = And(settled, me.state == VoterState.CANDIDATE, supported)
    return stands, Or(me.state == VoterState.LEADER, Not(supported))


@sometimes(Kraft)
def everything_is_acknowledged(model: Kraft, s: StateView) -> Condition:
    """Every value has been acknowledged to its client."""
    return And(*(written == Written.ACKNOWLEDGED for written in (s.written[value] for value in model.all(Value))))
