"""Pre-votes (KIP-996) where voters come and go: `prospects` with the voters of one's own log, as Kafka since 4.0.

Who would be elected stands at once, so the only voter does with its timeout. What is on its way is as in `kraft`, see
`pre_vote_mail`.
"""

from __future__ import annotations

from typing import Any

from insync.kafka.published.quorum.elections import Ballot
from insync.kafka.published.quorum.voter import QuorumActor, Voter
from insync.kafka.published.quorum.voter_log import is_later, last_epoch
from insync.kafka.quorum import member_transitions as to
from insync.kafka.quorum.members import MemberRestart, MemberState, Role
from insync.kafka.quorum.message_sets import LedEpoch
from insync.kafka.quorum.pre_vote_mail import drop_late, forget_answers_to_pre_votes, pre_vote_messages
from insync.kafka.quorum.pre_vote_rules import grants_pre_vote, grants_vote
from insync.model import (
    NONE,
    Absent,
    And,
    BoundValues,
    Condition,
    If,
    Int,
    Not,
    Num,
    Or,
    RecordView,
    Set,
    StateView,
    Switch,
    action,
    one_of,
    record,
    require,
    set_of,
    when,
)

__all__ = ["MemberProspects"]

CANDIDATE, FOLLOWER, LEADER = MemberState.CANDIDATE, MemberState.FOLLOWER, MemberState.LEADER
PROSPECTIVE, RESIGNED = MemberState.PROSPECTIVE, MemberState.RESIGNED
UNATTACHED, VOTED = MemberState.UNATTACHED, MemberState.VOTED


class MemberProspects(QuorumActor):
    """The steps of an election with pre-votes, before there is a candidate; and the votes of those who ask."""

    pre_votes: Switch

    # ----------------------------------------------------------------------------------------------------- the state

    def asking(self, b: BoundValues) -> dict[str, Any]:
        """Lay out what a server knows beside that with pre-votes."""
        return {
            "refused": Absent.unless(b.settings.pre_votes, Set(Voter)),  # who would not vote for it, while it asks
            # Whether a fetch has succeeded since it follows (Kafka: FollowerState.hasFetchedFromLeader): the epoch.
            "fetched_in": Absent.unless(b.settings.pre_votes, Int(0, b.epochs)),
        }

    def asked(self, b: BoundValues) -> dict[str, Any]:
        """Lay out what is on its way beside that."""
        return pre_vote_messages(b.settings.pre_votes, b.epochs, self.capacity)

    # ------------------------------------------------------------------------------------------------------- timeouts

    @action(label="{i} asks whether it would be elected")
    def ask_for_pre_votes(self, s: StateView, i: Voter) -> None:
        """A voter that hears of no leader asks the others, and knows its leader still; the only one stands.

        Kafka: KafkaRaftClient.transitionToProspective.
        """
        me = s.server[i]
        alone = me.members.count() == 1
        require(bool(self.pre_votes), one_of(me.state, UNATTACHED, VOTED, FOLLOWER, CANDIDATE))
        require(me.role == Role.VOTER, Or(Not(alone), me.epoch < self.b.epochs))
        me.state = PROSPECTIVE
        self.forget_fetch(me)
        self.ask(s, i)
        with when(alone):
            self.stand(s, i)
        self.forget_answers(s, i)

    @action(label="{i} has resigned long enough")
    def resigned_timeout(self, s: StateView, i: Voter) -> None:
        """A voter that has resigned goes on to the next epoch. Kafka: KafkaRaftClient.pollResigned."""
        me = s.server[i]
        require(bool(self.pre_votes), me.role == Role.VOTER, me.state == RESIGNED, me.epoch < self.b.epochs)
        to.become(me, to.observer(me.epoch + 1))
        self.forget_answers(s, i)

    @action(label="{i} waits for no pre-votes any more")
    def pre_vote_timeout(self, s: StateView, i: Voter) -> None:
        """Too few have answered in time. Kafka: KafkaRaftClient.pollProspective."""
        me = s.server[i]
        require(bool(self.pre_votes), me.state == PROSPECTIVE)
        self.give_up(me)
        self.forget_answers(s, i)

    # ------------------------------------------------------------------------------------------------------ pre-votes

    @action(label="{i} tells {candidate} whether it would vote for it")
    def handle_pre_vote_request(self, s: StateView, i: Voter, candidate: Voter) -> None:
        """A server says whether it would vote, also an observer, and goes on to a later epoch.

        Kafka: KafkaRaftClient.handleVoteRequest.
        """
        me, you = s.server[i], s.server[candidate]
        request = s.pre_vote_requests[candidate][i]
        require(bool(self.pre_votes), i != candidate, request.is_some())
        epoch: Num = request.value.epoch
        fenced = epoch < me.epoch
        now = to.either(epoch > me.epoch, to.unattached(me, epoch), to.unchanged(me))
        behind = is_later(last_epoch(me), me.end, request.value.last_epoch, request.value.offset)
        free = one_of(now.state, UNATTACHED, VOTED, PROSPECTIVE, CANDIDATE, RESIGNED)
        granted = And(Not(fenced), grants_pre_vote(free, now.state == FOLLOWER, me.fetched_in == now.epoch, behind))
        answer = record(epoch=If(fenced, me.epoch, epoch), leader=now.leader, granted=granted)
        with when(And(you.state == PROSPECTIVE, you.epoch == epoch)):
            s.pre_ballots[candidate][i] = answer
        s.pre_vote_requests[candidate][i] = NONE
        self.go_on_to(me, now)
        self.forget_answers(s, i)

    @action(label="{i} gets the pre-vote of {voter}")
    def handle_pre_vote(self, s: StateView, i: Voter, voter: Voter) -> None:
        """Who would be elected by a majority stands at once. Kafka: KafkaRaftClient.handleVoteResponse."""
        me, ballot = s.server[i], s.pre_ballots[i][voter]
        require(bool(self.pre_votes), i != voter, ballot.is_some(), ballot.value.granted)
        votes = me.votes | {voter}
        there, handled = to.heard(me, i, ballot.value.leader, ballot.value.epoch, False)
        stands = And(Not(handled), self.is_quorum(votes, me.members))
        require(Or(Not(stands), me.epoch < self.b.epochs))
        s.pre_ballots[i][voter] = NONE
        to.become(me, there)
        with when(Not(handled)):
            me.votes = votes
        with when(stands):
            self.stand(s, i)
        self.forget_answers(s, i)

    @action(label="{i} hears that {voter} would not vote for it")
    def handle_pre_refusal(self, s: StateView, i: Voter, voter: Voter) -> None:
        """Who would not be elected gives up at once. Kafka: KafkaRaftClient.maybeHandleElectionLoss."""
        me, ballot = s.server[i], s.pre_ballots[i][voter]
        require(bool(self.pre_votes), i != voter, ballot.is_some(), Not(ballot.value.granted))
        refused, voters = me.refused | {voter}, me.members.count()
        there, handled = to.heard(me, i, ballot.value.leader, ballot.value.epoch, ballot.value.epoch > me.epoch)
        lost = And(Not(handled), 2 * (voters - refused.count()) <= voters)
        s.pre_ballots[i][voter] = NONE
        to.become(me, there)
        me.refused = refused
        with when(lost):
            self.give_up(me)
        self.forget_answers(s, i)

    # ---------------------------------------------------------------------------------------------------------- votes

    @action(label="{i} hears from {voter} that its vote request is invalid")
    def handle_invalid(self, s: StateView, i: Voter, voter: Voter) -> None:
        """A candidate that has records of its own epoch is told so, and throws.

        Kafka: KafkaRaftClient.maybeHandleCommonResponse.
        """
        me = s.server[i]
        require(bool(self.pre_votes), i != voter, s.invalid[i].contains(voter))
        to.become(me, to.ILLEGAL)
        self.forget_answers(s, i)

    @action(label="{i} asks {voter} again, which is in an earlier epoch and called its vote request invalid")
    def handle_too_early(self, s: StateView, i: Voter, voter: Voter) -> None:
        """An error of an earlier epoch is nothing to a candidate, which asks again. Kafka: maybeSendVoteRequests."""
        require(bool(self.pre_votes), i != voter, s.too_early[i].contains(voter))
        s.too_early[i] = s.too_early[i] - {voter}
        s.vote_requests[i][voter].add(self.position_of(s.server[i]))

    def answer_vote_request(
        self, s: StateView, i: Voter, candidate: Voter, epoch: int, offset: int, end_epoch: int
    ) -> None:
        """A server votes, refuses to, or calls a request invalid whose sender has records of its own epoch.

        Who knows a leader then, or is in a later epoch, names that in its answer, and that is what counts.
        """
        me, waits = s.server[i], self.awaits_vote(s.server[candidate], epoch)
        if end_epoch < epoch:
            ballot = self.cast_vote(s, i, candidate, epoch, is_later(last_epoch(me), me.end, end_epoch, offset))
            with when(waits):
                s.votes[i][candidate].add(ballot.message)
            return
        tells = Or(me.epoch > epoch, And(me.epoch == epoch, me.leader.is_some()))
        with when(And(waits, tells)):
            s.votes[i][candidate].add(Ballot(me.epoch, me.leader, False, me.epoch > epoch).message)
        with when(And(waits, Not(tells), me.epoch == epoch)):
            s.invalid[candidate] = s.invalid[candidate] | {i}
        with when(And(waits, me.epoch < epoch)):
            s.too_early[candidate] = s.too_early[candidate] | {i}

    def cast_vote(self, s: StateView, i: Voter, candidate: Voter, epoch: Num | int, behind: Condition) -> Ballot:
        """A server that asks itself whether it would be elected votes, too, and then begins to ask anew.

        Kafka: KafkaRaftClient.handleVoteRequest, QuorumState.prospectiveAddVotedState.
        """
        me = s.server[i]
        fenced, newer = epoch < me.epoch, epoch > me.epoch
        now = to.either(newer, to.unattached(me, epoch), to.unchanged(me))
        may, asks = one_of(now.state, UNATTACHED, VOTED, PROSPECTIVE), now.state == PROSPECTIVE
        granted = And(Not(fenced), grants_vote(may, now.leader, now.voted_for, candidate, behind))
        first = And(granted, now.voted_for.is_none())
        ballot = Ballot(If(fenced, me.epoch, epoch), now.leader, granted, fenced)
        self.go_on_to(me, to.either(And(first, Not(asks)), to.voted(now, epoch, candidate), now))
        with when(And(first, asks)):
            me.voted_for = candidate
            self.ask(s, i)
        return ballot

    # ---------------------------------------------------------------------------------------------------------- rules

    def go_on_to(self, me: RecordView, step: to.Step) -> None:
        """Become something; in another epoch a server waits for no answer, and owes none."""
        with when(step.epoch != me.epoch):
            self.forget_fetch(me)
            me.unanswered = set_of([])
        to.become(me, step)

    def ask(self, s: StateView, i: Voter) -> None:
        """Begin to ask the other voters, but those whose answers it awaits already."""
        me = s.server[i]
        me.votes, me.refused = {i}, set_of([])
        for j, is_other in self.beside(i):
            asks = And(is_other, me.members.contains(j), s.server[j].state != MemberState.DEAD)
            with when(And(asks, s.pre_ballots[i][j].is_none())):
                s.pre_vote_requests[i][j] = self.position_of(me)

    def give_up(self, me: RecordView) -> None:
        """Follow the leader that one knows, or know none. Kafka: prospectiveTransitionAfterElectionLoss."""
        me.state = If(me.leader.is_some(), FOLLOWER, If(me.voted_for.is_some(), VOTED, UNATTACHED))
        me.votes = set_of([])

    def come_back_since_996(self, s: StateView, i: Voter) -> None:
        """Who restarts and has voted for itself is a candidate, even if it knew its leader; nobody asks any more.

        Who is no voter by its log cannot be one, and throws. The only voter begins an epoch, unless it is a candidate,
        which leads at once. With `restart_as=follower` who knew its leader follows it.
        Kafka: QuorumState.initialize, CandidateState, KafkaRaftClient.initialize.
        """
        me = s.server[i]
        settled = me.state == RESIGNED
        if self.restart_as is MemberRestart.FOLLOWER:
            settled = Or(settled, me.leader.is_some())
        stands = And(Not(settled), me.voted_for == i)
        alone = And(me.role == Role.VOTER, me.members.count() == 1, Not(stands))
        require(Or(Not(alone), me.epoch < self.b.epochs))
        with when(me.state == PROSPECTIVE):
            self.give_up(me)
        with when(stands):
            me.state, me.leader, me.votes = CANDIDATE, NONE, set_of([i])
        with when(alone):
            self.stand(s, i)
        me.fetched_in = 0
        s.invalid[i], s.too_early[i] = set_of([]), set_of([])
        with when(And(stands, me.role == Role.VOTER)):
            self.forget_vote_requests(s, i)
            self.ask_for_votes(s, i)
        with when(And(stands, me.role != Role.VOTER)):
            to.become(me, to.ILLEGAL)

    def forget_vote_requests(self, s: StateView, i: Voter) -> None:
        """Drop what a server asked in its epoch when it had less in its log, of whom it asks again."""
        epoch, members = s.server[i].epoch, s.server[i].members
        for j, is_other in self.beside(i):
            for offset in range(1, self.capacity + 1):
                for last in self.all(LedEpoch):
                    with when(And(is_other, members.contains(j))):
                        s.vote_requests[i][j].remove(record(epoch=epoch, offset=offset, last_epoch=last))

    def settle_prospects(self, s: StateView, i: Voter) -> None:
        """Forget what a server does not need any more, and what it would only discard."""
        me = s.server[i]
        with when(me.state != PROSPECTIVE):
            forget_answers_to_pre_votes(s, i, self.beside(i))
        with when(me.state != CANDIDATE):
            s.invalid[i], s.too_early[i] = set_of([]), set_of([])
        with when(one_of(me.state, LEADER, RESIGNED)):
            me.voted_for = NONE
        with when(Or(me.state != FOLLOWER, me.fetched_in != me.epoch)):
            me.fetched_in = 0
        for j, is_other in self.beside(i):
            drop_late(s, i, j, is_other, PROSPECTIVE)
            drop_late(s, j, i, is_other, PROSPECTIVE)

    def cut_off_prospects(self, s: StateView, i: Voter) -> None:
        """Drop what is on its way of pre-votes from a server and to it."""
        s.invalid[i], s.too_early[i] = set_of([]), set_of([])
        for j, is_other in self.beside(i):
            with when(is_other):
                for one, other in ((i, j), (j, i)):
                    s.pre_vote_requests[one][other], s.pre_ballots[one][other] = NONE, NONE
                s.invalid[j], s.too_early[j] = s.invalid[j] - {i}, s.too_early[j] - {i}
