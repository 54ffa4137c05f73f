"""A transition tour (Naito & Tsunoyama 1981): walks from initial states that together take each step of a graph.

A walk continues with a step that no walk has taken yet. If its state has none, it goes to the nearest state that has
one; if none is near, a new walk begins. The caller takes the steps on a system and reports where each has led: some
steps cannot be taken there, and some lead on at once to another state than in the graph. Plans use what was reported.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

from insync.runtime.watch import Stopped, StopReason

__all__ = ["ActionShare", "Tour", "Went"]

_NEAR_STATES = 2_000
"""The states that are looked at for an open step near a state."""
_ATTEMPTS = 3
"""The plans for a state that may miss it before its open steps are given up, and the attempts to take a step."""
_STALE = 64
"""The new walks that are planned after one look at the whole graph."""
_BETWEEN_LOOKS = 1 << 16
"""The steps that are prepared between two calls of `stopped`: some hundredths of a second."""


@dataclass(frozen=True, slots=True)
class ActionShare:
    """The number of transitions of an action, and how many of them were taken."""

    transitions: int = 0
    taken: int = 0

    def __add__(self, other: ActionShare) -> ActionShare:
        return ActionShare(self.transitions + other.transitions, self.taken + other.taken)


class Went(IntEnum):
    """The state of a step: open, taken, refused or given up."""

    OPEN = 0
    TAKEN = 1
    REFUSED = 2
    GIVEN_UP = 3


class Tour:
    """Plans walks over a graph.

    Args:
        source: the state that each step leaves, in ascending order.
        action: the number of its action, in ascending order for each state.
        target: the state that it leads to.
        states: the number of states.
        at_once: for an action, the one that the system takes after it by itself, where that is enabled.
        stopped: called now and then by the constructor; a reason that it returns ends the work.
        initial: the number of initial states, which are the first ones.

    Raises:
        Stopped: `stopped` returned a reason.

    Attributes:
        source, action, target: the steps.
        initial: the number of initial states.
        went: the state of each step, as a number of `Went`.
        visited: whether a walk has been in each state.
    """

    def __init__(
        self,
        source: Sequence[int],
        action: Sequence[int],
        target: Sequence[int],
        states: int,
        at_once: Mapping[int, int] | None = None,
        stopped: Callable[[], StopReason | None] = lambda: None,
        initial: int = 1,
    ) -> None:
        self.source, self.action, self.target, self.initial = source, action, target, initial
        self._first = [0] * (states + 1)
        for state in source:
            self._first[state + 1] += 1
        for state in range(states):
            self._first[state + 1] += self._first[state]
        self.went, self.visited = bytearray(len(action)), bytearray(states)
        self._open = [end - start for start, end in pairwise(self._first)]
        self._missed = [0] * states
        self._leads = list(target)
        for step, number in enumerate(action):
            if not step % _BETWEEN_LOOKS and (reason := stopped()):
                raise Stopped(reason)
            following = (at_once or {}).get(number)
            on = None if following is None else self.step_of(self.target[step], following)
            if on is not None:
                self._leads[step] = self.target[on]
        self._passable = bytearray(b"\1") * len(action)
        self._refusals = bytearray(len(action))
        self._goal: int | None = None
        self._parent: list[int | None] = []
        self._order: list[int] = []
        self._begun = _STALE

    def step_of(self, state: int, action: int) -> int | None:
        """Return the number of the step that an action takes from a state; None where it takes none."""
        start, end = self._first[state], self._first[state + 1]
        found = bisect_left(self.action, action, start, end)
        return found if found < end and self.action[found] == action else None

    def after(self, state: int, action: int) -> int:
        """Return the state that a step leads to by the graph."""
        step = self.step_of(state, action)
        assert step is not None
        return self.target[step]

    def steps_from(self, state: int) -> range:
        """Return the numbers of the steps that leave a state."""
        return range(self._first[state], self._first[state + 1])

    @property
    def left(self) -> int:
        """The number of open steps."""
        return self.went.count(Went.OPEN)

    # ------------------------------------------------------------------------------------------------------- planning

    def plan(self, state: int) -> list[int]:
        """Return the steps to the nearest open step and that step, by number; none if there is no open step near."""
        self.visited[state] = 1
        if self._open[state]:
            self._goal = state
            return [self._first_open(state)]
        came: dict[int, int | None] = {state: None}
        waiting = deque([state])
        while waiting and len(came) < _NEAR_STATES:
            here = waiting.popleft()
            for step in self.steps_from(here):
                there = self._leads[step]
                if not self._passable[step] or there in came:
                    continue
                came[there] = step
                if self._open[there]:
                    return self._planned(there, came)
                waiting.append(there)
        return []

    def plan_anew(self) -> list[int]:
        """Return the steps from an initial state to an open step and that step; none if no open step can be reached."""
        if self._begun >= _STALE:
            self._look_around()
        self._begun += 1
        while self._order and not self._open[self._order[-1]]:
            self._order.pop()
        if self._order:
            return self._planned(self._order[-1], self._parent)
        if self._begun == 1:
            return []
        self._begun = _STALE  # what was reported since may open another way
        return self.plan_anew()

    def way_to(self, state: int) -> list[int]:
        """Return the steps of a shortest way from an initial state to a state that can be reached."""
        self._look_around()
        return self._way(state, self._parent)

    def _planned(self, goal: int, came: Mapping[int, int | None] | list[int | None]) -> list[int]:
        self._goal = goal
        return [*self._way(goal, came), self._first_open(goal)]

    def _way(self, state: int, came: Mapping[int, int | None] | list[int | None]) -> list[int]:
        steps = []
        while (step := came[state]) is not None:
            steps.append(step)
            state = self.source[step]
        return steps[::-1]

    def _first_open(self, state: int) -> int:
        return next(step for step in self.steps_from(state) if self.went[step] == Went.OPEN)

    def _look_around(self) -> None:
        """Find a shortest way to each state, and the states with open steps, the nearest last."""
        self._begun = 0
        parent: list[int | None] = [None] * len(self._open)
        seen, order = bytearray(len(self._open)), list(range(self.initial))
        seen[: self.initial] = b"\1" * self.initial
        for here in order:
            for step in self.steps_from(here):
                there = self._leads[step]
                if self._passable[step] and not seen[there]:
                    seen[there], parent[there] = 1, step
                    order.append(there)
        self._parent = parent
        self._order = [state for state in reversed(order) if self._open[state]]

    # ------------------------------------------------------------------------------------------------------- learning

    def took(self, step: int) -> None:
        """Note that a step was taken."""
        self._settle(step, Went.TAKEN)
        self._passable[step] = 1

    def led(self, step: int, state: int) -> None:
        """Note the state that a step has led to in the end."""
        self.visited[state] = 1
        self._leads[step] = state

    def refused(self, step: int) -> None:
        """Note that a step could not be taken; no plan has it any more."""
        if self.went[step] == Went.OPEN:
            self._settle(step, Went.REFUSED)
        self._passable[step] = 0
        self._refusals[step] += 1

    def refused_before(self, state: int) -> list[int]:
        """Return the steps from a state that could not be taken so far, and have attempts left."""
        return [
            step
            for step in self.steps_from(state)
            if 0 < self._refusals[step] < _ATTEMPTS and self.went[step] != Went.TAKEN
        ]

    def missed(self) -> None:
        """Note that the last plan did not reach its state; after some attempts the open steps there are given up."""
        goal, self._begun = self._goal, _STALE
        if goal is None:
            return
        self._missed[goal] += 1
        if self._missed[goal] >= _ATTEMPTS:
            for step in self.steps_from(goal):
                if self.went[step] == Went.OPEN:
                    self._settle(step, Went.GIVEN_UP)

    def give_up(self) -> None:
        """Note that the steps that are still open cannot be reached."""
        for step, went in enumerate(self.went):
            if went == Went.OPEN:
                self._settle(step, Went.GIVEN_UP)

    def _settle(self, step: int, what: Went) -> None:
        if self.went[step] == Went.OPEN:
            self._open[self.source[step]] -= 1
        if self.went[step] != Went.TAKEN:
            self.went[step] = what
