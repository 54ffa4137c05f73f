"""Elections of the quorum: how servers stand, vote, lead, send_begin_quorum that they lead, and resign."""

from __future__ import annotations

from insync.kafka.quorum.part import Part, step
from insync.kafka.quorum.quorum_state import Transition, either, is_known, resigned, unattached, unchanged
from insync.kafka.quorum.replicated_log import is_later, last_epoch
from insync.kafka.quorum.sorts import CandidateEpoch, LedEpoch, Voter, VoterState
from insync.kafka.quorum.state import KraftState, VoteResult
from insync.model import NONE, And, Condition, If, Not, Num, Or, one_of, require, set_of, when

__all__ = ["Elections"]

CANDIDATE, FOLLOWER, LEADER = VoterState.CANDIDATE, VoterState.FOLLOWER, VoterState.LEADER
PROSPECTIVE, RESIGNED = VoterState.PROSPECTIVE, VoterState.RESIGNED
UNATTACHED, VOTED = VoterState.UNATTACHED, VoterState.VOTED


class Elections(Part):
    """The steps of an election, from standing to leading, and those that end a leadership."""

    # ------------------------------------------------------------------------------------------------------- standing

    @step("{i} stands for election", on=lambda f: not f.pre_votes)
    def request_vote(self, s: KraftState, i: Voter) -> None:
        """A voter whose time without a leader is over begins an epoch, votes for itself and requests votes.

        Kafka: KafkaRaftClient.transitionToCandidate.
        """
        me = s.server[i]
        require(s.elections < self.b.elections, self.quorum.voter_set.contains(me, i))
        require(one_of(me.state, FOLLOWER, CANDIDATE, UNATTACHED, VOTED, RESIGNED))
        self.stand(s, i)
        self.quorum.settle(s, i)

    def stand(self, s: KraftState, i: Voter) -> None:
        """Begin an epoch, vote for oneself and request the votes of the other voters."""
        me = s.server[i]
        s.elections += 1
        self.quorum.quorum_state.become(me, Transition(CANDIDATE, me.epoch + 1, NONE, i))
        me.votes = {i}
        self.quorum.request_manager.send_vote_requests(s, i)

    @step("{i} has resigned long enough", on=lambda f: f.pre_votes or f.changes_voters)
    def resigned_timeout(self, s: KraftState, i: Voter) -> None:
        """A resigned leader goes on to the next epoch; before pre-votes, voters stand instead. Kafka: pollResigned."""
        me = s.server[i]
        require(s.elections < self.b.elections, me.state == RESIGNED)
        if not self.features.pre_votes:
            require(Not(self.quorum.voter_set.contains(me, i)))
        s.elections += 1
        self.quorum.quorum_state.become(me, unattached(me.epoch + 1))
        self.quorum.settle(s, i)

    # --------------------------------------------------------------------------------------------------------- voting

    @step("{i} answers the vote request of {candidate}@{epoch}")
    def handle_vote_request(self, s: KraftState, i: Voter, candidate: Voter, epoch: CandidateEpoch) -> None:
        """A server, also an observer, votes or refuses to. Kafka: KafkaRaftClient.handleVoteRequest.

        A request is invalid if its sender has records of the epoch in which it stands. A server in a later epoch, or
        one with a leader, responds with these in place of the error.
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
        """Respond to a vote request whose sender has records of its own epoch. Kafka: INVALID_REQUEST."""
        me, respond = s.server[i], self.quorum.request_manager.respond
        wrong = If(me.epoch < epoch, VoteResult.TOO_EARLY, VoteResult.INVALID)
        has_news = Or(me.epoch > epoch, And(me.epoch == epoch, me.leader.is_some()))
        respond(s, i, candidate, And(waits, has_news), VoteResult.REFUSED, me.epoch, me.leader)
        respond(s, i, candidate, And(waits, Not(has_news)), wrong, epoch, NONE)

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
        """Vote once in an epoch, unless it has a leader or the candidate's log ends before the voter's own.

        A request of an earlier epoch is refused first. A prospective voter may vote too, and then requests anew.
        Kafka: KafkaRaftClient.handleVoteRequest, QuorumState.canGrantVote.
        """
        me = s.server[i]
        fenced = epoch < me.epoch
        now = either(epoch > me.epoch, unattached(epoch), unchanged(me))
        states = (UNATTACHED, VOTED, PROSPECTIVE) if self.features.pre_votes else (UNATTACHED, VOTED)
        free = And(Not(is_known(now.leader)), Not(is_later(last_epoch(me), me.end, end_epoch, end)))
        voted = is_known(now.voted_for)
        granted = And(Not(fenced), one_of(now.state, *states), If(voted, now.voted_for == candidate, free))
        first = And(granted, Not(voted))
        named = If(fenced, me.epoch, epoch)
        has_news = Or(granted, named > epoch, is_known(now.leader))
        result = If(granted, VoteResult.GRANTED, VoteResult.REFUSED)
        self.quorum.request_manager.respond(s, i, candidate, And(waits, has_news), result, named, now.leader)
        votes = self.quorum.quorum_state.voted(now, epoch, candidate)
        self.quorum.quorum_state.become(me, either(first, votes, now))
        if self.features.pre_votes:
            with when(And(first, now.state == PROSPECTIVE)):
                self.quorum.pre_votes.ask(s, i)

    @step("{i} gets the vote of {voter}")
    def handle_vote(self, s: KraftState, i: Voter, voter: Voter) -> None:
        """A candidate gets a vote. Kafka: KafkaRaftClient.handleVoteResponse."""
        me = s.server[i]
        response = self.quorum.request_manager.vote_response(s, i, voter, CANDIDATE, VoteResult.GRANTED)
        there, handled = self.quorum.quorum_state.handle_common_response(me, i, response.leader, response.epoch, False)
        s.vote_responses[i][voter] = NONE
        self.quorum.quorum_state.become(me, there)
        with when(Not(handled)):
            me.votes = me.votes | {voter}
        self.quorum.settle(s, i)

    @step("{i} is refused the vote of {voter}")
    def handle_refusal(self, s: KraftState, i: Voter, voter: Voter) -> None:
        """A candidate learns that another server leads, or of a later epoch. Kafka: handleVoteResponse."""
        me = s.server[i]
        response = self.quorum.request_manager.vote_response(s, i, voter, CANDIDATE, VoteResult.REFUSED)
        epoch: Num = response.epoch
        there, _ = self.quorum.quorum_state.handle_common_response(me, i, response.leader, epoch, epoch > me.epoch)
        s.vote_responses[i][voter] = NONE
        self.quorum.quorum_state.become(me, there)
        self.quorum.settle(s, i)

    @step("{i} gets INVALID_REQUEST from {voter}", on=lambda f: f.votes_may_be_invalid)
    def handle_invalid(self, s: KraftState, i: Voter, voter: Voter) -> None:
        """A candidate that has records of its own epoch gets INVALID_REQUEST, and throws.

        Kafka: KafkaRaftClient.maybeHandleCommonResponse.
        """
        me = s.server[i]
        self.quorum.request_manager.vote_response(s, i, voter, CANDIDATE, VoteResult.INVALID)
        self.quorum.quorum_state.throw(me)
        self.quorum.settle(s, i)

    @step(
        "{i} requests the vote of {voter} again, which called the request invalid in an earlier epoch",
        on=lambda f: f.votes_may_be_invalid,
    )
    def handle_too_early(self, s: KraftState, i: Voter, voter: Voter) -> None:
        """A candidate ignores an error of an earlier epoch, and sends its request again.

        Kafka: KafkaRaftClient.maybeSendVoteRequests.
        """
        self.quorum.request_manager.vote_response(s, i, voter, CANDIDATE, VoteResult.TOO_EARLY)
        s.vote_responses[i][voter] = NONE
        self.quorum.request_manager.send_vote_request(s, i, voter)

    # -------------------------------------------------------------------------------------------------------- leading

    @step("{i} leads")
    def become_leader(self, s: KraftState, i: Voter) -> None:
        """A candidate with the votes of a majority leads, writes a record of that, and sends BeginQuorumEpoch.

        It has no high watermark before a record of its own epoch is committed.
        Kafka: KafkaRaftClient.maybeTransitionToLeader, appendLeaderChangeMessage.
        """
        me = s.server[i]
        require(me.state == CANDIDATE, self.quorum.voter_set.is_majority(me, me.votes))
        self.quorum.quorum_state.become(me, Transition(LEADER, me.epoch, i, NONE))
        self.quorum.replicated_log.append(me)
        me.high_watermark = 0
        self.quorum.request_manager.send_begin_quorum(s, i)
        self.quorum.fetching.commit(s, i)
        self.quorum.settle(s, i)

    @step("{i} learns that {leader} leads epoch {epoch}")
    def handle_begin_quorum(self, s: KraftState, i: Voter, leader: Voter, epoch: CandidateEpoch) -> None:
        """A server, also an observer, learns of a leader, and its response arrives at once.

        The response is no message of its own, as the request may be late as well. Kafka's leader throws where the
        server is no voter any more; here that is an entry of the catalogue (Q-7).
        Kafka: KafkaRaftClient.handleBeginQuorumEpochRequest, handleBeginQuorumEpochResponse,
        LeaderState.addAcknowledgementFrom.
        """
        require(i != leader, s.begins[leader][i][epoch])
        s.begins[leader][i][epoch] = False
        if not self.rules.guards.acknowledgement_needs_voter:
            other = s.server[leader]
            leads = And(other.state == LEADER, other.epoch == epoch)
            with when(And(leads, Not(self.quorum.voter_set.contains(other, i)))):
                self.quorum.quorum_state.throw(other)
        self.learn_leader(s, i, leader, epoch)

    def learn_leader(self, s: KraftState, i: Voter, leader: Voter, epoch: int) -> None:
        """Take a server for the leader of an epoch that is not over; a follower goes on waiting for its fetch."""
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

        It keeps its epoch and its log, and sends EndQuorumEpoch. Check-quorum (checkQuorum) never ends the only
        voter's leadership (LeaderState.timeUntilCheckQuorumExpires); its controller may resign all the same, as here.
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
        keeps = self.rules.guards.resigned_votes_for_nobody
        self.quorum.quorum_state.become(me, resigned(me, i) if keeps else unattached(me.epoch))
        self.quorum.request_manager.send_end_quorum(s, i)
        if self.features.notes_askers:
            self.quorum.pre_votes.watch_askers(s)

    @step("{i} learns that {leader} has resigned, which led epoch {epoch}", on=lambda f: f.resigns)
    def handle_end_quorum(self, s: KraftState, i: Voter, leader: Voter, epoch: LedEpoch) -> None:
        """A server learns who has led an epoch. Kafka: KafkaRaftClient.handleEndQuorumEpochRequest.

        A server without a leader in the epoch follows the one that has resigned. A follower need not wait any longer
        to stand for election; in the model it never waits, as a timeout may come at any time.
        """
        require(i != leader, s.ends[leader][i][epoch])
        s.ends[leader][i][epoch] = False
        self.learn_leader(s, i, leader, epoch)

    def settle(self, s: KraftState, i: Voter) -> None:
        """Forget the votes of a server that requests none, and what only a leader has."""
        me = s.server[i]
        with when(Not(self.quorum.quorum_state.requests_votes(me))):
            me.votes = set_of([])
        with when(me.state != LEADER):
            me.fetched = dict.fromkeys(self.all(Voter), 0)
        if not self.rules.release.vote_survives_following:
            with when(Not(one_of(me.state, CANDIDATE, VOTED))):
                me.voted_for = NONE
