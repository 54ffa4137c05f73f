"""How far a search still has to go, as its levels grow: an estimate, where the levels so far allow one.

From one level to the next a space grows by a factor that falls, from far above 1 to 0: the levels rise, and then fall.
The factors of the last levels are put on a straight line, the later ones counting more, which goes on to where it says
that there is no next level. How far off that is was measured: tests/parity/test_estimates.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["SpaceEstimate", "estimated_end", "last_growth"]

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
