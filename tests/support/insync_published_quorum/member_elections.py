"""How the quorum elects where voters come and go: who stands, votes and leads counts the voters of its own log.

These are the actions of the module kraft_kip_853 for safety, in which a timeout needs no reason: a voter stands for
election and a leader resigns whenever it likes.
"""

from __future__ import annotations

from insync.kafka.published.quorum.elections import Ballot
from insync.kafka.published.quorum.voter import Voter
from insync.kafka.published.quorum.voter_log import is_later, last_epoch
from insync.model import (
    NONE,
    And,
    Condition,
    If,
    Not,
    Or,
    RecordView,
    SetValue,
    StateView,
    action,
    require,
    set_of,
    when,
)
from insync_published_quorum import member_transitions as to
from insync_published_quorum.actor import PublishedActor
from insync_published_quorum.members import MemberState, Role

__all__ = ["MemberElections"]

LEADER, CANDIDATE = MemberState.LEADER, MemberState.CANDIDATE


class MemberElections(PublishedActor):
    """The steps of an election, but for how a request or response is taken from the network."""

    # ------------------------------------------------------------------------------------------- what a network does

    def ask_for_votes(self, s: StateView, i: Voter) -> None:
        """Send a vote request with the epoch and log end of a server to the other voters that it knows."""
        raise NotImplementedError

    def announce(self, s: StateView, i: Voter, voters: SetValue) -> None:
        """Tell these voters but itself who leads the epoch."""
        raise NotImplementedError

    def cut_off(self, s: StateView, i: Voter) -> None:
        """Lose all messages to a server and from it."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------------------- actions

    @action(label="{i} stands for election")
    def request_vote(self, s: StateView, i: Voter) -> None:
        """A voter begins the next epoch, votes for itself and asks the others.

        TLA+: SendRequestVote. Kafka: KafkaRaftClient.transitionToCandidate.
        """
        me = s.server[i]
        require(me.role == Role.VOTER, me.state != LEADER, me.state != MemberState.ILLEGAL)
        require(me.members.contains(i), me.epoch < self.b.epochs)
        self.stand(s, i)

    def stand(self, s: StateView, i: Voter) -> None:
        """Begin an epoch, vote for oneself and ask the others."""
        me = s.server[i]
        to.become(me, to.stands(me, i))
        self.forget_fetch(me)
        self.ask_for_votes(s, i)

    @action(label="{i} leads")
    def become_leader(self, s: StateView, i: Voter) -> None:
        """A candidate with the votes of a majority leads, writes a record of it, and says so.

        The module has the high watermark both moved and left as it is where there is one voter, which never leads then.
        TLA+: BecomeLeader.
        """
        me = s.server[i]
        require(me.state == CANDIDATE, self.is_quorum(me.votes, me.members))
        require(me.members.count() > 1)
        to.become(me, to.leader(me, i))
        self.append(me)
        self.track_anew(me, me.members)
        self.forget_fetch(me)
        self.announce(s, i, me.members)

    @action(label="{i} resigns")
    def resign(self, s: StateView, i: Voter) -> None:
        """A leader believes that too few can follow. TLA+: CheckQuorumResign. Kafka: KafkaRaftClient.pollLeader."""
        me = s.server[i]
        require(me.state == LEADER)
        to.become(me, to.either(me.role == Role.VOTER, to.resigned(me), to.observer(me.epoch)))

    @action(label="{i} waits for no answer to its fetch any more")
    def observer_fetch_timeout(self, s: StateView, i: Voter) -> None:
        """An observer gives its leader up, also if that is itself. TLA+: ObserverFetchTimeout."""
        me = s.server[i]
        require(me.role == Role.OBSERVER)
        to.become(me, to.observer(me.epoch))
        self.forget_fetch(me)

    @action(label="{i} restarts")
    def restart(self, s: StateView, i: Voter) -> None:
        """A server comes back with its epoch, its vote, its log and its configuration; who led has resigned.

        A leader that is an observer forgets its vote and keeps it, in the module, so it restarts only without one.
        TLA+: RestartWithState.
        """
        me = s.server[i]
        led = me.state == LEADER
        require(s.restarts < self.b.restarts, self.is_started(me))
        s.restarts += 1
        acting = And(led, me.role == Role.OBSERVER)
        require(Not(And(acting, me.voted_for.is_some())))
        booted = to.either(acting, to.observer(me.epoch), to.either(led, to.resigned(me), to.unchanged(me)))
        to.become(me, booted)
        me.high_watermark = 0
        me.fetched = dict.fromkeys(self.all(Voter), 0)
        self.forget_fetch(me)
        me.unanswered = set_of([])

    @action(label="{i} loses its disk for good")
    def lose_disk(self, s: StateView, i: Voter) -> None:
        """A voter dies. Whoever comes in its place is another server (KIP-853: directory ids). TLA+: CrashLoseState."""
        me = s.server[i]
        require(s.crashes < self.b.crashes, me.role == Role.VOTER)
        s.crashes += 1
        to.become(me, to.Step(MemberState.DEAD, 0, NONE, set_of([]), NONE))
        me.role, me.members, me.committed = Role.NONE, set_of([]), False
        self.cut(me, 0)
        me.high_watermark = 0
        self.track_anew(me, me.members)
        self.forget_fetch(me)
        me.unanswered = set_of([])
        self.cut_off(s, i)

    # --------------------------------------------------------------------------------------------------------- rules

    def forget_fetch(self, me: RecordView) -> None:
        """Wait for no answer any more (TLA+: ResetFetchState)."""
        me.pending = NONE

    def is_quorum(self, servers: SetValue, members: SetValue) -> Condition:
        """Whether these are voters and a majority of them (TLA+: Quorum)."""
        return And(servers.is_subset(members), 2 * servers.count() > members.count())

    def vote(self, me: RecordView, candidate: Voter, epoch: int, end: int, end_epoch: int) -> Ballot:
        """A server, also an observer, answers a vote request.

        Who knows no leader and no candidate goes back to the epoch of a late request, and votes there without saying
        so: the module asks for the epoch only when it answers. TLA+: HandleVoteRequest.
        """
        fenced = epoch < me.epoch
        now = to.either(epoch > me.epoch, to.unattached(me, epoch), to.unchanged(me))
        free = now.state == MemberState.UNATTACHED
        again = And(now.state == MemberState.VOTED, me.voted_for == candidate)
        grants = And(Or(free, again), Not(is_later(last_epoch(me), me.end, end_epoch, end)))
        then = to.either(And(grants, free), to.voted(now, epoch, candidate), now)
        ballot = Ballot(If(fenced, me.epoch, epoch), then.leader, And(Not(fenced), grants), fenced)
        with when(And(Not(fenced), then.state != me.state)):
            self.forget_fetch(me)
            me.unanswered = set_of([])
        to.become(me, then)
        return ballot

    def count_vote(self, me: RecordView, i: Voter, voter: Voter, ballot: Ballot) -> None:
        """A voter counts a vote that it has asked for, or hears of a newer epoch or of the leader.

        TLA+: HandleVoteResponse. Kafka: KafkaRaftClient.handleVoteResponse.
        """
        require(me.role == Role.VOTER)
        there, handled = to.heard(me, i, ballot.leader, ballot.epoch, ballot.fenced)
        counted = And(Not(handled), me.state == CANDIDATE, ballot.granted)
        to.become(me, there)
        with when(counted):
            me.votes = me.votes | {voter}

    def hear_of_leader(self, me: RecordView, i: Voter, leader: Voter, epoch: int) -> None:
        """A server, also an observer, hears who leads an epoch that is not over.

        TLA+: AcceptBeginQuorumRequest. Kafka: KafkaRaftClient.handleBeginQuorumEpochRequest.
        """
        require(epoch >= me.epoch)
        there = to.maybe_transition(me, i, leader, epoch)
        self.forget_fetch(me)
        me.unanswered = set_of([])
        to.become(me, there)
