"""Dining philosophers who hand forks to each other: the TLA+ module DiningPhilosophers, after Chandy and Misra."""

from __future__ import annotations

import enum

from insync.model import And, Array, Bool, Bound, BoundValues, Bounds, Condition, If, Index, Model, Not, Record, State
from insync.model import StateView, action, bound, invariant, require, when
from insync.properties import always_eventually


class Philosopher(Index):
    """Somebody at the round table, and the fork at their left hand, which has the same number."""

    size = bound("philosophers")


class Doing(enum.Enum):
    """Where a philosopher's program is."""

    LOOP = 0
    EAT = 1
    THINK = 2


class DiningPhilosophers(Model):
    """A dirty fork is cleaned and handed over; whoever holds two clean ones may eat."""

    bounds = Bounds(philosophers=Bound(5, 2, 8, "philosophers"))
    headline = ("neighbours_do_not_eat_together",)

    def declare(self, b: BoundValues) -> State:
        return State(
            fork=Array(Philosopher, Record(holder=Philosopher, clean=Bool)),
            hungry=Array(Philosopher, Bool),
            doing=Array(Philosopher, Doing),
        )

    def initial(self, s: StateView) -> None:
        for p in self.all(Philosopher):
            s.fork[p].holder = p
            s.hungry[p] = True
        s.fork[1].holder = 0

    def neighbours(self, p: Philosopher) -> tuple[int, int]:
        """Who sits at the left and at the right."""
        return (p - 1) % self.b.philosophers, (p + 1) % self.b.philosophers

    @action
    def loop(self, s: StateView, p: Philosopher) -> None:
        """Hand over a dirty fork, the left one first; then see what to do."""
        require(s.doing[p] == Doing.LOOP)
        left, right = self.neighbours(p)
        mine, other = s.fork[p], s.fork[right]
        can_eat = And(mine.holder == p, other.holder == p, mine.clean, other.clean)
        hand_left = And(mine.holder == p, Not(mine.clean))
        hand_right = And(Not(hand_left), other.holder == p, Not(other.clean))
        with when(hand_left):
            s.fork[p] = {"holder": left, "clean": True}
        with when(hand_right):
            s.fork[right] = {"holder": right, "clean": True}
        s.doing[p] = If(Not(s.hungry[p]), Doing.THINK, If(can_eat, Doing.EAT, Doing.LOOP))

    @action
    def eat(self, s: StateView, p: Philosopher) -> None:
        require(s.doing[p] == Doing.EAT)
        _, right = self.neighbours(p)
        s.hungry[p] = s.fork[p].clean = s.fork[right].clean = False
        s.doing[p] = Doing.LOOP

    @action
    def think(self, s: StateView, p: Philosopher) -> None:
        require(s.doing[p] == Doing.THINK)
        s.hungry[p] = True
        s.doing[p] = Doing.LOOP

    @invariant
    def neighbours_do_not_eat_together(self, s: StateView, p: Philosopher) -> Condition:
        """Whoever eats, the next one at the right does not."""
        _, right = self.neighbours(p)
        return Not(And(s.doing[p] == Doing.EAT, s.doing[right] == Doing.EAT))


@always_eventually(DiningPhilosophers, weak=("loop(p)", "eat(p)", "think(p)"))
def nobody_starves(model: DiningPhilosophers, s: StateView, p: Philosopher) -> Condition:
    """Nobody stays hungry: everybody is not hungry again and again."""
    return Not(s.hungry[p])
