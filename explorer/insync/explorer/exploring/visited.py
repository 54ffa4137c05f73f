"""The tree of visited states, with a current state and undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from insync.explorer.stepping.stepper import Move
from insync.model.evaluator import Codes

__all__ = ["Visited", "VisitedState"]


@dataclass(frozen=True, slots=True, eq=False)  # a place in a tree is equal to itself alone
class VisitedState:
    """A state in the tree.

    Attributes:
        number: its place in the order of first visits, from 0.
        before: the number of its parent; None for an initial state.
        action: the number of the action that led here from the parent.
        codes: the state.
        depth: its distance from its initial state, in steps.
    """

    number: int
    before: int | None
    action: int | None
    codes: Codes
    depth: int


class Visited:
    """The tree of visited states, with a current state and undo.

    The same step from the same node leads to the same node. A change consists of all steps of one command and is undone
    as a whole; nodes that it added are removed.

    Args:
        start: an initial state.
    """

    def __init__(self, start: Codes) -> None:
        self.states = [VisitedState(0, None, None, start, 0)]
        self._here = 0
        self._after: dict[int, dict[int, int]] = {}  # the children of a node, by the number of the action
        self._later: dict[int, int] = {}  # the child of a node that was visited last
        self._changes: list[tuple[int, int]] = []

    @property
    def here(self) -> VisitedState:
        """The current state."""
        return self.states[self._here]

    @property
    def ahead(self) -> VisitedState | None:
        """The child of the current state that was visited last, if any."""
        later = self._later.get(self._here)
        return None if later is None else self.states[later]

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to undo."""
        return bool(self._changes)

    @property
    def path(self) -> list[VisitedState]:
        """The states from an initial one to the current one."""
        return self.path_to(self._here)

    @property
    def moves(self) -> list[Move]:
        """The path as moves."""
        return [(state.action, state.codes) for state in self.path]

    def path_to(self, number: int) -> list[VisitedState]:
        """Return the states from an initial one to the one with a number."""
        path = [self.states[number]]
        while (before := path[-1].before) is not None:
            path.append(self.states[before])
        return path[::-1]

    def after(self, number: int) -> list[VisitedState]:
        """Return the children of a state, in the order of first visits."""
        return [self.states[after] for after in self._after.get(number, {}).values()]

    def step(self, moves: Sequence[Move]) -> None:
        """Take steps from here, as one change.

        Args:
            moves: the number of each action with the state after it.
        """
        self._begin_change()
        for action, codes in moves:
            assert action is not None
            after = self._after.setdefault(self._here, {})
            if action not in after:
                after[action] = len(self.states)
                self.states.append(VisitedState(after[action], self._here, action, codes, self.here.depth + 1))
            self._look_at(after[action])

    def start(self, codes: Codes) -> None:
        """Go to an initial state."""
        self._begin_change()
        known = next((state for state in self.states if state.before is None and state.codes == codes), None)
        if known is None:
            known = VisitedState(len(self.states), None, None, codes, 0)
            self.states.append(known)
        self._look_at(known.number)

    def go(self, number: int) -> None:
        """Go to a state in the tree."""
        self._begin_change()
        for state in self.path_to(number):
            self._look_at(state.number)

    def back(self, steps: int) -> int:
        """Go back by `steps` steps, at most to the initial state; return the number of steps taken back."""
        path = self.path
        possible = min(steps, len(path) - 1)
        if possible:
            self._begin_change()
            self._here = path[-1 - possible].number
        return possible

    def forward(self, steps: int) -> int:
        """Go forward by `steps` steps, each to the child that was visited last; return how many were possible."""
        ahead = [self._here]
        while len(ahead) <= steps and (later := self._later.get(ahead[-1])) is not None:
            ahead.append(later)
        if len(ahead) > 1:
            self._begin_change()
            self._here = ahead[-1]
        return len(ahead) - 1

    def undo(self) -> bool:
        """Undo the last change; return whether there was one."""
        if not self._changes:
            return False
        self._here, size = self._changes.pop()
        del self.states[size:]
        self._later = {before: after for before, after in self._later.items() if after < size}
        for after in self._after.values():
            for action in [action for action, number in after.items() if number >= size]:
                del after[action]
        return True

    def forget_changes(self) -> None:
        """Make all changes so far permanent."""
        self._changes.clear()

    def _begin_change(self) -> None:
        self._changes.append((self._here, len(self.states)))

    def _look_at(self, number: int) -> None:
        self._here = number
        before = self.here.before
        if before is not None:
            self._later[before] = number
