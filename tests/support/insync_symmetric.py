"""Models whose members are alike, and one that is told in many ways not to treat them alike."""

from __future__ import annotations

import enum
from typing import Any

from insync.model import (
    NONE,
    And,
    Array,
    Bool,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Enum,
    If,
    Implies,
    Index,
    Int,
    Model,
    Not,
    Option,
    Or,
    Record,
    Set,
    SetOf,
    State,
    StateView,
    Subset,
    action,
    bound,
    exists,
    for_all,
    invariant,
    record,
    require,
    set_of,
    when,
)

__all__ = [
    "Columns",
    "Gossip",
    "Links",
    "Manager",
    "Messages",
    "Mixed",
    "Node",
    "Nodes",
    "Other",
    "Partial",
    "Relations",
    "Shapes",
    "TwoPhase",
]


class Manager(Index, symmetric=True):
    """A resource manager."""

    size = bound("managers")
    label = "rm"


class Work(enum.Enum):
    """What a resource manager does."""

    WORKING = enum.auto()
    PREPARED = enum.auto()
    COMMITTED = enum.auto()
    ABORTED = enum.auto()


class Decision(enum.Enum):
    """What the transaction manager decided, and said to all."""

    OPEN = enum.auto()
    COMMITTED = enum.auto()
    ABORTED = enum.auto()


class TwoPhase(Model):
    """Two-phase commit: the module TwoPhase of tlaplus/Examples. What was decided is what was said to all."""

    bounds = Bounds(managers=Bound(3, 1, 12, "resource managers"))
    headline = ("consistent",)

    def declare(self, b: BoundValues) -> State:
        return State(
            work=Array(Manager, Enum(Work)), decision=Enum(Decision), prepared=Set(Manager), announced=Set(Manager)
        )

    @action
    def receive_prepared(self, s: StateView, manager: Manager) -> None:
        """TLA+: TMRcvPrepared."""
        require(s.decision == Decision.OPEN, s.announced.contains(manager))
        s.prepared |= {manager}

    @action
    def commit(self, s: StateView) -> None:
        """TLA+: TMCommit."""
        require(s.decision == Decision.OPEN, s.prepared == set_of(self.all(Manager)))
        s.decision = Decision.COMMITTED

    @action
    def abort(self, s: StateView) -> None:
        """TLA+: TMAbort."""
        require(s.decision == Decision.OPEN)
        s.decision = Decision.ABORTED

    @action
    def prepare(self, s: StateView, manager: Manager) -> None:
        """TLA+: RMPrepare."""
        require(s.work[manager] == Work.WORKING)
        s.work[manager] = Work.PREPARED
        s.announced |= {manager}

    @action
    def choose_to_abort(self, s: StateView, manager: Manager) -> None:
        """TLA+: RMChooseToAbort."""
        require(s.work[manager] == Work.WORKING)
        s.work[manager] = Work.ABORTED

    @action
    def receive_commit(self, s: StateView, manager: Manager) -> None:
        """TLA+: RMRcvCommitMsg."""
        require(s.decision == Decision.COMMITTED)
        s.work[manager] = Work.COMMITTED

    @action
    def receive_abort(self, s: StateView, manager: Manager) -> None:
        """TLA+: RMRcvAbortMsg."""
        require(s.decision == Decision.ABORTED)
        s.work[manager] = Work.ABORTED

    @invariant
    def consistent(self, s: StateView) -> Condition:
        """TLA+: TCConsistent."""
        aborted = exists(self.all(Manager), lambda m: s.work[m] == Work.ABORTED)
        return Not(And(aborted, exists(self.all(Manager), lambda m: s.work[m] == Work.COMMITTED)))

    @invariant
    def nobody_commits(self, s: StateView) -> Condition:
        """Fails."""
        return for_all(self.all(Manager), lambda m: Not(s.work[m] == Work.COMMITTED))


class Said(enum.Enum):
    """What a message says."""

    PREPARED = enum.auto()
    COMMIT = enum.auto()
    ABORT = enum.auto()


class Messages(Model):
    """Two-phase commit with a set of messages, as the module has it."""

    bounds = Bounds(managers=Bound(3, 1, 12, "resource managers"))

    def declare(self, b: BoundValues) -> State:
        message = Record(said=Enum(Said), manager=Option(Manager))
        return State(work=Array(Manager, Enum(Work)), open=Bool, prepared=Set(Manager), messages=SetOf(message))

    def initial(self, s: StateView) -> None:
        s.open = True

    @action
    def receive_prepared(self, s: StateView, manager: Manager) -> None:
        require(s.open, s.messages.contains(record(said=Said.PREPARED, manager=manager)))
        s.prepared |= {manager}

    @action
    def decide(self, s: StateView, said: Said) -> None:
        require(s.open, said is not Said.PREPARED)
        if said is Said.COMMIT:
            require(s.prepared == set_of(self.all(Manager)))
        s.open = False
        s.messages.add(record(said=said, manager=NONE))

    @action
    def prepare(self, s: StateView, manager: Manager) -> None:
        require(s.work[manager] == Work.WORKING)
        s.work[manager] = Work.PREPARED
        s.messages.add(record(said=Said.PREPARED, manager=manager))

    @action
    def choose_to_abort(self, s: StateView, manager: Manager) -> None:
        require(s.work[manager] == Work.WORKING)
        s.work[manager] = Work.ABORTED

    @action
    def receive(self, s: StateView, manager: Manager, said: Said) -> None:
        require(said is not Said.PREPARED, s.messages.contains(record(said=said, manager=NONE)))
        s.work[manager] = Work.COMMITTED if said is Said.COMMIT else Work.ABORTED


class Node(Index, symmetric=True):
    """A member of most models here."""

    size = bound("nodes")
    label = "n"


class Other(Index, symmetric=True):
    """A member of another sort."""

    size = bound("others")
    label = "o"


class Nodes(Subset, of=Node):
    """Some members."""


class Gossip(Model):
    """Nodes vote for each other; who has all votes may lead, and a leader may be heard of: members within members."""

    bounds = Bounds(nodes=Bound(3, 1, 8, "nodes"))
    headline = ("one_leader",)

    def declare(self, b: BoundValues) -> State:
        voter = Record(vote=Option(Node), leader=Option(Node), seen=Set(Node), term=Int(0, 2))
        return State(node=Array(Node, voter), last=Option(Node))

    @action
    def vote(self, s: StateView, node: Node, other: Node) -> None:
        require(s.node[node].vote.is_none(), s.last.is_none())
        s.node[node].vote = other

    @action
    def lead(self, s: StateView, node: Node) -> None:
        require(s.node[node].leader.is_none(), for_all(self.all(Node), lambda n: s.node[n].vote == node))
        s.node[node].leader = node
        s.last = node

    @action
    def hear(self, s: StateView, node: Node, other: Node) -> None:
        require(node != other, s.node[other].leader.is_some(), s.node[node].term < 2)
        s.node[node].leader = s.node[other].leader
        s.node[node].term += 1
        s.node[node].seen = s.node[node].seen | {other}

    @action
    def follow(self, s: StateView, node: Node) -> None:
        """Whoever knows a leader sees what it sees; too high a term is refused."""
        n = s.node[node]
        require(n.leader.is_some(), Not(n.leader == node), n.seen.count() == 1)
        n.seen = s.node[n.leader.value].seen | n.seen
        n.term += 1

    @invariant
    def one_leader(self, s: StateView) -> Condition:
        return for_all(
            self.all(Node),
            lambda n: for_all(
                self.all(Node), lambda m: Implies(And(s.node[n].leader == n, s.node[m].leader == m), n == m)
            ),
        )

    @invariant
    def never_followed(self, s: StateView) -> Condition:
        """Fails."""
        return for_all(self.all(Node), lambda n: Or(s.node[n].leader.is_none(), s.node[n].leader == n))


class Partial(Model):
    """Nodes take a token; each option makes it treat one of them differently, in one place."""

    bounds = Bounds(nodes=Bound(3, 1, 5, "nodes"), way=Bound(0, 0, 9, "in which way it does so"))
    headline = ("somebody_waits",)

    def declare(self, b: BoundValues) -> State:
        return State(holder=Option(Node), turns=Array(Node, Int(0, 2)), done=Set(Node), wild=Bool)

    def initial(self, s: StateView) -> None:
        if self.b.way == 1:
            s.holder = Node(0)

    @action
    def take(self, s: StateView, node: Node) -> None:
        require(s.holder.is_none(), s.turns[node] < 2)
        if self.b.way == 2:
            require(node != 1)
        if self.b.way == 3:
            require(Or(node == 0, s.done.contains(self.all(Node)[node - 1])))
        if self.b.way == 8:
            require(Or(*[And(s.turns[n] == i, s.turns[node] == 0) for i, n in enumerate(self.all(Node))]))
        s.holder = node

    @action
    def drop(self, s: StateView) -> None:
        require(s.holder.is_some())
        node = s.holder.value
        if self.b.way == 4:
            with when(s.done.contains(self.all(Node)[0])):
                s.wild = True
        s.turns[node] += 1
        s.done |= {node}
        if self.b.way == 5:
            s.holder = self.all(Node)[0]
        elif self.b.way == 6:
            s.turns[node] += If(node == 0, 1, 0)
        elif self.b.way == 7:  # how many are done, asked one by one: alike, but its form does not show it
            s.wild = self._counted(s, self.all(Node), 0) == 2
            s.holder = NONE
        else:
            s.holder = NONE

    def _counted(self, s: StateView, nodes: list[Node], before: int) -> Any:
        if not nodes:
            return before
        first, *rest = nodes
        return If(s.done.contains(first), self._counted(s, rest, before + 1), self._counted(s, rest, before))

    @invariant
    def somebody_waits(self, s: StateView) -> Condition:
        return exists(self.all(Node), lambda n: Or(s.turns[n] < 2, s.holder.is_none()))

    @invariant
    def first_first(self, s: StateView) -> Condition:
        """A property that singles out a member."""
        return Implies(Not(s.done.is_empty()), s.done.contains(self.all(Node)[0]))


class Shapes(Model):
    """A state of some shape, of which nothing is asked but to be permuted."""

    bounds = Bounds(nodes=Bound(3, 1, 6, "nodes"), others=Bound(2, 1, 6, "others"))


class Columns(Shapes):
    """All that is said of a member is a column."""

    def declare(self, b: BoundValues) -> State:
        return State(
            count=Array(Node, Int(0, 2)),
            leader=Option(Node),
            ready=Set(Node),
            first=Node,
            other=Array(Other, Record(on=Bool, last=Option(Int(0, 1)))),
            some=Option(Set(Other)),
            clock=Int(0, 4),
        )


class Relations(Shapes):
    """Members name members."""

    def declare(self, b: BoundValues) -> State:
        return State(
            node=Array(Node, Record(epoch=Int(0, 1), leader=Option(Node), isr=Set(Node))),
            ready=Set(Node),
            sent=Array(3, Option(Record(to=Node))),
            other=Array(Other, Int(0, 1)),
        )


class Links(Shapes):
    """Members of two sorts are linked, and any link may come and go."""

    def declare(self, b: BoundValues) -> State:
        return State(link=Array(Node, Array(Other, Bool)), back=Array(Node, Array(Other, Bool)))

    @action
    def turn(self, s: StateView, node: Node, other: Other, back: bool) -> None:
        links = s.back if back else s.link
        links[node][other] = Not(links[node][other])


class Mixed(Shapes):
    """Members at two members, sets of sets, and members that name members of another sort."""

    def declare(self, b: BoundValues) -> State:
        return State(
            link=Array(Node, Array(Node, Int(0, 1))),
            chosen=Array(Node, Option(Other)),
            quorums=Set(Nodes),
            quorum=Nodes,
            known=Array(Nodes, Int(0, 1)),
            last=Option(Nodes),
            sent=SetOf(Record(source=Node, target=Option(Other))),
        )
