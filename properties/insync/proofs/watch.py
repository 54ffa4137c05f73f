"""When a proof has to end: the time for all of it, the time for each query, and whoever wants it to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

__all__ = ["Deadline", "ProofLimits", "ProofWatch", "Stop", "Stopped"]

T = TypeVar("T")

GLANCE = 0.05
"""Seconds between two looks at the clock while a query is under way."""


class Stop(StrEnum):
    """What ended a proof before it was complete; the words are those of a search."""

    TIME = "time"
    INTERRUPT = "interrupt"


class Stopped(Exception):
    """The proof has to stop. Whoever began it catches this and returns what is known."""


@dataclass(frozen=True, slots=True)
class ProofLimits:
    """Bounds of a proof; None means no bound.

    Attributes:
        seconds: for all of it.
        query_seconds: for each query, translation included; one that takes longer is unknown, and the next one begins.
        threads: how many questions z3 is asked at a time.
    """

    seconds: float | None = None
    query_seconds: float | None = None
    threads: int = 1


class Deadline:
    """A time by which a query must be answered; None means no limit."""

    def __init__(self, seconds: float | None) -> None:
        self.started = time.monotonic()
        self.seconds = seconds

    @property
    def elapsed(self) -> float:
        """The seconds since it was set."""
        return time.monotonic() - self.started

    @property
    def left(self) -> float | None:
        """The seconds that are left."""
        return None if self.seconds is None else max(0.0, self.seconds - self.elapsed)

    @property
    def passed(self) -> bool:
        """Whether there is no time left."""
        return self.seconds is not None and self.elapsed >= self.seconds

    def within(self, seconds: float | None) -> Deadline:
        """Return a deadline in so many seconds, or this one if it comes first."""
        return Deadline(min((s for s in (seconds, self.left) if s is not None), default=None))


class ProofWatch:
    """Says when a proof has to stop.

    Args:
        limits: its bounds; the time begins now.
        stop: set by whoever wants it to end.
    """

    def __init__(self, limits: ProofLimits | None = None, stop: threading.Event | None = None) -> None:
        self._limits, self._stop = limits or ProofLimits(), stop
        self._all = Deadline(self._limits.seconds)

    @property
    def stopped(self) -> Stop | None:
        """Why the proof has to stop, if it has to."""
        if self._stop is not None and self._stop.is_set():
            return Stop.INTERRUPT
        return Stop.TIME if self._all.passed else None

    @property
    def left(self) -> ProofLimits:
        """What is left of the limits, for a part of the proof that begins now."""
        return replace(self._limits, seconds=self._all.left)

    @property
    def threads(self) -> int:
        """How many questions z3 is asked at a time."""
        return self._limits.threads

    def go_on(self) -> None:
        """Raise Stopped if the proof has to stop."""
        if self.stopped is not None:
            raise Stopped

    def query(self) -> Deadline:
        """Return the deadline of a query that begins now."""
        return self._all.within(self._limits.query_seconds)

    def attend(self, work: Callable[[], T], interrupt: Callable[[], object]) -> T:
        """Return the result of work that knows nothing of this watch, and interrupt it when the proof has to stop.

        The work is done in a thread of its own. In the main thread Ctrl-C would not be heard before it ends: there
        Python runs the handler of a signal between two of its instructions, and a call of z3 is a single one.

        Args:
            work: what to do; it uses nothing that this thread changes meanwhile.
            interrupt: ends the work early; called again until it has ended.
        """
        return self.end(self.begin(work), interrupt)

    def begin(self, work: Callable[[], T]) -> Future[T]:
        """Begin work that knows nothing of this watch, as soon as one of its threads is free; `end` must follow."""
        return self._pool.submit(work)

    def end(self, under_way: Future[T], interrupt: Callable[[], object]) -> T:
        """Return the result of work that was begun, as `attend` does."""
        try:
            while wait([under_way], GLANCE).not_done:
                if self.stopped is not None:
                    interrupt()
        except BaseException:  # Ctrl-C in a program that has no handler for it: z3 must not go on alone
            self.give_up(under_way, interrupt)
            raise
        return under_way.result()

    def give_up(self, under_way: Future[T], interrupt: Callable[[], object]) -> None:
        """Interrupt work that was begun until it has ended."""
        under_way.cancel()
        while not under_way.done():
            interrupt()
            time.sleep(GLANCE)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.threads, "z3")
