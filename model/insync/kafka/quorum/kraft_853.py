"""KRaft with voters that come and go (KIP-853), as the module kraft_kip_853 of Vanlightly/kafka-tlaplus has it.

Pairs of servers that cannot reach each other are left out, and with them what the module has for liveness alone: a
BeginQuorumEpoch that is sent again, and how the last fetch went. So is the fetch that a new server sends when it is
started, whose answer nobody takes. Of a record that changes the voters there is who came or went; which voters there
are then is what the log says.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from insync.kafka.quorum.elections import Ballot
from insync.kafka.quorum.fetches import Result
from insync.kafka.quorum.mail import Answers
from insync.kafka.quorum.member_elections import MemberElections
from insync.kafka.quorum.member_fetches import MemberFetches, MemberReply
from insync.kafka.quorum.member_mail import MemberMail
from insync.kafka.quorum.members import HeardEpoch, MemberCounting, MemberPlace, MemberRules, Members
from insync.kafka.quorum.message_sets import LedEpoch, MessageSets, between
from insync.kafka.quorum.reconfiguration import Reconfiguration
from insync.kafka.quorum.voter import Value, Voter, Voters
from insync.model import (
    NONE,
    Bool,
    BoundValues,
    If,
    Int,
    Option,
    Record,
    Setting,
    Settings,
    State,
    StateView,
    UserError,
    action,
    record,
    require,
    when,
)

__all__ = ["Kraft853"]


class Asker(Enum):
    """What one who fetches takes itself for."""

    VOTER = "voter"
    OBSERVER = "observer"


class Sender(Enum):
    """Whether the leader that answers a fetch leads on, or has left by what the fetch has committed."""

    LEADER = "leader"
    FORMER_LEADER = "former leader"


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
)


class Kraft853(MemberMail, MessageSets, MemberElections, Reconfiguration, MemberFetches, Members, Voters):
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

    # --------------------------------------------------------------------------------------------------- replication

    @action(label="{i} answers the fetch of {asker} {follower} from {offset}@{record_epoch}, epoch {epoch}")
    def handle_fetch(
        self,
        s: StateView,
        i: Voter,
        follower: Voter,
        epoch: HeardEpoch,
        offset: MemberPlace,
        record_epoch: LedEpoch,
        asker: Asker,
    ) -> None:
        """A server answers a fetch. TLA+: RejectFetchRequest, DivergingFetchRequest, AcceptFetchRequestFrom..."""
        self.request(epoch, offset, record_epoch)
        self.answer(s, i, follower, epoch, offset, record_epoch, observer=asker is Asker.OBSERVER)

    @action(label="{i} answers the fetch of {follower}, which has nothing yet, epoch {epoch}")
    def handle_first_fetch(self, s: StateView, i: Voter, follower: Voter, epoch: HeardEpoch) -> None:
        """A server answers the fetch of a new one. TLA+: as handle_fetch."""
        self.answer(s, i, follower, epoch, 0, 0, observer=not self.counts_as_kafka)

    def answer(
        self, s: StateView, i: Voter, follower: Voter, epoch: int, offset: int, record_epoch: int, *, observer: bool
    ) -> None:
        """Take a fetch, and send the response to it."""
        request = record(epoch=epoch, offset=offset, last_epoch=record_epoch, observer=observer)
        self.receive(s, "fetches", i, follower, request)
        reply = self.answer_fetch(s, i, follower, epoch, offset, record_epoch, observer)
        with when(self.awaits_reply(s.server[follower], i, epoch, offset, record_epoch)):
            s.replies[i][follower].add(reply.message(request))

    @action(label="{i} receives {value}@{record_epoch} from {sender} {source}, HW {high_watermark}")
    def handle_record(
        self,
        s: StateView,
        i: Voter,
        source: Voter,
        high_watermark: MemberPlace,
        record_epoch: LedEpoch,
        value: Value,
        sender: Sender,
    ) -> None:
        """A server appends a value. TLA+: HandleFetchResponse."""
        self.handle_accepted(s, i, source, Result.RECORD, sender, high_watermark, record_epoch, value=value)

    @action(label="{i} receives the first record of epoch {record_epoch} from {sender} {source}, HW {high_watermark}")
    def handle_leader_change(
        self, s: StateView, i: Voter, source: Voter, high_watermark: MemberPlace, record_epoch: LedEpoch, sender: Sender
    ) -> None:
        """A server appends the first record of all, or that with which a leader began. TLA+: HandleFetchResponse."""
        self.handle_accepted(s, i, source, Result.RECORD, sender, high_watermark, record_epoch)

    @action(label="{i} receives from {sender} {source} that {new} is added @{record_epoch}, HW {high_watermark}")
    def handle_addition(
        self,
        s: StateView,
        i: Voter,
        source: Voter,
        high_watermark: MemberPlace,
        record_epoch: LedEpoch,
        new: Voter,
        sender: Sender,
    ) -> None:
        """A server appends that a voter is added. TLA+: HandleFetchResponse."""
        require(self.b.additions > 0)
        self.handle_accepted(s, i, source, Result.RECORD, sender, high_watermark, record_epoch, added=new)

    @action(label="{i} receives from {sender} {source} that {old} is removed @{record_epoch}, HW {high_watermark}")
    def handle_removal(
        self,
        s: StateView,
        i: Voter,
        source: Voter,
        high_watermark: MemberPlace,
        record_epoch: LedEpoch,
        old: Voter,
        sender: Sender,
    ) -> None:
        """A server appends that a voter is removed. TLA+: HandleFetchResponse."""
        require(self.b.removals > 0)
        self.handle_accepted(s, i, source, Result.RECORD, sender, high_watermark, record_epoch, removed=old)

    @action(label="{i} receives nothing new from {sender} {source}, HW {high_watermark}")
    def handle_nothing(
        self, s: StateView, i: Voter, source: Voter, high_watermark: MemberPlace, sender: Sender
    ) -> None:
        """A server hears of the high watermark. TLA+: HandleFetchResponse."""
        self.handle_accepted(s, i, source, Result.EMPTY, sender, high_watermark, 0)

    @action(label="{i} hears of {source} that logs part at {end}@{record_epoch}, HW {high_watermark}")
    def handle_diverging(
        self,
        s: StateView,
        i: Voter,
        source: Voter,
        high_watermark: MemberPlace,
        record_epoch: LedEpoch,
        end: MemberPlace,
    ) -> None:
        """A server cuts its log. TLA+: HandleFetchResponse."""
        self.handle_accepted(s, i, source, Result.DIVERGING, Sender.LEADER, high_watermark, record_epoch, end=end)

    @action(label="{i} hears that {source} does not lead, epoch {epoch}, HW {high_watermark}")
    def handle_not_leader(
        self, s: StateView, i: Voter, source: Voter, epoch: LedEpoch, high_watermark: MemberPlace
    ) -> None:
        """A server asked one that does not lead and knows nobody who does. TLA+: HandleFetchResponse."""
        self.handle_reply(s, i, source, MemberReply(Result.NOT_LEADER, NONE, epoch, high_watermark, 0, NONE, 0))

    @action(label="{i} hears of {source} that {leader} leads, epoch {epoch}, HW {high_watermark}")
    def handle_other_leader(
        self, s: StateView, i: Voter, source: Voter, epoch: LedEpoch, high_watermark: MemberPlace, leader: Voter
    ) -> None:
        """A server asked one that does not lead and knows who does, or did. TLA+: HandleFetchResponse."""
        self.handle_reply(s, i, source, MemberReply(Result.NOT_LEADER, leader, epoch, high_watermark, 0, NONE, 0))

    @action(label="{i} hears of {source} that its epoch is wrong, epoch {epoch}, HW {high_watermark}")
    def handle_wrong_epoch(
        self, s: StateView, i: Voter, source: Voter, epoch: LedEpoch, high_watermark: MemberPlace, fenced: bool
    ) -> None:
        """A server asked the leader of another epoch. TLA+: HandleFetchResponse."""
        error = If(fenced, Result.FENCED, Result.UNKNOWN)
        self.handle_reply(s, i, source, MemberReply(error, source, epoch, high_watermark, 0, NONE, 0))

    def handle_accepted(
        self,
        s: StateView,
        i: Voter,
        source: Voter,
        result: Result,
        sender: Sender,
        high_watermark: int,
        epoch: int,
        value: Any = NONE,
        end: int = 0,
        added: Any = NONE,
        removed: Any = NONE,
    ) -> None:
        """Take a response of the leader of the epoch in which the fetch was sent, which leaves with it or does not."""
        require(self.b.removals > 0 or sender is Sender.LEADER)
        asked, leader = s.server[i].pending.value.epoch, source if sender is Sender.LEADER else NONE
        reply = MemberReply(result, leader, asked, high_watermark, epoch, value, end, added, removed)
        self.handle_reply(s, i, source, reply)

    def handle_reply(self, s: StateView, i: Voter, source: Voter, reply: MemberReply) -> None:
        """Take the response to the fetch that is under way; others stay until the same fetch is under way again."""
        me = s.server[i]
        require(me.pending.is_some(), me.pending.value.to == source)
        self.receive(s, "replies", i, source, reply.message(self.fetch_of(me, me.pending.value.epoch)))
        self.take_reply(s, i, reply)
        self.forget_answers(s, i)
