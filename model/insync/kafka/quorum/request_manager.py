"""What is on its way between servers, and which of it is forgotten.

Messages are delayed and overtake one another without limit, and they may as well be lost, because nobody has to receive
one. A message is forgotten when it is received, or when its receiver would only discard it. So states differ only where
somebody can notice it:

- A server waits for the answer to one request at a time from each other server (RequestManager.isResponseExpected), and
  ignores the answers to others. So only answers that are awaited are kept: one from each other server to a request for
  a vote or a pre-vote, and one to the fetch. An answer need not name its request.
- Requests may arrive late. A candidate asks for votes once in an epoch, so that request is named by its epoch. A fetch
  is named by epoch and end of the log; where the same one is sent again, the former is forgotten.
- The last pre-vote request is kept while its answer is awaited, or while its receiver is in an earlier epoch.
- Answers to BeginQuorumEpoch and EndQuorumEpoch are no messages here. In Kafka they may tell of a later epoch.
"""

from __future__ import annotations

from insync.kafka.quorum.part import Part
from insync.kafka.quorum.replicated_log import last_epoch
from insync.kafka.quorum.sorts import CandidateEpoch, HeardEpoch, LedEpoch, LogEnd, Voter, VoterState
from insync.kafka.quorum.state import Epochs, KraftState, ServerState, Some, VoteAnswer, VoteResponse
from insync.model import (
    NONE,
    And,
    Condition,
    EnumValue,
    If,
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

    def ask_for_votes(self, s: KraftState, i: Voter) -> None:
        """Ask the other voters, in one's own epoch, and await their answers alone."""
        self.drop_vote_answers(s, i)
        for j, is_other in self.beside(i):
            with when(And(is_other, self.is_reached(s, i, j))):
                self.ask_for_vote(s, i, j)

    def ask_for_vote(self, s: KraftState, i: Voter, j: Voter) -> None:
        """Ask another server for its vote. Kafka: KafkaRaftClient.maybeSendVoteRequests."""
        me = s.server[i]
        for epoch in self.all(CandidateEpoch):
            with when(me.epoch == epoch):
                s.vote_requests[i][j][epoch] = record(offset=me.end, last_epoch=last_epoch(me))

    def ask_for_pre_votes(self, s: KraftState, i: Voter) -> None:
        """Ask the other voters but those whose answers one awaits already."""
        me = s.server[i]
        for j, is_other in self.beside(i):
            with when(And(is_other, self.is_reached(s, i, j), s.vote_answers[i][j].is_none())):
                s.pre_vote_requests[i][j] = record(epoch=me.epoch, offset=me.end, last_epoch=last_epoch(me))

    def answer(
        self,
        s: KraftState,
        voter: Voter,
        asker: Voter,
        waits: Condition,
        answer: EnumValue | VoteAnswer,
        epoch: Num | int,
        leader: Some,
    ) -> None:
        """Answer a request for a vote or a pre-vote, if somebody waits for that and can learn something."""
        with when(waits):
            s.vote_answers[asker][voter] = record(answer=answer, epoch=epoch, leader=leader)

    def vote_answer(self, s: KraftState, i: Voter, voter: Voter, asks: VoterState, wanted: VoteAnswer) -> VoteResponse:
        """Require that a server still asks, and has an answer of a kind from another; return the answer."""
        answer = s.vote_answers[i][voter]
        require(i != voter, s.server[i].state == asks, answer.is_some(), answer.value.answer == wanted)
        return answer.value

    def announce(self, s: KraftState, i: Voter) -> None:
        """Tell the other voters that one leads (BeginQuorumEpoch)."""
        self._say(s, i, s.begins, CandidateEpoch)

    def tell_the_end(self, s: KraftState, i: Voter) -> None:
        """Tell the other voters that one has resigned. Kafka: KafkaRaftClient.pollResigned."""
        if self.features.resigns:
            self._say(s, i, s.ends, LedEpoch)

    def _say(self, s: KraftState, i: Voter, said: Epochs, epochs: type[CandidateEpoch | LedEpoch]) -> None:
        for j, is_other in self.beside(i):
            for epoch in self.all(epochs):
                with when(
                    And(is_other, self.is_reached(s, i, j), s.server[i].epoch == epoch, s.server[j].epoch <= epoch)
                ):
                    said[i][j][epoch] = True

    def is_reached(self, s: KraftState, i: Voter, j: Voter) -> Condition:
        """Return whether a server asks another, and the other is there."""
        return And(self.quorum.voter_set.contains(s.server[i], j), self.quorum.voter_set.runs(s.server[j]))

    # -------------------------------------------------------------------------------------------------------- fetches

    def send_fetch(self, s: KraftState, i: Voter, leader: Voter) -> None:
        """Fetch from the end of the log, and await that answer alone."""
        me = s.server[i]
        me.fetches_from = leader
        end = self.log_end(me.end, last_epoch(me))
        for epoch in self.all(HeardEpoch):
            with when(And(me.epoch == epoch, self.quorum.voter_set.runs(s.server[leader]))):
                s.fetches[i][leader][epoch][end] = True

    def awaits_fetch(self, follower: ServerState, source: Voter, epoch: int, end: Num | int) -> Condition:
        """Return whether a server waits for the answer of another to a fetch of an epoch, from an end of its log."""
        asked = And(follower.fetches_from == source, follower.epoch == epoch)
        return And(asked, self.log_end(follower.end, last_epoch(follower)) == end)

    def log_end(self, offset: Num | int, epoch: Num | int) -> Num | int:
        """Return offset and epoch as the number of a LogEnd."""
        return If(offset == 0, 0, (offset - 1) * LogEnd.epochs(self.b) + epoch - LogEnd.first(self.b) + 1)

    def offset_of(self, end: LogEnd | int) -> Num | int:
        """Return the offset of a LogEnd."""
        return (end + LogEnd.epochs(self.b) - 1) // LogEnd.epochs(self.b)

    def epoch_of(self, end: LogEnd | int) -> Num | int:
        """Return the epoch of a LogEnd."""
        return If(end == 0, 0, (end - 1) % LogEnd.epochs(self.b) + LogEnd.first(self.b))

    # ----------------------------------------------------------------------------------------------------- forgetting

    def settle(self, s: KraftState, i: Voter) -> None:
        """Forget what a server would now only discard, and what others would of it."""
        me = s.server[i]
        with when(Not(self.quorum.quorum_state.asks_for_votes(me))):
            self.drop_vote_answers(s, i)
        for j, is_other in self.beside(i):
            for over in self.all(CandidateEpoch):
                with when(And(is_other, over < me.epoch)):
                    s.begins[j][i][over] = False
            for led in self.all(LedEpoch) if self.features.resigns else ():
                with when(And(is_other, led < me.epoch)):
                    s.ends[j][i][led] = False
            if self.features.asks_first:
                self._drop_late(s, i, j, is_other)
                self._drop_late(s, j, i, is_other)
        with when(me.fetches_from.is_none()):
            s.fetch_answers[i] = NONE

    def drop_vote_answers(self, s: KraftState, i: Voter) -> None:
        """Drop all answers to a server's requests for votes and pre-votes."""
        for j, is_other in self.beside(i):
            with when(is_other):
                s.vote_answers[i][j] = NONE

    def _drop_late(self, s: KraftState, one: Voter, other: Voter, is_other: Condition) -> None:
        """Drop a pre-vote request whose answer nobody awaits, and of no later epoch than its receiver is in."""
        asker, request = s.server[one], s.pre_vote_requests[one][other]
        epoch: Num = request.value.epoch
        awaited = And(asker.state == VoterState.PROSPECTIVE, asker.epoch == epoch)
        with when(And(is_other, Not(awaited), epoch <= s.server[other].epoch)):
            s.pre_vote_requests[one][other] = NONE

    def cut_off(self, s: KraftState, i: Voter) -> None:
        """Lose all messages to a server and from it."""
        s.fetch_answers[i] = NONE
        for j, is_other in self.beside(i):
            with when(is_other):
                with when(s.server[j].fetches_from == i):
                    s.fetch_answers[j] = NONE
                for one, other in ((i, j), (j, i)):
                    s.vote_answers[one][other] = NONE
                    if self.features.asks_first:
                        s.pre_vote_requests[one][other] = NONE
                    for epoch in self.all(CandidateEpoch):
                        s.vote_requests[one][other][epoch], s.begins[one][other][epoch] = NONE, False
                    for led in self.all(LedEpoch) if self.features.resigns else ():
                        s.ends[one][other][led] = False
                    for heard in self.all(HeardEpoch):
                        s.fetches[one][other][heard] = dict.fromkeys(self.all(LogEnd), False)
