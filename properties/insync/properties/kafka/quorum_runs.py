"""What the quorum should achieve in the end, once no more servers stand for election: elections are bounded."""

from __future__ import annotations

from insync.kafka.quorum.kraft import Kraft
from insync.kafka.quorum.replicated_log import is_later, last_epoch
from insync.kafka.quorum.sorts import Value, Voter, VoterState, Written
from insync.kafka.quorum.state import KraftState
from insync.model import And, Condition, Not, Or
from insync.properties import leads_to, sometimes

__all__ = ["a_leader_is_elected_again", "everything_is_acknowledged", "written_values_are_acknowledged"]

_DELIVERY = ("handle_vote_request(i, candidate, epoch)", "handle_vote(i, voter)", "become_leader(i)")
"""Voters respond to requests for votes, votes arrive, and a candidate with enough of them leads."""

_REPLICATION = (
    "handle_begin_quorum(i, leader, epoch)",
    "send_fetch_request(i, leader)",
    "handle_fetch(i, follower, epoch, fetch_offset, last_fetched_epoch)",
    "handle_records(i)",
    "handle_diverging(i)",
    "handle_fetch_error(i)",
)
"""Servers learn of a leader and fetch, the leader responds, and responses arrive."""


@leads_to(Kraft, weak=_DELIVERY)
def a_leader_is_elected_again(model: Kraft, s: KraftState, candidate: Voter) -> tuple[Condition, Condition]:
    """A candidate of the newest epoch for whom a majority votes or still can leads it in the end.

    More cannot hold where elections are bounded: the last one may be split, or in vain because an old leader has a
    longer log. Restarts are used up, because a candidate that restarts has lost the votes that it got. With pre-votes
    its time may be over first: then it requests them again, and may have no election left.
    """
    me = s.server[candidate]

    def supports(other: Voter) -> Condition:
        you = s.server[other]
        behind = Not(is_later(last_epoch(you), you.end, last_epoch(me), me.end))
        voted = And(you.epoch == me.epoch, you.voted_for == candidate)
        can = And(model.voter_set.runs(you), you.epoch < me.epoch, behind)
        return Or(other == candidate, voted, can)

    supported = And(_is_newest(model, s, candidate), model.voter_set.majority_has(me, supports))
    stands = And(_is_settled(model, s), me.state == VoterState.CANDIDATE, supported)
    requests_again = [me.state == VoterState.PROSPECTIVE] * model.features.pre_votes
    return stands, Or(me.state == VoterState.LEADER, Not(supported), *requests_again)


@leads_to(Kraft, weak=_REPLICATION)
def written_values_are_acknowledged(
    model: Kraft, s: KraftState, leader: Voter, value: Value
) -> tuple[Condition, Condition]:
    """A value that the leader of the newest epoch has written in it is acknowledged in the end, while it leads.

    TLA+: ValuesNotStuck, which demands a value in all logs or in none. One of an earlier epoch waits for a record of
    the leader's own, which nobody need write. With pre-votes a follower may give up its fetch for ever, because
    requesting them needs no election. So the value is due only while nobody requests them.
    """
    me = s.server[leader]
    written = Or(*(And(entry.epoch == me.epoch, entry.value == value) for entry in me.log))
    leads, newest = me.state == VoterState.LEADER, _is_newest(model, s, leader)
    waits = And(_is_settled(model, s), leads, newest, written, s.written[value] == Written.ASKED)
    return waits, Or(s.written[value] == Written.ACKNOWLEDGED, Not(leads), *_requesting(model, s))


@sometimes(Kraft)
def everything_is_acknowledged(model: Kraft, s: KraftState) -> Condition:
    """Every value has been acknowledged to its client."""
    return And(*(written == Written.ACKNOWLEDGED for written in (s.written[value] for value in model.all(Value))))


def _requesting(model: Kraft, s: KraftState) -> list[Condition]:
    """For each server, whether it requests pre-votes."""
    servers = [s.server[i] for i in model.all(Voter)] if model.features.pre_votes else []
    return [me.state == VoterState.PROSPECTIVE for me in servers]


def _is_newest(model: Kraft, s: KraftState, voter: Voter) -> Condition:
    """Whether no server is in a later epoch than a voter."""
    return And(*(s.server[i].epoch <= s.server[voter].epoch for i in model.all(Voter)))


def _is_settled(model: Kraft, s: KraftState) -> Condition:
    """Whether no more elections begin, no server restarts, and none loses its disk."""
    lost = s.lost_disks == model.b.lost_disks if model.b.lost_disks else True
    return And(s.elections == model.b.elections, s.restarts == model.b.restarts, lost)
