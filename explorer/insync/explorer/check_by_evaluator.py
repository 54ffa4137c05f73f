"""The reference engine: exhaustive search with the evaluator, for small spaces and for properties in plain Python.

The result, traces included, is that of `check`, which searches in machine code. This engine searches a few thousand
states a second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from insync.explorer.check import Extent, concluded
from insync.explorer.results import CheckResult, Violation
from insync.explorer.stepping.stepper import Claim, PropertyLike, Refused, Stepper, Walk, asked_names, claims_of
from insync.explorer.traces.counterexample import trace_of, violation_trace
from insync.model import Model
from insync.model.evaluator import Codes, evaluate
from insync.model.given_names import given_list
from insync.properties.invariants import TYPE_OK
from insync.properties.registry import confined
from insync.runtime.watch import Limits, StopReason, Watch, limits_of

__all__ = ["check_by_evaluator"]

_Parent = tuple[tuple[int, ...], int, Codes]
"""A predecessor: packed, with the number of the bound action that leads on from it, and its codes."""

_OFTEN = 64  # states between two checks of the limits


def check_by_evaluator(
    model: Model,
    *,
    properties: Sequence[PropertyLike] | None = None,
    limits: Limits | None = None,
    keep_going: bool = False,
    within: Sequence[str] | None = None,
    stop: threading.Event | None = None,
) -> CheckResult:
    """Search every state of a model breadth first with the evaluator, and check properties in each.

    Args:
        model: the model to search.
        properties: names of properties, and functions of the readable state; None is the model's headline.
        limits: of the search.
        keep_going: whether to continue to the end of the space after a violation.
        within: names of invariants; states in which one fails are checked and not expanded. None is the confinement of
            the model's class.
        stop: ends the search when it is set.

    Raises:
        UserError: an unknown property, or a function that does not return true or false.
    """
    model = confined(model, within)
    properties = None if properties is None else given_list("properties", properties)
    claims = claims_of(model, properties)
    watch = Watch(limits_of(limits), stop)
    watch.require_room()
    started = time.perf_counter()
    search = _EvaluatorSearch(model, claims, watch, keep_going)
    search.run()
    searched = time.perf_counter()
    violations = search.violations()
    seconds = {"search": searched - started, "trace": time.perf_counter() - searched}
    return _result(model, asked_names(model, properties), search, violations, seconds)


@dataclass(slots=True)
class _EvaluatorSearch:
    model: Model
    claims: Sequence[Claim]
    watch: Watch
    keep_going: bool
    levels: list[list[Codes]] = field(default_factory=list)
    expanded: int = 0
    stopped_by: StopReason | None = None
    failing: dict[str, tuple[int, Codes]] = field(default_factory=dict)
    refused: tuple[int, Codes, Refused] | None = None
    steps: dict[str, int] = field(default_factory=dict)
    stepless: list[int] = field(default_factory=list)
    outside: list[int] = field(default_factory=list)
    _parents: dict[Codes, _Parent] = field(default_factory=dict)

    def run(self) -> None:
        """Search level by level until the space is complete or something ends the search."""
        self.steps = dict.fromkeys(self.model.program.action_names, 0)
        level = list(self.model.program.initials)
        seen = set(level)
        while level:
            if not self._close(level):
                return
            if not self.keep_going and self.failing:
                return
            self.stopped_by = self.watch.after_level(len(self.levels), len(seen))
            if self.stopped_by is not None:
                return
            fresh = self._expand(level, seen)
            if fresh is None:
                return
            level = fresh

    def _close(self, level: list[Codes]) -> bool:
        """Check the states of a level; return whether all were checked before a limit was reached."""
        failing = {}
        program, outside = self.model.program, 0
        for place, codes in enumerate(level if program.within else (), start=1):
            if place % _OFTEN == 0 and self._must_stop():
                return False
            outside += evaluate(program.outside, codes)
        for claim in self.claims:
            if claim.name not in self.failing:
                broken = []
                for place, codes in enumerate(level, start=1):
                    if place % _OFTEN == 0 and self._must_stop():
                        return False
                    if not claim.holds(codes):
                        broken.append(codes)
                if broken:
                    failing[claim.name] = len(self.levels) + 1, min(broken, key=program.schema.pack)
        self.levels.append(level)
        self.outside.append(outside)
        self.failing |= failing
        return True

    def _expand(self, level: list[Codes], seen: set[Codes]) -> list[Codes] | None:
        """Return the next level, or None if the search is over; store the least predecessor of each state."""
        stepper, pack = Stepper(self.model), self.model.program.schema.pack
        taken = dict(self.steps)
        fresh: dict[Codes, _Parent] = {}
        refused: list[tuple[tuple[int, ...], Codes, Refused]] = []
        stepless, outside = 0, self.model.program.outside
        for place, codes in enumerate(level):
            if place % _OFTEN == 0 and self._must_stop():
                return None
            stepless += not evaluate(outside, codes) and not stepper.enabled(codes)
            packed = pack(codes)
            for number, after in stepper.outcomes(codes):
                if isinstance(after, Refused):
                    refused.append((packed, codes, after))
                    continue
                taken[stepper.actions[number].name] += 1
                known = fresh.get(after)
                if after not in seen or (known is not None and (packed, number) < known[:2]):
                    seen.add(after)
                    fresh[after] = packed, number, codes
        if refused and self.refused is None:
            _, least, first = min(refused, key=lambda found: (found[0], found[2].number))
            self.refused = len(self.levels), least, first
            if not self.keep_going:
                return None
        self.expanded, self.steps = len(self.levels), taken
        self.stepless.append(stepless)
        self._parents |= fresh
        return list(fresh)

    def _must_stop(self) -> bool:
        self.stopped_by = self.watch.reason()
        if self.stopped_by is None and not self.watch.may_use(0):
            self.stopped_by = StopReason.MEMORY
        return self.stopped_by is not None

    def violations(self) -> tuple[Violation, ...]:
        """Return a trace for each property that fails, the shortest first."""
        found = []
        for claim in self.claims:
            if claim.name in self.failing:
                _, codes = self.failing[claim.name]
                moves = self._walk_to(codes).moves
                if claim.symbolic is not None:
                    trace = violation_trace(self.model, claim.symbolic[0], moves)
                else:
                    trace = trace_of(self.model, claim.name, moves, claim.reason(codes))
                found.append(Violation(claim.name, trace.length, trace))
        if self.refused is not None:
            _, codes, error = self.refused
            trace = trace_of(self.model, TYPE_OK, self._walk_to(codes).moves, error.message, error)
            found.append(Violation(TYPE_OK, trace.length, trace))
        return tuple(sorted(found, key=lambda violation: violation.trace_length))

    def _walk_to(self, codes: Codes) -> Walk:
        numbers = []
        while codes in self._parents:
            _, number, codes = self._parents[codes]
            numbers.append(number)
        walk = Walk(Stepper(self.model), codes)
        for number in reversed(numbers):
            walk.step(number)
        return walk


def _result(
    model: Model,
    asked: Sequence[str],
    search: _EvaluatorSearch,
    violations: tuple[Violation, ...],
    seconds: dict[str, float],
) -> CheckResult:
    levels, stepless, outside = tuple(map(len, search.levels)), tuple(search.stepless), tuple(search.outside)
    extent = Extent(levels, search.expanded, search.stopped_by, search.steps, stepless, outside)
    symbolic = [claim.symbolic[0] for claim in search.claims if claim.symbolic is not None]
    conditions = {found.name: found.as_written(model) for found in symbolic}
    return concluded(model, "evaluator", asked, extent, violations, seconds, conditions)
