"""Workers that share a lock: the model of docs/guide/modelling.md.

Lock has the mistake of looking first and taking later; FixedLock looks and takes in one step.
"""

from __future__ import annotations

import enum

from insync.model import NONE, And, Array, Bound, Bounds, BoundValues, Condition, Implies, Index, Model, Option
from insync.model import State, StateView, action, bound, invariant, require


class Worker(Index):
    """Somebody who needs the lock."""

    size = bound("workers")


class Doing(enum.Enum):
    """What a worker is doing."""

    RESTING = 0
    SAW_IT_FREE = 1
    INSIDE = 2


class Lock(Model):
    """Workers look whether the lock is free, and take it in a second step."""

    bounds = Bounds(workers=Bound(2, 1, 5, "workers that share the lock"))

    def declare(self, b: BoundValues) -> State:
        return State(holder=Option(Worker), doing=Array(Worker, Doing))

    @action
    def look(self, s: StateView, worker: Worker) -> None:
        """A worker sees that nobody holds the lock."""
        require(s.doing[worker] == Doing.RESTING, s.holder == NONE)
        s.doing[worker] = Doing.SAW_IT_FREE

    @action
    def enter(self, s: StateView, worker: Worker) -> None:
        """A worker that saw the lock free takes it."""
        require(s.doing[worker] == Doing.SAW_IT_FREE)
        s.holder, s.doing[worker] = worker, Doing.INSIDE

    @action
    def leave(self, s: StateView, worker: Worker) -> None:
        """A worker gives the lock back."""
        require(s.doing[worker] == Doing.INSIDE)
        s.holder, s.doing[worker] = NONE, Doing.RESTING

    @invariant
    def one_inside(self, s: StateView, first: Worker, second: Worker) -> Condition:
        """No two workers are inside at once."""
        return Implies(And(s.doing[first] == Doing.INSIDE, s.doing[second] == Doing.INSIDE), first == second)


class FixedLock(Lock):
    """Entering looks again, in the same step."""

    @action
    def enter(self, s: StateView, worker: Worker) -> None:
        """A worker that saw the lock free takes it, if it still is."""
        require(s.holder == NONE)
        super().enter(s, worker)
