"""The progress of a search: what reporters receive, when reports are due, and an estimate of where the search ends."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING

from insync.runtime.watch import Watch

if TYPE_CHECKING:
    from insync.explorer.search.explored import Explored

__all__ = [
    "DiskNeed",
    "Phase",
    "Progress",
    "Pulse",
    "Reporter",
    "SpaceEstimate",
    "WalkProgress",
    "WalkReporter",
    "estimated_end",
    "last_growth",
    "progress_of",
    "while_compiling",
    "while_reading",
]


class Phase(StrEnum):
    """The phase of a search; in START Spark's workers start, and each compiles the model."""

    COMPILE = "compile"
    START = "start"
    SEARCH = "search"
    DECIDE = "decide"
    TRACE = "trace"
    DISK = "disk"


@dataclass(frozen=True, slots=True)
class DiskNeed:
    """An estimate of what a search takes that continues with sorted files on disk.

    Attributes:
        free: free bytes of the disk.
        state_bytes: bytes of a state on disk.
        bytes: bytes on disk at the end; 0 if there is no estimate of the end.
        seconds: the seconds to the end; 0 likewise.
        least_states: the states with the next level, if there is no estimate of the end; else 0.
        million_seconds: the seconds for a million new states of that level.
    """

    free: int
    state_bytes: float
    bytes: int = 0
    seconds: float = 0.0
    least_states: int = 0
    million_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search has come.

    Attributes:
        level: the level that is being expanded.
        frontier: its states that are not expanded yet.
        distinct_states: all states found so far.
        states_per_second: found in the last seconds; see `Pulse`.
        memory_bytes: the resident set of the process.
        seconds: since compilation or search began.
        phase: of the search.
        subject: the property that is being decided, in the phase DECIDE; in COMPILE, where the model's own code is
            that does not return.
        growth: the states of the level for each state of the level before; 0 if unknown.
        end: the estimated size of the whole space; None without an estimate, or if a limit ends the search before.
        memory_at_end: the estimated memory of the process at the end, if it has all states in memory.
        memory_limit: the memory that it may take; 0 if the states are elsewhere.
        disk: the estimated need of the rest, if the states are in sorted files on disk, or will be from the phase DISK.
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
"""Called about once a second in the thread that called `check`; another one calls it while a model's code hangs."""


def while_compiling(reporter: Reporter | None, watch: Watch) -> Callable[[], None] | None:
    """Return the function that reports that the model is being compiled; see `Watch.telling`."""
    if reporter is None:
        return None
    return lambda: reporter(Progress(0, 0, 0, 0.0, watch.resident, watch.seconds, Phase.COMPILE))


def while_reading(reporter: Reporter | None, watch: Watch) -> Callable[[str], None] | None:
    """Return the function that reports where in the model's code the reading of the model is; see `Oversight`."""
    if reporter is None:
        return None
    return lambda place: reporter(
        Progress(0, 0, 0, 0.0, watch.resident, watch.seconds, Phase.COMPILE, f"reading {place}")
    )


@dataclass(frozen=True, slots=True)
class WalkProgress:
    """How far a simulation has come.

    Attributes:
        walks: taken so far.
        steps: taken so far.
        steps_per_second: taken in the last seconds; see `Pulse`.
        memory_bytes: the resident set of the process.
        seconds: since the simulation began.
        abstract_states: seen so far; None if they are not counted.
        begins: what begins now and reports nothing until it is over, such as `tracing the model`; empty while walks
            are taken.
    """

    walks: int
    steps: int
    steps_per_second: float
    memory_bytes: int
    seconds: float
    abstract_states: int | None = None
    begins: str = ""


WalkReporter = Callable[[WalkProgress], None]
"""Called about once a second, in the thread that called `simulate`."""


_RATE_SECONDS = 10.0


class Pulse:
    """Decides when the next report is due, and measures the rate of the last ten seconds."""

    def __init__(self, period: float = 1.0) -> None:
        self._period = period
        self._last = time.perf_counter()
        self._known = deque([(self._last, 0)])

    def due(self) -> bool:
        """Return whether a report is due."""
        return time.perf_counter() - self._last >= self._period

    def rate(self, count: int) -> float:
        """Return the growth of the count per second of late, and start the time to the next report."""
        self._last = now = time.perf_counter()
        while len(self._known) > 1 and now - self._known[1][0] >= _RATE_SECONDS:
            self._known.popleft()
        since, before = self._known[0]
        self._known.append((now, count))
        return (count - before) / max(now - since, 1e-9)


# ---------------------------------------------------------------------------------------------------------- estimates
#
# From level to level a space grows by a factor that falls from far above 1 to 0. A weighted least-squares line through
# the last factors, later ones weighing more, is continued to the level that would have no state. The errors of this
# estimate are measured in tests/parity/test_estimates.py.


_FEWEST_LEVELS = 8
_FACTORS = 5  # that the line is fitted to
_FADING = 0.8  # the weight of a factor relative to the next one's
_STEEPEST = 1.5  # no estimate as long as a level has more than this for each state of the one before
_AGREEMENT = 1.5  # the largest ratio between the estimates of the last levels
_FLATTEST = 1e-3  # the least fall of the factors from level to level
_MOST_LEVELS = 10_000


Reaches = Callable[[int, int], bool]


@dataclass(frozen=True, slots=True)
class SpaceEstimate:
    """The estimated size of the whole space.

    Attributes:
        levels: the number of levels.
        states: the number of states that a search visits.
    """

    levels: int
    states: int


def last_growth(levels: Sequence[int]) -> float:
    """Return the states of the last level for each state of the one before; 0 if there is one level at most."""
    return levels[-1] / levels[-2] if len(levels) > 1 else 0.0


def estimated_end(levels: Sequence[int], reaches: Reaches | None = None) -> SpaceEstimate | None:
    """Return an estimate of the size of a space with these first levels; None if it would be a guess.

    There is no estimate as long as the levels are few or grow fast, if their growth does not fall, and if the last
    three levels lead to very different estimates.

    Args:
        levels: the number of states of each complete level, at least 1 each.
        reaches: whether the limits of the search allow this number of levels and states; None means no limits.
    """
    if len(levels) < _FEWEST_LEVELS or levels[-1] > _STEEPEST * levels[-2]:
        return None
    said = [_continued(levels[: len(levels) - fewer]) for fewer in (0, 1, 2)]
    known = [estimate for estimate in said if estimate is not None]
    if len(known) < len(said):
        return None
    sizes = [estimate.states for estimate in known]
    end = known[0]
    allowed = reaches is None or reaches(end.levels, end.states)
    return end if allowed and max(sizes) <= _AGREEMENT * min(sizes) else None


def _continued(levels: Sequence[int]) -> SpaceEstimate | None:
    factors = [after / before for before, after in pairwise(levels)][-_FACTORS:]
    slope, factor = _line(factors)
    if slope > -_FLATTEST:
        return None
    depth, states, size = len(levels), float(sum(levels)), float(levels[-1])
    while depth < _MOST_LEVELS and states < math.inf:
        factor += slope
        size *= factor
        if size < 1:
            return SpaceEstimate(depth, round(states))
        depth, states = depth + 1, states + size
    return None


def _line(values: Sequence[float]) -> tuple[float, float]:
    """Return the slope of the fitted line through values that are one apart, and its height at the last value."""
    weights = [_FADING**age for age in reversed(range(len(values)))]
    places = range(1 - len(values), 1)
    total = sum(weights)
    place = sum(w * x for w, x in zip(weights, places, strict=True)) / total
    height = sum(w * y for w, y in zip(weights, values, strict=True)) / total
    spread = sum(w * (x - place) ** 2 for w, x in zip(weights, places, strict=True))
    tilt = sum(w * (x - place) * (y - height) for w, x, y in zip(weights, places, values, strict=True))
    slope = tilt / spread
    return slope, height - slope * place


# ----------------------------------------------------------------------------------------------- breadth-first search


def progress_of(space: Explored, watch: Watch, state_bytes: int, pending: int, rate: float) -> Progress:
    """Return the progress of a search.

    Args:
        space: the searched space.
        watch: of the search.
        state_bytes: bytes of memory for a state that is kept whole.
        pending: states of the last level that are not expanded yet.
        rate: states found per second in the last seconds.
    """
    distinct = sum(len(partition) for partition in space.partitions)
    end, resident = estimated_end(space.visited, watch.allows), watch.resident
    to_come = 0 if end is None else max(0, end.states - distinct)
    return Progress(
        level=len(space.levels),
        frontier=pending,
        distinct_states=distinct,
        states_per_second=rate,
        memory_bytes=resident,
        seconds=watch.seconds,
        growth=last_growth(space.visited),
        end=end,
        memory_at_end=resident + to_come * _bytes_of_state(space, state_bytes, distinct),
        memory_limit=watch.memory_bytes,
    )


def _bytes_of_state(space: Explored, state_bytes: int, distinct: int) -> int:
    """The approximate bytes of memory for each state."""
    if space.kept == "states":
        return state_bytes
    return sum(partition.used_bytes for partition in space.partitions) // max(1, distinct)
