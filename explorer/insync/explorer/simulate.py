"""`simulate`: seeded random walks through a model; the first that fails is shortened by delta debugging."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from insync.explorer.progress import WalkProgress, WalkReporter
from insync.explorer.results import ModelResult, PropertyResult, Verdict, Violation, properties_table
from insync.explorer.search.walks import AbstractStates, Taken, Walks, WalkThreads
from insync.explorer.stepping.shrinking import FailingWalks, shrink
from insync.explorer.stepping.stepper import Stepper
from insync.explorer.tables import TableColumns
from insync.explorer.task import ModelLike, Needs, Prepared, Task
from insync.explorer.traces.trace import refusal_trace, violation_trace
from insync.machine.kernels import Part, compile_kernels
from insync.machine.packed import PackedRows
from insync.machine.walker import FailedWalk, Strategy, nothing_walked
from insync.model import Model
from insync.model.abstraction import Abstraction, abstraction_of
from insync.model.catalogue import model_reference
from insync.model.evaluator import Codes, evaluate, evaluate_each
from insync.model.expressions.graph import Node
from insync.model.language.declarations import action_specs
from insync.model.lints import suspicions
from insync.model.tracing.program import Program
from insync.properties.invariants import TYPE_OK, StepInvariant, names_within
from insync.properties.registry import Judged
from insync.runtime.errors import UserError
from insync.runtime.memory import peak_memory
from insync.runtime.text import plural
from insync.runtime.watch import Limits, Stopped, StopReason, Watch, limits_of

__all__ = ["SimulationResult", "WalkEngine", "WalkLengths", "simulate", "simulated", "strategy_called"]

_FEW = 100  # initial states: so few are checked by the evaluator, more by machine code


@dataclass(frozen=True, slots=True)
class WalkLengths:
    """The lengths of the walks in steps, and the number of walks that ended in a state without a step."""

    shortest: int
    longest: int
    mean: float
    stuck: int


@dataclass(frozen=True, slots=True, repr=False)
class SimulationResult(ModelResult):
    """The result of a simulation: a function of model, bounds, properties and walks, except for times and memory.

    Walks are taken in shares, in order; the figures are those of all shares up to the one with the first failure. If a
    limit ended them, the violation may not be that of the first walk that fails; `saturation` is an exception, as it
    depends on the walks alone. No step leads from a state in which an invariant of `within` fails.

    Attributes:
        verdict: violated, or incomplete, as walks prove nothing.
        seed: of the random numbers.
        strategy: how walks chose among the enabled actions.
        depth: the most steps of a walk.
        walks: the number of walks.
        steps: the number of steps.
        properties: the verdict on each property.
        violation: the failing walk with the smallest number, shortened; None if there is none, or if the
            simulation was stopped before the evaluator had confirmed it.
        failed_walk: the number of that walk.
        failed_walk_length: its states before it was shortened.
        lengths: the lengths of the walks.
        actions: the steps of each action, by its name.
        not_taken: the actions without a step.
        abstract_states: the abstract states that the walks saw; None if they were not counted.
        seconds: spent to compile, to walk and to shorten.
        peak_memory_bytes: the largest resident set of the process so far.
    """

    verdict: Verdict
    seed: int
    strategy: Strategy
    depth: int
    walks: int
    steps: int
    properties: tuple[PropertyResult, ...]
    violation: Violation | None
    failed_walk: int | None
    failed_walk_length: int | None
    lengths: WalkLengths
    actions: Mapping[str, int]
    not_taken: tuple[str, ...]
    abstract_states: AbstractStates | None
    seconds: Mapping[str, float]
    peak_memory_bytes: int

    def summary(self) -> str:
        return f"{self.model}: {self.verdict}, {plural(self.walks, 'walk')}, {plural(self.steps, 'step')}"

    def _tables(self) -> Mapping[str, Callable[[], TableColumns]]:
        """Return the tables `actions` and `properties`, and `abstract_states` if they were counted."""
        counted = {} if self.abstract_states is None else {"abstract_states": self.abstract_states.table}
        return {"actions": self._actions, "properties": self._properties, **counted}

    def _actions(self) -> TableColumns:
        return {"action": list(self.actions), "steps": list(self.actions.values())}

    def _properties(self) -> TableColumns:
        lengths = {} if self.violation is None else {self.violation.property: self.violation.trace_length}
        return properties_table(self.properties, lengths)


def simulate(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    properties: Sequence[str] | None = None,
    walks: int = 10_000,
    depth: int = 100,
    seed: int = 0,
    strategy: Strategy | str = Strategy.MIXED,
    abstract_states: bool = False,
    until_saturated: int | None = None,
    within: Sequence[str] | None = None,
    limits: Limits | None = None,
    threads: int | None = None,
    reporter: WalkReporter | None = None,
    stop: threading.Event | None = None,
) -> SimulationResult:
    """Take random walks, and check properties in each state.

    Args:
        model: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        bounds: bounds and settings of a class or a name; those left out have their defaults.
        properties: names of properties; None is the model's headline. type_ok is always checked.
        walks: the number of walks, at least 1; walk n is the same whatever their number.
        depth: the most steps of a walk, at least 1.
        seed: of the random numbers, from 0 to 2^64 - 1.
        strategy: how a walk chooses among the enabled actions: mixed, names, tastes or uniform; see `Strategy`.
        abstract_states: whether to count the abstract states that the walks see: states told apart only by the values
            of the model's method `abstraction`.
        until_saturated: end after this many walks in a row without a new abstract state; at least 1 and below `walks`.
        within: names of invariants; no step leads from a state in which one fails. None is the confinement of the
            model's class.
        limits: `seconds` of tracing, compilation and walks together; walks have no other limit.
        threads: the number of threads; None is one per core. The result does not depend on it.
        reporter: called about once a second with the progress.
        stop: ends compilation, walks or shortening when it is set.

    Raises:
        UserError: an unknown model, bound, property or strategy; a model that cannot be traced; or another limit than
            seconds.
        InternalError: the evaluator does not confirm a failing walk of the machine code.
    """
    task = Task(model=model, bounds=bounds, properties=properties, within=within, limits=limits, stop=stop)
    chosen = Walks(walks, depth, seed, strategy_called(strategy), abstract_states, until_saturated)
    return simulated(WalkThreads(threads), task, chosen, reporter)


def strategy_called(name: str) -> Strategy:
    """Return the strategy with a name.

    Raises:
        UserError: no strategy has this name.
    """
    if name not in list(Strategy):
        message = f"strategy={name!r} is not known; give one of {', '.join(Strategy)}."
        raise UserError(message)
    return Strategy(name)


class WalkEngine(Protocol):
    """Takes random walks: on threads of this process, or on the executors of a cluster."""

    def compile(
        self,
        program: Program,
        conditions: Sequence[Node],
        abstraction: Abstraction | None,
        watch: Watch,
    ) -> None:
        """Compile a program; with an abstraction, its walks note abstract states.

        Raises:
            Stopped: the work must stop.
        """

    def take(self, initials: PackedRows, walks: Walks, watch: Watch, reporter: WalkReporter | None) -> Taken:
        """Take walks in order from initial states, up to the first that fails or until a limit is reached."""


def simulated(engine: WalkEngine, task: Task, walks: Walks, reporter: WalkReporter | None) -> SimulationResult:
    """Return the result of random walks that an engine takes; see `simulate`."""
    limits_of(task.limits, "random walks", ("seconds",), _INSTEAD)

    def walked(prepared: Prepared) -> SimulationResult:
        return _walked(prepared, engine, walks, reporter)

    def stopped(prepared: Prepared, reason: StopReason) -> SimulationResult:
        prepared.clock.lap("compile")
        prepared.clock.seconds["search"] = 0.0
        return _simulation_of(prepared, walks, Taken(nothing_walked(0), reason), None)

    return task.run(walked, stopped, Needs.PROPERTIES)


_INSTEAD = " Say how many walks with walks=, and how long they are with depth=."


def _walked(prepared: Prepared, engine: WalkEngine, walks: Walks, reporter: WalkReporter | None) -> SimulationResult:
    model, judged, watch, clock = prepared.model, prepared.judged, prepared.watch, prepared.clock
    program = model.program
    with watch.telling(_while_compiling(reporter, watch)):
        abstraction = abstraction_of(model) if walks.notes_states else None
        engine.compile(program, judged.nodes, abstraction, watch)
    clock.lap("compile")
    wrong = _wrong_at_first(program, judged.nodes)
    if wrong is not None:
        nothing = nothing_walked(len(program.actions))
        taken = Taken(replace(nothing, lengths={0: 1}, failed=wrong), None)
    else:
        taken = engine.take(PackedRows.of(program.initials.rows, program.schema.words), walks, watch, reporter)
    clock.lap("search")
    violation = None
    if taken.total.failed is not None:
        try:
            violation = _shortened(model, judged, taken.total.failed, watch)
        except Stopped as ended:
            taken = replace(taken, stopped_by=ended.reason)
        clock.lap("shrink")
    return _simulation_of(prepared, walks, taken, violation)


def _wrong_at_first(program: Program, conditions: Sequence[Node]) -> FailedWalk | None:
    """Return the walk without steps from the first initial state in which a condition fails, if there is one."""
    initials = program.initials
    if len(initials) <= _FEW:
        found = (
            FailedWalk(0, n, (), place) for place, codes in enumerate(initials) for n in _failing(conditions, codes)
        )
        return next(found, None)
    checker = compile_kernels(program, conditions, (Part.CHECK,)).checker()
    rows = PackedRows.of(initials.rows, program.schema.words)
    try:
        checker.check(rows.address, rows.count)
        least = [(found.least, number) for number, found in enumerate(checker.take()) if found.least is not None]
    finally:
        checker.close()
    if not least:
        return None
    words, number = min(least)
    return FailedWalk(0, number, (), initials.place_of(program.schema.unpack(words)) or 0)


def _failing(conditions: Sequence[Node], codes: Codes) -> Iterator[int]:
    return (number for number, holds in enumerate(evaluate_each(conditions, codes)) if not holds)


def _while_compiling(reporter: WalkReporter | None, watch: Watch) -> Callable[[], None] | None:
    """The function that reports that no walk is taken yet; see `Watch.telling`."""
    if reporter is None:
        return None
    return lambda: reporter(WalkProgress(0, 0, 0.0, watch.resident, watch.seconds))


def _shortened(model: Model, judged: Judged, failed: FailedWalk, watch: Watch) -> Violation:
    """Return the violation that a failing walk ends in, without the steps that it does not need.

    Args:
        model: the model.
        judged: the properties.
        failed: the walk.
        watch: ends the shortening; the walk is then as short as it is.

    Raises:
        Stopped: stopped before the evaluator had taken a long walk once.
    """
    stepper, start = Stepper(model), model.program.initials[failed.start]
    if failed.property == len(judged.nodes):
        shortened = shrink(FailingWalks(stepper, None, start), failed.actions, watch)
        trace = refusal_trace(model, shortened.moves)
        return Violation(TYPE_OK, trace.length, trace)
    violated, node = judged.invariants[failed.property], judged.nodes[failed.property]
    walks = FailingWalks(stepper, lambda codes: not evaluate(node, codes), start)
    trace = violation_trace(model, violated, shrink(walks, failed.actions, watch).moves)
    return Violation(violated.name, trace.length, trace)


def _states_of(failed: FailedWalk, judged: Judged) -> int:
    """Return the number of states of a failing walk: a refused step leads to none, a broken step to one more."""
    if failed.property == len(judged.invariants):
        return len(failed.actions)
    return len(failed.actions) + 1 + isinstance(judged.invariants[failed.property], StepInvariant)


def _simulation_of(prepared: Prepared, walks: Walks, taken: Taken, violation: Violation | None) -> SimulationResult:
    """Return the result of a simulation.

    Args:
        prepared: the task.
        walks: the walks that the caller wanted.
        taken: the walks that were taken.
        violation: of the first failing walk.
    """
    model, total, count = prepared.model, taken.total, sum(taken.total.lengths.values())
    actions = dict.fromkeys(action_specs(type(model)), 0)
    for action, number in zip(model.program.actions if count else (), total.steps, strict=False):
        actions[action.name] += number
    violated = {violation.property} if violation is not None else set()
    names = [*prepared.names, *(violated - set(prepared.names))]
    steps = sum(actions.values())
    return SimulationResult(
        model=model_reference(model),
        bounds=model.identity,
        verdict=Verdict.VIOLATED if violated else Verdict.INCOMPLETE,
        stopped_by=taken.stopped_by,
        seed=walks.seed,
        strategy=walks.strategy,
        depth=walks.depth,
        walks=count,
        steps=steps,
        properties=tuple(
            PropertyResult(name, Verdict.VIOLATED if name in violated else Verdict.INCOMPLETE) for name in names
        ),
        violation=violation,
        failed_walk=None if total.failed is None else total.failed.number,
        failed_walk_length=None if total.failed is None else _states_of(total.failed, prepared.judged),
        lengths=WalkLengths(
            min(total.lengths, default=0), max(total.lengths, default=0), steps / max(count, 1), total.stuck
        ),
        actions=actions,
        not_taken=tuple(name for name, steps in actions.items() if not steps),
        abstract_states=_abstract_states(model, taken, count) if walks.notes_states else None,
        within=names_within(model),
        warnings=suspicions(model, prepared.conditions),
        seconds=prepared.clock.seconds,
        peak_memory_bytes=peak_memory(),
    )


def _abstract_states(model: Model, taken: Taken, count: int) -> AbstractStates:
    """Return the abstract states of `count` walks; if no engine took any, a walk without steps has seen one."""
    names = () if model._program is None else abstraction_of(model).names
    if taken.seen is not None:
        return taken.seen.found(names, count)
    return AbstractStates(names, count, 0 if count else None, ((1, 1),) * count)
