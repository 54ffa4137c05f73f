"""Delta debugging of a failing walk: drop the steps that the failure does not need."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from insync.explorer.breadth_first.backtrack import Move
from insync.model.errors import DomainError, GuardError
from insync.model.evaluator import Evaluator

__all__ = ["Replayer", "shrink"]

Codes = tuple[int, ...]


class Replayer:
    """Replays lists of actions from the initial state with the evaluator, until something fails.

    Args:
        evaluator: of the program.
        fails: whether a state is a failure; None for the failure of a step that leaves a field's domain.
    """

    def __init__(self, evaluator: Evaluator, fails: Callable[[Codes], bool] | None) -> None:
        self._evaluator, self._fails = evaluator, fails
        self._steps: dict[tuple[Codes, int], Codes | DomainError | None] = {}
        self._failing: dict[Codes, bool] = {}

    def failing(self, actions: Sequence[int]) -> list[int] | None:
        """Return the actions that were taken up to the failure; None if nothing fails.

        An action that is not enabled when its turn comes is passed over. An action whose step is refused ends the list
        if that is the failure that is looked for, and is passed over if not.
        """
        codes = tuple(self._evaluator.program.initial)
        taken: list[int] = []
        if self._is_failure(codes):
            return taken
        for action in actions:
            after = self._step(codes, action)
            if isinstance(after, DomainError):
                if self._fails is None:
                    return [*taken, action]
            elif after is not None:
                codes = after
                taken.append(action)
                if self._is_failure(codes):
                    return taken
        return None

    def moves(self, actions: Sequence[int]) -> list[Move]:
        """Return the states along actions that can all be taken, but for a last one that is refused."""
        codes = tuple(self._evaluator.program.initial)
        moves: list[Move] = [(None, codes)]
        for action in actions:
            after = self._step(codes, action)
            if isinstance(after, tuple):
                codes = after
                moves.append((action, codes))
        return moves

    def _is_failure(self, codes: Codes) -> bool:
        if self._fails is None:
            return False
        if codes not in self._failing:
            self._failing[codes] = self._fails(codes)
        return self._failing[codes]

    def _step(self, codes: Codes, action: int) -> Codes | DomainError | None:
        key = (codes, action)
        if key not in self._steps:
            try:
                self._steps[key] = self._evaluator.step(action, codes)
            except GuardError:
                self._steps[key] = None
            except DomainError as error:
                self._steps[key] = error
        return self._steps[key]


def shrink(replayer: Replayer, actions: Sequence[int], stopped: Callable[[], object] | None = None) -> list[int]:
    """Return a part of a failing list of actions that still fails, and no longer does without any one of its steps.

    Runs of steps are left out, long ones first; whatever is not enabled without them goes as well.

    Args:
        replayer: decides what fails.
        actions: a failing list.
        stopped: asked before each try whether to return what there is by then.
    """

    def go_on() -> bool:
        return stopped is None or not stopped()

    best = replayer.failing(actions)
    if best is None:
        return list(actions)
    size = max(len(best) // 2, 1)
    while True:
        shorter = _without_a_run(replayer, best, size, go_on)
        if not go_on():
            return shorter
        if len(shorter) < len(best):
            best = shorter
        elif size == 1:
            return best
        else:
            size //= 2


def _without_a_run(replayer: Replayer, actions: list[int], size: int, go_on: Callable[[], bool]) -> list[int]:
    start = 0
    while start < len(actions) and go_on():
        found = replayer.failing(actions[:start] + actions[start + size :])
        if found is not None and len(found) < len(actions):
            actions = found
        else:
            start += size
    return actions
