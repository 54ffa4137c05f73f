"""KRaft with voters that come and go (KIP-853), as the module kraft_kip_853 of Vanlightly/kafka-tlaplus has it.

Pairs of servers that cannot reach each other are left out, and with them what the module has for liveness alone: a
BeginQuorumEpoch that is sent again, and how the last fetch went. So is the fetch that a new server sends when it is
started, whose answer nobody takes. Of a record that changes the voters there is who came or went; which voters there
are then is what the log says.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from insync.kafka.published.quorum.elections import Ballot
from insync.kafka.published.quorum.fetches import Result
from insync.kafka.published.quorum.voter import Value, Voter, Voters
from insync.kafka.published.quorum.voter_log import FIRST_EPOCH
from insync.kafka.quorum.mail import Answers
from insync.kafka.quorum.member_elections import MemberElections
from insync.kafka.quorum.member_fetches import MemberFetches
from insync.kafka.quorum.member_mail import MemberMail
from insync.kafka.quorum.member_prospects import MemberProspects
from insync.kafka.quorum.member_replies import MemberReplies
from insync.kafka.quorum.members import MemberCounting, MemberPlace, MemberRestart, MemberRules, Members
from insync.kafka.quorum.message_sets import LedEpoch, MessageSets, between
from insync.kafka.quorum.reconfiguration import Reconfiguration
from insync.model import (
    NONE,
    Bool,
    BoundValues,
    Int,
    Option,
    Range,
    Record,
    Setting,
    Settings,
    State,
    StateView,
    Switch,
    UserError,
    action,
    require,
    when,
)

__all__ = ["Kraft853"]


SETTINGS = Settings(
    answers=Setting(Answers.ALL, "which answers a server takes, as in kraft"),
    hearing=Setting(
        MemberRules.PUBLISHED, "what a server keeps when it hears anew, and what it takes from a leader that is news"
    ),
    ballots=Setting(MemberRules.PUBLISHED, "what a vote request of an epoch that is over does"),
    counting=Setting(
        MemberCounting.PUBLISHED,
        "whom a leader counts and answers, and whether a single voter leads; with `leader` it counts itself as well "
        "where it is no voter",
    ),
    leaving=Setting(MemberRules.PUBLISHED, "what becomes of who led, and of an observer that waits no longer"),
    pre_votes=Setting(
        Switch.OFF, "whether a voter asks whether it would be elected, before it stands (KIP-996), as Kafka since 4.0"
    ),
    restart_as=Setting(
        MemberRestart.KAFKA, "as what a follower restarts that has voted for itself (with pre_votes): as Kafka has it"
    ),
)


_SINCE_996: Mapping[str, Enum] = {
    "answers": Answers.AWAITED,
    **dict.fromkeys(("hearing", "ballots", "leaving"), MemberRules.KAFKA),
}
"""What pre-votes take: what they do was told from Kafka, which has these rules."""


class Kraft853(
    MemberReplies,
    MemberProspects,
    MemberMail,
    MessageSets,
    MemberElections,
    Reconfiguration,
    MemberFetches,
    Members,
    Voters,
):
    """KIP-853, as published unless a setting says otherwise: voters are added and removed by records of the log.

    They are known by their disks.
    """

    name = "kraft_853"
    settings = SETTINGS
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
        rules = self.b.settings
        self.only_awaited = rules.answers is Answers.AWAITED
        self.hears_as_kafka = rules.hearing is MemberRules.KAFKA
        self.ballots_as_kafka = rules.ballots is MemberRules.KAFKA
        self.counts_as_kafka = rules.counting is MemberCounting.KAFKA
        self.counts_itself = rules.counting is MemberCounting.LEADER
        self.resigns_as_observer = rules.leaving is MemberRules.KAFKA
        self.pre_votes, self.restart_as = rules.pre_votes, rules.restart_as
        published = [name for name, value in _SINCE_996.items() if getattr(rules, name) is not value]
        if self.pre_votes and published:
            settings = ", ".join(f"{name}={value.value}" for name, value in _SINCE_996.items())
            message = (
                f"pre_votes=on is what Kafka does since 4.0, and {published[0]} is as published. "
                f"Give {settings} as well, or leave pre_votes out."
            )
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
            votes=between(ballot, 1 if self.only_awaited else b.epochs + 1),
            begins=between(LedEpoch, b.epochs),
            fetches=between(fetch, self.rounds if self.only_awaited else 2 * self.rounds),
            replies=between(reply, 1 if self.only_awaited else 3 * self.rounds),
            **self.asked(b),
        )

    def voter(self, highest: int, states: type[Enum], asked: type[Range], **more: Any) -> Record:
        """Lay out what one server knows; with pre-votes it is more."""
        return super().voter(highest, states, asked, **more, **self.asking(self.b))

    def initial(self, s: StateView) -> None:
        """As published; with pre-votes it shows that all have voted for the leader, and fetched from it."""
        super().initial(s)
        first, *others = self.all(Voter)[: self.b.servers - self.b.spares]
        for i in others if self.pre_votes else ():
            s.server[i].voted_for, s.server[i].fetched_in = first, FIRST_EPOCH

    def forget_answers(self, s: StateView, i: Voter) -> None:
        """Drop what a server waits for no longer, and what it would only discard."""
        super().forget_answers(s, i)
        if self.pre_votes:
            self.settle_prospects(s, i)

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
        if self.pre_votes:
            self.answer_vote_request(s, i, candidate, epoch, offset, record_epoch)
        else:
            ballot = self.vote(s.server[i], candidate, epoch, offset, record_epoch)
            with when(self.awaits_vote(s.server[candidate], epoch)):
                s.votes[i][candidate].add(ballot.message)
        self.forget_answers(s, i)

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
        self.forget_answers(s, i)

    @action(label="{i} hears that {leader} leads epoch {epoch}")
    def handle_begin_quorum(self, s: StateView, i: Voter, leader: Voter, epoch: LedEpoch) -> None:
        """A server hears of a leader. TLA+: AcceptBeginQuorumRequest."""
        self.receive(s, "begins", i, leader, epoch)
        self.hear_of_leader(s.server[i], i, leader, epoch)
        self.forget_answers(s, i)

    @action(label="{i} stands for election")
    def request_vote(self, s: StateView, i: Voter) -> None:
        """A voter begins the next epoch, and waits for no former answer."""
        require(not self.pre_votes)
        super().request_vote(s, i)
        self.forget_answers(s, i)

    @action(label="{i} leads")
    def become_leader(self, s: StateView, i: Voter) -> None:
        """A candidate with the votes of a majority leads, and waits for no other."""
        super().become_leader(s, i)
        self.forget_answers(s, i)

    @action(label="{i} waits for no answer to its fetch any more")
    def observer_fetch_timeout(self, s: StateView, i: Voter) -> None:
        """An observer gives up its fetch, or its leader as well."""
        super().observer_fetch_timeout(s, i)
        self.forget_answers(s, i)

    @action(label="{i} restarts")
    def restart(self, s: StateView, i: Voter) -> None:
        """A server comes back, and waits for nothing that it asked before."""
        super().restart(s, i)
        self.forget_answers(s, i)
