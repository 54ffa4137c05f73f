"""Mutual exclusion with logical clocks: the TLA+ module LamportMutex, after the paper that introduced them."""

from __future__ import annotations

import enum

from insync.model import And, Array, Bound, BoundValues, Bounds, Condition, Index, Int, Model, Not, Num, Or, Record
from insync.model import RecordView, Seq, Set, State, StateView, action, bound, for_all, invariant, maximum, require


class Process(Index):
    """Somebody who wants to enter the critical section; of two requests of one time, the lower number comes first."""

    size = bound("processes")


class Kind(enum.Enum):
    """What a message says."""

    REQUEST = 0
    ACKNOWLEDGE = 1
    RELEASE = 2


class LamportMutex(Model):
    """A process enters when all have acknowledged its request and it knows of no earlier one."""

    bounds = Bounds(processes=Bound(3, 1, 4, "processes"), clock=Bound(6, 1, 9, "the latest time"))
    headline = ("one_is_inside", "short_channels")
    within = ("clocks_are_bounded",)

    def declare(self, b: BoundValues) -> State:
        message = Record(kind=Kind, time=Int(0, b.clock))
        return State(
            clock=Array(Process, Int(1, b.clock + 1)),
            request=Array(Process, Array(Process, Int(0, b.clock))),  # the time of whose request, 0 if there is none
            acknowledged=Array(Process, Set(Process)),
            channel=Array(Process, Array(Process, Seq(message, 4))),  # from whom to whom
            inside=Set(Process),
        )

    def broadcast(self, s: StateView, sender: Process, kind: Kind, time: Num | int = 0) -> None:
        for p in self.all(Process):
            if p != sender:
                s.channel[sender][p].append(kind=kind, time=time)

    def take(self, s: StateView, p: Process, sender: Process, kind: Kind) -> RecordView:
        """Receive the first message of a channel, if it is of this kind."""
        channel = s.channel[sender][p]
        require(p != sender, Not(channel.is_empty()), channel.first.kind == kind)
        return channel.take_first()

    @action
    def ask(self, s: StateView, p: Process) -> None:
        require(s.request[p][p] == 0)
        s.request[p][p] = s.clock[p]
        s.acknowledged[p] = {p}
        self.broadcast(s, p, Kind.REQUEST, s.clock[p])

    @action
    def receive_request(self, s: StateView, p: Process, sender: Process) -> None:
        time = self.take(s, p, sender, Kind.REQUEST).time
        s.request[p][sender] = time
        s.clock[p] = maximum(time, s.clock[p]) + 1
        s.channel[p][sender].append(kind=Kind.ACKNOWLEDGE, time=0)

    @action
    def receive_acknowledgement(self, s: StateView, p: Process, sender: Process) -> None:
        self.take(s, p, sender, Kind.ACKNOWLEDGE)
        s.acknowledged[p] |= {sender}

    @action
    def enter(self, s: StateView, p: Process) -> None:
        mine = s.request[p]
        require(s.acknowledged[p] == set(self.all(Process)))
        require(for_all(Process, lambda q: Or(q == p, mine[q] == 0, mine[p] < mine[q], And(mine[p] == mine[q], p < q))))
        s.inside |= {p}

    @action
    def leave(self, s: StateView, p: Process) -> None:
        require(s.inside.contains(p))
        s.inside -= {p}
        s.request[p][p] = 0
        s.acknowledged[p] = set()
        self.broadcast(s, p, Kind.RELEASE)

    @action
    def receive_release(self, s: StateView, p: Process, sender: Process) -> None:
        self.take(s, p, sender, Kind.RELEASE)
        s.request[p][sender] = 0

    @invariant
    def clocks_are_bounded(self, s: StateView, p: Process) -> Condition:
        return s.clock[p] <= self.b.clock

    @invariant
    def one_is_inside(self, s: StateView) -> Condition:
        """At most one process is in the critical section."""
        return s.inside.count() <= 1

    @invariant
    def short_channels(self, s: StateView, p: Process, q: Process) -> Condition:
        """No channel has more than three messages."""
        return s.channel[p][q].length <= 3
