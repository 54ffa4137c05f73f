"""What is on its way between servers, and which of it is forgotten.

Messages are delayed and overtake one another without limit, and they may as well be lost, because nobody has to receive
one. A message is forgotten when it is received, or when its receiver would only discard it. So states differ only where
somebody can notice it:

- A server waits for the response to one request at a time from each other server (RequestManager.isResponseExpected),
  and ignores all other responses. So only awaited responses are kept: one from each other server to a request for a
  vote or a pre-vote, and one to the fetch. A response need not name its request.
- Requests may arrive late. A candidate requests votes once in an epoch, so that request is named by its epoch. A fetch
  is named by epoch and end of the log; where the same one is sent again, the former is forgotten.
- The last pre-vote request is kept while its response is awaited, or while its receiver is in an earlier epoch.
- Responses to BeginQuorumEpoch and EndQuorumEpoch are no messages here. In Kafka they may name a later epoch
  (KafkaRaftClient.handleBeginQuorumEpochResponse, handleEndQuorumEpochResponse).
"""

from __future__ import annotations

from insync.kafka.quorum.part import Part
from insync.kafka.quorum.replicated_log import last_epoch
from insync.kafka.quorum.sorts import CandidateEpoch, FetchEpoch, LedEpoch, LogEnd, Voter, VoterState
from insync.kafka.quorum.state import Epochs, KraftState, ServerState, Some, VoteResponse, VoteResult
from insync.model import (
    NONE,
    And,
    Condition,
    EnumValue,
    Not,
    Num,
    record,
    require,
    when,
)

__all__ = ["RequestManager"]


class RequestManager(Part):
    """The messages, how they are sent, and which of them go nowhere."""

    # ------------------------------------------------------------------------------------------------------ elections

    def send_vote_requests(self, s: KraftState, i: Voter) -> None:
        """Request the votes of all other voters in the candidate's epoch, and drop responses to earlier requests."""
        self.drop_vote_responses(s, i)
        for j, is_other in self.beside(i):
            with when(And(is_other, self.is_reached(s, i, j))):
                self.send_vote_request(s, i, j)

    def send_vote_request(self, s: KraftState, i: Voter, j: Voter) -> None:
        """Request the vote of another server. Kafka: KafkaRaftClient.maybeSendVoteRequests."""
        me = s.server[i]
        for epoch in self.all(CandidateEpoch):
            with when(me.epoch == epoch):
                s.vote_requests[i][j][epoch] = record(offset=me.end, last_epoch=last_epoch(me))

    def send_pre_vote_requests(self, s: KraftState, i: Voter) -> None:
        """Request the pre-votes of all other voters whose response is not there already."""
        me = s.server[i]
        for j, is_other in self.beside(i):
            with when(And(is_other, self.is_reached(s, i, j), s.vote_responses[i][j].is_none())):
                s.pre_vote_requests[i][j] = record(epoch=me.epoch, offset=me.end, last_epoch=last_epoch(me))

    def respond(
        self,
        s: KraftState,
        voter: Voter,
        candidate: Voter,
        waits: Condition,
        result: EnumValue | VoteResult,
        epoch: Num | int,
        leader: Some,
    ) -> None:
        """Respond to a request for a vote or a pre-vote, if its sender waits for that, and there is news in it."""
        with when(waits):
            s.vote_responses[candidate][voter] = record(result=result, epoch=epoch, leader=leader)

    def vote_response(
        self, s: KraftState, i: Voter, voter: Voter, state: VoterState, wanted: VoteResult
    ) -> VoteResponse:
        """Require that a server is still in a state, and that a response with a result has come; return that."""
        response = s.vote_responses[i][voter]
        require(i != voter, s.server[i].state == state, response.is_some(), response.value.result == wanted)
        return response.value

    def send_begin_quorum(self, s: KraftState, i: Voter) -> None:
        """Send BeginQuorumEpoch to the other voters. Kafka: maybeSendBeginQuorumEpochRequests."""
        self._send_to_voters(s, i, s.begins, CandidateEpoch)

    def send_end_quorum(self, s: KraftState, i: Voter) -> None:
        """Send EndQuorumEpoch to the other voters. Kafka: KafkaRaftClient.pollResigned."""
        if self.features.resigns:
            self._send_to_voters(s, i, s.ends, LedEpoch)

    def _send_to_voters(self, s: KraftState, i: Voter, sent: Epochs, epochs: type[CandidateEpoch | LedEpoch]) -> None:
        for j, is_other in self.beside(i):
            for epoch in self.all(epochs):
                with when(
                    And(is_other, self.is_reached(s, i, j), s.server[i].epoch == epoch, s.server[j].epoch <= epoch)
                ):
                    sent[i][j][epoch] = True

    def is_reached(self, s: KraftState, i: Voter, j: Voter) -> Condition:
        """Return whether a server is a voter by another one's log, and runs, so that requests reach it."""
        return And(self.quorum.voter_set.contains(s.server[i], j), self.quorum.voter_set.runs(s.server[j]))

    # -------------------------------------------------------------------------------------------------------- fetches

    def send_fetch(self, s: KraftState, i: Voter, leader: Voter) -> None:
        """Fetch from the end of the log, and await the response to this fetch alone."""
        me = s.server[i]
        me.fetches_from = leader
        end = LogEnd.number(self.b, me.end, last_epoch(me))
        for epoch in self.all(FetchEpoch):
            with when(And(me.epoch == epoch, self.quorum.voter_set.runs(s.server[leader]))):
                s.fetches[i][leader][epoch][end] = True

    def awaits_fetch(self, follower: ServerState, source: Voter, epoch: int, end: Num | int) -> Condition:
        """Return whether a server waits for the response of another to a fetch of an epoch, from an end of its log."""
        same = And(follower.fetches_from == source, follower.epoch == epoch)
        return And(same, LogEnd.number(self.b, follower.end, last_epoch(follower)) == end)

    # ----------------------------------------------------------------------------------------------------- forgetting

    def settle(self, s: KraftState, i: Voter) -> None:
        """Forget messages that a server would now only discard, and those of it that others would."""
        me = s.server[i]
        with when(Not(self.quorum.quorum_state.requests_votes(me))):
            self.drop_vote_responses(s, i)
        for j, is_other in self.beside(i):
            for over in self.all(CandidateEpoch):
                with when(And(is_other, over < me.epoch)):
                    s.begins[j][i][over] = False
            for led in self.all(LedEpoch) if self.features.resigns else ():
                with when(And(is_other, led < me.epoch)):
                    s.ends[j][i][led] = False
            if self.features.pre_votes:
                self._drop_late(s, i, j, is_other)
                self._drop_late(s, j, i, is_other)
        with when(me.fetches_from.is_none()):
            s.fetch_responses[i] = NONE

    def drop_vote_responses(self, s: KraftState, i: Voter) -> None:
        """Drop all responses to a server's requests for votes and pre-votes."""
        for j, is_other in self.beside(i):
            with when(is_other):
                s.vote_responses[i][j] = NONE

    def _drop_late(self, s: KraftState, one: Voter, other: Voter, is_other: Condition) -> None:
        """Drop a pre-vote request whose response nobody awaits, and of no later epoch than its receiver is in."""
        sender, request = s.server[one], s.pre_vote_requests[one][other]
        epoch: Num = request.value.epoch
        awaited = And(sender.state == VoterState.PROSPECTIVE, sender.epoch == epoch)
        with when(And(is_other, Not(awaited), epoch <= s.server[other].epoch)):
            s.pre_vote_requests[one][other] = NONE

    def cut_off(self, s: KraftState, i: Voter) -> None:
        """Lose all messages to a server and from it."""
        s.fetch_responses[i] = NONE
        for j, is_other in self.beside(i):
            with when(is_other):
                with when(s.server[j].fetches_from == i):
                    s.fetch_responses[j] = NONE
                for one, other in ((i, j), (j, i)):
                    s.vote_responses[one][other] = NONE
                    if self.features.pre_votes:
                        s.pre_vote_requests[one][other] = NONE
                    for epoch in self.all(CandidateEpoch):
                        s.vote_requests[one][other][epoch], s.begins[one][other][epoch] = NONE, False
                    for led in self.all(LedEpoch) if self.features.resigns else ():
                        s.ends[one][other][led] = False
                    for fetched in self.all(FetchEpoch):
                        s.fetches[one][other][fetched] = dict.fromkeys(self.all(LogEnd), False)
