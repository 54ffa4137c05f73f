"""The first failing walk of a tour, taken again on new systems without the steps that the failure does not need."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from insync.explorer.stepping.shrinking import NothingFails, shrink
from insync.explorer.systems.adapter import Call
from insync.explorer.systems.attended_calls import AttendedCalls, CallHung
from insync.explorer.systems.failures import FailedWalk, FailureKind
from insync.explorer.systems.system_walks import Systems, SystemWalk
from insync.runtime.watch import Stopped, StopReason, Watch

__all__ = ["Shortening"]

_MOST_HANGS = 3
"""After how many calls that hang no shorter walk is tried any more: each takes the whole limit of time."""

_NOT_AGAIN = (
    "The same steps on a new system do not show it again, so the system does not depend on its steps alone: it keeps "
    "something from one run to the next, or a method returns before the system has settled."
)


class Shortening:
    """Takes a failing walk again on new systems, with fewer and fewer steps.

    Most failures need no more than the state in which the last step was taken, so the shortest way there is tried
    first; then shortest ways to earlier and earlier states of the walk, with what follows; then delta debugging.

    Args:
        systems: makes new systems.
        begun: the initial states in which a system was like the model before.
        calls: calls the systems.
        first: the failing walk.

    Attributes:
        best: the shortest walk known to fail, or what the repetitions have shown of the first one.
    """

    def __init__(self, systems: Systems, begun: Collection[int], calls: AttendedCalls, first: FailedWalk) -> None:
        self.best = first
        self._systems, self._begun, self._first, self._calls = systems, begun, first, calls
        self._start = first.start
        self._hangs = 0

    def run(self, watch: Watch) -> None:
        """Shorten the walk as far as it goes.

        Raises:
            Stopped: there was a reason to stop.
        """
        first = self._first
        if first.kind is not FailureKind.UNSTABLE:
            self._systems.patience = 0.0
        found = next(filter(None, map(self._again, self._candidates())), None)
        if found is not None and found.kind is not FailureKind.HUNG:
            try:
                found = shrink(self, found.actions, watch)
            except NothingFails:  # what failed just now does not fail
                found = None
            self._hangs = 0
            found = None if found is None else self.failing(found.actions)
        if found is None:
            kind = FailureKind.UNSTABLE if first.kind is FailureKind.DIFFERENCE else first.kind
            found = replace(first, kind=kind, reason=f"{first.reason} {_NOT_AGAIN}")
        elif found.kind is FailureKind.DIFFERENCE and not found.steps and found.start in self._begun:
            reason = f"A new {self._systems.name} does not begin anew, as an earlier one has. {found.reason}"
            found = replace(found, kind=FailureKind.UNSTABLE, reason=reason)
        self.best = found

    def _candidates(self) -> Iterator[tuple[int, list[int]]]:
        """Yield initial states, and lists of actions from there, that may fail in the same way."""
        plan, first = self._systems.plan, self._first
        kept = 1
        while kept < len(first.steps):
            tail = first.steps[-kept:]
            steps = [*plan.way_to(plan.source[tail[0]]), *tail]
            yield plan.source[steps[0]], [plan.action[step] for step in steps]
            kept *= 2
        yield first.start, first.actions

    def _again(self, candidate: tuple[int, list[int]]) -> FailedWalk | None:
        self._start, actions = candidate
        return self.failing(actions)

    def failing(
        self, actions: Sequence[int], stopped: Callable[[], StopReason | None] = lambda: None
    ) -> FailedWalk | None:
        """Return the walk along a list of actions up to a failure like the first one; None if there is none."""
        if (reason := stopped()) is not None:
            raise Stopped(reason)
        if self._hangs >= _MOST_HANGS:
            return None
        walks: list[SystemWalk] = []

        def walked(call: Call) -> FailedWalk | None:
            walks.append(SystemWalk(self._systems, call, self._start))
            try:
                return self._along(walks[0], actions) or walks[0].close()
            finally:
                walks[0].abandon()

        try:
            found = self._calls.run(walked)
        except CallHung as hung:
            found = walks[0].hung(hung)
            self._hangs += found.kind is FailureKind.HUNG
        if found is None or not found.is_like(self._first):
            return None
        if len(found.actions) < len(self.best.actions):
            self.best = found
        return found

    def _along(self, walk: SystemWalk, actions: Sequence[int]) -> FailedWalk | None:
        found = walk.begin()
        for action in actions:
            if found is not None:
                return found
            step = self._systems.plan.step_of(walk.state, action)
            if step is not None:
                found = walk.take(step)
        return found
