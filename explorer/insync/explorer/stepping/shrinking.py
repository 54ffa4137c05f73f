"""Delta debugging of a failing walk (Zeller & Hildebrandt 2002): omit the steps that the failure does not need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol, TypeVar

from insync.explorer.stepping.stepper import Move, Refused, Stepper, Walk
from insync.model.evaluator import Codes
from insync.runtime.errors import InternalError
from insync.runtime.watch import Stopped, StopReason, Watch

__all__ = ["Failing", "FailingLists", "FailingWalks", "HasActions", "NothingFails", "shrink"]

_GRACE_SECONDS = 0.5
"""The seconds after a stop in which a failing walk may still be confirmed, as a failure is worth that."""


class NothingFails(InternalError):
    """What failed along a list of actions does not fail when it is taken again."""


class HasActions(Protocol):
    """A failure after some actions."""

    @property
    def actions(self) -> list[int]:
        """The numbers of the actions; the last one failed."""


F = TypeVar("F", bound=HasActions)
F_co = TypeVar("F_co", bound=HasActions, covariant=True)


class FailingLists(Protocol[F_co]):
    """Takes lists of actions, until something fails."""

    def failing(self, actions: Sequence[int], stopped: Callable[[], StopReason | None] = lambda: None) -> F_co | None:
        """Return the failure with the actions up to it that were taken; None if nothing fails.

        Args:
            actions: the list; an action that cannot be taken when its turn comes is skipped.
            stopped: called before each step.

        Raises:
            Stopped: `stopped` returned a reason.
        """


@dataclass(frozen=True, slots=True)
class Failing:
    """A walk to a failure.

    Attributes:
        actions: the actions from the initial state to the failure; a refused step is the last.
        moves: the moves to these states; a refused step has none.
    """

    actions: list[int]
    moves: list[Move]


class FailingWalks:
    """Walks along lists of actions from an initial state, until something fails.

    Args:
        stepper: of the model.
        fails: whether a state is a failure; None if the failure is a step that leaves a field's domain.
        start: the initial state; None is the first.
    """

    def __init__(self, stepper: Stepper, fails: Callable[[Codes], bool] | None, start: Codes | None = None) -> None:
        self._stepper, self._start = stepper, start
        self._refusal = fails is None
        self._fails: Callable[[Codes], bool] = cache(fails or (lambda codes: False))

    def failing(
        self, actions: Sequence[int], stopped: Callable[[], StopReason | None] = lambda: None
    ) -> Failing | None:
        """Return the walk up to the failure; None if nothing fails.

        An action that is not enabled when its turn comes is skipped. So is an action whose step is refused, unless a
        refused step is the failure.

        Args:
            actions: the list.
            stopped: called before each step.

        Raises:
            Stopped: `stopped` returned a reason.
        """
        walk = Walk(self._stepper, self._start)
        if self._fails(walk.codes):
            return Failing([], walk.moves)
        for action in actions:
            if reason := stopped():
                raise Stopped(reason)
            outcome = self._stepper.attempt(walk.codes, action)
            if isinstance(outcome, Refused):
                if self._refusal:
                    return Failing([*walk.taken, action], walk.moves)
            elif outcome is not None:
                walk.step(action)
                if self._fails(walk.codes):
                    return Failing(walk.taken, walk.moves)
        return None


def shrink(walks: FailingLists[F], actions: Sequence[int], watch: Watch | None = None) -> F:
    """Return a 1-minimal part of a failing list of actions: it fails, and without any one of its steps it does not.

    Runs of consecutive steps are omitted, long ones first, and with them the steps that are not enabled without them.

    Args:
        walks: decide what fails.
        actions: a failing list.
        watch: checked before each step; a reason to stop ends the shortening with the part that is left by then.

    Raises:
        Stopped: stopped before the whole list had been taken once.
        NothingFails: nothing fails along the list.
    """
    watch = watch or Watch()
    best = walks.failing(actions, watch.later(_GRACE_SECONDS).reason)
    if best is None:
        message = f"The machine code finds that a walk of {len(actions)} steps fails; by the evaluator it does not."
        raise NothingFails(message)
    size = max(len(best.actions) // 2, 1)
    while True:
        shorter = _without_a_run(walks, best, size, watch)
        if watch.reason():
            return shorter
        if len(shorter.actions) < len(best.actions):
            best = shorter
        elif size == 1:
            return best
        else:
            size //= 2


def _without_a_run(walks: FailingLists[F], best: F, size: int, watch: Watch) -> F:
    """Return the walk without those runs of `size` steps that the failure does not need."""
    start = 0
    while start < len(best.actions):
        try:
            found = walks.failing(best.actions[:start] + best.actions[start + size :], watch.reason)
        except Stopped:
            break
        if found is not None and len(found.actions) < len(best.actions):
            best = found
        else:
            start += size
    return best
