"""Workers that share a lock: the model of docs/guide/modelling.md.

Lock has the mistake of looking first and taking later; FixedLock looks and takes in one step.
"""

from __future__ import annotations

import enum

from insync.model import (
    NONE,
    And,
    Array,
    Bound,
    Bounds,
    BoundValues,
    Condition,
    Enum,
    Implies,
    Index,
    Model,
    Option,
    State,
    StateView,
    action,
    for_all,
    invariant,
    require,
)


class Worker(Index):
    """Somebody who needs the lock."""

    label = "w"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """As many as the bound says."""
        return bounds.workers


class Doing(enum.Enum):
    """What a worker is doing."""

    RESTING = 0
    SAW_IT_FREE = 1
    INSIDE = 2


class Lock(Model):
    """Workers look whether the lock is free, and take it in a second step."""

    bounds = Bounds(workers=Bound(2, 1, 5, "workers that share the lock"))
    headline = ("one_inside",)

    def declare(self, b: BoundValues) -> State:
        """Say what a state consists of."""
        return State(holder=Option(Worker), doing=Array(Worker, Enum(Doing)))

    @action(label="{worker} looks")
    def look(self, s: StateView, worker: Worker) -> None:
        """A worker sees that nobody holds the lock."""
        require(s.doing[worker] == Doing.RESTING, s.holder == NONE)
        s.doing[worker] = Doing.SAW_IT_FREE

    @action(label="{worker} enters")
    def enter(self, s: StateView, worker: Worker) -> None:
        """A worker that saw the lock free takes it."""
        require(s.doing[worker] == Doing.SAW_IT_FREE)
        s.holder = worker
        s.doing[worker] = Doing.INSIDE

    @action(label="{worker} leaves")
    def leave(self, s: StateView, worker: Worker) -> None:
        """A worker gives the lock back."""
        require(s.doing[worker] == Doing.INSIDE)
        s.holder = NONE
        s.doing[worker] = Doing.RESTING

    @invariant
    def one_inside(self, s: StateView) -> Condition:
        """No two workers are inside at once."""
        return for_all(
            self.all(Worker),
            lambda first: for_all(
                self.all(Worker),
                lambda second: Implies(
                    And(s.doing[first] == Doing.INSIDE, s.doing[second] == Doing.INSIDE),
                    first == second,
                ),
            ),
        )


class FixedLock(Lock):
    """Entering looks again, in the same step."""

    @action(label="{worker} enters")
    def enter(self, s: StateView, worker: Worker) -> None:
        """A worker that saw the lock free takes it, if it still is."""
        require(s.holder == NONE)
        super().enter(s, worker)
