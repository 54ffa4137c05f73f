"""How the quorum elects since KIP-996: whoever hears of no leader first asks whether it would be elected.

That costs no epoch, and servers that fetch from a leader refuse, so a server that was cut off deposes nobody when it is
back.
"""

from __future__ import annotations

from insync.kafka.published.quorum.elections import Ballot
from insync.kafka.published.quorum.voter import Voter
from insync.kafka.published.quorum.voter_log import append, is_later, last_epoch
from insync.model import (
    NONE,
    And,
    Condition,
    If,
    Not,
    Or,
    RecordView,
    StateView,
    action,
    count,
    one_of,
    require,
    when,
)
from insync_published_quorum import pre_vote_transitions as to
from insync_published_quorum.actor import PublishedActor
from insync_published_quorum.pre_vote_rules import grants_pre_vote, grants_vote
from insync_published_quorum.pre_voter import PreVoterState

__all__ = ["PreVotes"]

CANDIDATE, FOLLOWER, LEADER = PreVoterState.CANDIDATE, PreVoterState.FOLLOWER, PreVoterState.LEADER
PROSPECTIVE, RESIGNED, UNATTACHED = PreVoterState.PROSPECTIVE, PreVoterState.RESIGNED, PreVoterState.UNATTACHED


class PreVotes(PublishedActor):
    """The steps of an election, but for how a request or response is taken from the network."""

    # ------------------------------------------------------------------------------------------- what a network does

    def ask(self, s: StateView, i: Voter, *, pre_vote: bool) -> None:
        """Send a vote request with the epoch and log end of a server to everybody else."""
        raise NotImplementedError

    def is_asking(self, s: StateView, i: Voter, *, pre_vote: bool) -> Condition:
        """Whether vote requests of a server, or responses to it, are on their way (HasInflightVoteReq, ..Res)."""
        raise NotImplementedError

    def announce(self, s: StateView, i: Voter) -> None:
        """Tell everybody else who leads the epoch."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------------------ timeouts

    @action(label="{i} waits for no answer to its fetch any more")
    def fetch_timeout(self, s: StateView, i: Voter) -> None:
        """A follower hears nothing of its leader: its last fetch failed, or it is one of the disruptions.

        TLA+: VoterFetchTimeout. Kafka: KafkaRaftClient.pollFollowerAsVoter.
        """
        me = s.server[i]
        failing = self.fetch_fails(me)
        require(me.state == FOLLOWER)
        self.count_disruption(s, failing)
        self.begin(s, i)

    @action(label="{i} waits for no leader any more")
    def election_timeout(self, s: StateView, i: Voter) -> None:
        """A candidate that can no longer win, or who knows no leader, begins anew; else it is a disruption.

        TLA+: VoterElectionTimeout. Kafka: KafkaRaftClient.pollCandidate, pollUnattachedAsVoter.
        """
        me = s.server[i]
        lost = And(me.state == CANDIDATE, Not(self.is_asking(s, i, pre_vote=False)), Not(self.is_majority(me.votes)))
        require(one_of(me.state, CANDIDATE, UNATTACHED))
        self.count_disruption(s, Or(lost, me.state == UNATTACHED))
        self.begin(s, i)

    @action(label="{i} has resigned long enough")
    def resigned_timeout(self, s: StateView, i: Voter) -> None:
        """Who has resigned goes on to the next epoch. TLA+: ResignedElectionTimeout. Kafka: pollResigned."""
        me = s.server[i]
        require(me.state == RESIGNED)
        to.become(me, to.unattached(me, me.epoch + 1))

    @action(label="{i} resigns")
    def resign(self, s: StateView, i: Voter) -> None:
        """A leader that too few can follow resigns, because others are in later epochs; else it is a disruption.

        TLA+: CheckQuorumResign. Kafka: LeaderState.timeUntilCheckQuorumExpires.
        """
        me = s.server[i]
        require(me.state == LEADER)
        self.count_disruption(s, self.should_resign(s, i))
        to.become(me, to.resigned(me, i))
        me.fetched = dict.fromkeys(self.all(Voter), 0)

    def count_disruption(self, s: StateView, caused: Condition) -> None:
        """Require a reason, or one more disruption (TLA+: AUX_UnderDisruptionLimit, AUX_IncTimeoutCtrs)."""
        require(Or(caused, s.disruptions < self.b.disruptions))
        with when(Not(caused)):
            s.disruptions += 1

    def should_resign(self, s: StateView, i: Voter) -> Condition:
        """Whether fewer than half of the others are in the leader's epoch or an earlier one (TLA+: ShouldResign)."""
        me = s.server[i]
        with_it = count(self.all(Voter), lambda j: And(j != i, s.server[j].epoch <= me.epoch))
        return with_it < self.b.servers // 2

    def fetch_fails(self, me: RecordView) -> Condition:
        """Whether the last answer to a fetch was an error of whom the server takes for its leader.

        TLA+: FetchCanTimeout, whose other case, that the fetch or its answer was lost, needs a network that loses.
        """
        last = me.answered
        return And(last.is_some(), last.value.error.is_some(), me.leader == last.value.by)

    # ----------------------------------------------------------------------------------------------------- elections

    def begin(self, s: StateView, i: Voter) -> None:
        """Ask whether one would be elected."""
        me = s.server[i]
        self.forget_fetches(s, i)
        to.become(me, to.prospective(me, i))
        self.ask(s, i, pre_vote=True)

    def stand(self, s: StateView, i: Voter) -> None:
        """Begin the next epoch as a candidate."""
        me = s.server[i]
        require(me.epoch < self.b.epochs)
        to.become(me, to.candidate(me, i))
        self.ask(s, i, pre_vote=False)

    @action(label="{i} stands for election")
    def stand_for_election(self, s: StateView, i: Voter) -> None:
        """Who would be elected by a majority begins an epoch. TLA+: ConcludePreVote. Kafka: transitionToCandidate."""
        me = s.server[i]
        require(me.state == PROSPECTIVE, self.is_majority(me.votes))
        self.stand(s, i)

    @action(label="{i} does not stand for election")
    def give_up(self, s: StateView, i: Voter) -> None:
        """Who would not be elected follows the leader that it knows, or knows none.

        TLA+: ConcludePreVote. Kafka: KafkaRaftClient.pollProspective.
        """
        me = s.server[i]
        over = Not(self.is_asking(s, i, pre_vote=True))
        require(me.state == PROSPECTIVE, me.epoch < self.b.epochs, over, Not(self.is_majority(me.votes)))
        follows = to.follower(me, i, me.leader, me.epoch)
        to.become(me, to.either(me.leader.is_some(), follows, to.unattached(me, me.epoch)))

    @action(label="{i} leads")
    def become_leader(self, s: StateView, i: Voter) -> None:
        """A candidate with the votes of a majority leads, writes a record of it, and says so.

        TLA+: BecomeLeader. Kafka: KafkaRaftClient.maybeTransitionToLeader.
        """
        me = s.server[i]
        require(me.state == CANDIDATE, self.is_majority(me.votes))
        to.become(me, to.leader(me, i))
        append(me, me.epoch, NONE)
        me.fetched = dict.fromkeys(self.all(Voter), 0)
        self.forget_fetches(s, i)
        self.announce(s, i)

    @action(label="{i} restarts")
    def restart(self, s: StateView, i: Voter) -> None:
        """A server comes back with its epoch, its vote and its log: who led has resigned, who was asking is Unattached.

        TLA+: RestartWithState. Kafka: QuorumState.initialize.
        """
        me = s.server[i]
        require(s.restarts < self.b.restarts)
        s.restarts += 1
        booted = to.either(me.state == PROSPECTIVE, to.boot_time_unattached(me), to.unchanged(me))
        to.become(me, to.either(me.state == LEADER, to.resigned(me, i), booted))
        me.high_watermark = 0
        me.fetched = dict.fromkeys(self.all(Voter), 0)
        self.forget_fetches(s, i)

    # --------------------------------------------------------------------------------------------------------- rules

    def vote(
        self, s: StateView, i: Voter, candidate: Voter, epoch: int, end: int, end_epoch: int, *, pre_vote: bool
    ) -> Ballot:
        """A server answers a vote request, and goes on to its epoch, be it a pre-vote or not.

        TLA+: HandleVoteRequest. Kafka: KafkaRaftClient.handleVoteRequest.
        """
        me = s.server[i]
        fenced = epoch < me.epoch
        now = to.either(epoch > me.epoch, to.unattached(me, epoch), to.unchanged(me))
        behind = is_later(last_epoch(me), me.end, end_epoch, end)
        grants = self.grants_pre_vote(me, now, behind) if pre_vote else self.grants_vote(now, candidate, behind)
        then = now if pre_vote else to.either(grants, to.voted(now, candidate), now)
        ballot = Ballot(
            If(fenced, me.epoch, epoch), If(fenced, me.leader, then.leader), And(Not(fenced), grants), fenced
        )
        with when(And(Not(fenced), then.state != me.state)):
            self.forget_fetches(s, i)
        with when(Not(fenced)):
            to.become(me, then)
        return ballot

    def grants_pre_vote(self, me: RecordView, now: to.Step, behind: Condition) -> Condition:
        """Whether it would vote: if it follows nobody, or nobody from whom it could fetch yet (TLA+: GrantPreVote)."""
        free = one_of(now.state, UNATTACHED, PROSPECTIVE, CANDIDATE, RESIGNED)
        return grants_pre_vote(free, now.state == FOLLOWER, me.has_fetched, behind)

    def grants_vote(self, now: to.Step, candidate: Voter, behind: Condition) -> Condition:
        """Whether it votes: once in an epoch, and not where it knows the leader (TLA+: GrantVote)."""
        may = one_of(now.state, UNATTACHED, PROSPECTIVE)
        return grants_vote(may, now.leader, now.voted_for, candidate, behind)

    def count_vote(self, me: RecordView, i: Voter, voter: Voter, ballot: Ballot, *, pre_vote: bool) -> None:
        """A server counts a vote that it has asked for, or hears of a newer epoch or of the leader.

        TLA+: HandleVoteResponse, MaybeLoseLeadership. Kafka: KafkaRaftClient.handleVoteResponse.
        """
        there, handled = to.heard(me, i, ballot.leader, ballot.epoch, ballot.fenced, ballot.fenced)
        asks = there.state == (PROSPECTIVE if pre_vote else CANDIDATE)
        counted = And(Not(handled), asks, ballot.granted)
        with when(And(me.state == LEADER, there.state != LEADER)):
            me.fetched = dict.fromkeys(self.all(Voter), 0)
        to.become(me, there)
        with when(counted):
            me.votes = me.votes | {voter}

    def hear_of_leader(self, s: StateView, i: Voter, leader: Voter, epoch: int) -> None:
        """A server hears who leads an epoch that is not over.

        TLA+: AcceptBeginQuorumRequest. Kafka: KafkaRaftClient.handleBeginQuorumEpochRequest.
        """
        me = s.server[i]
        require(epoch >= me.epoch)
        to.become(me, to.maybe_transition(me, i, leader, epoch))
        self.forget_fetches(s, i)

    def forget_fetches(self, s: StateView, i: Voter) -> None:
        """Know nothing of fetches any more (TLA+: ResetFetchStateIfFollower, which does so for all)."""
        me = s.server[i]
        me.pending, me.answered, me.has_fetched = NONE, NONE, False
