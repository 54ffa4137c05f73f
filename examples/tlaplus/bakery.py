"""The bakery algorithm with variables that flicker while they are written: the TLA+ module Bakery, by Leslie Lamport.

It begins in every state in which its inductive invariant holds, so that to check the invariant is to prove it.
"""

from __future__ import annotations

import enum

from insync.model import ANY, And, Array, Bool, Bound, BoundValues, Bounds, Condition, Implies, Index, Model, Not, Or
from insync.model import Range, Set, State, StateView, action, bound, for_all, initial, invariant, maximum, require


class Process(Index):
    """Somebody who wants to enter the critical section."""

    size = bound("processes")


class Number(Range):
    """What stands on a ticket; 0 is none."""

    lo, hi = 0, bound("numbers")


class At(enum.Enum):
    """Where a process is in its program."""

    OUTSIDE = 0
    ENTERING = 1
    LOOKING = 2
    CHOOSING = 3
    CHOSEN = 4
    WAITING = 5
    COMPARING = 6
    INSIDE = 7
    LEAVING = 8


class Bakery(Model):
    """A process takes a number above all that it sees, and waits for those who have a lower one."""

    bounds = Bounds(processes=Bound(2, 1, 3, "processes"), numbers=Bound(2, 1, 4, "the highest number"))
    headline = ("one_is_inside", "inductive")

    def declare(self, b: BoundValues) -> State:
        return State(
            at=Array(Process, At),
            number=Array(Process, Number),
            flag=Array(Process, Bool),  # set while a number is chosen
            unchecked=Array(Process, Set(Process)),
            highest=Array(Process, Number),  # that was seen
            next=Array(Process, Process),  # who is waited for
        )

    @initial
    def wherever_the_invariant_holds(self, s: StateView) -> None:
        s.at = s.number = s.flag = s.unchecked = s.highest = s.next = ANY
        require(for_all(Process, lambda p: self.inductive(s, p)))

    def go(self, s: StateView, p: Process, here: At, there: At) -> None:
        require(s.at[p] == here)
        s.at[p] = there

    def is_at(self, s: StateView, p: Process, *places: At) -> Condition:
        return Or(*(s.at[p] == place for place in places))

    def others(self, p: Process) -> set[Process]:
        return {q for q in self.all(Process) if q != p}

    def comes_first(self, s: StateView, p: Process, q: Process) -> Condition:
        """The lower number, or of two equal ones that of the lower process."""
        return Or(s.number[p] < s.number[q], And(s.number[p] == s.number[q], p < q))

    @action
    def begin(self, s: StateView, p: Process) -> None:
        self.go(s, p, At.OUTSIDE, At.ENTERING)

    @action
    def raise_flag(self, s: StateView, p: Process) -> None:
        self.go(s, p, At.ENTERING, At.LOOKING)
        s.flag[p] = True
        s.unchecked[p] = self.others(p)
        s.highest[p] = 0

    @action
    def look(self, s: StateView, p: Process, q: Process) -> None:
        self.go(s, p, At.LOOKING, At.LOOKING)
        require(s.unchecked[p].contains(q))
        s.unchecked[p] -= {q}
        s.highest[p] = maximum(s.highest[p], s.number[q])

    @action
    def end_looking(self, s: StateView, p: Process) -> None:
        self.go(s, p, At.LOOKING, At.CHOOSING)
        require(s.unchecked[p].is_empty())

    @action
    def choose(self, s: StateView, p: Process, n: Number) -> None:
        self.go(s, p, At.CHOOSING, At.CHOSEN)
        require(n > s.highest[p])
        s.number[p] = n

    @action
    def lower_flag(self, s: StateView, p: Process) -> None:
        self.go(s, p, At.CHOSEN, At.WAITING)
        s.flag[p] = False
        s.unchecked[p] = self.others(p)

    @action
    def wait_for(self, s: StateView, p: Process, q: Process) -> None:
        self.go(s, p, At.WAITING, At.COMPARING)
        require(s.unchecked[p].contains(q), Not(s.flag[q]))
        s.next[p] = q

    @action
    def compare(self, s: StateView, p: Process, q: Process) -> None:
        self.go(s, p, At.COMPARING, At.WAITING)
        require(s.next[p] == q, Or(s.number[q] == 0, self.comes_first(s, p, q)))
        s.unchecked[p] -= {q}

    @action
    def enter(self, s: StateView, p: Process) -> None:
        self.go(s, p, At.WAITING, At.INSIDE)
        require(s.unchecked[p].is_empty())

    @action
    def leave(self, s: StateView, p: Process) -> None:
        self.go(s, p, At.INSIDE, At.LEAVING)

    @action
    def end(self, s: StateView, p: Process) -> None:
        self.go(s, p, At.LEAVING, At.OUTSIDE)
        s.number[p] = 0

    @action
    def flag_flickers(self, s: StateView, p: Process) -> None:
        require(self.is_at(s, p, At.ENTERING, At.CHOSEN))
        s.flag[p] = Not(s.flag[p])

    @action
    def number_flickers(self, s: StateView, p: Process, n: Number) -> None:
        require(self.is_at(s, p, At.CHOOSING, At.LEAVING))
        s.number[p] = n

    @invariant
    def one_is_inside(self, s: StateView, p: Process, q: Process) -> Condition:
        """No two processes are inside at once."""
        return Or(p == q, s.at[p] != At.INSIDE, s.at[q] != At.INSIDE)

    def goes_before(self, s: StateView, p: Process, q: Process) -> Condition:
        """Whether the number of `q` is, or will be, one that `p` need not wait for."""
        sees = Or(s.highest[q] >= s.number[p], And(s.at[q] == At.LOOKING, s.unchecked[q].contains(p)))
        waits = Or(s.at[q] == At.CHOSEN, s.unchecked[q].contains(p))
        return And(
            s.number[p] > 0,
            Or(
                self.is_at(s, q, At.OUTSIDE, At.ENTERING, At.LEAVING),
                And(self.is_at(s, q, At.LOOKING, At.CHOOSING), sees),
                And(self.is_at(s, q, At.CHOSEN, At.WAITING, At.COMPARING), self.comes_first(s, p, q), waits),
            ),
        )

    @invariant
    def inductive(self, s: StateView, p: Process) -> Condition:
        """Whoever has a number comes before all that it has checked."""
        waiting = self.is_at(s, p, At.WAITING, At.COMPARING)
        q = s.next[p]
        chooses = Or(s.at[q] == At.CHOOSING, And(s.at[q] == At.LOOKING, Not(s.unchecked[q].contains(p))))
        return And(
            Implies(Or(waiting, self.is_at(s, p, At.CHOSEN, At.INSIDE)), s.number[p] != 0),
            Implies(self.is_at(s, p, At.LOOKING, At.CHOOSING), s.flag[p]),
            Implies(waiting, Not(s.unchecked[p].contains(p))),
            Implies(s.at[p] == At.COMPARING, And(q != p, Implies(chooses, s.highest[q] >= s.number[p]))),
            for_all(
                self.others(p),
                lambda r: Implies(
                    Or(s.at[p] == At.INSIDE, And(waiting, Not(s.unchecked[p].contains(r)))), self.goes_before(s, p, r)
                ),
            ),
        )
