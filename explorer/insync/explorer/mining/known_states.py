"""States that candidates are tried on: reachable ones of a small instance, and those that a state leads to."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

from insync.explorer.stepping.stepper import Refused, Stepper
from insync.model.evaluator import Codes

__all__ = ["reached_from"]

_STEPS = 60
"""How long a walk is."""

_TIRED = 20
"""How many walks may find nothing new, one after the other."""


def reached_from(
    stepper: Stepper, starts: Iterable[Codes], most: int, go_on: Callable[[], None]
) -> tuple[list[Codes], bool]:
    """Return states that can be reached from some, and whether these are all.

    If there are more than may be returned, half of those returned are near, the others on random walks from there.

    Args:
        stepper: takes the steps.
        starts: where to begin.
        most: how many states to return at most.
        go_on: called again and again; what it raises ends it.
    """
    known = dict.fromkeys(starts)
    level = list(known)
    while level and len(known) <= most:
        fresh: dict[Codes, None] = {}
        for codes in level:
            go_on()
            fresh |= dict.fromkeys(after for after in _after(stepper, codes) if after not in known)
        known |= fresh
        level = list(fresh)
    if len(known) <= most:
        return list(known), True
    return _walked(stepper, list(known)[: max(1, most // 2)], most, go_on), False


def _walked(stepper: Stepper, near: Sequence[Codes], most: int, go_on: Callable[[], None]) -> list[Codes]:
    """Return states with those of random walks from them, as long as walks find something new."""
    chance, known, tired = random.Random(most), dict.fromkeys(near), 0  # the same walks every time
    while len(known) < most and tired < _TIRED:
        codes, before = chance.choice(near), len(known)
        for _ in range(_STEPS):
            go_on()
            following = _after(stepper, codes)
            if not following:
                break
            codes = chance.choice(following)
            known[codes] = None
        tired = 0 if len(known) > before else tired + 1
    return list(known)[:most]


def _after(stepper: Stepper, codes: Codes) -> list[Codes]:
    return [after for _, after in stepper.outcomes(codes) if not isinstance(after, Refused)]
