"""Delta debugging of a failing walk: drop the steps that the failure does not need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache

from insync.explorer.evaluator.stepping import Move, Refused, Stepper, Walk
from insync.model.errors import GuardError
from insync.model.evaluator import Codes

__all__ = ["FailingWalks", "shrink"]


class FailingWalks:
    """Walks along lists of actions from an initial state, until something fails.

    Args:
        stepper: of the model.
        fails: whether a state is a failure; None for the failure of a step that leaves a field's domain.
        start: the initial state; None is the first.
    """

    def __init__(self, stepper: Stepper, fails: Callable[[Codes], bool] | None, start: Codes | None = None) -> None:
        self._stepper, self._start = stepper, start
        self._refusal = fails is None
        self._fails: Callable[[Codes], bool] = cache(fails or (lambda codes: False))

    def failing(self, actions: Sequence[int]) -> list[int] | None:
        """Return the actions that were taken up to the failure; None if nothing fails.

        An action that is not enabled when its turn comes is passed over. An action whose step is refused ends the list
        if that is the failure that is looked for, and is passed over if not.
        """
        walk = Walk(self._stepper, self._start)
        if self._fails(walk.codes):
            return []
        for action in actions:
            outcome = self._stepper.attempt(walk.codes, action)
            if isinstance(outcome, Refused):
                if self._refusal:
                    return [*walk.taken, action]
            elif outcome is not None:
                walk.step(action)
                if self._fails(walk.codes):
                    return walk.taken
        return None

    def moves(self, actions: Sequence[int]) -> list[Move]:
        """Return the states along actions that can all be taken, but for a last one that is refused."""
        walk = Walk(self._stepper, self._start)
        for action in actions:
            with suppress(GuardError, Refused):
                walk.step(action)
        return walk.moves


def shrink(walks: FailingWalks, actions: Sequence[int], stopped: Callable[[], object] | None = None) -> list[int]:
    """Return a part of a failing list of actions that still fails, and no longer does without any one of its steps.

    Runs of steps are left out, long ones first; whatever is not enabled without them goes as well.

    Args:
        walks: decide what fails.
        actions: a failing list.
        stopped: asked before each try whether to return what there is by then.
    """

    def go_on() -> bool:
        return stopped is None or not stopped()

    best = walks.failing(actions)
    if best is None:
        return list(actions)
    size = max(len(best) // 2, 1)
    while True:
        shorter = _without_a_run(walks, best, size, go_on)
        if not go_on():
            return shorter
        if len(shorter) < len(best):
            best = shorter
        elif size == 1:
            return best
        else:
            size //= 2


def _without_a_run(walks: FailingWalks, actions: list[int], size: int, go_on: Callable[[], bool]) -> list[int]:
    start = 0
    while start < len(actions) and go_on():
        found = walks.failing(actions[:start] + actions[start + size :])
        if found is not None and len(found) < len(actions):
            actions = found
        else:
            start += size
    return actions
