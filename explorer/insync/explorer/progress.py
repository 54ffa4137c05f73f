"""What a search says while it works."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from insync.explorer.growth import SpaceEstimate
    from insync.explorer.limits import Watch

__all__ = ["DiskNeed", "Phase", "Progress", "Pulse", "Reporter", "WalkProgress", "WalkReporter", "while_compiling"]


class Phase(StrEnum):
    """What a search is doing."""

    COMPILE = "compile"
    SEARCH = "search"
    DECIDE = "decide"
    TRACE = "trace"
    DISK = "disk"


@dataclass(frozen=True, slots=True)
class DiskNeed:
    """About what a search takes that goes on with sorted files on disk.

    Attributes:
        free: bytes that the disk has for it.
        state_bytes: on disk, of a state.
        bytes: on disk in the end; 0 where the levels so far do not say it.
        seconds: that it will take from there; likewise.
        least_states: how many there are with the next level, where no more can be said; else 0.
        million_seconds: that a million new states of that level take.
    """

    free: int
    state_bytes: float
    bytes: int = 0
    seconds: float = 0.0
    least_states: int = 0
    million_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a search is.

    Attributes:
        level: the level that is being expanded.
        frontier: its states that are not expanded yet.
        distinct_states: all states found so far.
        states_per_second: found in the last seconds; see `Pulse`.
        memory_bytes: resident set of the process.
        seconds: since compilation or search began.
        phase: what it is doing.
        subject: the property that is being decided, in that phase.
        growth: how many states the level has for each of the level before; 0 where that is not known.
        end: about how large the whole space is, where the levels so far say so and no limit ends the search before.
        memory_at_end: about what the process takes then, where all states are in its memory.
        memory_limit: what it may take; 0 where they are elsewhere.
        disk: about what the rest takes, where the states are in sorted files on disk; in the phase DISK, where they are
            going to be.
    """

    level: int
    frontier: int
    distinct_states: int
    states_per_second: float
    memory_bytes: int
    seconds: float
    phase: Phase = Phase.SEARCH
    subject: str = ""
    growth: float = 0.0
    end: SpaceEstimate | None = None
    memory_at_end: int = 0
    memory_limit: int = 0
    disk: DiskNeed | None = None


Reporter = Callable[[Progress], None]
"""Called about once a second, in the thread that called `check`."""


def while_compiling(reporter: Reporter | None, watch: Watch) -> Callable[[], None] | None:
    """Return what tells a reporter that the model is being compiled; see `Watch.telling`."""
    if reporter is None:
        return None
    return lambda: reporter(Progress(0, 0, 0, 0.0, watch.resident, watch.seconds, Phase.COMPILE))


@dataclass(frozen=True, slots=True)
class WalkProgress:
    """Where a simulation is.

    Attributes:
        walks: taken so far.
        steps: taken so far.
        steps_per_second: taken in the last seconds; see `Pulse`.
        memory_bytes: resident set of the process.
        seconds: since it began.
        abstract_states: seen so far; None where they are not counted.
    """

    walks: int
    steps: int
    steps_per_second: float
    memory_bytes: int
    seconds: float
    abstract_states: int | None = None


WalkReporter = Callable[[WalkProgress], None]
"""Called about once a second, in the thread that called `simulate`."""


_RATE_SECONDS = 10.0


class Pulse:
    """Says when the next report is due, and how fast things went in the last ten seconds."""

    def __init__(self, period: float = 1.0) -> None:
        self._period = period
        self._last = time.perf_counter()
        self._known = deque([(self._last, 0)])

    def due(self) -> bool:
        """Return whether a report is due."""
        return time.perf_counter() - self._last >= self._period

    def rate(self, count: int) -> float:
        """Return how much the count grew per second of late, and begin to wait for the next report."""
        self._last = now = time.perf_counter()
        while len(self._known) > 1 and now - self._known[1][0] >= _RATE_SECONDS:
            self._known.popleft()
        since, before = self._known[0]
        self._known.append((now, count))
        return (count - before) / max(now - since, 1e-9)
