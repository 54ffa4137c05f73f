"""Pre-votes (KIP-996) in the network of `kraft`: whoever hears of no leader asks first whether it would be elected.

It is Prospective meanwhile, in the epoch that it is in, and remembers its leader and its vote. This is what Kafka does
since 4.0, step by step: who would be elected stands at once, and who would not be gives up at once. What is on its way
of it is in `pre_vote_mail`.
"""

from __future__ import annotations

from typing import Any

from insync.kafka.published.quorum.elections import Ballot
from insync.kafka.published.quorum.transitions import ILLEGAL, Transition, become, either, heard, unattached, unchanged
from insync.kafka.published.quorum.voter import QuorumActor, QuorumEpoch, Voter, VoterState
from insync.kafka.published.quorum.voter_log import FIRST_EPOCH, is_later, last_epoch
from insync.kafka.quorum.pre_vote_mail import drop_late, forget_answers_to_pre_votes, pre_vote_messages
from insync.kafka.quorum.pre_vote_rules import grants_pre_vote, grants_vote
from insync.kafka.quorum.restarts import RestartAs
from insync.model import (
    NONE,
    Absent,
    And,
    Bool,
    BoundValues,
    Condition,
    If,
    Not,
    Num,
    Or,
    RecordView,
    Set,
    StateView,
    Switch,
    action,
    count,
    one_of,
    record,
    require,
    set_of,
    when,
)

__all__ = ["Prospects"]

CANDIDATE, FOLLOWER, LEADER = VoterState.CANDIDATE, VoterState.FOLLOWER, VoterState.LEADER
PROSPECTIVE, RESIGNED = VoterState.PROSPECTIVE, VoterState.RESIGNED
UNATTACHED, VOTED = VoterState.UNATTACHED, VoterState.VOTED


class Prospects(QuorumActor):
    """The steps of an election with pre-votes, before there is a candidate; and the votes of those who ask."""

    pre_votes: Switch
    watches: bool

    # ----------------------------------------------------------------------------------------------------- the state

    def asking(self, b: BoundValues) -> dict[str, Any]:
        """Lay out what a server knows beside that with pre-votes."""
        return {
            "refused": Absent.unless(b.settings.pre_votes, Set(Voter)),  # who would not vote for it, while it asks
            # Whether a fetch has succeeded since it follows (Kafka: FollowerState.hasFetchedFromLeader).
            "has_fetched": Absent.unless(b.settings.pre_votes, Bool),
            # Whether a leader has worked ever since it began to ask, with nothing of earlier asking on its way.
            "asks_beside": Absent.unless(b.settings.pre_votes and b.settings.askers, Bool),
        }

    def asked(self, b: BoundValues) -> dict[str, Any]:
        """Lay out what is on its way beside that."""
        return pre_vote_messages(b.settings.pre_votes, b.elections + FIRST_EPOCH, self.capacity)

    # --------------------------------------------------------------------------------------------------------- timeouts

    @action(label="{i} asks whether it would be elected")
    def ask_for_pre_votes(self, s: StateView, i: Voter) -> None:
        """A server that hears of no leader asks the others, and knows its leader still.

        Kafka: KafkaRaftClient.transitionToProspective.
        """
        me = s.server[i]
        asks = [state for state in self.may_stand() if state is not RESIGNED]
        require(bool(self.pre_votes), one_of(me.state, *asks))
        me.state, me.pending = PROSPECTIVE, NONE
        self.ask(s, i)
        self.settle(s, i, me.epoch)

    @action(label="{i} has resigned long enough")
    def resigned_timeout(self, s: StateView, i: Voter) -> None:
        """Who has resigned goes on to the next epoch. Kafka: KafkaRaftClient.pollResigned."""
        me = s.server[i]
        require(bool(self.pre_votes), RESIGNED in self.may_stand())
        require(s.elections < self.b.elections, me.state == RESIGNED)
        before = me.epoch
        s.elections += 1
        become(me, unattached(before + 1))
        self.settle(s, i, before)

    @action(label="{i} waits for no pre-votes any more")
    def pre_vote_timeout(self, s: StateView, i: Voter) -> None:
        """Too few have answered in time. Kafka: KafkaRaftClient.pollProspective."""
        me = s.server[i]
        require(bool(self.pre_votes), me.state == PROSPECTIVE)
        self.give_up(me)
        self.settle(s, i, me.epoch)

    # -------------------------------------------------------------------------------------------------------- pre-votes

    @action(label="{i} tells {candidate} whether it would vote for it")
    def handle_pre_vote_request(self, s: StateView, i: Voter, candidate: Voter) -> None:
        """A server says whether it would vote, and goes on to a later epoch.

        Kafka: KafkaRaftClient.handleVoteRequest.
        """
        me, you = s.server[i], s.server[candidate]
        request = s.pre_vote_requests[candidate][i]
        require(bool(self.pre_votes), i != candidate, request.is_some())
        before, epoch = me.epoch, request.value.epoch
        fenced = epoch < before
        now = either(epoch > before, unattached(epoch), unchanged(me))
        behind = is_later(last_epoch(me), me.end, request.value.last_epoch, request.value.offset)
        free = one_of(now.state, UNATTACHED, VOTED, PROSPECTIVE, CANDIDATE, RESIGNED)
        granted = And(Not(fenced), grants_pre_vote(free, now.state == FOLLOWER, me.has_fetched, behind))
        answer = record(epoch=If(fenced, before, epoch), leader=now.leader, granted=granted)
        with when(And(you.state == PROSPECTIVE, you.epoch == epoch)):
            s.pre_ballots[candidate][i] = answer
        s.pre_vote_requests[candidate][i] = NONE
        with when(now.state != me.state):
            me.pending = NONE
        become(me, now)
        self.settle(s, i, before)

    @action(label="{i} gets the pre-vote of {voter}")
    def handle_pre_vote(self, s: StateView, i: Voter, voter: Voter) -> None:
        """Who would be elected by a majority stands at once. Kafka: KafkaRaftClient.handleVoteResponse."""
        me, ballot = s.server[i], s.pre_ballots[i][voter]
        require(bool(self.pre_votes), i != voter, ballot.is_some(), ballot.value.granted)
        before, votes = me.epoch, me.votes | {voter}
        there, handled = heard(me, i, ballot.value.leader, ballot.value.epoch, False)
        stands = And(Not(handled), self.is_majority(votes))
        require(Or(Not(stands), s.elections < self.b.elections))
        s.pre_ballots[i][voter] = NONE
        become(me, there)
        me.votes = votes
        with when(stands):
            self.stand(s, i)
        self.settle(s, i, before)

    @action(label="{i} hears that {voter} would not vote for it")
    def handle_pre_refusal(self, s: StateView, i: Voter, voter: Voter) -> None:
        """Who would not be elected gives up at once. Kafka: KafkaRaftClient.maybeHandleElectionLoss."""
        me, ballot = s.server[i], s.pre_ballots[i][voter]
        require(bool(self.pre_votes), i != voter, ballot.is_some(), Not(ballot.value.granted))
        before, refused = me.epoch, me.refused | {voter}
        there, handled = heard(me, i, ballot.value.leader, ballot.value.epoch, ballot.value.epoch > before)
        lost = And(Not(handled), 2 * (self.b.servers - refused.count()) <= self.b.servers)
        s.pre_ballots[i][voter] = NONE
        become(me, there)
        me.refused = refused
        with when(lost):
            self.give_up(me)
        self.settle(s, i, before)

    # ------------------------------------------------------------------------------------------------------------ votes

    @action(label="{i} hears from {voter} that its vote request is invalid")
    def handle_invalid(self, s: StateView, i: Voter, voter: Voter) -> None:
        """A candidate that has records of its own epoch is told so, and throws.

        Kafka: KafkaRaftClient.maybeHandleCommonResponse.
        """
        me = s.server[i]
        require(bool(self.pre_votes), i != voter, s.invalid[i].contains(voter))
        before = me.epoch
        become(me, ILLEGAL)
        self.settle(s, i, before)

    @action(label="{i} asks {voter} again, which is in an earlier epoch and called its vote request invalid")
    def handle_too_early(self, s: StateView, i: Voter, voter: Voter) -> None:
        """An error of an earlier epoch is nothing to a candidate, which asks again. Kafka: maybeSendVoteRequests."""
        require(bool(self.pre_votes), i != voter, s.too_early[i].contains(voter))
        s.too_early[i] = s.too_early[i] - {voter}
        self.ask_for_vote(s, i, voter)

    def answer_vote_request(
        self, s: StateView, i: Voter, candidate: Voter, epoch: QuorumEpoch, end: Num | int, end_epoch: Num | int
    ) -> None:
        """A server votes, refuses to, or calls a request invalid whose sender has records of its own epoch."""
        me, you = s.server[i], s.server[candidate]
        valid, waits = end_epoch < epoch, And(you.state == CANDIDATE, you.epoch == epoch)
        with when(Not(valid)):
            with when(And(waits, me.epoch == epoch, me.leader.is_none())):
                s.invalid[candidate] = s.invalid[candidate] | {i}
            with when(And(waits, me.epoch < epoch)):
                s.too_early[candidate] = s.too_early[candidate] | {i}
            self.send_ballot(s, i, candidate, epoch, Ballot(me.epoch, me.leader, False, me.epoch > epoch))
        with when(valid):
            ballot = self.cast_vote(s, i, candidate, epoch, is_later(last_epoch(me), me.end, end_epoch, end))
            self.send_ballot(s, i, candidate, epoch, ballot)

    def cast_vote(self, s: StateView, i: Voter, candidate: Voter, epoch: QuorumEpoch, behind: Condition) -> Ballot:
        """A server that asks itself whether it would be elected votes, too, and then begins to ask anew.

        Kafka: KafkaRaftClient.handleVoteRequest, QuorumState.prospectiveAddVotedState.
        """
        me = s.server[i]
        fenced, newer = epoch < me.epoch, epoch > me.epoch
        now, vote = either(newer, unattached(epoch), unchanged(me)), If(newer, NONE, me.voted_for)
        may = one_of(now.state, UNATTACHED, VOTED, PROSPECTIVE)
        granted = And(Not(fenced), grants_vote(may, now.leader, vote, candidate, behind))
        ballot = Ballot(If(fenced, me.epoch, epoch), now.leader, granted, fenced)
        first, asks = And(granted, vote.is_none()), now.state == PROSPECTIVE
        with when(now.state != me.state):
            me.pending = NONE
        become(me, either(And(first, Not(asks)), Transition(VOTED, epoch, NONE), now))
        me.voted_for = If(first, candidate, vote)
        with when(And(first, asks)):
            self.ask(s, i)
        return ballot

    # ------------------------------------------------------------------------------------------------------------ rules

    def ask(self, s: StateView, i: Voter) -> None:
        """Begin to ask all others, but those whose answers it awaits already."""
        me = s.server[i]
        if self.watches:
            me.asks_beside = Or(me.asks_beside, And(self.asks_nobody(s, i), self.a_leader_works(s)))
        me.votes, me.refused = {i}, set_of([])
        for j, is_other in self.beside(i):
            with when(And(is_other, s.pre_ballots[i][j].is_none())):
                s.pre_vote_requests[i][j] = record(epoch=me.epoch, offset=me.end, last_epoch=last_epoch(me))

    def asks_nobody(self, s: StateView, i: Voter) -> Condition:
        """Whether neither a pre-vote request of a server nor an answer to one is on its way."""
        ways = [
            Or(Not(other), And(s.pre_vote_requests[i][j].is_none(), s.pre_ballots[i][j].is_none()))
            for j, other in self.beside(i)
        ]
        return And(*ways)

    def a_leader_works(self, s: StateView) -> Condition:
        """Whether a majority fetches from a leader, the leader included."""

        def fetches(j: Voter, leader: Voter) -> Condition:
            me = s.server[j]
            follows = And(me.state == FOLLOWER, me.leader == leader, me.epoch == s.server[leader].epoch)
            return Or(j == leader, And(follows, me.has_fetched))

        def works(leader: Voter) -> Condition:
            served = count(self.all(Voter), lambda j: fetches(j, leader))
            return And(s.server[leader].state == LEADER, 2 * served > self.b.servers)

        return Or(*(works(leader) for leader in self.all(Voter)))

    def watch_askers(self, s: StateView) -> None:
        """Forget of those who ask, or stand, that a leader has worked since, where none does, or they ask no more."""
        works = self.a_leader_works(s)
        for j in self.all(Voter):
            me = s.server[j]
            me.asks_beside = And(me.asks_beside, works, one_of(me.state, PROSPECTIVE, CANDIDATE))

    def give_up(self, me: RecordView) -> None:
        """Follow the leader that one knows, or know none. Kafka: prospectiveTransitionAfterElectionLoss."""
        me.state = If(me.leader.is_some(), FOLLOWER, If(me.voted_for.is_some(), VOTED, UNATTACHED))

    def come_back_since_996(self, me: RecordView, i: Voter) -> None:
        """Who restarts and has voted for itself is a candidate, even if it knew its leader; nobody asks any more.

        But with `restart_as=follower` it follows the leader that it knew. Kafka: QuorumState.initialize.
        """
        leads = one_of(me.state, LEADER, RESIGNED)
        if self.restart_as is RestartAs.FOLLOWER:
            leads = Or(leads, me.leader.is_some())
        with when(me.state == PROSPECTIVE):
            self.give_up(me)
        with when(And(Not(leads), me.voted_for == i)):
            me.state, me.leader = CANDIDATE, NONE
        me.has_fetched, me.asks_beside = False, False

    def settle_prospects(self, s: StateView, i: Voter, epoch: Num) -> None:
        """Forget what a server that was in that epoch does not need any more, and what it would only discard."""
        me = s.server[i]
        asks, stands, moved = me.state == PROSPECTIVE, me.state == CANDIDATE, me.epoch != epoch
        with when(Not(Or(asks, stands))):
            me.votes = set_of([])
        with when(Not(asks)):
            forget_answers_to_pre_votes(s, i, self.beside(i))
        with when(Or(moved, Not(stands))):
            s.invalid[i], s.too_early[i] = set_of([]), set_of([])
        with when(Or(me.state == LEADER, And(moved, Not(one_of(me.state, CANDIDATE, VOTED))))):
            me.voted_for = NONE
        with when(Or(moved, me.state != FOLLOWER)):
            me.has_fetched = False
        for j, is_other in self.beside(i):
            drop_late(s, i, j, is_other, PROSPECTIVE)
            drop_late(s, j, i, is_other, PROSPECTIVE)
