"""`mutate`: mutation testing of a model (DeMillo et al. 1978), which measures what its properties notice.

Each mutant (see `mutants`) is searched like the model. It is killed if a property fails that holds for the model. It is
equivalent if it takes the same steps from every reachable state of the model and reaches no other state. Else it
survives: the properties are too weak, or the omitted condition or assignment does not matter to them.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from insync.explorer.check import check
from insync.explorer.liveness import liveness
from insync.explorer.mutants import Mutant, mutants_of, same_steps
from insync.explorer.results import CheckResult, ModelResult, Verdict
from insync.explorer.search.breadth_first import breadth_first
from insync.explorer.tables import TableColumns
from insync.explorer.task import ModelLike, Needs, Prepared, Task
from insync.machine.kernels import Kernels, compile_kernels
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.expressions.graph import Op
from insync.model.expressions.simplify import combine
from insync.model.given_names import given_names
from insync.model.language.declarations import action_specs, initial_specs
from insync.model.tracing.program import Program, whole_of
from insync.properties.invariants import DEADLOCK_FREE, TYPE_OK, names_within
from insync.properties.registry import (
    invariants_of,
    run_properties_of,
    select,
    select_run_properties,
)
from insync.runtime.errors import ModelError, UserError, closest
from insync.runtime.text import plural
from insync.runtime.watch import Limits, Stopped, StopReason, Watch, limits_of

__all__ = ["Fate", "MutantResult", "MutationResult", "mutate"]

MOST_STATES = 20_000_000
"""The limit on the states of a mutant if the caller sets none."""


class Fate(StrEnum):
    """The result of the search of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class MutantResult:
    """The result for one mutant.

    Attributes:
        name: what the mutant omits.
        action, change, without: the parts of the name.
        fate: killed, survived, equivalent or undecided.
        killed_by: the properties that fail, with the lengths of their traces; 0 for a `sometimes` without a witness.
        distinct_states: of the mutant; None if its search is not complete.
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


@dataclass(frozen=True, slots=True, repr=False)
class MutationResult(ModelResult):
    """The results for all mutants; if the work was stopped, for those that were tried by then.

    Attributes:
        properties: the properties that were checked on the mutants, type_ok included.
        failing: the properties that were left out, as they fail on the model itself.
        distinct_states: of the model.
        mutants: the results, in the order of the actions.
        seconds: the time that all took.
    """

    properties: tuple[str, ...]
    failing: tuple[str, ...]
    distinct_states: int
    mutants: tuple[MutantResult, ...]
    seconds: float

    def count(self, fate: Fate) -> int:
        """Return the number of mutants with this fate."""
        return sum(mutant.fate is fate for mutant in self.mutants)

    def summary(self) -> str:
        fates = ", ".join(f"{self.count(fate)} {fate}" for fate in Fate)
        return f"{self.model}: {plural(len(self.mutants), 'mutant')}, {fates}"

    def _tables(self) -> Mapping[str, Callable[[], TableColumns]]:
        """Return the table `mutants`."""
        return {"mutants": self._mutants}

    def _mutants(self) -> TableColumns:
        return {
            "mutant": [mutant.name for mutant in self.mutants],
            "action": [mutant.action for mutant in self.mutants],
            "fate": [mutant.fate.value for mutant in self.mutants],
            "killed_by": [", ".join(mutant.killed_by) for mutant in self.mutants],
            "states": [mutant.distinct_states for mutant in self.mutants],
        }

    @property
    def score(self) -> float | None:
        """The mutation score: killed / (killed + survived); None if there are no such mutants."""
        killed, survived = self.count(Fate.KILLED), self.count(Fate.SURVIVED)
        return killed / (killed + survived) if killed + survived else None


def mutate(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    properties: Sequence[str] | None = None,
    actions: Sequence[str] | None = None,
    runs: bool = False,
    within: Sequence[str] | None = None,
    limits: Limits | None = None,
    threads: int | None = None,
    reporter: Callable[[int, int, MutantResult], None] | None = None,
    stop: threading.Event | None = None,
) -> MutationResult:
    """Make all mutants of a model and check for each whether a property fails.

    Args:
        model: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        bounds: bounds and settings of a class or a name; those left out have their defaults.
        properties: names of properties; None is all of the model except deadlock_free and those of `within`.
            Properties that fail on the model are left out.
        actions: the actions and initial methods to change; None is all.
        runs: whether to decide the model's properties of runs on mutants that survive; needs the extra `graph`.
        within: names of invariants; model and mutants are confined to states in which they hold. None is the
            confinement of the model's class.
        limits: of each search, tracing and compilation included; the default limit on states is `MOST_STATES`.
        threads: the number of threads; None is one per core.
        reporter: called with the number of the mutant, the number of all mutants, and each result.
        stop: ends the work when it is set; the remaining mutants are undecided.

    Raises:
        UserError: an unknown model, bound, property or action, or a model that breaks type_ok.
    """
    wanted = None if actions is None else given_names("actions", actions)
    task = Task(
        model=model,
        bounds=bounds,
        properties=properties,
        within=within,
        limits=limits,
        threads=threads,
        stop=stop,
        limited=_limited,
    )
    return task.run(lambda prepared: _MutationRun(prepared, wanted, runs).result(reporter), _nothing_tried, Needs.MODEL)


def _limited(given: Limits | None) -> Limits:
    bounded = limits_of(given)
    return replace(bounded, states=bounded.states or MOST_STATES)


def _asked(prepared: Prepared) -> list[str]:
    """Return the names of the properties that were asked for, but for type_ok, which is always checked."""
    model, names = prepared.model, prepared.names
    if prepared.task.properties is None:
        unasked = {DEADLOCK_FREE, *names_within(model)}
        names = select(model, [name for name in invariants_of(model) if name not in unasked])
    return [name for name in names if name != TYPE_OK]


def _nothing_tried(prepared: Prepared, reason: StopReason) -> MutationResult:
    """Return the result of a task that was stopped before the model itself was searched."""
    return MutationResult(
        model=model_reference(prepared.model),
        bounds=prepared.model.identity,
        properties=(*_asked(prepared), TYPE_OK),
        within=names_within(prepared.model),
        failing=(),
        distinct_states=0,
        mutants=(),
        seconds=prepared.watch.seconds,
        stopped_by=reason,
    )


class _MutationRun:
    """The search of a model, and of each of its mutants.

    Args:
        prepared: the task; its limits are those of each search.
        actions: the actions and initial methods to change; None is all.
        runs: whether properties of runs judge the mutants that survive.
    """

    def __init__(self, prepared: Prepared, actions: Sequence[str] | None, runs: bool) -> None:
        self.prepared, self.model, self.actions = prepared, prepared.model, actions
        self.limits, self.threads = prepared.watch.limits, prepared.threads
        self.stop = prepared.task.stop or threading.Event()
        known = [*initial_specs(self.model), *action_specs(self.model)]
        unknown = next((name for name in actions or () if name not in known), None)
        if unknown is not None:
            message = f"{self.model.name} has no action {unknown!r}. {closest(unknown, known)}"
            raise UserError(message)
        self.whole, self.asked = whole_of(self.model), _asked(prepared)
        self.original = self._searched(self.model, self.asked, keep_going=True)
        if TYPE_OK in {violation.property for violation in self.original.violations}:
            message = (
                f"{self.model.name} itself breaks type_ok; fix that first: `insync check` with the same model, the "
                f"same bounds and the same --within shows the trace."
            )
            raise UserError(message)
        failing = {violation.property for violation in self.original.violations}
        self.properties = [name for name in self.asked if name not in failing]
        self.runs: list[str] = []
        if runs and run_properties_of(self.model) and self._may_judge():
            known_runs = liveness(self.model, limits=self.limits, stop=self.stop)
            self.runs = [result.name for result in known_runs.properties if result.verdict is Verdict.HOLDS]

    def _searched(
        self, model: Model, names: Sequence[str], *, within: Sequence[str] | None = None, keep_going: bool = False
    ) -> CheckResult:
        return check(
            model,
            properties=names,
            within=within,
            limits=self.limits,
            threads=self.threads,
            keep_going=keep_going,
            symmetry=False,
            stop=self.stop,
        )

    def _may_judge(self) -> bool:
        return self.original.stopped_by is None and not self.stop.is_set()

    def result(self, reporter: Callable[[int, int, MutantResult], None] | None) -> MutationResult:
        """Return the result for all mutants; after a stop the reporter is not called any more."""
        mutants = self._results(reporter)
        return MutationResult(
            model=model_reference(self.model),
            bounds=self.model.identity,
            properties=(*self.properties, TYPE_OK, *self.runs),
            within=names_within(self.model),
            failing=tuple(name for name in self.asked if name not in self.properties),
            distinct_states=self.original.distinct_states,
            mutants=tuple(mutants),
            warnings=self.original.warnings,
            seconds=self.prepared.watch.seconds,
            stopped_by=StopReason.INTERRUPT if self.stop.is_set() else self.original.stopped_by,
        )

    def _results(self, reporter: Callable[[int, int, MutantResult], None] | None) -> list[MutantResult]:
        """Return the result for each mutant.

        There are none if the search of the model itself is not complete, as they would rest on it.
        """
        if not self._may_judge():
            return []
        mutants = mutants_of(self.whole, self.actions)
        equivalent = self.equivalent(mutants)
        results = []
        for number, mutant in enumerate(mutants):
            results.append(self.fate(mutant, equivalent[number]))
            if reporter is not None and not self.stop.is_set():
                reporter(number + 1, len(mutants), results[-1])
        return results

    def equivalent(self, mutants: Sequence[Mutant]) -> list[bool | StopReason]:
        """Return for each mutant whether it takes the model's own steps from every state of the model, by one search.

        True for every mutant of an initial method. If that search is stopped, mutants without another step so far have
        the reason in place of the answer.
        """
        watch = Watch(self.limits, self.stop)
        program, conditions = self.model.program, []
        try:
            for mutant in mutants:
                watch.check()
                same = same_steps(self.whole.program, mutant)
                conditions.append(combine(program.graph, Op.OR, [program.outside, same]))
            kernels = compile_kernels(program, conditions, watch=watch)
        except Stopped as ended:
            return [ended.reason] * len(mutants)
        differing, stopped = self._violated(kernels, watch)
        others = True if stopped is None else stopped
        return [False if number in differing else others for number in range(len(mutants))]

    def _violated(self, kernels: Kernels, watch: Watch) -> tuple[set[int], StopReason | None]:
        """Return the indexes of the conditions that fail in some state of the model, and what ended the search."""
        program = self.model.program
        with breadth_first(program, kernels, watch, self.threads, True, schema=program.schema) as search:
            space = search.run()
            return set(space.violations), space.stopped_by

    def fate(self, mutant: Mutant, equivalent: bool | StopReason) -> MutantResult:
        """Return the result for a mutant; undecided if it survives and may be equivalent."""
        if equivalent is True and not mutant.begun:
            return _result(mutant, Fate.EQUIVALENT, {}, self.original.distinct_states)
        if self.stop.is_set():
            return _result(mutant, Fate.UNDECIDED, {}, None, StopReason.INTERRUPT)
        try:
            program = mutant.program(self.whole.program, Watch(self.limits, self.stop).check)
        except Stopped as ended:
            return _result(mutant, Fate.UNDECIDED, {}, None, ended.reason)
        except ModelError:  # an initial state has a value outside its field's domain
            return _result(mutant, Fate.KILLED, {TYPE_OK: 1})
        if not program.initials.enumerated:
            return _result(mutant, Fate.UNDECIDED, {}, None, StopReason.STATES)
        broken = _with_program(self.whole, program)
        result = self._searched(broken, self.properties, within=names_within(self.model))
        if result.violations:
            return _result(mutant, Fate.KILLED, {v.property: v.trace_length for v in result.violations})
        if result.stopped_by is not None:
            return _result(mutant, Fate.UNDECIDED, {}, None, result.stopped_by)
        noticed, stopped = self._noticed_in_runs(broken)
        if noticed:
            return _result(mutant, Fate.KILLED, noticed, result.distinct_states)
        stopped = stopped or (equivalent if isinstance(equivalent, StopReason) else None)
        if stopped is not None:
            return _result(mutant, Fate.UNDECIDED, {}, None, stopped)
        if mutant.begun and self._reaches_no_more(result):
            return _result(mutant, Fate.EQUIVALENT, {}, result.distinct_states)
        return _result(mutant, Fate.SURVIVED, {}, result.distinct_states)

    def _reaches_no_more(self, found: CheckResult) -> bool:
        """Return whether a mutant that may begin in more states has no more states than the model."""
        return (found.distinct_states, found.outside) == (self.original.distinct_states, self.original.outside)

    def _noticed_in_runs(self, broken: Model) -> tuple[dict[str, int], StopReason | None]:
        """Return the properties of runs that fail, with the lengths of their traces, and what ended the search."""
        if not self.runs:
            return {}, None
        names = [found.name for found in select_run_properties(broken, self.runs)]
        within = names_within(self.model)
        result = liveness(broken, properties=names, within=within, limits=self.limits, stop=self.stop)
        failing = [found for found in result.properties if found.verdict is Verdict.VIOLATED]
        noticed = {found.name: found.trace.length if found.trace is not None else 0 for found in failing}
        return noticed, result.stopped_by


def _with_program(model: Model, program: Program) -> Model:
    """The model with another program over the same graph, so that its properties are the same nodes."""
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
