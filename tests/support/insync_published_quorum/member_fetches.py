"""How the quorum replicates where voters come and go: who appends a change of the voters heeds it at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from insync.kafka.published.quorum.fetches import FetchReply, Result, find
from insync.kafka.published.quorum.voter import Value, Voter, Written
from insync.kafka.published.quorum.voter_log import common_end, epoch_at
from insync.model import (
    NONE,
    And,
    Condition,
    If,
    Implies,
    Not,
    Num,
    Or,
    RecordView,
    StateView,
    action,
    count,
    minimum,
    one_of,
    record,
    require,
    set_of,
    when,
)
from insync_published_quorum import member_transitions as to
from insync_published_quorum.actor import PublishedActor
from insync_published_quorum.members import MemberState, Role

__all__ = ["MemberFetches", "MemberReply"]


@dataclass(frozen=True, slots=True)
class MemberReply(FetchReply):
    """A response to a fetch, whose record may also add a voter or remove one."""

    added: Any = NONE
    removed: Any = NONE


class MemberFetches(PublishedActor):
    """The steps of replication, but for how a request or response is taken from the network."""

    def send_fetch(self, s: StateView, i: Voter, leader: Voter) -> None:
        """Send a fetch from the end of the follower's log, if its receiver lives."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------------------- actions

    @action(label="client sends {value} to {i}")
    def client_request(self, s: StateView, i: Voter, value: Value) -> None:
        """A leader appends a client's value; who is the only voter commits it, and answers nobody.

        TLA+: ClientRequest.
        """
        me = s.server[i]
        here = count(me.log, lambda entry: And(entry.epoch == me.epoch, entry.value.is_some()))
        require(value < self.b.records, self.leads(me), s.written[value] == Written.NEVER)
        require(here < self.b.records_per_epoch, me.end < self.capacity)
        self.append(me, value=value)
        me.unanswered = me.unanswered | {value}
        s.written[value] = Written.ASKED
        with when(me.members.count() == 1):
            me.high_watermark = me.end

    @action(label="{i} fetches from {leader}")
    def send_fetch_request(self, s: StateView, i: Voter, leader: Voter) -> None:
        """A server that waits for no answer fetches from its leader; an observer that knows none, from who knows one.

        TLA+: SendFetchRequest. Kafka: KafkaRaftClient.pollFollower, pollUnattached.
        """
        me = s.server[i]
        you = s.server[leader]
        follows = And(me.state == MemberState.FOLLOWER, me.leader == leader)
        lost = And(me.role == Role.OBSERVER, one_of(me.state, MemberState.UNATTACHED, MemberState.VOTED))
        knows = And(you.role == Role.VOTER, you.leader.is_some())
        require(i != leader, me.pending.is_none(), Or(follows, And(lost, knows)))
        me.pending = record(epoch=me.epoch, to=leader)
        self.send_fetch(s, i, leader)

    # --------------------------------------------------------------------------------------------------------- rules

    def answer_fetch(
        self, s: StateView, i: Voter, follower: Voter, epoch: int, position: int, position_epoch: int, observer: bool
    ) -> MemberReply:
        """A server answers a fetch: with the next record, where the logs part, or why not.

        A leader does not answer who takes itself for a voter and is none in the leader's log.
        TLA+: RejectFetchRequest, DivergingFetchRequest, AcceptFetchRequestFromVoter, AcceptFetchRequestFromObserver.
        """
        me = s.server[i]
        found = find(me, self.leads(me), epoch, position, position_epoch)
        accepted, came = found.accepted, me.log[min(position, self.capacity - 1)]
        reply = MemberReply(
            found.result,
            me.leader,
            me.epoch,
            If(accepted, minimum(me.high_watermark, position + 1), me.high_watermark),
            If(found.new, came.epoch, If(found.diverging, epoch_at(me, found.parting), 0)),
            If(found.new, came.value, NONE),
            If(found.diverging, found.parting, 0),
            If(found.new, came.added, NONE),
            If(found.new, came.removed, NONE),
        )
        if observer:
            return reply
        require(Implies(accepted, me.members.contains(follower)))
        known, leaves = self.count_fetch(s, i, follower, position, accepted)
        return replace(
            reply,
            leader=If(leaves, NONE, reply.leader),
            high_watermark=If(accepted, minimum(known, position + 1), reply.high_watermark),
        )

    def count_fetch(
        self, s: StateView, i: Voter, follower: Voter, position: int, accepted: Condition
    ) -> tuple[Num | int, Condition]:
        """A leader learns how far a server is, and may commit; return what is committed, and whether it leaves.

        It leaves, as an observer that knows no leader, where what it commits has a record that removed a voter after
        which it was none, be it a voter again since. What it knew to be committed is 0 then.
        TLA+: AcceptFetchRequestFromVoter, IsRemovedFromCluster.
        """
        me = s.server[i]
        there = {j: If(j == follower, position, me.fetched[j]) for j in self.all(Voter)}
        known = self.agreed(me, i, there)
        was = me.high_watermark
        rises = And(accepted, known > was)
        removed = [
            And(was < offset, offset <= known, me.log[offset - 1].removed.is_some(), Not(is_voter))
            for offset, is_voter in enumerate(self.memberships(s.founders, me, i), start=1)
        ]
        leaves = And(rises, Or(*removed))
        with when(accepted):
            me.fetched[follower] = position
        self.raise_mark(s, i, known, rises)
        with when(leaves):
            me.role = Role.OBSERVER
            to.become(me, to.observer(me.epoch))
            me.high_watermark = 0
            self.track_anew(me, set_of([]))
        return known, leaves

    def raise_mark(self, s: StateView, i: Voter, known: Num | int, rises: Condition) -> None:
        """A leader commits up to an offset, and tells who waits for that."""
        me = s.server[i]
        self.acknowledge(s, i, known, rises)
        with when(rises):
            self.switch(s, i, known)
            me.high_watermark = known

    def acknowledge(self, s: StateView, i: Voter, known: Num | int, rises: Condition) -> None:
        """A leader tells the clients whose values are committed now."""
        me = s.server[i]
        for value in self.all(Value):
            places = [
                And(me.high_watermark < offset, offset <= known, me.log[offset - 1].value == value)
                for offset in range(1, self.capacity + 1)
            ]
            with when(And(rises, me.unanswered.contains(value), Or(*places))):
                s.written[value] = Written.ACKNOWLEDGED
                me.unanswered = me.unanswered - {value}

    def agreed(self, me: RecordView, i: Voter, there: dict[Voter, Any]) -> Num | int:
        """Up to where a majority of the voters has a leader's log, if that is a record of its epoch; else its mark.

        A leader that is no voter any more does not count itself.
        TLA+: NewHighwaterMark.
        """
        found: Num | int = 0
        for offset in range(1, self.capacity + 1):
            has = [If(And(me.members.contains(j), Or(j == i, end >= offset)), 1, 0) for j, end in there.items()]
            found = If(And(offset <= me.end, 2 * sum(has, start=0) > me.members.count()), offset, found)
        return If(And(found > 0, epoch_at(me, found) == me.epoch), found, me.high_watermark)

    def switch(self, s: StateView, i: Voter, known: Num | int) -> None:
        """Take the last configuration of the log for one's own (TLA+: ConfigFor)."""
        me = s.server[i]
        members, said = self.configuration(s.founders, me)
        me.members, me.committed = members, known >= said
        self.track(me)

    def take_reply(self, s: StateView, i: Voter, reply: MemberReply) -> None:
        """A server takes the response to its fetch: a record, where to cut its log, or a newer epoch or leader.

        A follower that is added to the voters or removed from them by its log is a voter or an observer at once.
        TLA+: HandleFetchResponse, MaybeSwitchConfigurations.
        """
        me = s.server[i]
        wrong = Or(reply.result == Result.NOT_LEADER, reply.result == Result.FENCED)
        there, handled = to.heard(me, i, reply.leader, reply.epoch, wrong)
        follows = And(Not(handled), me.state == MemberState.FOLLOWER)
        self.follow(me, reply, follows)
        me.pending = NONE
        to.become(me, there)
        with when(follows):
            self.switch(s, i, reply.high_watermark)
            is_voter = me.members.contains(i)
            with when(is_voter != (me.role == Role.VOTER)):
                me.role, me.state = If(is_voter, Role.VOTER, Role.OBSERVER), MemberState.FOLLOWER
                me.votes = set_of([])

    def follow(self, me: RecordView, reply: MemberReply, is_meant: Condition) -> None:
        """Write what came, or cut the log where the leader's parts from it, if the response is meant for the log."""
        came, parts = reply.result == Result.RECORD, reply.result == Result.DIVERGING
        with when(And(is_meant, came)):
            fields = {name: getattr(reply, name) for name in ("value", "added", "removed")}
            me.log[me.end] = record(epoch=reply.record_epoch, **fields)
            me.end += 1
        with when(And(is_meant, Or(came, reply.result == Result.EMPTY))):
            me.high_watermark = reply.high_watermark
        with when(And(is_meant, parts)):
            self.cut(me, common_end(me, reply.end, reply.record_epoch))
