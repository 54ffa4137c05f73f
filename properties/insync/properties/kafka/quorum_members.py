"""What the quorum promises where voters come and go, as the module kraft_kip_853 says it."""

from __future__ import annotations

from insync.kafka.published.quorum.voter import Value, Voter, Written
from insync.kafka.published.quorum.voter_log import is_later, last_epoch
from insync.kafka.quorum.kraft_853 import Kraft853
from insync.kafka.quorum.members import MemberState, Role
from insync.model import And, Condition, Implies, Not, Or, StateView, count, one_of
from insync.properties import invariant, leads_to

__all__ = [
    "a_leader_is_elected_again",
    "acknowledged_values_stay_with_a_voter",
    "removed_voters_stay_away",
    "states_match_roles",
]

_DELIVERY = ("handle_vote_request(i, candidate, epoch)", "handle_vote(i, voter, epoch)", "become_leader(i)")


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


@invariant(Kraft853)
def removed_voters_stay_away(model: Kraft853, s: StateView, server: Voter, voter: Voter) -> Condition:
    """No log says of a server that it was removed from the voters and then added again.

    An operator may want that. A controller that joins by itself does it unasked (KAFKA-19850).
    """
    log = s.server[server].log
    removed: Condition = False
    returns: list[Condition] = []
    for entry in log:
        returns.append(And(entry.added == voter, removed))
        removed = Or(removed, entry.removed == voter)
    return Not(Or(*returns))


@leads_to(Kraft853, weak=_DELIVERY)
def a_leader_is_elected_again(model: Kraft853, s: StateView, candidate: Voter) -> tuple[Condition, Condition]:
    """A candidate of the last epoch leads it in the end, if a majority of the voters it knows votes or still can.

    Restarts and crashes are used up. With pre-votes its time may be over first: then it asks again, and in vain, as
    there is no later epoch.
    """
    me = s.server[candidate]

    def supports(other: Voter) -> Condition:
        you = s.server[other]
        behind = Not(is_later(last_epoch(you), you.end, last_epoch(me), me.end))
        voted = And(you.epoch == me.epoch, you.voted_for == candidate)
        can = And(you.state != MemberState.DEAD, you.epoch < me.epoch, behind)
        return And(me.members.contains(other), Or(other == candidate, voted, can))

    supported = 2 * count(model.all(Voter), supports) > me.members.count()
    over = And(s.restarts == model.b.restarts, s.crashes == model.b.crashes)
    stands = And(over, me.epoch == model.b.epochs, me.state == MemberState.CANDIDATE, supported)
    asks_again = [me.state == MemberState.PROSPECTIVE] * bool(model.pre_votes)
    return stands, Or(me.state == MemberState.LEADER, Not(supported), *asks_again)
