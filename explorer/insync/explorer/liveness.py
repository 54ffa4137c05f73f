"""`liveness`: properties of runs under fairness, decided on the state graph of a small space.

A run that breaks a property is a lasso: a path to a fair cycle (Vardi & Wolper 1986, Emerson & Lei 1987).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from insync.explorer.progress import Phase, Progress, Reporter
from insync.explorer.results import ModelResult, Verdict, together
from insync.explorer.runs.fair_cycles import (
    Adjacency,
    Obligation,
    adjacency_of,
    fair_components,
    obligations_of,
    visits,
)
from insync.explorer.runs.lassos import Lasso, Path, find_lasso, lasso_trace, verify, witness_reason
from insync.explorer.runs.state_graph import StateGraph, graph_limits, graph_within, require_graph_libraries
from insync.explorer.stepping.stepper import Move, confirmed
from insync.explorer.tables import Shown, TableColumns
from insync.explorer.task import ModelLike, Needs, Prepared, Task, model_of
from insync.explorer.traces.trace import Trace, refusal_trace, trace_of
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.expressions.graph import Node
from insync.model.lints import suspicions
from insync.properties.invariants import names_within
from insync.properties.registry import confined, select_run_properties
from insync.properties.temporal import Due, Fairness, Instance, RunKind, RunProperty, fair_sets
from insync.runtime.errors import InternalError, UserError
from insync.runtime.oversight import Oversight
from insync.runtime.text import plural
from insync.runtime.watch import Limits, Stopped, StopReason, Watch

if TYPE_CHECKING:
    from insync.explorer.runs.state_graph import Bits

__all__ = ["LivenessResult", "RunResult", "liveness"]


@dataclass(frozen=True, slots=True, repr=False)
class RunResult(Shown):
    """The result for one property of runs.

    Attributes:
        name: of the property.
        kind: of the property.
        sentence: the property in words.
        fairness: the fairness that was assumed.
        verdict: for `sometimes`, holds means that each binding has a witness.
        instances: the number of bindings of the property's parameters.
        trace: the counterexample, or the witness of a `sometimes` property; of several bindings, the witness of the
            one that is reached last.
        undecided: why the verdict is incomplete; None if it is not.
        unreached: the bindings for which a `sometimes` property has no witness; empty if none has one.
    """

    name: str
    kind: RunKind
    sentence: str
    fairness: Fairness
    verdict: Verdict
    instances: int
    trace: Trace | None
    undecided: str | None = None
    unreached: tuple[str, ...] = ()

    def summary(self) -> str:
        return f"{self.name}: {self.verdict}, {self.kind}"


@dataclass(frozen=True, slots=True, repr=False)
class LivenessResult(ModelResult):
    """The result for some properties of runs.

    Attributes:
        verdict: violated if any property is, else incomplete if any is, else holds.
        distinct_states, transitions, depth: the size of the graph.
        properties: the result for each property.
        seconds: spent to explore, and to decide.
        refused: the shortest trace to a step that leaves the domain of a field, which violates type_ok. Runs are then
            not defined, and no property of runs is decided.
    """

    verdict: Verdict
    distinct_states: int
    transitions: int
    depth: int
    properties: tuple[RunResult, ...]
    seconds: Mapping[str, float]
    refused: Trace | None = None

    def summary(self) -> str:
        return f"{self.model}: {self.verdict}, {plural(self.distinct_states, 'state')}"

    def _tables(self) -> Mapping[str, Callable[[], TableColumns]]:
        """Return the table `properties`."""
        return {"properties": self._properties}

    def _properties(self) -> TableColumns:
        return {
            "property": [found.name for found in self.properties],
            "kind": [found.kind.value for found in self.properties],
            "verdict": [found.verdict.value for found in self.properties],
            "fairness": [str(found.fairness) for found in self.properties],
            "trace_length": [None if found.trace is None else found.trace.length for found in self.properties],
        }


def liveness(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    properties: Sequence[str] | None = None,
    fairness: Fairness | None = None,
    within: Sequence[str] | None = None,
    limits: Limits | None = None,
    reporter: Reporter | None = None,
    stop: threading.Event | None = None,
) -> LivenessResult:
    """Decide properties of runs.

    Args:
        model: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        bounds: bounds and settings of a class or a name; those left out have their defaults.
        properties: names of properties; None is all that the model has.
        fairness: assumed instead of each property's own.
        within: names of invariants; only runs all of whose states meet them are considered, as with a CONSTRAINT of
            TLC, and fairness still demands the steps that lead outside. So a property that holds may fail in a run that
            leaves, which a warning says. None is the confinement of the model's class.
        limits: of tracing, compilation and exploration; the limit on seconds covers the decisions as well.
        reporter: called about once a second with the progress.
        stop: ends the work when it is set. Properties that are not decided by then are incomplete, but witnesses of
            `sometimes` properties are searched for another half second in the explored part.

    Raises:
        UserError: an unknown model, bound, property, action or parameter, or no property at all.
    """
    limited, made = graph_limits(limits), confined(model_of(model, bounds), within)
    chosen = select_run_properties(made, properties)
    if not chosen:
        fair_sets(made, fairness or Fairness())
        message = (
            f"{made.name} has no properties of runs, so there is nothing to decide. Declare one beside its class, "
            f"with @sometimes, @eventually or @leads_to."
            if properties is None
            else "properties=[] names no property of runs, so there is nothing to decide. Leave it out to decide all."
        )
        raise UserError(message)
    require_graph_libraries()
    task = Task(model=made, properties=(), limits=limited, reporter=reporter, stop=stop)

    def decided(prepared: Prepared) -> LivenessResult:
        for found in chosen:
            fair_sets(made, fairness or found.fairness)  # so that a mistake is reported before the work
        return _decided(made, chosen, fairness, prepared)

    def stopped(prepared: Prepared, reason: StopReason) -> LivenessResult:
        prepared.clock.lap("explore")
        prepared.clock.seconds["decide"] = 0.0
        results = [replace(_undecided(found, fairness), undecided=_STOPPED) for found in chosen]
        return _result_of(made, results, 0, 0, 0, prepared, reason)

    return task.run(decided, stopped, Needs.PROGRAM)


_STOPPED = "not decided: the exploration was stopped"


def _decided(
    model: Model, chosen: Sequence[RunProperty], fairness: Fairness | None, prepared: Prepared
) -> LivenessResult:
    watch, clock, reporter = prepared.watch, prepared.clock, prepared.task.reporter
    graph = graph_within(model, watch, reporter)
    clock.lap("explore")
    refused = None
    if graph.refusing is not None:
        refused = refusal_trace(model, _moves(graph, _shortest(graph, graph.refusing)))
    deciding = _LivenessCheck(graph, watch)
    results = []
    for found in chosen:
        with watch.telling(_while_deciding(reporter, graph, watch, found.name)):
            results.append(deciding.decided(found, fairness))
    clock.lap("decide")
    size = (len(graph), len(graph.source), len(graph.starts) - 1)
    stopped = graph.stopped_by or deciding.stopped_by
    return _result_of(model, results, *size, prepared, stopped, refused, tuple(deciding.about_confinement()))


def _result_of(
    model: Model,
    results: Sequence[RunResult],
    states: int,
    steps: int,
    depth: int,
    prepared: Prepared,
    stopped_by: StopReason | None,
    refused: Trace | None = None,
    warnings: Sequence[str] = (),
) -> LivenessResult:
    return LivenessResult(
        model=model_reference(model),
        bounds=model.identity,
        verdict=together([*(result.verdict for result in results), *([Verdict.VIOLATED] if refused else [])]),
        stopped_by=stopped_by,
        distinct_states=states,
        transitions=steps,
        depth=depth,
        properties=tuple(results),
        within=names_within(model),
        warnings=(*suspicions(model, {}), *warnings),
        seconds=prepared.clock.seconds,
        refused=refused,
    )


def _undecided(found: RunProperty, fairness: Fairness | None) -> RunResult:
    """Return the result for a property that was not decided, with the fairness that has an effect on it."""
    assumed = (fairness or found.fairness) if found.kind.needs_fairness else Fairness()
    return RunResult(found.name, found.kind, found.sentence, assumed, Verdict.INCOMPLETE, 0, None)


def _while_deciding(reporter: Reporter | None, graph: StateGraph, watch: Watch, name: str) -> Callable[[], None] | None:
    """The function that reports which property is being decided; see `Watch.telling`."""
    if reporter is None:
        return None
    depth, size = len(graph.starts) - 1, len(graph)
    return lambda: reporter(Progress(depth, 0, size, 0.0, watch.resident, watch.seconds, Phase.DECIDE, name))


_OVERTIME_SECONDS = 0.5


class _LivenessCheck:
    """Decides properties on a graph, one after the other, until it is stopped.

    A stopped exploration may still contain the witness of a `sometimes` property, and these are found quickly. So such
    properties have half a second, in all, after the end.
    """

    def __init__(self, graph: StateGraph, watch: Watch) -> None:
        self.graph, self.watch = graph, watch
        self.stopped_by: StopReason | None = None
        self._adjacency = adjacency_of(graph)
        self._within: Bits | None = None
        self._vacuous: list[str] = []
        self._overtime = watch.later(_OVERTIME_SECONDS) if graph.expanded else watch

    @property
    def within(self) -> Bits:
        """The states that a run may be in: those in which the invariants hold that the model is confined to."""
        import numpy as np

        if self._within is None:
            self._within = np.ones(len(self.graph), dtype=np.bool_)
            for truth in self.graph.truth(self.graph.model.program.within, self.watch):
                self._within &= truth
        return self._within

    def about_confinement(self) -> Iterator[str]:
        """Yield the warnings that runs are left out, as they leave the states that the model is confined to."""
        name, names = self.graph.model.name, " and ".join(names_within(self.graph.model))
        if self._within is None or self._within.all():
            return
        leaving = self._within[self.graph.source] & ~self._within[self.graph.target]
        states = plural(len(set(self.graph.source[leaving].tolist())), "state")
        yield (
            f"{name} is confined to {names}, and from {states} steps lead outside. Runs that take one are not "
            f"considered: a run that breaks a property is real, but a property that holds may fail in a run that "
            f"leaves."
        )
        if self._vacuous:
            verb = "hold" if len(self._vacuous) > 1 else "holds"
            yield (
                f"{' and '.join(self._vacuous)} {verb} only because no fair run stays within {names}: fairness demands "
                f"a step that leads outside. Bound the model by the guards of its actions, or assume less fairness."
            )

    def decided(self, found: RunProperty, fairness: Fairness | None) -> RunResult:
        """Return the result for a property; incomplete if a limit is reached."""
        result = _undecided(found, fairness)
        if self.graph.refused:
            return replace(result, undecided="not decided: type_ok fails")
        try:
            watch = self._overtime if found.kind is RunKind.SOMETIMES else self.watch
            watch.check()
            with Oversight(watch):
                instances = found.instances(self.graph.model)
            result = replace(result, instances=len(instances))
            if not instances:  # of a sort without members there is nothing to show
                return replace(result, verdict=Verdict.HOLDS)
            if found.kind is RunKind.SOMETIMES:
                trace, unreached = self._witness(found, instances)
                shown, absent, result = Verdict.HOLDS, Verdict.VIOLATED, replace(result, unreached=unreached)
            else:
                trace, shown, absent = (
                    self._counterexample(found, result.fairness, instances),
                    Verdict.VIOLATED,
                    Verdict.HOLDS,
                )
        except Stopped as ended:
            self.stopped_by = ended.reason
            stopped = "not decided: the decision was stopped" if self.graph.stopped_by is None else _STOPPED
            return replace(result, undecided=stopped)
        if trace is not None:
            return replace(result, verdict=shown, trace=trace)
        if self.graph.stopped_by is None:
            return replace(result, verdict=absent)
        what = "not reached" if found.kind is RunKind.SOMETIMES else "no run breaks it"
        return replace(result, undecided=f"{what} in the part that was explored")

    def _witness(self, found: RunProperty, instances: Sequence[Instance]) -> tuple[Trace | None, tuple[str, ...]]:
        """Return the trace to the state by which every binding is reached, or else the bindings that are not."""
        graph = self.graph
        truth = graph.truth([one.then for one in instances], self._overtime)
        unreached = tuple(str(one) for one, holds in zip(instances, truth, strict=True) if not holds.any())
        if unreached:
            return None, unreached if len(unreached) < len(instances) else ()
        moves = _moves(graph, _shortest(graph, max(int(holds.argmax()) for holds in truth)))
        reason = witness_reason(graph.model, found, moves[-1][1])
        if reason is None:
            message = f"The machine code finds {found.name} in {moves[-1][1]}; by the evaluator it does not hold there."
            raise InternalError(message)
        return replace(trace_of(graph.model, found.name, moves, reason), witness=True), ()

    def _counterexample(self, found: RunProperty, fairness: Fairness, instances: Sequence[Instance]) -> Trace | None:
        """The trace of a fair run that breaks the property, the shortest over the bindings."""
        model = self.graph.model
        obligations = obligations_of(self._adjacency, fair_sets(model, fairness), self.watch)
        runs = [run for instance in instances if (run := self._run(instance, obligations)) is not None]
        if not runs:
            if found.kind.needs_fairness and not self.within.all():
                fair = fair_components(self._adjacency, self.within, obligations, self.watch)
                self._vacuous += [] if (fair >= 0).any() else [found.name]
            return None
        path, loop = min(runs, key=lambda run: (run[1], len(run[0])))
        lasso = Lasso(_moves(self.graph, path), loop)
        verified = verify(model, found, fairness, lasso)
        if verified.fault is not None:
            message = f"A run was found that breaks {found.name}; by the evaluator {verified.fault}"
            raise InternalError(message)
        return lasso_trace(model, found, fairness, lasso, verified.reason)

    def _run(self, instance: Instance, obligations: Sequence[Obligation]) -> tuple[Path, int] | None:
        """Return a run that breaks a property, as a path and the place in it to which its end goes back."""
        import numpy as np

        graph, watch, within = self.graph, self.watch, self.within
        steps = self._adjacency
        if instance.taken is not None:
            loops, obligations = self._without(instance.taken, obligations)
        else:
            loops = steps
        asked = [instance.then] if instance.when is None else [instance.then, instance.when]
        then, *rest = graph.truth(asked, watch)
        initial = np.arange(len(graph)) < graph.initial
        start, inside, looping = (rest[0] if rest else initial), within, within.copy()
        looping[graph.expanded :] = False  # states that are not expanded only seem to have no steps
        match instance.due:
            case Due.ONCE:
                inside = within & ~then
                looping &= ~then
            case Due.RECURRENT:
                looping &= ~then
            case Due.PERSISTENT:  # the loop is in a state that does not meet the condition, again and again
                obligations = [*obligations, visits(loops, ~then)]
            case Due.ALWAYS:  # a run that stays where the condition fails, as fairness has no effect
                bad = np.where(within & ~then, np.arange(len(graph)), -1)
                return find_lasso(self._adjacency, start & initial, inside, bad, [], watch)
            case _:
                assert_never(instance.due)
        fair = fair_components(loops, looping, obligations, watch)
        return find_lasso(steps, start, inside, fair, obligations, watch, loops)

    def _without(self, taken: Sequence[Node], obligations: Sequence[Obligation]) -> tuple[Adjacency, list[Obligation]]:
        """Return the steps that do not meet a property by themselves, and the obligations of fairness on these.

        Args:
            taken: for each bound action the condition on the state before that its step meets the property.
            obligations: the fairness on all steps.
        """
        import numpy as np

        steps, graph = self._adjacency, self.graph
        never = graph.model.program.graph.false
        asked = {number: node for number, node in enumerate(taken) if node is not never}
        truth = dict(zip(asked, graph.truth(list(asked.values()), self.watch), strict=True))
        meets = np.zeros(len(steps.source), dtype=np.bool_)
        for number, states in truth.items():
            meets |= (steps.action == number) & states[steps.source]
        kept = [replace(one, takes=one.takes[~meets]) for one in obligations]
        return steps.without(meets), kept


def _shortest(graph: StateGraph, state: int) -> Path:
    """The path to a state on which each state is the least predecessor of the next."""
    import numpy as np

    path: Path = []
    while state >= graph.initial:
        step = int(np.flatnonzero(graph.target == state)[0])  # the first step to it is from the level before
        path.insert(0, (int(graph.action[step]), state))
        state = int(graph.source[step])
    return [(None, state), *path]


def _moves(graph: StateGraph, path: Path) -> list[Move]:
    return confirmed(graph.model, [(action, graph.codes(state)) for action, state in path])
