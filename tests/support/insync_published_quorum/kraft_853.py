"""KRaft with voters that come and go (KIP-853), as the module kraft_kip_853 of Vanlightly/kafka-tlaplus has it.

Pairs of servers that cannot reach each other are left out, and with them what the module has for liveness alone: a
BeginQuorumEpoch that is sent again, and how the last fetch went. So is the fetch that a new server sends when it is
started, whose answer nobody takes. Of a record that changes the voters there is who came or went; which voters there
are then is what the log says.
"""

from __future__ import annotations

from enum import Enum

from insync.kafka.published.quorum.elections import Ballot
from insync.kafka.published.quorum.fetches import Result
from insync.kafka.published.quorum.voter import Value, Voter, Voters
from insync.model import (
    NONE,
    Bool,
    BoundValues,
    Int,
    Option,
    Record,
    State,
    StateView,
    UserError,
    action,
)
from insync_published_quorum.member_elections import MemberElections
from insync_published_quorum.member_fetches import MemberFetches
from insync_published_quorum.member_mail import MemberMail
from insync_published_quorum.member_replies import MemberReplies
from insync_published_quorum.members import MemberPlace, Members
from insync_published_quorum.message_sets import LedEpoch, MessageSets, between
from insync_published_quorum.reconfiguration import Reconfiguration

__all__ = ["Kraft853"]


class Kraft853(
    MemberReplies,
    MemberMail,
    MessageSets,
    MemberElections,
    Reconfiguration,
    MemberFetches,
    Members,
    Voters,
):
    """KIP-853 as published: voters are added and removed by records of the log.

    They are known by their disks.
    """

    name = "kraft_853"
    headline = (
        "leader_has_all_acknowledged_values",
        "acknowledged_values_stay_with_a_voter",
        "no_log_divergence",
        "never_two_leaders_in_an_epoch",
        "no_illegal_state",
        "states_match_roles",
    )

    def __init__(self, **chosen: int | str | Enum) -> None:
        super().__init__(**chosen)
        if self.b.spares >= self.b.servers:
            message = f"spares {self.b.spares} is too many: one of the {self.b.servers} servers must be a voter."
            raise UserError(message)

    def declare(self, b: BoundValues) -> State:
        """Lay out the state: the servers, and the messages by kind, sender and receiver."""
        epoch, offset = Int(0, b.epochs), Int(0, self.capacity)
        position = Record(epoch=epoch, offset=offset, last_epoch=epoch)
        fetch = Record(epoch=epoch, offset=offset, last_epoch=epoch, observer=Bool)
        ballot = Record(epoch=epoch, leader=Option(Voter), granted=Bool, fenced=Bool)
        reply = Record(
            result=Result,
            leader=Option(Voter),
            epoch=epoch,
            high_watermark=offset,
            record_epoch=epoch,
            value=Option(Value),
            end=offset,
            added=Option(Voter),
            removed=Option(Voter),
            request=fetch,
        )
        return State(
            **self.voters(b),
            vote_requests=between(position, b.epochs),
            votes=between(ballot, b.epochs + 1),
            begins=between(LedEpoch, b.epochs),
            fetches=between(fetch, 2 * self.rounds),
            replies=between(reply, 3 * self.rounds),
        )

    @property
    def rounds(self) -> int:
        """How often a server can fetch anew of another in another epoch, role or life.

        There may be two fetches of each, as a log has grown meanwhile, and three answers, as the high watermark has;
        more would be reported as a violation of type_ok.
        """
        return self.b.epochs + self.b.restarts + self.b.additions + self.b.removals + 1

    # ----------------------------------------------------------------------------------------------------- elections

    @action(label="{i} answers the vote request of {candidate}@{epoch}")
    def handle_vote_request(
        self, s: StateView, i: Voter, candidate: Voter, epoch: LedEpoch, offset: MemberPlace, record_epoch: LedEpoch
    ) -> None:
        """A server answers a vote request. TLA+: HandleVoteRequest."""
        request = self.request(epoch, offset, record_epoch)
        self.receive(s, "vote_requests", i, candidate, request)
        ballot = self.vote(s.server[i], candidate, epoch, offset, record_epoch)
        s.votes[i][candidate].add(ballot.message)

    @action(label="{i} gets the vote of {voter} for epoch {epoch}")
    def handle_vote(self, s: StateView, i: Voter, voter: Voter, epoch: LedEpoch) -> None:
        """A candidate hears that a server has voted for it. TLA+: HandleVoteResponse."""
        self.handle_ballot(s, i, voter, Ballot(epoch, NONE, True, False))

    @action(label="{i} hears of {voter} no vote, epoch {epoch}")
    def handle_refusal(self, s: StateView, i: Voter, voter: Voter, epoch: LedEpoch, fenced: bool) -> None:
        """A candidate hears that a server does not vote for it. TLA+: HandleVoteResponse."""
        self.handle_ballot(s, i, voter, Ballot(epoch, NONE, False, fenced))

    @action(label="{i} hears of {voter} no vote, epoch {epoch}, {leader} leads")
    def handle_refusal_naming(
        self, s: StateView, i: Voter, voter: Voter, epoch: LedEpoch, fenced: bool, leader: Voter
    ) -> None:
        """A candidate hears that a server does not vote for it, and who leads. TLA+: HandleVoteResponse."""
        self.handle_ballot(s, i, voter, Ballot(epoch, leader, False, fenced))

    def handle_ballot(self, s: StateView, i: Voter, voter: Voter, ballot: Ballot) -> None:
        """Take a response to a vote request."""
        self.receive(s, "votes", i, voter, ballot.message)
        self.count_vote(s.server[i], i, voter, ballot)

    @action(label="{i} hears that {leader} leads epoch {epoch}")
    def handle_begin_quorum(self, s: StateView, i: Voter, leader: Voter, epoch: LedEpoch) -> None:
        """A server hears of a leader. TLA+: AcceptBeginQuorumRequest."""
        self.receive(s, "begins", i, leader, epoch)
        self.hear_of_leader(s.server[i], i, leader, epoch)
