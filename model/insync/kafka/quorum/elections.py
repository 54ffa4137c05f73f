"""Elections of the quorum: how servers stand, vote, lead, announce that they lead, and resign."""

from __future__ import annotations

from insync.kafka.quorum.part import Part, step
from insync.kafka.quorum.quorum_state import Transition, either, is_known, resigned, unattached, unchanged
from insync.kafka.quorum.replicated_log import is_later, last_epoch
from insync.kafka.quorum.sorts import CandidateEpoch, LedEpoch, Voter, VoterState
from insync.kafka.quorum.state import KraftState, VoteAnswer
from insync.model import NONE, And, Condition, If, Not, Num, Or, one_of, require, set_of, when

__all__ = ["Elections"]

CANDIDATE, FOLLOWER, LEADER = VoterState.CANDIDATE, VoterState.FOLLOWER, VoterState.LEADER
PROSPECTIVE, RESIGNED = VoterState.PROSPECTIVE, VoterState.RESIGNED
UNATTACHED, VOTED = VoterState.UNATTACHED, VoterState.VOTED


class Elections(Part):
    """The steps of an election, from standing to leading, and those that end a leadership."""

    # ------------------------------------------------------------------------------------------------------- standing

    @step("{i} stands for election", on=lambda f: not f.asks_first)
    def request_vote(self, s: KraftState, i: Voter) -> None:
        """A voter that hears of no leader begins an epoch, votes for itself and asks the others.

        Kafka: KafkaRaftClient.transitionToCandidate.
        """
        me = s.server[i]
        require(s.elections < self.b.elections, self.quorum.voter_set.contains(me, i))
        require(one_of(me.state, FOLLOWER, CANDIDATE, UNATTACHED, VOTED, RESIGNED))
        self.stand(s, i)
        self.quorum.settle(s, i)

    def stand(self, s: KraftState, i: Voter) -> None:
        """Begin an epoch, vote for oneself and ask the others."""
        me = s.server[i]
        s.elections += 1
        self.quorum.quorum_state.become(me, Transition(CANDIDATE, me.epoch + 1, NONE, i))
        me.votes = {i}
        self.quorum.request_manager.ask_for_votes(s, i)

    @step("{i} has resigned long enough", on=lambda f: f.asks_first or f.changes_voters)
    def resigned_timeout(self, s: KraftState, i: Voter) -> None:
        """A resigned leader goes on to the next epoch; before pre-votes, voters stand instead. Kafka: pollResigned."""
        me = s.server[i]
        require(s.elections < self.b.elections, me.state == RESIGNED)
        if not self.features.asks_first:
            require(Not(self.quorum.voter_set.contains(me, i)))
        s.elections += 1
        self.quorum.quorum_state.become(me, unattached(me.epoch + 1))
        self.quorum.settle(s, i)

    # --------------------------------------------------------------------------------------------------------- voting

    @step("{i} answers the vote request of {candidate}@{epoch}")
    def handle_vote_request(self, s: KraftState, i: Voter, candidate: Voter, epoch: CandidateEpoch) -> None:
        """A server, also an observer, votes or refuses to. Kafka: KafkaRaftClient.handleVoteRequest.

        A request is invalid if its sender has records of the epoch in which it stands. A server in a later epoch, or
        one that knows the leader, answers with that in place of the error.
        """
        you, request = s.server[candidate], s.vote_requests[candidate][i][epoch]
        require(i != candidate, request.is_some())
        end, end_epoch = request.value.offset, request.value.last_epoch
        waits = And(you.state == CANDIDATE, you.epoch == epoch)
        s.vote_requests[candidate][i][epoch] = NONE
        if self.features.votes_may_be_invalid:
            valid = end_epoch < epoch
            with when(Not(valid)):
                self.call_invalid(s, i, candidate, epoch, waits)
            with when(valid):
                self.vote(s, i, candidate, epoch, end, end_epoch, waits)
        else:
            self.vote(s, i, candidate, epoch, end, end_epoch, waits)
        self.quorum.settle(s, i)

    def call_invalid(self, s: KraftState, i: Voter, candidate: Voter, epoch: int, waits: Condition) -> None:
        """Answer a vote request whose sender has records of its own epoch. Kafka: RaftUtil, INVALID_REQUEST."""
        me, answer = s.server[i], self.quorum.request_manager.answer
        later, knows = me.epoch > epoch, And(me.epoch == epoch, me.leader.is_some())
        wrong = If(me.epoch < epoch, VoteAnswer.TOO_EARLY, VoteAnswer.INVALID)
        tells = Or(later, knows)
        answer(s, i, candidate, And(waits, tells), VoteAnswer.REFUSED, me.epoch, me.leader)
        answer(s, i, candidate, And(waits, Not(tells)), wrong, epoch, NONE)

    def vote(
        self,
        s: KraftState,
        i: Voter,
        candidate: Voter,
        epoch: Num | int,
        end: Num | int,
        end_epoch: Num | int,
        waits: Condition,
    ) -> None:
        """Vote once in an epoch, unless the leader is known or the candidate's log ends before the voter's own.

        A request of an earlier epoch is refused first. A prospective voter may vote too, and then begins to ask anew.
        Kafka: KafkaRaftClient.handleVoteRequest, QuorumState.canGrantVote.
        """
        me = s.server[i]
        fenced = epoch < me.epoch
        now = either(epoch > me.epoch, unattached(epoch), unchanged(me))
        states = (UNATTACHED, VOTED, PROSPECTIVE) if self.features.asks_first else (UNATTACHED, VOTED)
        free = And(Not(is_known(now.leader)), Not(is_later(last_epoch(me), me.end, end_epoch, end)))
        voted = is_known(now.voted_for)
        granted = And(Not(fenced), one_of(now.state, *states), If(voted, now.voted_for == candidate, free))
        first = And(granted, Not(voted))
        told = If(fenced, me.epoch, epoch)
        tells = Or(granted, told > epoch, is_known(now.leader))
        answer = If(granted, VoteAnswer.GRANTED, VoteAnswer.REFUSED)
        self.quorum.request_manager.answer(s, i, candidate, And(waits, tells), answer, told, now.leader)
        votes = self.quorum.quorum_state.voted(now, epoch, candidate)
        self.quorum.quorum_state.become(me, either(first, votes, now))
        if self.features.asks_first:
            with when(And(first, now.state == PROSPECTIVE)):
                self.quorum.pre_votes.ask(s, i)

    @step("{i} gets the vote of {voter}")
    def handle_vote(self, s: KraftState, i: Voter, voter: Voter) -> None:
        """A candidate hears that a server has voted for it. Kafka: KafkaRaftClient.handleVoteResponse."""
        me = s.server[i]
        answer = self.quorum.request_manager.vote_answer(s, i, voter, CANDIDATE, VoteAnswer.GRANTED)
        there, handled = self.quorum.quorum_state.heard(me, i, answer.leader, answer.epoch, False)
        s.vote_answers[i][voter] = NONE
        self.quorum.quorum_state.become(me, there)
        with when(Not(handled)):
            me.votes = me.votes | {voter}
        self.quorum.settle(s, i)

    @step("{i} hears from {voter} that it does not vote for it")
    def handle_refusal(self, s: KraftState, i: Voter, voter: Voter) -> None:
        """A candidate hears that another server leads, or of a later epoch. Kafka: handleVoteResponse."""
        me = s.server[i]
        answer = self.quorum.request_manager.vote_answer(s, i, voter, CANDIDATE, VoteAnswer.REFUSED)
        epoch: Num = answer.epoch
        there, _ = self.quorum.quorum_state.heard(me, i, answer.leader, epoch, epoch > me.epoch)
        s.vote_answers[i][voter] = NONE
        self.quorum.quorum_state.become(me, there)
        self.quorum.settle(s, i)

    @step("{i} hears from {voter} that its vote request is invalid", on=lambda f: f.votes_may_be_invalid)
    def handle_invalid(self, s: KraftState, i: Voter, voter: Voter) -> None:
        """A candidate that has records of its own epoch is told so, and throws.

        Kafka: KafkaRaftClient.maybeHandleCommonResponse.
        """
        me = s.server[i]
        self.quorum.request_manager.vote_answer(s, i, voter, CANDIDATE, VoteAnswer.INVALID)
        self.quorum.quorum_state.throw(me)
        self.quorum.settle(s, i)

    @step(
        "{i} asks {voter} again, which is in an earlier epoch and called its vote request invalid",
        on=lambda f: f.votes_may_be_invalid,
    )
    def handle_too_early(self, s: KraftState, i: Voter, voter: Voter) -> None:
        """A candidate ignores an error of an earlier epoch, and asks again. Kafka: maybeSendVoteRequests."""
        self.quorum.request_manager.vote_answer(s, i, voter, CANDIDATE, VoteAnswer.TOO_EARLY)
        s.vote_answers[i][voter] = NONE
        self.quorum.request_manager.ask_for_vote(s, i, voter)

    # -------------------------------------------------------------------------------------------------------- leading

    @step("{i} leads")
    def become_leader(self, s: KraftState, i: Voter) -> None:
        """A candidate with the votes of a majority leads, writes a record of it first, and says so.

        It knows no high watermark before a record of its own epoch is committed.
        Kafka: KafkaRaftClient.maybeTransitionToLeader, appendLeaderChangeMessage.
        """
        me = s.server[i]
        require(me.state == CANDIDATE, self.quorum.voter_set.is_majority(me, me.votes))
        self.quorum.quorum_state.become(me, Transition(LEADER, me.epoch, i, NONE))
        self.quorum.replicated_log.append(me)
        me.high_watermark = 0
        self.quorum.request_manager.announce(s, i)
        self.quorum.fetching.commit(s, i)
        self.quorum.settle(s, i)

    @step("{i} hears that {leader} leads epoch {epoch}")
    def handle_begin_quorum(self, s: KraftState, i: Voter, leader: Voter, epoch: CandidateEpoch) -> None:
        """A server, also an observer, hears of a leader, and its answer arrives at once.

        The answer is no message of its own, as the request may be late as well. Kafka's leader throws where the server
        is no voter any more; here that is an entry of the catalogue (Q-7).
        Kafka: KafkaRaftClient.handleBeginQuorumEpochRequest, LeaderState.addAcknowledgementFrom.
        """
        require(i != leader, s.begins[leader][i][epoch])
        s.begins[leader][i][epoch] = False
        if not self.rules.guards.acknowledgement_needs_voter:
            other = s.server[leader]
            leads = And(other.state == LEADER, other.epoch == epoch)
            with when(And(leads, Not(self.quorum.voter_set.contains(other, i)))):
                self.quorum.quorum_state.throw(other)
        self.hear_of_leader(s, i, leader, epoch)

    def hear_of_leader(self, s: KraftState, i: Voter, leader: Voter, epoch: int) -> None:
        """Learn who leads an epoch that is not over; a server that follows already goes on waiting for its fetch."""
        me = s.server[i]
        there = self.quorum.quorum_state.maybe_transition(me, i, leader, epoch)
        with when(there.state != me.state):
            me.fetches_from = NONE
        self.quorum.quorum_state.become(me, there)
        self.quorum.settle(s, i)

    # ------------------------------------------------------------------------------------------------------ resigning

    @step("{i} resigns", on=lambda f: f.resigns)
    def resign(self, s: KraftState, i: Voter) -> None:
        """A leader leads no longer, at any time: no majority fetches in time, its controller resigns, or it shuts down.

        It keeps its epoch and its log, and tells the others. Check-quorum never ends the only voter's leadership
        (LeaderState.timeUntilCheckQuorumExpires); its controller may resign all the same, as here.
        Kafka: KafkaRaftClient.resign, KafkaRaftClient.pollLeader, QuorumState.transitionToResigned.
        """
        require(s.resignations < self.b.resignations, s.server[i].state == LEADER)
        s.resignations += 1
        self.lead_no_longer(s, i)
        self.quorum.settle(s, i)

    def lead_no_longer(self, s: KraftState, i: Voter) -> None:
        """Resign: remember having led the epoch, and forget how far the others have the log.

        A leader waits for no votes and no fetch, and stays in its epoch. So nothing else of it is left to forget.
        """
        me = s.server[i]
        me.high_watermark, me.fetched = 0, dict.fromkeys(self.all(Voter), 0)
        knows = self.rules.guards.resigned_knows_that_it_led
        self.quorum.quorum_state.become(me, resigned(me, i) if knows else unattached(me.epoch))
        self.quorum.request_manager.tell_the_end(s, i)
        if self.features.notes_askers:
            self.quorum.pre_votes.watch_askers(s)

    @step("{i} hears that {leader} has resigned, which led epoch {epoch}", on=lambda f: f.resigns)
    def handle_end_quorum(self, s: KraftState, i: Voter, leader: Voter, epoch: LedEpoch) -> None:
        """A server hears who has led an epoch. Kafka: KafkaRaftClient.handleEndQuorumEpochRequest.

        A server that knew no leader of the epoch follows the one that has resigned. A follower need not wait any longer
        to stand for election; in the model it never waits, as a timeout may come at any time.
        """
        require(i != leader, s.ends[leader][i][epoch])
        s.ends[leader][i][epoch] = False
        self.hear_of_leader(s, i, leader, epoch)

    def settle(self, s: KraftState, i: Voter) -> None:
        """Forget what a server needs no more, as it does not ask, or does not lead."""
        me = s.server[i]
        with when(Not(self.quorum.quorum_state.asks_for_votes(me))):
            me.votes = set_of([])
        with when(me.state != LEADER):
            me.fetched = dict.fromkeys(self.all(Voter), 0)
        if not self.rules.release.vote_survives_following:
            with when(Not(one_of(me.state, CANDIDATE, VOTED))):
                me.voted_for = NONE
