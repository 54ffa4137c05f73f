"""The reference engine: exhaustive search with the evaluator, for small spaces and for properties in plain Python.

The result, traces included, is that of `check`, which searches in machine code. This engine searches a few thousand
states a second.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from insync.explorer.results import CheckResult, Violation, check_result, nothing_searched
from insync.explorer.search.explored import Explored, LevelSummary
from insync.explorer.search.trace_back import violations_in
from insync.explorer.stepping.stepper import Claim, Move, PropertyLike, Refused, Stepper, Walk, asked_names, claims_of
from insync.explorer.task import Clock, Needs, Prepared, Task
from insync.explorer.traces.trace import Trace, trace_of, violation_trace
from insync.machine.packed import Found, Words
from insync.model import Model
from insync.model.evaluator import Codes, evaluate
from insync.model.given_names import given_list
from insync.properties.registry import Judged
from insync.runtime.watch import Limits, StopReason, Watch

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
    properties = None if properties is None else given_list("properties", properties)
    task = Task(model=model, properties=_names(properties), within=within, limits=limits, stop=stop)
    return task.run(
        lambda prepared: _searched(prepared, properties, keep_going),
        lambda prepared, reason: nothing_searched(prepared, "evaluator", Explored([], stopped_by=reason)),
        Needs.PROGRAM,
    )


def _names(properties: Sequence[PropertyLike] | None) -> list[str] | None:
    """Return the names of the model's own properties among those given."""
    return None if properties is None else [given for given in properties if isinstance(given, str)]


def _searched(prepared: Prepared, properties: Sequence[PropertyLike] | None, keep_going: bool) -> CheckResult:
    model, watch = prepared.model, prepared.watch
    watch.require_room()
    with model.program.graph.asking(watch.check):
        claims, names = claims_of(model, properties), asked_names(model, properties)
    symbolic = [claim.symbolic for claim in claims if claim.symbolic is not None]
    prepared.names = tuple(names)
    prepared.known = Judged(tuple(names), *zip(*symbolic, strict=True)) if symbolic else None
    prepared.clock = Clock()
    search = _EvaluatorSearch(model, claims, watch, keep_going)
    search.run()
    prepared.clock.lap("search")
    violations = search.violations()
    prepared.clock.lap("trace")
    return check_result(prepared, "evaluator", search.explored, violations)


class _EvaluatorSearch:
    def __init__(self, model: Model, claims: Sequence[Claim], watch: Watch, keep_going: bool) -> None:
        self.model, self.claims, self.watch, self.keep_going = model, claims, watch, keep_going
        self.explored = Explored([0] * len(model.program.actions))
        self._parents: dict[Codes, _Parent] = {}

    def run(self) -> None:
        """Search level by level until the space is complete or something ends the search."""
        level = list(self.model.program.initials)
        seen = set(level)
        while self._close(level):
            fresh = self._expand(level, seen)
            if fresh is None:
                return
            level = fresh

    def _close(self, level: list[Codes]) -> bool:
        """Check the states of a level; return whether all were checked before a limit, and the search goes on."""
        program, counts = self.model.program, LevelSummary()
        outside = 0
        for place, codes in enumerate(level if program.within else (), start=1):
            if place % _OFTEN == 0 and self._must_stop():
                return False
            outside += evaluate(program.outside, codes)
        found = [Found() for _ in self.claims]
        for number, claim in enumerate(self.claims):
            if number not in self.explored.violations:
                for place, codes in enumerate(level, start=1):
                    if place % _OFTEN == 0 and self._must_stop():
                        return False
                    if not claim.holds(codes):
                        found[number].add(Found(1, program.schema.pack(codes)))
        counts.add_states(len(level), len(level), outside, found)
        return self.explored.close(counts, self.watch.limits, self.keep_going)

    def _expand(self, level: list[Codes], seen: set[Codes]) -> list[Codes] | None:
        """Return the next level, or None if the search is over; store the least predecessor of each state."""
        stepper, pack = Stepper(self.model), self.model.program.schema.pack
        fresh: dict[Codes, _Parent] = {}
        steps, refused, stepless = [0] * len(stepper.actions), Found(), 0
        outside = self.model.program.outside
        for place, codes in enumerate(level):
            if place % _OFTEN == 0 and self._must_stop():
                return None
            stepless += not evaluate(outside, codes) and not stepper.enabled(codes)
            packed = pack(codes)
            for number, after in stepper.outcomes(codes):
                if isinstance(after, Refused):
                    refused.add(Found(1, packed))
                    continue
                steps[number] += 1
                known = fresh.get(after)
                if after not in seen or (known is not None and (packed, number) < known[:2]):
                    seen.add(after)
                    fresh[after] = packed, number, codes
        counts = LevelSummary()
        counts.add_steps(steps, refused, stepless)
        if not self.explored.expand(counts, self.keep_going):
            return None
        self._parents |= fresh
        return list(fresh)

    def _must_stop(self) -> bool:
        self.explored.stopped_by = self.watch.reason()
        if self.explored.stopped_by is None and not self.watch.may_use(0):
            self.explored.stopped_by = StopReason.MEMORY
        return self.explored.stopped_by is not None

    def violations(self) -> tuple[Violation, ...]:
        """Return a trace for each property that fails, the shortest first."""

        def trace(number: int, moves: Sequence[Move]) -> Trace:
            claim = self.claims[number]
            if claim.symbolic is not None:
                return violation_trace(self.model, claim.symbolic[0], moves)
            return trace_of(self.model, claim.name, moves, claim.reason(moves[-1][1]))

        return violations_in(self.model, self.explored, lambda state, level: self._path_to(state), trace)

    def _path_to(self, state: Words) -> Sequence[Move]:
        codes, numbers = self.model.program.schema.unpack(state), []
        while codes in self._parents:
            _, number, codes = self._parents[codes]
            numbers.append(number)
        walk = Walk(Stepper(self.model), codes)
        for number in reversed(numbers):
            walk.step(number)
        return walk.moves
