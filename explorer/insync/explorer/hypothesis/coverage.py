"""Which steps of a model the runs of one test have taken, and which one a new run had best take next."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from random import Random
from typing import Any

from hypothesis.control import currently_in_test_context

from insync.explorer.stepping.stepper import ParameterValue, Stepper
from insync.model.evaluator import Codes

__all__ = ["Coverage", "Guide"]

_TRIED = 4
"""How many steps that nobody has taken are tried for one that leads to a new state."""

_NEAR_STATES = 200
"""How many states are looked at for one that has a step nobody has taken."""


class Coverage:
    """The states and steps that all runs of one test have seen together.

    Args:
        stepper: the steps of the model.
    """

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper
        self._taken: dict[Codes, dict[int, Codes]] = {}

    def add(self, before: Codes, number: int, after: Codes) -> None:
        """Record a step that a run has taken."""
        self._taken.setdefault(before, {})[number] = after
        self._taken.setdefault(after, {})

    def next_step(self, codes: Codes, random: Random) -> int | None:
        """Return the number of the best action to take in a state; None if all steps near it have been taken.

        A step that leads to a new state comes first, then one that no run has taken, then the first one on the
        shortest way to a state that has such a step.
        """
        taken = self._taken.get(codes, {})
        fresh = [number for number in self._numbers(codes) if number not in taken]
        if not fresh:
            return self._towards_fresh(codes)
        random.shuffle(fresh)
        for number in fresh[:_TRIED]:
            if self._stepper.attempt(codes, number) not in self._taken:
                return number
        return fresh[0]

    def _numbers(self, codes: Codes) -> list[int]:
        return sorted(number for numbers in self._stepper.enabled(codes).values() for number in numbers)

    def _towards_fresh(self, codes: Codes) -> int | None:
        waiting: deque[tuple[int | None, Codes]] = deque([(None, codes)])
        found = {codes}
        while waiting and len(found) < _NEAR_STATES:
            first, here = waiting.popleft()
            for number, target in self._taken.get(here, {}).items():
                if target in found:
                    continue
                found.add(target)
                way = number if first is None else first
                if len(self._numbers(target)) > len(self._taken[target]):
                    return way
                waiting.append((way, target))
        return None


class Guide:
    """Suggests the steps of the runs of one test to Hypothesis, as the choices that it draws for them.

    Hypothesis records a run as the choices that were drawn; it repeats, mutates and shrinks a run by giving a prefix of
    choices. A suggested choice is put into the prefix. So it becomes an ordinary choice, and what a run does is a
    function of its choices alone, whatever other runs have seen.

    While Hypothesis makes up runs, suggestions replace the rest of its prefix, as most of its prefixes are mutations:
    five of six runs would repeat the beginning of an earlier one. A prefix is left alone before that, when runs of
    Hypothesis's database are repeated, and after a failure, when it is shrunk.

    Hypothesis documents another way to choose what is drawn, `settings(backend=...)`. A test that has settings of its
    own, as most have, would lose it without notice.

    Args:
        stepper: the steps of the model.
    """

    def __init__(self, stepper: Stepper) -> None:
        self.coverage = Coverage(stepper)
        self._values = stepper.values
        self._wanted: int | None = None
        self._data: Any = None
        self._random: Random | None = None
        self._makes_up, self._failed = False, False

    def suggest(self, codes: Codes) -> int | None:
        """Return the number of the action to take; None if Hypothesis is to draw one."""
        self._wanted = None
        if self._may_suggest() and self._random is not None:
            self._wanted = self.coverage.next_step(codes, self._random)
        return self._wanted

    def choose(self, index: int) -> None:
        """Have Hypothesis draw this index next."""
        self._data.prefix = (*(self._data.prefix or ())[: self._data.index], index)

    def choose_parameter(self, name: str, values: Sequence[ParameterValue]) -> None:
        """Have Hypothesis draw the index of the suggested value of a parameter next, if a step is suggested."""
        if self._wanted is not None:
            self.choose(values.index(self._values(self._wanted)[name]))

    def end_step(self) -> None:
        """Leave the next draws to Hypothesis."""
        if self._wanted is not None:
            self._wanted = None
            self._data.prefix = self._data.prefix[: self._data.index]

    def _may_suggest(self) -> bool:
        if not currently_in_test_context():
            return False
        from hypothesis.control import current_build_context  # undocumented, so imported as late as possible

        data: Any = current_build_context().data
        prefix, index, random = (getattr(data, name, None) for name in ("prefix", "index", "_random"))
        if not isinstance(prefix, tuple | list | None) or not isinstance(index, int) or not isinstance(random, Random):
            return False  # a Hypothesis that records no choices, as the oldest supported one, draws all steps itself
        prefix = prefix or ()
        if random is not self._random:
            self._data, self._random, self._makes_up, self._failed = None, random, False, False
        if data is not self._data:
            self._failed = self._failed or getattr(getattr(self._data, "status", None), "name", "") == "INTERESTING"
            self._data = data
        if prefix and not isinstance(prefix[-1], bool | int | float | str | bytes):
            self._makes_up = True  # the run of the simplest choices, which is the first one that is not a repetition
            return False
        return index >= len(prefix) or (self._makes_up and not self._failed)
