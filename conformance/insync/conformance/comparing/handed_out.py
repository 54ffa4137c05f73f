"""Walks that are handed out one by one, in order, to those who take them at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

from insync.conformance.comparing.walks import Divergence
from insync.runtime.watch import Stopped, StopReason

__all__ = ["HandedOut"]


class HandedOut:
    """The walks of a comparison, up to the first that comes to a difference.

    However many take them, the difference is that of the first walk that has one, as if they were taken in order.

    Args:
        count: how many walks are asked for.
    """

    def __init__(self, count: int) -> None:
        self.found: Divergence | None = None
        self.stopped_by: StopReason | None = None
        self._end = count
        self._next, self._taken = 0, 0
        self._lock = threading.Lock()

    @property
    def walks(self) -> int:
        """How many walks were taken to their end; where one has come to a difference, those up to it."""
        return self._taken if self.found is None else self._end + 1

    def work(self, take: Callable[[int], Divergence | None]) -> None:
        """Take walks until there are none left; several threads may do so at once.

        Args:
            take: takes the walk of a number; raises Stopped when it is told to stop.
        """
        while (number := self._handed_out()) is not None:
            try:
                self._came_to(number, take(number))
            except Stopped as stopped:
                self._stop(number, stopped.reason)
            except BaseException:
                self._end = 0  # the others need not go on
                raise

    def needless(self, number: int) -> StopReason | None:
        """Return a reason to stop a walk, if a walk before it has come to a difference."""
        return StopReason.INTERRUPT if number > self._end else None

    def _handed_out(self) -> int | None:
        with self._lock:
            if self.stopped_by is not None or self._next >= self._end:
                return None
            self._next += 1
            return self._next - 1

    def _came_to(self, number: int, found: Divergence | None) -> None:
        with self._lock:
            self._taken += 1
            if found is not None and number < self._end:
                self.found, self._end = found, number

    def _stop(self, number: int, reason: StopReason) -> None:
        with self._lock:
            if self.needless(number) is None:
                self.stopped_by = reason
