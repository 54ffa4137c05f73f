"""What a search says while it works."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING

from insync.explorer.limits import Watch

if TYPE_CHECKING:
    from insync.explorer.search.explored import Space

__all__ = [
    "SLOT_BYTES",
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
]


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
        begins: what begins now and reports nothing until it is over, such as `tracing the model`; empty where it is
            walks that are under way.
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


# How far a search still has to go, as its levels grow: an estimate, where the levels so far allow one.
#
# From one level to the next a space grows by a factor that falls, from far above 1 to 0: the levels rise, and then
# fall. The factors of the last levels are put on a straight line, the later ones counting more, which goes on to
# where it says that there is no next level. How far off that is was measured: tests/parity/test_estimates.py.


_FEWEST_LEVELS = 8
_FACTORS = 5  # on the line
_FADING = 0.8  # of the weight of a factor, from one level to the one before it
_STEEPEST = 1.5  # while a level has more than this for each state of the one before, the end is anybody's guess
_AGREEMENT = 1.5  # within which the estimates of the last levels must be of one another
_FLATTEST = 1e-3  # by which the factors must fall, from level to level
_MOST_LEVELS = 10_000


Reaches = Callable[[int, int], bool]


@dataclass(frozen=True, slots=True)
class SpaceEstimate:
    """About how large the whole space is.

    Attributes:
        levels: how many it has.
        states: how many it has, of those that a search visits.
    """

    levels: int
    states: int


def last_growth(levels: Sequence[int]) -> float:
    """Return how many states the last level has for each of the one before; 0 where there is one level at most."""
    return levels[-1] / levels[-2] if len(levels) > 1 else 0.0


def estimated_end(levels: Sequence[int], reaches: Reaches | None = None) -> SpaceEstimate | None:
    """Return about how large a space is whose first levels have these sizes; None where that would be a guess.

    It is one while there are few levels, while they still grow fast, where they do not fall in the long run, and where
    what the last three levels say differs much.

    Args:
        levels: the states of each complete level, at least 1 each.
        reaches: whether the limits of the search let it come to so many levels and states; None where it has none.
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
    """Return the slope of the line through some values, one apart, and its height at the last of them."""
    weights = [_FADING**age for age in reversed(range(len(values)))]
    places = range(1 - len(values), 1)
    total = sum(weights)
    place = sum(w * x for w, x in zip(weights, places, strict=True)) / total
    height = sum(w * y for w, y in zip(weights, values, strict=True)) / total
    spread = sum(w * (x - place) ** 2 for w, x in zip(weights, places, strict=True))
    tilt = sum(w * (x - place) * (y - height) for w, x, y in zip(weights, places, values, strict=True))
    slope = tilt / spread
    return slope, height - slope * place


# What is said of a breadth-first search while it works.


SLOT_BYTES = 16
"""Of the table of states that are kept whole, for a state."""


def progress_of(space: Space, watch: Watch, row_bytes: int, pending: int, rate: float) -> Progress:
    """Return where a search is.

    Args:
        space: what was found.
        watch: of the search.
        row_bytes: of a packed state.
        pending: how many states of the last level are not expanded yet.
        rate: states found per second in the last seconds.
    """
    distinct = sum(len(partition) for partition in space.partitions)
    end, resident = estimated_end(space.visited, watch.reaches), watch.resident
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
        memory_at_end=resident + to_come * _bytes_of_state(space, row_bytes, distinct),
        memory_limit=watch.memory_bytes,
    )


def _bytes_of_state(space: Space, row_bytes: int, distinct: int) -> int:
    """About what a state takes."""
    if space.kept == "states":
        return row_bytes + SLOT_BYTES
    return sum(partition.used_bytes for partition in space.partitions) // max(1, distinct)
