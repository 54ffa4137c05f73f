"""Raft with followers that fetch, as the module PullRaft of the public repository Vanlightly/raft-tlaplus has it.

The step between Raft (raft.py) and Kafka's own Raft (docs/guide/quorum.md). Who has voted takes the candidate for the
leader and asks it for entries, which are answered once it leads; a leader tells those that have not voted for it. Where
the end of a follower's log is not in the leader's, the leader names the last entry that can be in both, and the
follower cuts its log there. The network is the module's: a message is sent once, and remembered for ever.

    insync check examples/pull_raft.py:PullRaft --elections 2
    insync check examples/pull_raft.py:HastyPullRaft --servers 3 --elections 2
"""

from __future__ import annotations

from typing import Any

from raft import Raft, Role, Server, Term, Value, Written, term_at
from insync.model import (
    NONE,
    And,
    Array,
    Bool,
    BoundValues,
    Condition,
    If,
    Implies,
    Int,
    Model,
    Not,
    Num,
    Option,
    Or,
    Range,
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
    invariant,
    minimum,
    record,
    require,
    set_of,
    when,
)

KINDS = ("vote_requests", "votes", "notices", "pulls", "answers")


class Place(Range):
    """A place among the messages of an election that wait between two servers."""

    lo, hi = 0, bound("elections") - 1


class PullPlace(Range):
    """A place among the requests for entries that wait between two servers, or among the answers to them."""

    lo, hi = 0, bound("elections") * (2 * bound("records") + 1) - 1


class Position(Range):
    """Behind which entry the next one is, 0 if that is the first."""

    lo, hi = 0, bound("records") - 1


class PullRaft(Model):
    """Servers that elect a leader, from which the others fetch its log."""

    bounds = Raft.bounds
    headline = (*Raft.headline, "logs_are_whole")
    legend = Raft.legend

    def declare(self, b: BoundValues) -> State:
        """Lay out the state: the servers, and the messages by kind, sender and receiver."""
        term, index, entry = (
            Int(0, b.elections + 1),
            Int(0, b.records),
            Record(term=Int(0, b.elections + 1), value=Value),
        )
        pulls = PullPlace.hi.value(b) + 1  # a log is cut and grows again, in each term
        messages = {
            "vote_requests": (Record(term=term, last_term=term, last_index=index), b.elections),
            "votes": (Record(term=term, granted=Bool), b.elections),
            "notices": (Record(term=term), b.elections),
            "pulls": (Record(term=term, last_term=term, last_index=index), pulls),
            "answers": (Record(term=term, entry=Option(entry), committed=index, common=index, common_term=term), pulls),
        }
        kept = {
            kind: Array(Server, Array(Server, Record(sent=SetOf(message, most), waiting=SetOf(message, most))))
            for kind, (message, most) in messages.items()
        }
        return State(
            server=Array(
                Server,
                Record(
                    term=Int(1, b.elections + 1),
                    role=Role,
                    leader=Option(Server),  # or the candidate that it has voted for
                    votes=Set(Server),
                    log=Array(b.records, Option(entry)),
                    end=index,
                    committed=index,
                    matched=Array(Server, index),  # how far a leader knows the others to be
                ),
            ),
            written=Array(Value, Written),
            elections=Int(0, b.elections),
            restarts=Int(0, b.restarts),
            **kept,
        )

    def initial(self, s: StateView) -> None:
        """Start with empty logs, in term 1, and nobody who leads. Init."""
        for i in self.all(Server):
            s.server[i].term = 1

    @action(label="{i} restarts")
    def restart(self, s: StateView, i: Server) -> None:
        """A server comes back with its term, its leader and its log. Restart."""
        me = s.server[i]
        require(s.restarts < self.b.restarts)
        s.restarts += 1
        me.role, me.committed, me.votes = Role.FOLLOWER, 0, set_of([])
        me.matched = dict.fromkeys(self.all(Server), 0)

    @action(label="{i} hears of term {term}")
    def update_term(self, s: StateView, i: Server, term: Term) -> None:
        """A server hears of a later term, be it from a message that it has had already. UpdateTerm."""
        me = s.server[i]
        heard = [
            exists(getattr(s, kind)[j][i].sent, lambda m: m.term == term) for kind in KINDS for j in self.all(Server)
        ]
        require(term > me.term, Or(*heard))
        me.term, me.role, me.leader = term, Role.FOLLOWER, NONE

    # ----------------------------------------------------------------------------------------------------- elections

    @action(label="{i} stands for election")
    def request_vote(self, s: StateView, i: Server) -> None:
        """A server begins a term, votes for itself, and asks the others. RequestVote."""
        me = s.server[i]
        require(s.elections < self.b.elections, me.role != Role.LEADER)
        s.elections += 1
        me.term += 1
        me.role, me.leader, me.votes = Role.CANDIDATE, i, set_of([i])
        for j in self.all(Server):
            send(s.vote_requests[i][j], end_of(me), meant=j != i)

    @action(label="{i} answers the vote request of {j} ({place})")
    def handle_vote_request(self, s: StateView, i: Server, j: Server, place: Place) -> None:
        """A server votes once in a term, and for nobody whose log is behind its own. HandleRequestVoteRequest."""
        me, message = s.server[i], self.receive(s.vote_requests[j][i], place)
        last_term = term_at(me, me.end)
        ahead = Or(message.last_term > last_term, And(message.last_term == last_term, message.last_index >= me.end))
        granted = And(message.term == me.term, ahead, Or(me.leader.is_none(), me.leader == j))
        require(i != j, message.term <= me.term)
        with when(granted):
            me.leader = j
        send(s.votes[i][j], record(term=me.term, granted=granted))

    @action(label="{i} hears how {j} votes ({place})")
    def handle_vote(self, s: StateView, i: Server, j: Server, place: Place) -> None:
        """A server counts a vote of its term. HandleRequestVoteResponse."""
        me, message = s.server[i], self.receive(s.votes[j][i], place)
        require(i != j, message.term == me.term)
        with when(message.granted):
            me.votes = me.votes | {j}

    @action(label="{i} leads")
    def become_leader(self, s: StateView, i: Server) -> None:
        """A candidate with the votes of a majority leads, and tells those whose votes it has not. BecomeLeader."""
        me = s.server[i]
        require(me.role == Role.CANDIDATE, 2 * me.votes.count() > self.b.servers)
        me.role, me.matched = Role.LEADER, dict.fromkeys(self.all(Server), 0)
        for j in self.all(Server):
            send(s.notices[i][j], record(term=me.term), meant=Not(me.votes.contains(j)))

    @action(label="{i} hears that {j} leads ({place})")
    def learn_of_leader(self, s: StateView, i: Server, j: Server, place: Place) -> None:
        """A server that has not voted for the leader of its term takes it for the leader. LearnOfLeader."""
        me, message = s.server[i], self.receive(s.notices[j][i], place)
        require(i != j, message.term == me.term)
        me.leader = j

    # --------------------------------------------------------------------------------------------------- replication

    client_request = Raft.client_request

    @action(label="{i} asks {j} for entries")
    def pull_entries(self, s: StateView, i: Server, j: Server) -> None:
        """A follower asks its leader for what comes next, or who may yet lead. SendPullEntriesRequest."""
        me = s.server[i]
        require(i != j, me.role == Role.FOLLOWER, me.leader == j)
        send(s.pulls[i][j], end_of(me))

    @action(label="{i} tells {j} where their logs part ({place})")
    def reject_pull(self, s: StateView, i: Server, j: Server, place: PullPlace) -> None:
        """A leader names the last entry that can be in both logs. RejectPullEntriesRequest, LastCommonEntry."""
        me, message = s.server[i], self.receive(s.pulls[j][i], place)
        require(i != j, message.term == me.term, me.role == Role.LEADER, Not(is_in(me, message)))
        common: Num | int = 0
        for index in range(1, self.b.records + 1):
            at = term_at(me, index)
            later = Or(at > message.last_term, And(at == message.last_term, index > message.last_index))
            common = If(And(index <= me.end, Not(later)), index, common)
        answer = record(term=me.term, entry=NONE, committed=0, common=common, common_term=term_at(me, common))
        send(s.answers[i][j], answer)

    @action(label="{i} sends {j} the entry behind {index}")
    def accept_pull(self, s: StateView, i: Server, j: Server, index: Position) -> None:
        """A leader sends the next entry once there is one, and may commit. AcceptPullEntriesRequest."""
        me, waiting = s.server[i], s.pulls[j][i].waiting
        message = record(term=me.term, last_term=term_at(me, index) if index else 0, last_index=index)
        require(i != j, me.role == Role.LEADER, me.log[index].is_some(), waiting.contains(message))
        waiting.remove(message)
        me.matched[j] = self.known_of(index)
        self.commit(s, i)
        known = minimum(me.committed, index + 1)
        send(s.answers[i][j], record(term=me.term, entry=me.log[index], committed=known, common=0, common_term=0))

    def known_of(self, index: Position) -> Num | int:
        """How far who asks for what comes behind an entry has the log."""
        return index

    def commit(self, s: StateView, i: Server) -> None:
        """A leader commits what a majority has, if that ends with its own term. NewCommitIndex."""
        me = s.server[i]
        agreed: Num | int = 0
        commits: Condition = False
        for index, entry in enumerate(me.log, start=1):
            holders = 1 + count(self.all(Server), lambda j, index=index: And(j != i, me.matched[j] >= index))
            reached = And(entry.is_some(), 2 * holders > self.b.servers)
            agreed = If(reached, index, agreed)
            commits = If(reached, entry.value.term == me.term, commits)
        for value in self.all(Value):
            done = [
                And(me.committed < index, index <= agreed, me.log[index - 1].value.value == value)
                for index in range(1, self.b.records + 1)
            ]
            with when(And(commits, s.written[value] == Written.ASKED, Or(*done))):
                s.written[value] = Written.ACKNOWLEDGED
        me.committed = If(commits, agreed, me.committed)

    @action(label="{i} appends what {j} sends ({place})")
    def append_entry(self, s: StateView, i: Server, j: Server, place: PullPlace) -> None:
        """A follower appends an entry. HandleSuccessPullEntriesResponse."""
        me, message = s.server[i], self.receive(s.answers[j][i], place)
        require(i != j, message.term == me.term, message.entry.is_some())
        me.log[me.end] = message.entry
        me.end += 1
        me.committed = message.committed

    @action(label="{i} cuts its log as {j} says ({place})")
    def cut_log(self, s: StateView, i: Server, j: Server, place: PullPlace) -> None:
        """A follower cuts its log behind the last common entry. HandleFailPullEntriesResponse, TruncateLog."""
        me, message = s.server[i], self.receive(s.answers[j][i], place)
        require(i != j, message.term == me.term, message.entry.is_none())
        for at in range(self.b.records):
            with when(at >= message.common):
                me.log[at] = NONE
        me.end = message.common

    def receive(self, channel: RecordView, place: Place | PullPlace) -> Any:
        """Take one of the messages that wait, and return it. Discard, Reply."""
        require(place < channel.waiting.length)
        message = channel.waiting[place]
        channel.waiting.remove(message)
        return message

    # ---------------------------------------------------------------------------------------------------- properties

    leader_has_all_acknowledged_values = Raft.leader_has_all_acknowledged_values
    no_log_divergence = Raft.no_log_divergence

    @invariant
    def logs_are_whole(self, s: StateView, i: Server) -> Condition:
        """No follower is told to cut its log at an entry that it has not, where TLC ends with an error. TruncateLog."""
        me = s.server[i]
        return And(*(Implies(index < me.end, me.log[index].is_some()) for index in range(self.b.records)))

    grid = Raft.grid


class HastyPullRaft(PullRaft):
    """A leader takes a follower to have the entry that it sends it, before the follower has it."""

    def known_of(self, index: Position) -> Num | int:
        """How far who asks will have the log: the entry that it is sent included."""
        return index + 1


def send(channel: RecordView, message: Any, meant: Condition = True) -> None:
    """Send a message where it is meant, if one like it was never sent. Send, SendMultiple, Reply."""
    require(Not(And(meant, channel.sent.contains(message))))
    with when(meant):
        channel.sent.add(message)
        channel.waiting.add(message)


def end_of(me: RecordView) -> Any:
    """The request of a server: its term, and the last entry of its log."""
    return record(term=me.term, last_term=term_at(me, me.end), last_index=me.end)


def is_in(me: RecordView, message: Any) -> Condition:
    """Whether a log has the entry from which is asked. ValidPullPosition."""
    there = And(message.last_index <= me.end, message.last_term == term_at(me, message.last_index))
    return Or(message.last_index == 0, there)
