"""Properties of runs, decided on the graph of a small space: reached or not, always followed or not, with a trace."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from insync.explorer.evaluator.stepping import Move, confirmed
from insync.explorer.limits import Limits, StopReason
from insync.explorer.progress import Reporter
from insync.explorer.runs.fair_cycles import Demand, Space, demands_of, fair_components, space_of
from insync.explorer.runs.lasso import Lasso, lasso_trace, verify, witness_reason
from insync.explorer.runs.lasso_search import Path, find_lasso
from insync.explorer.runs.state_graph import StateGraph, build_graph
from insync.explorer.traces.counterexample import trace_of
from insync.explorer.traces.trace import Trace
from insync.explorer.verdict import Verdict
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.errors import InternalError, UserError
from insync.model.suspicion import suspicions
from insync.properties.fairness import Fairness, fair_sets
from insync.properties.registry import select_run_properties
from insync.properties.runs import Instance, RunKind, RunProperty

__all__ = ["ProgressResult", "RunResult", "check_progress"]


@dataclass(frozen=True, slots=True)
class RunResult:
    """What is known about one property of runs.

    Attributes:
        name: the property.
        kind: what it says of runs.
        sentence: what it means.
        fairness: what was taken for granted.
        verdict: for `sometimes`, holds means that there is a witness.
        instances: how many bindings of its parameters there are.
        trace: the counterexample, or the witness of a `sometimes` property.
    """

    name: str
    kind: RunKind
    sentence: str
    fairness: Fairness
    verdict: Verdict
    instances: int
    trace: Trace | None


@dataclass(frozen=True, slots=True)
class ProgressResult:
    """The result for some properties of runs.

    Attributes:
        model: the name by which the model is found again.
        bounds: the bounds of the model.
        verdict: violated if any property is, else incomplete if any is, else holds.
        stopped_by: the bound that ended the exploration; None when the graph is the whole space.
        distinct_states, transitions, depth: the size of the graph.
        properties: what is known of each.
        warnings: what is suspicious in the model, or in its settings; a sentence for each.
        seconds: spent to explore, and to decide.
    """

    model: str
    bounds: Mapping[str, int | str]
    verdict: Verdict
    stopped_by: StopReason | None
    distinct_states: int
    transitions: int
    depth: int
    properties: tuple[RunResult, ...]
    warnings: tuple[str, ...]
    seconds: Mapping[str, float]


def check_progress(
    model: Model,
    properties: Sequence[str] | None = None,
    fairness: Fairness | None = None,
    limits: Limits | None = None,
    reporter: Reporter | None = None,
    stop: threading.Event | None = None,
) -> ProgressResult:
    """Decide properties of runs.

    Args:
        model: what to explore.
        properties: names of properties; None is all that the model has.
        fairness: taken for granted in place of each property's own.
        limits: bounds of the exploration.
        reporter: is told about once a second how far it is.
        stop: ends the exploration when it is set.

    Raises:
        UserError: an unknown property, action or parameter, or a model in which type_ok fails.
    """
    chosen = select_run_properties(model, properties)
    for found in chosen:
        fair_sets(model, fairness or found.fairness)  # so that a mistake is found before the work
    started = time.perf_counter()
    graph = build_graph(model, limits, reporter, stop)
    explored = time.perf_counter()
    if graph.refused:
        message = (
            f"{model.name}: {graph.refused} steps leave the domain of a field, so its runs are not defined. "
            f"`insync check {model_reference(model)}` shows one."
        )
        raise UserError(message)
    space = space_of(graph)
    results = tuple(_decided(space, found, fairness or found.fairness) for found in chosen)
    verdicts = {result.verdict for result in results}
    order = (Verdict.VIOLATED, Verdict.INCOMPLETE, Verdict.HOLDS)
    return ProgressResult(
        model=model_reference(model),
        bounds=model.identity,
        verdict=next((verdict for verdict in order if verdict in verdicts), Verdict.HOLDS),
        stopped_by=graph.stopped_by,
        distinct_states=len(graph),
        transitions=len(graph.source),
        depth=len(graph.starts) - 1,
        properties=results,
        warnings=suspicions(model, {}),
        seconds={"explore": explored - started, "decide": time.perf_counter() - explored},
    )


def _decided(space: Space, found: RunProperty, fairness: Fairness) -> RunResult:
    instances = found.instances(space.graph.model)
    complete = space.graph.stopped_by is None
    if found.kind is RunKind.SOMETIMES:
        fairness = Fairness()
        trace = _witness(space.graph, found, instances)
        absent = Verdict.VIOLATED if complete else Verdict.INCOMPLETE
        verdict = absent if trace is None else Verdict.HOLDS
    else:
        trace = _counterexample(space, found, fairness, instances)
        verdict = Verdict.VIOLATED if trace is not None else Verdict.HOLDS if complete else Verdict.INCOMPLETE
    return RunResult(found.name, found.kind, found.sentence, fairness, verdict, len(instances), trace)


def _witness(graph: StateGraph, found: RunProperty, instances: Sequence[Instance]) -> Trace | None:
    """The trace to the first state that is as asked for, of any binding."""
    import numpy as np

    reached = np.flatnonzero(np.any(graph.truth([one.then for one in instances]), axis=0))
    if not len(reached):
        return None
    moves = _moves(graph, _shortest(graph, int(reached[0])))
    reason = witness_reason(graph.model, found, moves[-1][1])
    if reason is None:
        message = f"The machine code finds {found.name} in {moves[-1][1]}; by the evaluator it does not hold there."
        raise InternalError(message)
    return replace(trace_of(graph.model, found.name, moves, reason), witness=True)


def _shortest(graph: StateGraph, state: int) -> Path:
    """The path to a state on which each state is the least that leads on."""
    import numpy as np

    path: Path = []
    while state:
        step = int(np.flatnonzero(graph.target == state)[0])  # the first step to it is from the level before
        path.insert(0, (int(graph.action[step]), state))
        state = int(graph.source[step])
    return [(None, 0), *path]


def _counterexample(
    space: Space, found: RunProperty, fairness: Fairness, instances: Sequence[Instance]
) -> Trace | None:
    """The trace of a fair run that breaks the property, the shortest over the bindings."""
    model = space.graph.model
    demands = demands_of(space, fair_sets(model, fairness))
    runs = [run for instance in instances if (run := _run(space, instance, demands)) is not None]
    if not runs:
        return None
    path, loop = min(runs, key=lambda run: (run[1], len(run[0])))
    lasso = Lasso(_moves(space.graph, path), loop)
    verified = verify(model, found, fairness, lasso)
    if verified.fault is not None:
        message = f"A run was found that breaks {found.name}; by the evaluator {verified.fault}"
        raise InternalError(message)
    return lasso_trace(model, found, fairness, lasso, verified.reason)


def _run(space: Space, instance: Instance, demands: Sequence[Demand]) -> tuple[Path, int] | None:
    import numpy as np

    graph = space.graph
    then, *rest = graph.truth([instance.then] if instance.when is None else [instance.then, instance.when])
    start = rest[0] if rest else np.arange(len(graph)) == 0
    inside = ~then
    looping = inside.copy()
    looping[graph.expanded :] = False  # what is not expanded only seems to have no steps
    fair = fair_components(space, looping, demands)
    return find_lasso(space, start, inside, fair, demands)


def _moves(graph: StateGraph, path: Path) -> list[Move]:
    return confirmed(graph.model, [(action, graph.codes(state)) for action, state in path])
