"""Do the properties mean anything? Break the model in every small way, and see which properties notice.

Each mutant (see `mutants`) is searched like the model. It is killed if a property fails that holds of the model, it is
equivalent if it takes the same steps from every state that the model reaches, and else it has survived: either the
properties do not say enough, or what was taken away is not needed for them.
"""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from insync.explorer.breadth_first.search import Search
from insync.explorer.breadth_first.workers import Team, available_cores
from insync.explorer.check import check
from insync.explorer.limits import Limits, StopReason, Watch
from insync.explorer.liveness import check_progress
from insync.explorer.mutants.mutants import Mutant, mutants_of, same_steps
from insync.explorer.verdict import CheckResult, Verdict
from insync.machine.kernels import compile_kernels
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.errors import UserError, closest
from insync.model.graph import Node
from insync.model.program import Program
from insync.properties.every_model import DEADLOCK_FREE, TYPE_OK
from insync.properties.registry import invariants_of, judge, run_properties_of, select_run_properties

__all__ = ["Fate", "MutantResult", "MutationResult", "mutate"]

MOST_STATES = 20_000_000
"""How many states a mutant may have unless the limits say otherwise."""


class Fate(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class MutantResult:
    """What became of one mutant.

    Attributes:
        name: what was taken away.
        action, change, without: the same in parts.
        fate: what became of it.
        killed_by: the properties that fail, with the length of their traces; 0 where what they ask for is not reached.
        distinct_states: of the mutant; None where it was not searched to its end.
        stopped_by: the limit that left it undecided.
    """

    name: str
    action: str
    change: str
    without: str
    fate: Fate
    killed_by: Mapping[str, int]
    distinct_states: int | None = None
    stopped_by: StopReason | None = None


@dataclass(frozen=True, slots=True)
class MutationResult:
    """What became of all mutants.

    Attributes:
        model: the name by which the model is found again.
        bounds: the bounds of the model.
        properties: those that judged, type_ok included.
        failing: properties left out, because they fail of the model itself.
        distinct_states: of the model.
        mutants: the results, in the order of the actions.
        seconds: how long it took.
        warnings: what is suspicious in the model, or in its settings; a sentence for each.
    """

    model: str
    bounds: Mapping[str, int | str]
    properties: tuple[str, ...]
    failing: tuple[str, ...]
    distinct_states: int
    mutants: tuple[MutantResult, ...]
    seconds: float
    warnings: tuple[str, ...] = ()

    def count(self, fate: Fate) -> int:
        """Return how many mutants had this fate."""
        return sum(mutant.fate is fate for mutant in self.mutants)

    @property
    def score(self) -> float | None:
        """The share of the decided mutants that are not equivalent which were killed; None without any."""
        killed, survived = self.count(Fate.KILLED), self.count(Fate.SURVIVED)
        return killed / (killed + survived) if killed + survived else None


def mutate(
    model: Model,
    properties: Sequence[str] | None = None,
    actions: Sequence[str] | None = None,
    runs: bool = False,
    limits: Limits | None = None,
    threads: int | None = None,
    told: Callable[[int, int, MutantResult], None] | None = None,
    stop: threading.Event | None = None,
) -> MutationResult:
    """Break a model in every small way and see which properties notice.

    Args:
        model: the model.
        properties: names of properties; None is all that the model has but deadlock_free. Those that fail of the
            model are left out.
        actions: the actions to change; None is all.
        runs: whether to ask the model's properties of runs about those that survive; needs the extra `graph`.
        limits: of each search; without one on the states it is `MOST_STATES`.
        threads: how many work at once; None is one per core.
        told: called with the number of the mutant, of all mutants, and the result, when it is there.
        stop: ends the work when it is set; what is left is undecided.

    Raises:
        UserError: an unknown property or action, or a model that breaks type_ok or is not searched to its end.
    """
    started = time.perf_counter()
    unknown = next((name for name in actions or () if name not in model.program.action_names), None)
    if unknown is not None:
        message = f"{model.name} has no action {unknown!r}. {closest(unknown, model.program.action_names)}"
        raise UserError(message)
    names = properties if properties is not None else [n for n in invariants_of(model) if n != DEADLOCK_FREE]
    asked = [found.name for found in judge(model, names).invariants]
    given = limits or Limits()
    bounded = Limits(given.depth, given.states or MOST_STATES, given.seconds, given.memory_bytes)
    jury = _Jury(model, asked, bounded, threads or available_cores(), runs, stop)
    mutants = mutants_of(model, actions)
    equivalent = jury.equivalent(mutants)
    results = []
    for number, mutant in enumerate(mutants):
        results.append(jury.fate(mutant, equivalent[number]))
        if told is not None:
            told(number + 1, len(mutants), results[-1])
    return MutationResult(
        model=model_reference(model),
        bounds=model.identity,
        properties=(*jury.properties, TYPE_OK, *jury.runs),
        failing=tuple(name for name in asked if name not in jury.properties),
        distinct_states=jury.original.distinct_states,
        mutants=tuple(results),
        warnings=jury.original.warnings,
        seconds=time.perf_counter() - started,
    )


class _Jury:
    def __init__(
        self,
        model: Model,
        asked: Sequence[str],
        limits: Limits,
        threads: int,
        runs: bool,
        stop: threading.Event | None,
    ) -> None:
        self.model, self.limits, self.threads, self.stop = model, limits, threads, stop
        self.original = self._complete(check(model, asked, limits, threads, keep_going=True, stop=stop))
        failing = {violation.property for violation in self.original.violations}
        self.properties = [name for name in asked if name not in failing]
        self.runs: list[str] = []
        if runs and run_properties_of(model):
            known = check_progress(model, None, None, limits, None, stop)
            self.runs = [result.name for result in known.properties if result.verdict is Verdict.HOLDS]

    def _complete(self, original: CheckResult) -> CheckResult:
        if TYPE_OK in {violation.property for violation in original.violations}:
            message = f"{self.model.name} itself breaks type_ok; mend that first: `insync check` shows the trace."
            raise UserError(message)
        if original.stopped_by is not None:
            message = (
                f"{self.model.name} itself is not searched to its end ({original.stopped_by}), so nothing can be "
                f"said of its mutants; take smaller bounds or larger limits."
            )
            raise UserError(message)
        return original

    def equivalent(self, mutants: Sequence[Mutant]) -> list[bool]:
        """Say of each mutant whether it takes the model's own steps from every state of the model: one search."""
        conditions = [same_steps(self.model.program, mutant) for mutant in mutants]
        differing = self._violated(conditions)
        return [number not in differing for number in range(len(mutants))]

    def _violated(self, conditions: Sequence[Node]) -> set[int]:
        """Return the places of those conditions that fail in some state of the model."""
        program = self.model.program
        kernels = compile_kernels(program, conditions)
        with Team(self.threads) as team:
            initial = program.schema.pack(program.initial)
            search = Search(kernels, Watch(Limits(), None), team, self.threads, initial, keep_going=True)
            try:
                return set(search.run().violations)
            finally:
                search.space.close()

    def fate(self, mutant: Mutant, equivalent: bool) -> MutantResult:
        """Return what becomes of a mutant."""
        if equivalent:
            return _result(mutant, Fate.EQUIVALENT, {}, self.original.distinct_states)
        broken = _with_program(self.model, mutant.program(self.model.program))
        result = check(broken, self.properties, self.limits, self.threads, stop=self.stop)
        if result.violations:
            return _result(mutant, Fate.KILLED, {v.property: v.trace_length for v in result.violations})
        if result.stopped_by is not None:
            return _result(mutant, Fate.UNDECIDED, {}, None, result.stopped_by)
        noticed = self._noticed_in_runs(broken)
        fate = Fate.KILLED if noticed else Fate.SURVIVED
        return _result(mutant, fate, noticed, result.distinct_states)

    def _noticed_in_runs(self, broken: Model) -> dict[str, int]:
        if not self.runs:
            return {}
        found = check_progress(broken, [p.name for p in select_run_properties(broken, self.runs)], None, self.limits)
        failing = [result for result in found.properties if result.verdict is Verdict.VIOLATED]
        return {result.name: result.trace.length if result.trace is not None else 0 for result in failing}


def _with_program(model: Model, program: Program) -> Model:
    """The model with another program over the same graph, so that its properties mean the same."""
    broken = copy.copy(model)
    broken._program = program
    return broken


def _result(
    mutant: Mutant,
    fate: Fate,
    killed_by: Mapping[str, int],
    states: int | None = None,
    stopped_by: StopReason | None = None,
) -> MutantResult:
    return MutantResult(mutant.name, mutant.action, mutant.change, mutant.without, fate, killed_by, states, stopped_by)
