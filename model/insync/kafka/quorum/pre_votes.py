"""Pre-votes (KIP-996), since 4.0: a voter without a leader requests pre-votes before it stands for election.

It is Prospective meanwhile, stays in its epoch, and keeps its leader and its vote. With a majority it stands at once,
and without one it gives up at once. So a server that was cut off deposes no leader when it is back.
"""

from __future__ import annotations

from insync.kafka.quorum.part import Part, step
from insync.kafka.quorum.quorum_state import either, unattached, unchanged
from insync.kafka.quorum.replicated_log import is_later, last_epoch
from insync.kafka.quorum.sorts import Voter, VoterState
from insync.kafka.quorum.state import KraftState, ServerState, VoteResult
from insync.model import (
    NONE,
    And,
    Condition,
    EnumValue,
    If,
    Not,
    Num,
    Or,
    count,
    one_of,
    require,
    set_of,
    when,
)

__all__ = ["PreVotes"]

CANDIDATE, FOLLOWER, LEADER = VoterState.CANDIDATE, VoterState.FOLLOWER, VoterState.LEADER
PROSPECTIVE, RESIGNED = VoterState.PROSPECTIVE, VoterState.RESIGNED
UNATTACHED, VOTED = VoterState.UNATTACHED, VoterState.VOTED


class PreVotes(Part):
    """The steps of an election before there is a candidate."""

    # ------------------------------------------------------------------------------------------------------- timeouts

    @step("{i} requests pre-votes", on=lambda f: f.pre_votes)
    def request_pre_votes(self, s: KraftState, i: Voter) -> None:
        """A voter whose time without a leader is over requests pre-votes, and keeps its leader; the only one stands.

        Kafka: KafkaRaftClient.transitionToProspective.
        """
        me = s.server[i]
        alone = self.quorum.voter_set.size(me) == 1
        require(one_of(me.state, UNATTACHED, VOTED, FOLLOWER, CANDIDATE), self.quorum.voter_set.contains(me, i))
        require(Or(Not(alone), s.elections < self.b.elections))
        me.state, me.fetches_from = PROSPECTIVE, NONE
        self.quorum.request_manager.drop_vote_responses(s, i)  # to its requests as a candidate
        self.ask(s, i)
        with when(alone):
            self.quorum.elections.stand(s, i)
        self.quorum.settle(s, i)

    @step("{i} stops waiting for pre-votes", on=lambda f: f.pre_votes)
    def pre_vote_timeout(self, s: KraftState, i: Voter) -> None:
        """Too few have responded in time. Kafka: KafkaRaftClient.pollProspective."""
        require(s.server[i].state == PROSPECTIVE)
        self.give_up(s.server[i])
        self.quorum.settle(s, i)

    # ------------------------------------------------------------------------------------------------------ pre-votes

    @step("{i} answers the pre-vote request of {candidate}", on=lambda f: f.pre_votes)
    def handle_pre_vote_request(self, s: KraftState, i: Voter, candidate: Voter) -> None:
        """A server, also an observer, grants or refuses a pre-vote, and goes on to a later epoch.

        Kafka: KafkaRaftClient.handleVoteRequest.
        """
        me, you = s.server[i], s.server[candidate]
        request = s.pre_vote_requests[candidate][i]
        require(i != candidate, request.is_some())
        epoch: Num = request.value.epoch
        fenced = epoch < me.epoch
        now = either(epoch > me.epoch, unattached(epoch), unchanged(me))
        has_fetched = And(me.has_fetched, now.epoch == me.epoch)
        behind = is_later(last_epoch(me), me.end, request.value.last_epoch, request.value.offset)
        granted = And(Not(fenced), self.grants(now.state, has_fetched, behind))
        result = If(granted, VoteResult.GRANTED, VoteResult.REFUSED)
        waits = And(you.state == PROSPECTIVE, you.epoch == epoch)
        named = If(fenced, me.epoch, epoch)
        self.quorum.request_manager.respond(s, i, candidate, waits, result, named, now.leader)
        s.pre_vote_requests[candidate][i] = NONE
        self.quorum.quorum_state.become(me, now)
        self.quorum.settle(s, i)

    @step("{i} gets the pre-vote of {voter}", on=lambda f: f.pre_votes)
    def handle_pre_vote(self, s: KraftState, i: Voter, voter: Voter) -> None:
        """A prospective voter that a majority would elect stands at once. Kafka: KafkaRaftClient.handleVoteResponse."""
        me = s.server[i]
        response = self.quorum.request_manager.vote_response(s, i, voter, PROSPECTIVE, VoteResult.GRANTED)
        votes = me.votes | {voter}
        there, handled = self.quorum.quorum_state.handle_common_response(me, i, response.leader, response.epoch, False)
        stands = And(Not(handled), self.quorum.voter_set.is_majority(me, votes))
        require(Or(Not(stands), s.elections < self.b.elections))
        s.vote_responses[i][voter] = NONE
        self.quorum.quorum_state.become(me, there)
        me.votes = votes
        with when(stands):
            self.quorum.elections.stand(s, i)
        self.quorum.settle(s, i)

    @step("{i} is refused the pre-vote of {voter}", on=lambda f: f.pre_votes)
    def handle_pre_refusal(self, s: KraftState, i: Voter, voter: Voter) -> None:
        """A prospective voter that cannot be elected gives up at once.

        Kafka: KafkaRaftClient.maybeHandleElectionLoss.
        """
        me = s.server[i]
        response = self.quorum.request_manager.vote_response(s, i, voter, PROSPECTIVE, VoteResult.REFUSED)
        epoch: Num = response.epoch
        refused, voters = me.refused | {voter}, self.quorum.voter_set.size(me)
        there, handled = self.quorum.quorum_state.handle_common_response(
            me, i, response.leader, epoch, epoch > me.epoch
        )
        lost = And(Not(handled), 2 * (voters - refused.count()) <= voters)
        s.vote_responses[i][voter] = NONE
        self.quorum.quorum_state.become(me, there)
        me.refused = refused
        with when(lost):
            self.give_up(me)
        self.quorum.settle(s, i)

    # ---------------------------------------------------------------------------------------------------------- rules

    def grants(self, state: EnumValue | VoterState, has_fetched: Condition, behind: Condition) -> Condition:
        """Return whether a server grants a pre-vote: it follows nobody, or has not fetched from its leader yet.

        Kafka: EpochState.canGrantVote.
        """
        free = one_of(state, UNATTACHED, VOTED, PROSPECTIVE, CANDIDATE, RESIGNED)
        return And(Or(free, And(state == FOLLOWER, Not(has_fetched))), Not(behind))

    def ask(self, s: KraftState, i: Voter) -> None:
        """Request the pre-votes of all other voters whose response is not there already."""
        me = s.server[i]
        if self.features.notes_askers:
            me.asks_beside = Or(me.asks_beside, And(self.has_sent_nothing(s, i), self.a_leader_works(s)))
        me.votes, me.refused = {i}, set_of([])
        self.quorum.request_manager.send_pre_vote_requests(s, i)

    def give_up(self, me: ServerState) -> None:
        """Follow the leader again, or be Unattached without one. Kafka: prospectiveTransitionAfterElectionLoss."""
        me.state = If(me.leader.is_some(), FOLLOWER, If(me.voted_for.is_some(), VOTED, UNATTACHED))

    def settle(self, s: KraftState, i: Voter) -> None:
        """Forget what only a prospective voter has, and what only a follower has."""
        me = s.server[i]
        with when(me.state != PROSPECTIVE):
            me.refused = set_of([])
        with when(me.state != FOLLOWER):
            me.has_fetched = False
        if self.features.notes_askers:
            self.watch_askers(s)

    # ----------------------------------------------------------------------------------------- what pre-votes are for

    def has_sent_nothing(self, s: KraftState, i: Voter) -> Condition:
        """Return whether neither a pre-vote request of a server nor a response to one is on its way."""
        ways = [
            Or(Not(other), And(s.pre_vote_requests[i][j].is_none(), s.vote_responses[i][j].is_none()))
            for j, other in self.beside(i)
        ]
        return And(*ways)

    def a_leader_works(self, s: KraftState) -> Condition:
        """Return whether a majority fetches from a leader, the leader included."""

        def fetches(j: Voter, leader: Voter) -> Condition:
            me = s.server[j]
            follows = And(me.state == FOLLOWER, me.leader == leader, me.epoch == s.server[leader].epoch)
            return Or(j == leader, And(follows, me.has_fetched))

        def works(leader: Voter) -> Condition:
            served = count(self.all(Voter), lambda j: fetches(j, leader))
            return And(s.server[leader].state == LEADER, 2 * served > self.b.servers)

        return Or(*(works(leader) for leader in self.all(Voter)))

    def watch_askers(self, s: KraftState) -> None:
        """Clear the note that a leader has worked since a server requested pre-votes, where that ends."""
        works = self.a_leader_works(s)
        for j in self.all(Voter):
            me = s.server[j]
            me.asks_beside = And(me.asks_beside, works, one_of(me.state, PROSPECTIVE, CANDIDATE))
