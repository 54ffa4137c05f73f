"""Limits of a proof: the time for all of it, the time for each query, and an event that stops it."""

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
"""Seconds between two checks of the limits while a query is under way."""


class Stop(StrEnum):
    """The reason why a proof ended before it was complete; the values are those of a search."""

    TIME = "time"
    INTERRUPT = "interrupt"


class Stopped(Exception):
    """The proof has to stop. The function that began it catches this and returns its partial result."""


@dataclass(frozen=True, slots=True)
class ProofLimits:
    """Limits of a proof; None means no limit.

    Attributes:
        seconds: the time for all of it.
        query_seconds: the time for each query, translation included; a query that takes longer is unknown.
        threads: the number of questions that z3 answers at a time.
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
        """The seconds since the deadline was made."""
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
        """Return the deadline `seconds` from now, or this one if it comes first."""
        return Deadline(min((s for s in (seconds, self.left) if s is not None), default=None))


class ProofWatch:
    """Watches the limits of a proof, and runs the work of z3 in threads.

    Args:
        limits: the limits; the time begins now.
        stop: an event that stops the proof when it is set.
    """

    def __init__(self, limits: ProofLimits | None = None, stop: threading.Event | None = None) -> None:
        self._limits, self._stop = limits or ProofLimits(), stop
        self._all = Deadline(self._limits.seconds)

    @property
    def stopped(self) -> Stop | None:
        """The reason why the proof has to stop, or None."""
        if self._stop is not None and self._stop.is_set():
            return Stop.INTERRUPT
        return Stop.TIME if self._all.passed else None

    @property
    def left(self) -> ProofLimits:
        """The remaining limits, for a part of the proof that begins now."""
        return replace(self._limits, seconds=self._all.left)

    @property
    def threads(self) -> int:
        """The number of questions that z3 answers at a time."""
        return self._limits.threads

    def go_on(self) -> None:
        """Raise Stopped if the proof has to stop."""
        if self.stopped is not None:
            raise Stopped

    def query(self) -> Deadline:
        """Return the deadline of a query that begins now."""
        return self._all.within(self._limits.query_seconds)

    def attend(self, work: Callable[[], T], interrupt: Callable[[], object]) -> T:
        """Return the result of work that does not check this watch, and interrupt it when the proof has to stop.

        The work runs in another thread. In the main thread Ctrl-C would have no effect before it ends: Python runs the
        handler of a signal between two of its instructions, and a call of z3 is a single one.

        Args:
            work: a function; this thread must not change what it uses meanwhile.
            interrupt: ends the work early; called repeatedly until it has ended.
        """
        return self.end(self.begin(work), interrupt)

    def begin(self, work: Callable[[], T]) -> Future[T]:
        """Begin such work as soon as a thread is free; a call of `end` or `give_up` must follow."""
        return self._pool.submit(work)

    def end(self, under_way: Future[T], interrupt: Callable[[], object]) -> T:
        """Return the result of begun work, and interrupt it when the proof has to stop."""
        try:
            while wait([under_way], GLANCE).not_done:
                if self.stopped is not None:
                    interrupt()
        except BaseException:  # Ctrl-C in a program that has no handler for it: z3 must not go on alone
            self.give_up(under_way, interrupt)
            raise
        return under_way.result()

    def give_up(self, under_way: Future[T], interrupt: Callable[[], object]) -> None:
        """Interrupt begun work until it has ended."""
        under_way.cancel()
        while not under_way.done():
            interrupt()
            time.sleep(GLANCE)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.threads, "z3")
