"""Protocols whose messages name members that are alike, in bags, sequences and sets of at most so many."""

from __future__ import annotations

import enum

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
    Implies,
    Int,
    Model,
    Not,
    Option,
    Or,
    Range,
    Record,
    Seq,
    SetOf,
    State,
    StateView,
    action,
    bound,
    count,
    exists,
    for_all,
    invariant,
    record,
    require,
    when,
)
from insync_symmetric import Node, Other

__all__ = ["PROTOCOLS", "Election", "Line", "Paxos", "Requests", "Telephone"]


class Term(Range):
    """The number of an election."""

    lo, hi = 0, bound("terms")


class Role(enum.Enum):
    """What a node is in its term."""

    FOLLOWER = 0
    CANDIDATE = 1
    LEADER = 2


class Election(Model):
    """Raft's election with a bag of messages: a request to each other node, a vote back, each received once."""

    bounds = Bounds(
        nodes=Bound(3, 1, 5, "nodes"),
        terms=Bound(1, 1, 2, "terms"),
        messages=Bound(4, 1, 8, "messages at once"),
        forgets=Bound(0, 0, 1, "whether a node may forget its vote"),
    )
    headline = ("one_leader",)

    def declare(self, b: BoundValues) -> State:
        return State(
            term=Array(Node, Term),
            role=Array(Node, Role),
            voted_for=Array(Node, Option(Node)),
            votes=Array(Node, SetOf(Node)),
            sent=Bag(Record(vote=Bool, term=Term, source=Node, to=Node), b.messages),
        )

    @action
    def stand(self, s: StateView, node: Node) -> None:
        require(s.role[node] == Role.FOLLOWER, s.term[node] < self.b.terms)
        s.term[node] += 1
        s.role[node], s.voted_for[node], s.votes[node] = Role.CANDIDATE, node, [node]
        for other in self.all(Node):
            if other != node:
                s.sent.add(vote=False, term=s.term[node], source=node, to=other)

    @action
    def grant(self, s: StateView, node: Node, candidate: Node, term: Term) -> None:
        require(s.sent.contains(vote=False, term=term, source=candidate, to=node))
        s.sent.remove(vote=False, term=term, source=candidate, to=node)
        with when(term > s.term[node]):
            s.term[node], s.role[node], s.voted_for[node] = term, Role.FOLLOWER, NONE
        with when(And(term == s.term[node], Or(s.voted_for[node] == NONE, s.voted_for[node] == candidate))):
            s.voted_for[node] = candidate
            s.sent.add(vote=True, term=term, source=node, to=candidate)

    @action
    def count_vote(self, s: StateView, node: Node, voter: Node) -> None:
        message = record(vote=True, term=s.term[node], source=voter, to=node)
        require(s.sent.contains(message), s.role[node] == Role.CANDIDATE)
        s.sent.remove(message)
        s.votes[node].add(voter)

    @action
    def lead(self, s: StateView, node: Node) -> None:
        require(s.role[node] == Role.CANDIDATE, 2 * s.votes[node].length > self.b.nodes)
        s.role[node] = Role.LEADER

    @action
    def forget(self, s: StateView, node: Node) -> None:
        require(self.b.forgets > 0, s.role[node] == Role.FOLLOWER)
        s.voted_for[node] = NONE

    @invariant
    def one_leader(self, s: StateView, one: Node, other: Node) -> Condition:
        both = And(s.role[one] == Role.LEADER, s.role[other] == Role.LEADER, s.term[one] == s.term[other])
        return Implies(both, one == other)

    @invariant
    def nobody_asks_itself(self, s: StateView) -> Condition:
        return for_all(s.sent, lambda m: m.source != m.to)

    @invariant
    def few_votes_for_one(self, s: StateView) -> Condition:
        """Fails with enough messages."""
        return for_all(Node, lambda n: count(s.sent, lambda m: And(m.vote, m.to == n)) < 2)


class Ballot(Range):
    """The number of a ballot."""

    lo, hi = 0, bound("ballots") - 1


class Said(enum.Enum):
    """What a message of Paxos says."""

    PROMISE = 0
    ACCEPT = 1
    ACCEPTED = 2


class Paxos(Model):
    """Paxos with what was sent as a set of at most so many messages."""

    bounds = Bounds(
        nodes=Bound(3, 1, 5, "acceptors"),
        others=Bound(2, 1, 3, "values"),
        ballots=Bound(1, 1, 3, "ballots"),
        messages=Bound(6, 1, 12, "messages at once"),
    )
    headline = ("agreement",)

    def declare(self, b: BoundValues) -> State:
        message = Record(said=Said, ballot=Ballot, by=Option(Node), last=Option(Ballot), value=Option(Other))
        return State(
            promised=Array(Node, Option(Ballot)),
            accepted=Array(Node, Option(Record(ballot=Ballot, value=Other))),
            sent=SetOf(message, b.messages),
        )

    @action
    def promise(self, s: StateView, node: Node, ballot: Ballot) -> None:
        require(Or(s.promised[node] == NONE, s.promised[node].or_else(0) < ballot), s.sent.length < self.b.messages)
        s.promised[node] = ballot
        with when(s.accepted[node].is_some()):
            accepted = s.accepted[node].value
            s.sent.add(said=Said.PROMISE, ballot=ballot, by=node, last=accepted.ballot, value=accepted.value)
        with when(s.accepted[node].is_none()):
            s.sent.add(said=Said.PROMISE, ballot=ballot, by=node)

    @action
    def propose(self, s: StateView, ballot: Ballot, value: Other) -> None:
        promises = count(s.sent, lambda m: And(m.said == Said.PROMISE, m.ballot == ballot))
        require(2 * promises > self.b.nodes, s.sent.length < self.b.messages)
        require(Not(exists(s.sent, lambda m: And(m.said == Said.ACCEPT, m.ballot == ballot))))
        told = exists(
            s.sent,
            lambda m: And(
                m.said == Said.PROMISE,
                m.ballot == ballot,
                m.value == value,
                for_all(
                    s.sent,
                    lambda o: Implies(
                        And(o.said == Said.PROMISE, o.ballot == ballot, o.last != NONE),
                        o.last.or_else(0) <= m.last.or_else(0),
                    ),
                ),
            ),
        )
        free = for_all(s.sent, lambda m: Implies(And(m.said == Said.PROMISE, m.ballot == ballot), m.last == NONE))
        require(Or(told, free))
        s.sent |= [record(said=Said.ACCEPT, ballot=ballot, by=NONE, last=NONE, value=value)]

    @action
    def accept(self, s: StateView, node: Node, ballot: Ballot, value: Other) -> None:
        require(s.sent.contains(said=Said.ACCEPT, ballot=ballot, value=value), s.promised[node].or_else(0) <= ballot)
        require(s.sent.length < self.b.messages)
        s.promised[node], s.accepted[node] = ballot, record(ballot=ballot, value=value)
        s.sent.add(said=Said.ACCEPTED, ballot=ballot, by=node, value=value)

    @invariant
    def agreement(self, s: StateView) -> Condition:
        def chosen(value: Other) -> Condition:
            def votes(ballot: Ballot) -> Condition:
                said = count(s.sent, lambda m: And(m.said == Said.ACCEPTED, m.ballot == ballot, m.value == value))
                found: Condition = 2 * said > self.b.nodes
                return found

            return exists(Ballot, votes)

        return for_all(Other, Other, lambda a, b: Implies(And(chosen(a), chosen(b)), a == b))

    @invariant
    def nothing_accepted(self, s: StateView) -> Condition:
        """Fails."""
        return for_all(Node, lambda n: s.accepted[n].is_none())


class Line(Model):
    """Nodes wait in a line for a lock, and may leave it anywhere."""

    bounds = Bounds(nodes=Bound(4, 1, 6, "nodes"), holders=Bound(1, 1, 3, "holders at once"))

    def declare(self, b: BoundValues) -> State:
        return State(line=Seq(Node, b.nodes), holders=Bag(Node, b.holders), last=Option(Record(who=Node, left=Bool)))

    @action
    def join(self, s: StateView, node: Node) -> None:
        require(Not(s.line.contains(node)), Not(s.holders.contains(node)))
        s.line.append(node)

    @action
    def enter(self, s: StateView) -> None:
        require(s.line.length > 0, s.holders.length < self.b.holders)
        node = s.line.take_first()
        s.holders.add(node)
        s.last = record(who=node, left=False)

    @action
    def leave(self, s: StateView, node: Node) -> None:
        require(s.holders.contains(node))
        s.holders.remove(node)
        s.last = record(who=node, left=True)

    @action
    def give_up(self, s: StateView, node: Node) -> None:
        for place in range(self.b.nodes):
            with when(And(s.line.length > place, s.line[place] == node)):
                s.line.take(place)
        require(Not(s.holders.contains(node)))
        s.last = NONE

    @invariant
    def nobody_waits_and_holds(self, s: StateView) -> Condition:
        return for_all(Node, lambda n: Not(And(s.line.contains(n), s.holders.contains(n))))

    @invariant
    def never_all(self, s: StateView) -> Condition:
        """Fails."""
        found: Condition = s.line.length < self.b.nodes
        return found


class Telephone(Model):
    """What a node hears it passes on, over channels that keep the order."""

    bounds = Bounds(nodes=Bound(3, 1, 4, "nodes"), most=Bound(1, 1, 2, "messages in a channel"))

    def declare(self, b: BoundValues) -> State:
        return State(
            channel=Array(Node, Seq(Record(source=Node, about=Node), b.most)),
            heard=Array(Node, Option(Node)),
            begun=Int(0, 2),
        )

    @action
    def begin(self, s: StateView, node: Node) -> None:
        require(s.begun < 2, s.channel[node].length == 0)
        s.begun += 1
        for other in self.all(Node):
            if other != node:
                s.channel[other].append(source=node, about=node)

    @action
    def hear(self, s: StateView, node: Node, other: Node) -> None:
        require(s.channel[node].length > 0, s.heard[node] == NONE, other != node)
        message = s.channel[node].take_first()
        require(s.channel[other].length < self.b.most)
        s.heard[node] = message.about
        s.channel[other].append(source=node, about=message.about)

    @invariant
    def all_hear_the_same(self, s: StateView) -> Condition:
        return for_all(Node, Node, lambda a, b: Or(s.heard[a] == NONE, s.heard[b] == NONE, s.heard[a] == s.heard[b]))

    @invariant
    def not_all_hear(self, s: StateView) -> Condition:
        """Fails."""
        return exists(Node, lambda n: s.heard[n] == NONE)


class Requests(Model):
    """Each node asks all others at once, in a set of at most so many; who is asked answers one."""

    bounds = Bounds(nodes=Bound(3, 1, 4, "nodes"), most=Bound(4, 1, 8, "requests at once"))

    def declare(self, b: BoundValues) -> State:
        request = Record(source=Node, to=Node)
        return State(asked=SetOf(request, b.most), answered=Array(Node, Int(0, 2)), current=Option(request))

    @action
    def ask(self, s: StateView, node: Node) -> None:
        require(s.asked.length + self.b.nodes - 1 <= self.b.most)
        for other in self.all(Node):
            with when(And(other != node, s.answered[other] < 2)):
                s.asked.add(source=node, to=other)

    @action
    def take(self, s: StateView, node: Node, other: Node) -> None:
        require(s.current.is_none(), s.asked.contains(source=node, to=other))
        s.current = record(source=node, to=other)
        s.asked -= [record(source=node, to=other)]

    @action
    def answer(self, s: StateView) -> None:
        require(s.current.is_some())
        node = s.current.value.to
        require(s.answered[node] < 2)
        s.answered[node] += 1
        s.current = NONE

    @action
    def drop(self, s: StateView, node: Node) -> None:
        for other in self.all(Node):
            s.asked.remove(source=node, to=other)

    @invariant
    def few(self, s: StateView) -> Condition:
        """Fails."""
        return exists(Node, lambda n: s.answered[n] < 2)


PROTOCOLS: list[Model] = [
    Election(),
    Election(forgets=1, messages=5),
    Paxos(),
    Line(nodes=3),
    Line(nodes=4, holders=2),
    Telephone(most=2),
    Requests(),
]
