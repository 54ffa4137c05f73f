"""Pre-votes (KIP-996), since 4.0: a voter without a leader asks first whether it would be elected.

It is Prospective meanwhile, stays in its epoch, and keeps its leader and its vote. With a majority it stands at once,
and without one it gives up at once. So a server that was cut off deposes no leader when it is back.
"""

from __future__ import annotations

from insync.kafka.quorum.part import Part, step
from insync.kafka.quorum.quorum_state import either, unattached, unchanged
from insync.kafka.quorum.replicated_log import is_later, last_epoch
from insync.kafka.quorum.sorts import Voter, VoterState
from insync.kafka.quorum.state import KraftState, ServerState, VoteAnswer
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

    @step("{i} asks whether it would be elected", on=lambda f: f.asks_first)
    def ask_for_pre_votes(self, s: KraftState, i: Voter) -> None:
        """A voter that hears of no leader asks the others, and knows its leader still; the only one stands.

        Kafka: KafkaRaftClient.transitionToProspective.
        """
        me = s.server[i]
        alone = self.quorum.voter_set.size(me) == 1
        require(one_of(me.state, UNATTACHED, VOTED, FOLLOWER, CANDIDATE), self.quorum.voter_set.contains(me, i))
        require(Or(Not(alone), s.elections < self.b.elections))
        me.state, me.fetches_from = PROSPECTIVE, NONE
        self.quorum.request_manager.drop_vote_answers(s, i)  # to its requests as a candidate
        self.ask(s, i)
        with when(alone):
            self.quorum.elections.stand(s, i)
        self.quorum.settle(s, i)

    @step("{i} waits for no pre-votes any more", on=lambda f: f.asks_first)
    def pre_vote_timeout(self, s: KraftState, i: Voter) -> None:
        """Too few have answered in time. Kafka: KafkaRaftClient.pollProspective."""
        require(s.server[i].state == PROSPECTIVE)
        self.give_up(s.server[i])
        self.quorum.settle(s, i)

    # ------------------------------------------------------------------------------------------------------ pre-votes

    @step("{i} tells {candidate} whether it would vote for it", on=lambda f: f.asks_first)
    def handle_pre_vote_request(self, s: KraftState, i: Voter, candidate: Voter) -> None:
        """A server says whether it would vote, also an observer, and goes on to a later epoch.

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
        answer = If(granted, VoteAnswer.GRANTED, VoteAnswer.REFUSED)
        waits = And(you.state == PROSPECTIVE, you.epoch == epoch)
        told = If(fenced, me.epoch, epoch)
        self.quorum.request_manager.answer(s, i, candidate, waits, answer, told, now.leader)
        s.pre_vote_requests[candidate][i] = NONE
        self.quorum.quorum_state.become(me, now)
        self.quorum.settle(s, i)

    @step("{i} gets the pre-vote of {voter}", on=lambda f: f.asks_first)
    def handle_pre_vote(self, s: KraftState, i: Voter, voter: Voter) -> None:
        """A prospective voter that a majority would elect stands at once. Kafka: KafkaRaftClient.handleVoteResponse."""
        me = s.server[i]
        answer = self.quorum.request_manager.vote_answer(s, i, voter, PROSPECTIVE, VoteAnswer.GRANTED)
        votes = me.votes | {voter}
        there, handled = self.quorum.quorum_state.heard(me, i, answer.leader, answer.epoch, False)
        stands = And(Not(handled), self.quorum.voter_set.is_majority(me, votes))
        require(Or(Not(stands), s.elections < self.b.elections))
        s.vote_answers[i][voter] = NONE
        self.quorum.quorum_state.become(me, there)
        me.votes = votes
        with when(stands):
            self.quorum.elections.stand(s, i)
        self.quorum.settle(s, i)

    @step("{i} hears that {voter} would not vote for it", on=lambda f: f.asks_first)
    def handle_pre_refusal(self, s: KraftState, i: Voter, voter: Voter) -> None:
        """A prospective voter that cannot be elected gives up at once.

        Kafka: KafkaRaftClient.maybeHandleElectionLoss.
        """
        me = s.server[i]
        answer = self.quorum.request_manager.vote_answer(s, i, voter, PROSPECTIVE, VoteAnswer.REFUSED)
        epoch: Num = answer.epoch
        refused, voters = me.refused | {voter}, self.quorum.voter_set.size(me)
        there, handled = self.quorum.quorum_state.heard(me, i, answer.leader, epoch, epoch > me.epoch)
        lost = And(Not(handled), 2 * (voters - refused.count()) <= voters)
        s.vote_answers[i][voter] = NONE
        self.quorum.quorum_state.become(me, there)
        me.refused = refused
        with when(lost):
            self.give_up(me)
        self.quorum.settle(s, i)

    # ---------------------------------------------------------------------------------------------------------- rules

    def grants(self, state: EnumValue | VoterState, has_fetched: Condition, behind: Condition) -> Condition:
        """Return whether a server would vote: if it follows nobody, or nobody from whom it could fetch yet.

        Kafka: EpochState.canGrantVote.
        """
        free = one_of(state, UNATTACHED, VOTED, PROSPECTIVE, CANDIDATE, RESIGNED)
        return And(Or(free, And(state == FOLLOWER, Not(has_fetched))), Not(behind))

    def ask(self, s: KraftState, i: Voter) -> None:
        """Begin to ask the other voters, but those whose answers one awaits already."""
        me = s.server[i]
        if self.features.notes_askers:
            me.asks_beside = Or(me.asks_beside, And(self.asks_nobody(s, i), self.a_leader_works(s)))
        me.votes, me.refused = {i}, set_of([])
        self.quorum.request_manager.ask_for_pre_votes(s, i)

    def give_up(self, me: ServerState) -> None:
        """Follow the known leader again, or have none. Kafka: prospectiveTransitionAfterElectionLoss."""
        me.state = If(me.leader.is_some(), FOLLOWER, If(me.voted_for.is_some(), VOTED, UNATTACHED))

    def settle(self, s: KraftState, i: Voter) -> None:
        """Forget what a server needs no more, as it does not ask, or does not follow."""
        me = s.server[i]
        with when(me.state != PROSPECTIVE):
            me.refused = set_of([])
        with when(me.state != FOLLOWER):
            me.has_fetched = False
        if self.features.notes_askers:
            self.watch_askers(s)

    # ----------------------------------------------------------------------------------------- what pre-votes are for

    def asks_nobody(self, s: KraftState, i: Voter) -> Condition:
        """Return whether neither a pre-vote request of a server nor an answer to one is on its way."""
        ways = [
            Or(Not(other), And(s.pre_vote_requests[i][j].is_none(), s.vote_answers[i][j].is_none()))
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
        """Clear the note that a leader has worked since a server began to ask, if none works, or it asks no more."""
        works = self.a_leader_works(s)
        for j in self.all(Voter):
            me = s.server[j]
            me.asks_beside = And(me.asks_beside, works, one_of(me.state, PROSPECTIVE, CANDIDATE))
