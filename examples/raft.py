"""Raft, as the module Raft of the public repository Vanlightly/raft-tlaplus has it: a leader pushes its log.

The textbook case beside Kafka's own Raft (docs/guide/quorum.md), in which followers fetch. Servers with logs elect a
leader for a term; it appends what clients send, sends each server the next entry, and commits what a majority has.
The network is the module's: a message that was sent is remembered for ever, and waits as often as it was sent.

    insync check examples/raft.py:Raft --elections 2
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar, cast

from insync.model import (
    NONE,
    And,
    Array,
    Bag,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    If,
    Implies,
    Index,
    Int,
    LogCell,
    LogRecord,
    Model,
    Not,
    Num,
    Option,
    Or,
    Range,
    ReadableState,
    Record,
    RecordView,
    Set,
    SetOf,
    State,
    StateView,
    action,
    bound,
    count,
    exists,
    for_all,
    invariant,
    maximum,
    minimum,
    one_of,
    record,
    require,
    set_of,
    when,
)


class Server(Index, symmetric=True):
    """Somebody who keeps a copy of the log."""

    size, label = bound("servers"), "s"


class Value(Index):
    """What a client asks a leader to write, once."""

    size, label = bound("records"), "v"


class Term(Range):
    """A term that an election began; all servers start in term 1."""

    lo, hi = 2, bound("elections") + 1


class Waiting(Range):
    """A place among the messages that wait between two servers."""

    lo, hi = 0, bound("elections") + bound("restarts")


class Role(Enum):
    """What a server is in its term."""

    FOLLOWER = "follower"
    CANDIDATE = "candidate"
    LEADER = "leader"


class Written(Enum):
    """What the client knows of its value (acked: Nil, FALSE, TRUE)."""

    NEVER = "not sent"
    ASKED = "asked"
    ACKNOWLEDGED = "acknowledged"


KINDS = ("vote_requests", "votes", "appends", "answers")


class Raft(Model):
    """Servers that elect a leader, which sends its log to the others."""

    bounds = Bounds(
        servers=Bound(2, 1, 5, "servers with a copy of the log (Server)"),
        records=Bound(1, 1, 3, "values that clients write (Value)"),
        elections=Bound(1, 1, 3, "elections in all (MaxElections)"),
        restarts=Bound(0, 0, 3, "restarts in all (MaxRestarts)"),
    )
    headline = ("leader_has_all_acknowledged_values", "no_log_divergence")
    legend: ClassVar[Mapping[str, str]] = {"L#": "leads term #", "F#": "follows", "C#": "is a candidate"}

    def declare(self, b: BoundValues) -> State:
        """Lay out the state: the servers, and the messages by kind, sender and receiver."""
        term, index, entry = (
            Int(0, b.elections + 1),
            Int(0, b.records),
            Record(term=Int(0, b.elections + 1), value=Value),
        )
        most = 3 * b.elections * (b.records + 1)
        messages = {
            "vote_requests": Record(term=term, last_term=term, last_index=index),
            "votes": Record(term=term, granted=Bool),
            "appends": Record(term=term, index=index, index_term=term, entry=Option(entry), committed=index),
            "answers": Record(term=term, success=Bool, matched=index),
        }
        kept = {
            kind: Array(
                Server,
                Array(Server, Record(sent=SetOf(message, most), waiting=Bag(message, b.elections + b.restarts + 1))),
            )
            for kind, message in messages.items()
        }
        return State(
            server=Array(
                Server,
                Record(
                    term=Int(1, b.elections + 1),
                    role=Role,
                    voted_for=Option(Server),
                    votes=Set(Server),
                    log=Array(b.records, Option(entry)),
                    end=index,
                    committed=index,
                    # What a leader knows of the others: the next entry to send, how far they are, who has to answer.
                    following=Array(Server, Int(1, b.records + 1)),
                    matched=Array(Server, index),
                    asked=Set(Server),
                ),
            ),
            written=Array(Value, Written),
            elections=Int(0, b.elections),
            restarts=Int(0, b.restarts),
            **kept,
        )

    def initial(self, s: StateView) -> None:
        """Start with empty logs, in term 1, and nobody who leads."""
        for i in self.all(Server):
            s.server[i].term = 1
            self.forget(s.server[i])

    def forget(self, me: RecordView) -> None:
        """Know nothing of the others any more."""
        me.votes, me.asked = set_of([]), set_of([])
        me.following, me.matched = dict.fromkeys(self.all(Server), 1), dict.fromkeys(self.all(Server), 0)

    # ----------------------------------------------------------------------------------------------------- elections

    @action(label="{i} stands for election")
    def request_vote(self, s: StateView, i: Server) -> None:
        """A server begins a term, votes for itself, and asks the others. RequestVote."""
        me = s.server[i]
        require(s.elections < self.b.elections, me.role != Role.LEADER)
        s.elections += 1
        me.term += 1
        me.role, me.voted_for, me.votes = Role.CANDIDATE, i, set_of([i])
        for j in self.all(Server):
            request = record(term=me.term, last_term=term_at(me, me.end), last_index=me.end)
            with when(j != i):
                send(s.vote_requests[i][j], request)

    @action(label="{i} hears of term {term}")
    def update_term(self, s: StateView, i: Server, term: Term) -> None:
        """A server hears of a later term, be it from a message that it has had already. UpdateTerm."""
        me = s.server[i]
        heard = [
            exists(getattr(s, kind)[j][i].sent, lambda m: m.term == term) for kind in KINDS for j in self.all(Server)
        ]
        require(term > me.term, Or(*heard))
        me.term, me.role, me.voted_for = term, Role.FOLLOWER, NONE

    @action(label="{i} answers the vote request of {j} ({place})")
    def handle_vote_request(self, s: StateView, i: Server, j: Server, place: Waiting) -> None:
        """A server votes once in a term, and for nobody whose log is behind its own. HandleRequestVoteRequest."""
        me, message = s.server[i], self.receive(s.vote_requests[j][i], place)
        last_term = term_at(me, me.end)
        ahead = Or(message.last_term > last_term, And(message.last_term == last_term, message.last_index >= me.end))
        granted = And(message.term == me.term, ahead, Or(me.voted_for.is_none(), me.voted_for == j))
        require(i != j, message.term <= me.term)
        with when(granted):
            me.voted_for = j
        send(s.votes[i][j], record(term=me.term, granted=granted))

    @action(label="{i} hears how {j} votes ({place})")
    def handle_vote(self, s: StateView, i: Server, j: Server, place: Waiting) -> None:
        """A server counts a vote of its term. HandleRequestVoteResponse."""
        me, message = s.server[i], self.receive(s.votes[j][i], place)
        require(i != j, message.term == me.term)
        with when(message.granted):
            me.votes = me.votes | {j}

    @action(label="{i} leads")
    def become_leader(self, s: StateView, i: Server) -> None:
        """A candidate with the votes of a majority leads. BecomeLeader."""
        me = s.server[i]
        require(me.role == Role.CANDIDATE, self.is_majority(me.votes.count()))
        me.role, me.asked = Role.LEADER, set_of([])
        me.following = dict.fromkeys(self.all(Server), me.end + 1)
        me.matched = dict.fromkeys(self.all(Server), 0)

    @action(label="{i} restarts")
    def restart(self, s: StateView, i: Server) -> None:
        """A server comes back with its term, its vote and its log. Restart."""
        require(s.restarts < self.b.restarts)
        s.restarts += 1
        s.server[i].role, s.server[i].committed = Role.FOLLOWER, 0
        self.forget(s.server[i])

    # --------------------------------------------------------------------------------------------------- replication

    @action(label="client sends {value} to {i}")
    def client_request(self, s: StateView, i: Server, value: Value) -> None:
        """A leader appends a value. ClientRequest."""
        me = s.server[i]
        require(me.role == Role.LEADER, s.written[value] == Written.NEVER)
        me.log[me.end] = record(term=me.term, value=value)
        me.end += 1
        s.written[value] = Written.ASKED

    @action(label="{i} sends {j} what comes next")
    def append_entries(self, s: StateView, i: Server, j: Server) -> None:
        """A leader sends the next entry, or once that there is none. AppendEntries."""
        me = s.server[i]
        require(i != j, me.role == Role.LEADER, Not(me.asked.contains(j)))
        index = me.following[j] - 1
        there = index < me.end
        message = record(
            term=me.term,
            index=index,
            index_term=term_at(me, index),
            entry=If(there, me.log[index], NONE),
            committed=minimum(me.committed, me.end, index + 1),
        )
        require(Or(there, Not(s.appends[i][j].sent.contains(message))))
        me.asked = me.asked | {j}
        send(s.appends[i][j], message)

    @action(label="{i} takes what {j} sends ({place})")
    def accept_entries(self, s: StateView, i: Server, j: Server, place: Waiting) -> None:
        """A server whose log has the entry before appends, or cuts and appends. AcceptAppendEntriesRequest."""
        me, message = s.server[i], self.receive(s.appends[j][i], place)
        require(i != j, message.term == me.term, one_of(me.role, Role.FOLLOWER, Role.CANDIDATE), fits(me, message))
        me.role, me.committed = Role.FOLLOWER, message.committed
        for at in range(self.b.records):
            with when(at >= message.index):
                me.log[at] = If(message.index == at, message.entry, NONE)
        me.end = message.index + If(message.entry.is_some(), 1, 0)
        send(s.answers[i][j], record(term=me.term, success=True, matched=me.end))

    @action(label="{i} refuses what {j} sends ({place})")
    def reject_entries(self, s: StateView, i: Server, j: Server, place: Waiting) -> None:
        """A server refuses what is of an earlier term, or does not fit its log. RejectAppendEntriesRequest."""
        me, message = s.server[i], self.receive(s.appends[j][i], place)
        gap = And(message.term == me.term, me.role == Role.FOLLOWER, Not(fits(me, message)))
        require(i != j, Or(message.term < me.term, gap))
        send(s.answers[i][j], record(term=me.term, success=False, matched=0))

    @action(label="{i} hears how far {j} is ({place})")
    def handle_answer(self, s: StateView, i: Server, j: Server, place: Waiting) -> None:
        """A leader goes on, or a step back. HandleAppendEntriesResponse."""
        me, message = s.server[i], self.receive(s.answers[j][i], place)
        require(i != j, message.term == me.term)
        me.following[j] = If(message.success, message.matched + 1, maximum(me.following[j] - 1, 1))
        with when(message.success):
            me.matched[j] = message.matched
        me.asked = me.asked - {j}

    @action(label="{i} commits")
    def advance_commit_index(self, s: StateView, i: Server) -> None:
        """A leader commits what a majority has, if that ends with its own term. AdvanceCommitIndex."""
        me = s.server[i]
        agreed: Num | int = 0
        for index in range(1, self.b.records + 1):
            holders = 1 + count(self.all(Server), lambda j, index=index: And(j != i, me.matched[j] >= index))
            agreed = If(And(index <= me.end, self.is_majority(holders)), index, agreed)
        require(me.role == Role.LEADER, agreed > me.committed, term_at(me, agreed) == me.term)
        for value in self.all(Value):
            done = [
                And(me.committed < index, index <= agreed, me.log[index - 1].value.value == value)
                for index in range(1, self.b.records + 1)
            ]
            with when(And(s.written[value] == Written.ASKED, Or(*done))):
                s.written[value] = Written.ACKNOWLEDGED
        me.committed = agreed

    def is_majority(self, servers: Num | int) -> Condition:
        """Whether this number of servers is a majority."""
        return 2 * servers > self.b.servers

    def receive(self, channel: RecordView, place: Waiting) -> Any:
        """Take one of the messages that wait, and return it. Discard, Reply."""
        require(place < channel.waiting.length)
        message = channel.waiting[place]
        channel.waiting.remove(message)
        return message

    # ---------------------------------------------------------------------------------------------------- properties

    @invariant
    def leader_has_all_acknowledged_values(self, s: StateView, leader: Server, value: Value) -> Condition:
        """No leader of the newest term lacks a value that was acknowledged. LeaderHasAllAckedValues."""
        me = s.server[leader]
        newest = for_all(self.all(Server), lambda other: s.server[other].term <= me.term)
        has = Or(*(And(me.log[at].is_some(), me.log[at].value.value == value) for at in range(self.b.records)))
        return Implies(And(s.written[value] == Written.ACKNOWLEDGED, me.role == Role.LEADER, newest), has)

    @invariant
    def no_log_divergence(self, s: StateView, one: Server, other: Server) -> Condition:
        """Two servers have the same entry wherever both know it to be committed. NoLogDivergence."""
        a, b = s.server[one], s.server[other]
        both = [
            Implies(And(index <= a.committed, index <= b.committed), a.log[index - 1] == b.log[index - 1])
            for index in range(1, self.b.records + 1)
        ]
        return And(*both)

    def grid(self, state: ReadableState) -> dict[str, Any]:
        """One column per server: its role, term and log, with a bar behind what is committed."""
        cells: dict[str, Any] = {}
        for name, server in cast(dict[str, dict[str, Any]], state["server"]).items():
            entries = tuple(LogRecord(entry["value"], str(entry["term"])) for entry in server["log"] if entry)
            cells[name] = LogCell(entries, server["committed"], f"{server['role'][0]}{server['term']}")
        return cells


def send(channel: RecordView, message: Any) -> None:
    """Send a message, which is remembered for ever. _SendNoRestriction."""
    channel.sent.add(message)
    channel.waiting.add(message)


def term_at(me: RecordView, index: Num | int) -> Num | int:
    """The term of an entry of a log, and 0 where there is none."""
    return If(index == 0, 0, me.log[index - 1].value.term)


def fits(me: RecordView, message: Any) -> Condition:
    """Whether a log has the entry before what is sent. LogOk."""
    return Or(message.index == 0, And(message.index <= me.end, message.index_term == term_at(me, message.index)))
