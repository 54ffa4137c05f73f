"""`tour`: every transition of a small space of a model, taken on a user's system as well."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from insync.explorer.check import check
from insync.explorer.progress import Progress, Pulse
from insync.explorer.results import ModelResult, Verdict
from insync.explorer.runs.state_graph import StateGraph, graph_within
from insync.explorer.runs.transition_tour import ActionShare, Tour, Went
from insync.explorer.stepping.stepper import Move, Stepper, confirmed, require_steps
from insync.explorer.systems.adapter import (
    NOTHING_COMPARED,
    Adapter,
    Call,
    Output,
    adapter_name,
    check_driver,
    check_maker,
    outputs_of,
)
from insync.explorer.systems.attended_calls import STEP_SECONDS, AttendedCalls, CallHung, require_seconds
from insync.explorer.systems.failures import FailedWalk, FailureKind
from insync.explorer.systems.shortening import Shortening
from insync.explorer.systems.system_walks import Systems, SystemWalk
from insync.explorer.tables import Shown, TableColumns
from insync.explorer.task import Clock, ModelLike, model_of
from insync.explorer.traces.trace import AGREEMENT, Trace, trace_of
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.lints import suspicions
from insync.properties.invariants import TYPE_OK, names_within
from insync.properties.registry import confined
from insync.runtime.errors import UserError
from insync.runtime.text import plural
from insync.runtime.watch import Limits, Stopped, StopReason, Watch, limits_of

__all__ = [
    "TourFailure",
    "TourInterrupted",
    "TourProgress",
    "TourReporter",
    "TourResult",
    "tour",
]

MOST_TRANSITIONS = 200_000
"""The largest space that is toured if the caller limits neither its states nor its depth."""

_COUNT_STATES, _COUNT_SECONDS = 20_000_000, 5.0
"""How long the transitions of a space that is too large are counted, for the message."""


@dataclass(frozen=True, slots=True, repr=False)
class TourFailure(Shown):
    """The first failure of a tour.

    Attributes:
        kind: how the tour failed.
        trace: the steps, with the states of the model; the last step failed. Without any one of its steps, a difference
            or an exception does not come about.
        walk_length: the states of the walk that failed before it was shortened.
        error: the exception, if the system raised one.
    """

    kind: FailureKind
    trace: Trace
    walk_length: int
    error: BaseException | None = field(default=None, compare=False)

    def summary(self) -> str:
        return f"{self.kind}: {self.trace.reason}"


@dataclass(frozen=True, slots=True, repr=False)
class TourResult(ModelResult):
    """The result of a tour: for a system whose behaviour its steps decide, a function of model, bounds and system.

    It says nothing about spaces with larger bounds, about steps that the model does not allow, about what the system
    does between two steps, and about anything that the adapter does not show.

    Attributes:
        adapter: the name of the adapter.
        verdict: violated if there is a failure of any kind, holds if every transition of the whole space was taken,
            else incomplete.
        states: the states of the space, or of the part of it that a limit allowed.
        transitions: the transitions between these.
        visited: the states in which system and model were compared.
        taken: the transitions that were taken on the system without a failure.
        walks: the number of systems that were made for the tour.
        steps: the steps of all walks; those on the way to an open transition are taken more than once.
        actions: the transitions of each action and how many were taken, by its name.
        failure: the failure; None if there is none.
        seconds: spent to explore the space, to tour it, and to shorten the failing walk.
    """

    adapter: str
    verdict: Verdict
    states: int
    transitions: int
    visited: int
    taken: int
    walks: int
    steps: int
    actions: Mapping[str, ActionShare]
    failure: TourFailure | None
    seconds: Mapping[str, float]

    @property
    def never_enabled(self) -> tuple[str, ...]:
        """The actions without a transition, whose methods were not called."""
        return tuple(name for name, share in self.actions.items() if not share.transitions)

    def summary(self) -> str:
        failed = "" if self.failure is None else f" ({self.failure.kind})"
        return f"{self.model}: {self.verdict}{failed}, {self.extent()}"

    def extent(self) -> str:
        """Return in words how much was taken."""
        taken = f"{self.taken:,} of {plural(self.transitions, 'transition')}"
        return f"{taken} in {plural(self.walks, 'walk')} of {plural(self.steps, 'step')}"

    def _tables(self) -> Mapping[str, Callable[[], TableColumns]]:
        """Return the table `actions`."""
        return {"actions": self._actions}

    def _actions(self) -> TableColumns:
        shares = self.actions.values()
        return {
            "action": list(self.actions),
            "transitions": [share.transitions for share in shares],
            "taken": [share.taken for share in shares],
        }


class TourInterrupted(KeyboardInterrupt):
    """Ctrl-C during a tour; the message says how far it was.

    Attributes:
        result: the tour up to then.
    """

    def __init__(self, result: TourResult) -> None:
        super().__init__(result.summary())
        self.result = result


@dataclass(frozen=True, slots=True)
class TourProgress:
    """How far a tour has come.

    Attributes:
        phase: "explore", "tour", or "shrink" while the failing walk is shortened.
        states: the states of the space that are known so far.
        transitions: the transitions of the space; 0 while it is explored.
        taken: the transitions taken so far.
        walks: the systems made so far.
        steps: the steps taken so far.
        steps_per_second: taken in the last seconds.
        seconds: since the tour began.
    """

    phase: str
    states: int
    transitions: int
    taken: int
    walks: int
    steps: int
    steps_per_second: float
    seconds: float


TourReporter = Callable[[TourProgress], None]
"""Called about once a second, in the thread that called `tour`."""


def tour(
    model: ModelLike,
    adapter: Adapter,
    *,
    bounds: Mapping[str, int | str] | None = None,
    outputs: Mapping[str, Output] | None = None,
    within: Sequence[str] | None = None,
    limits: Limits | None = None,
    step_seconds: float | None = STEP_SECONDS,
    reporter: TourReporter | None = None,
    stop: threading.Event | None = None,
) -> TourResult:
    """Take every transition of a model on a system at least once, and compare after each.

    Each walk makes a new system. The first failure ends the tour; its steps are taken again on new systems, and those
    that it does not need are left out. The same model and system give the same walks.

    A thread of its own calls the adapter, so that a call that hangs can be left behind: nothing can end it, and what it
    holds stays held until the process ends.

    Args:
        model: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        adapter: a class, or a function without arguments, that makes the driver of a fresh system; its methods are
            those that `insync.explorer.hypothesis.model_based_test` describes.
        bounds: bounds and settings of a class or a name; those left out have their defaults.
        outputs: for actions whose method returns something, the expected value: a function of the readable states
            before and after the step, and of the parameters as keywords.
        within: names of invariants; no step leads from a state in which one fails. None is the confinement of the
            model's class.
        limits: of exploration and tour. Limits on `depth` or `states` allow a tour of a part of the space.
        step_seconds: the limit of each call of the adapter, which is looked at 20 times a second. None is no limit: the
            adapter is then called in the thread of the caller.
        reporter: called about once a second with the progress.
        stop: ends the tour when it is set, with what was found.

    Raises:
        TourInterrupted: Ctrl-C; it has the result up to then.
        UserError: an unknown model, bound or invariant; an adapter that lacks an action or has nothing to compare; a
            space of too many transitions; a model that breaks type_ok; or the extra `graph` is not installed.
    """
    given, limited = outputs_of(outputs), limits_of(limits, "a tour")
    require_seconds(step_seconds)
    check_maker(adapter)
    built = confined(model_of(model, bounds), within)
    _require_told_apart(built)
    if isinstance(adapter, type):
        check_driver(built, adapter, adapter_name(adapter), given)
    clock, whole = Clock(), limited.depth is None and limited.states is None
    watch = Watch(replace(limited, states=MOST_TRANSITIONS + 1) if whole else limited, stop)
    graph = _explored(built, watch, whole, reporter)
    clock.lap("explore")
    touring = _Touring(graph, adapter, given, AttendedCalls(step_seconds, watch))
    ended = _Ending(graph.stopped_by)
    with ended, watch.telling(touring.telling("tour", watch, reporter)):
        touring.run()
    clock.lap("tour")
    failure = None
    if touring.found is not None:
        shortening = Shortening(touring.systems, touring.begun, touring.calls, touring.found)
        with ended, watch.telling(touring.telling("shrink", watch, reporter)):
            shortening.run(watch)
        clock.lap("shrink")
        failure = _failure_of(graph, shortening.best, touring.found)
    result = touring.result(failure, ended.reason, clock)
    if ended.interrupted:
        raise TourInterrupted(result)
    return result


class _Ending:
    """Ends work within the block where there is a reason to stop, or at Ctrl-C.

    Attributes:
        reason: why the work ended early; None if it did not.
        interrupted: whether it was Ctrl-C.
    """

    def __init__(self, reason: StopReason | None) -> None:
        self.reason, self.interrupted = reason, False

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, Stopped):
            self.reason = error.reason
        elif isinstance(error, KeyboardInterrupt):
            self.reason, self.interrupted = StopReason.INTERRUPT, True
        return isinstance(error, Stopped | KeyboardInterrupt)


# ---------------------------------------------------------------------------------------------- what can be toured


def _require_told_apart(model: Model) -> None:
    """Raise UserError if an adapter could not tell two steps of a model apart by action and parameters."""
    stepper = Stepper(model)
    known: dict[tuple[object, ...], int] = {}
    for number, action in enumerate(model.program.actions):
        values = stepper.values(number)
        if known.setdefault((action.name, *values.items()), number) != number:
            given = ", ".join(f"{name}={value!r}" for name, value in values.items())
            message = (
                f"{model.name} has two steps {action.name}({given}), and a method of an adapter stands for both. "
                "Give the members of the sorts of these parameters different names."
            )
            raise UserError(message)


def _explored(model: Model, watch: Watch, whole: bool, reporter: TourReporter | None) -> StateGraph:
    """Return the space of a tour, or the part of it that the limits allow.

    Raises:
        UserError: the space must be toured as a whole and is too large, has no step, or has one that breaks type_ok.
    """

    def tell(known: Progress) -> None:
        if reporter is not None:
            reporter(TourProgress("explore", known.distinct_states, 0, 0, 0, 0, 0.0, known.seconds))

    graph = graph_within(model, watch, tell)
    if whole and (graph.stopped_by is StopReason.STATES or len(graph.source) > MOST_TRANSITIONS):
        raise UserError(_too_large(model))
    if graph.refused:
        message = (
            f"{model.name} itself breaks {TYPE_OK}; fix that first: `insync check` with the same model and the same "
            f"bounds shows the trace."
        )
        raise UserError(message)
    require_steps(model, bool(len(graph.source)) or graph.stopped_by is not None)
    return graph


def _too_large(model: Model) -> str:
    """Return the message about a space that is too large; its transitions are counted for a few seconds."""
    limits = Limits(states=_COUNT_STATES, seconds=_COUNT_SECONDS)
    within = names_within(model)
    known = check(model, properties=[], within=within, limits=limits, symmetry=False, keep_going=True)
    more = "" if known.stopped_by is None else "more than "
    counted = max(known.transitions, MOST_TRANSITIONS if more else 0)
    return (
        f"{model.name} has {more}{counted:,} transitions under {model.identity}, and a tour takes at most "
        f"{MOST_TRANSITIONS:,}. Give smaller bounds, a confinement with within=, or a limit of the part that is "
        f"toured, such as limits=Limits(depth=8) or Limits(states=20_000); for random steps of the whole space there "
        f"is insync.explorer.hypothesis.model_based_test."
    )


# ---------------------------------------------------------------------------------------------------- the tour


class _Touring:
    """The tour of a space.

    Attributes:
        systems: makes the systems.
        calls: calls them.
        plan: the planned walks.
        walks: the walks so far.
        steps: the steps so far.
        begun: the initial states in which a system was like the model.
        found: the failure; None if there is none so far.
    """

    def __init__(
        self, graph: StateGraph, adapter: Adapter, outputs: Mapping[str, Output], calls: AttendedCalls
    ) -> None:
        columns = (graph.source.tolist(), graph.action.tolist(), graph.target.tolist())
        self.plan, self.calls = Tour(*columns, len(graph), initial=graph.initial), calls
        self.systems = Systems(graph, self.plan, adapter, outputs)
        self.walks = self.steps = 0
        self.begun: set[int] = set()
        self.found: FailedWalk | None = None
        self._graph = graph
        self._walk: SystemWalk | None = None

    def run(self) -> None:
        """Take all steps, or those up to the first failure.

        Raises:
            Stopped: there was a reason to stop.
        """
        try:
            self.found = self.calls.run(self._run)
        except CallHung as hung:
            assert self._walk is not None
            self.found = self._walk.hung(hung)

    def _run(self, call: Call) -> FailedWalk | None:
        for start, plan in self._plans():
            self._walk = walk = SystemWalk(self.systems, call, start)
            self.walks += 1
            try:
                found = self._along(walk, plan) or walk.close()
            finally:
                walk.abandon()
            if found is not None:
                return found
        return None

    def _plans(self) -> Iterator[tuple[int, list[int]]]:
        """Yield where each walk begins, and its first steps; initial states without a step come last."""
        while plan := self.plan.plan_anew():
            yield self.plan.source[plan[0]], plan
        for start in range(self._graph.initial):
            if start not in self.begun:
                yield start, []

    def _along(self, walk: SystemWalk, plan: list[int]) -> FailedWalk | None:
        found = walk.begin()
        if found is not None:
            return found
        self.begun.add(walk.state)
        self.plan.visited[walk.state] = 1
        while plan:
            for step in plan:
                self.steps += 1
                if (found := walk.take(step)) is not None:
                    return found
                self.plan.took(step)
                self.plan.visited[walk.state] = 1
            plan = self.plan.plan(walk.state)
        return None

    def telling(self, phase: str, watch: Watch, reporter: TourReporter | None) -> Callable[[], None] | None:
        """Return the function that reports how far the tour is; see `Watch.telling`."""
        if reporter is None:
            return None
        pulse = Pulse()

        def tell() -> None:
            rate = pulse.rate(self.steps)
            size = len(self._graph), len(self._graph.source), self.plan.went.count(Went.TAKEN)
            reporter(TourProgress(phase, *size, self.walks, self.steps, rate, watch.seconds))

        return tell

    def result(self, failure: TourFailure | None, stopped: StopReason | None, clock: Clock) -> TourResult:
        """Return the result."""
        graph, plan = self._graph, self.plan
        actions = {name: ActionShare() for name in graph.model.program.action_names}
        for number, went in zip(plan.action, plan.went, strict=True):
            name = graph.actions[number].name
            actions[name] = actions[name] + ActionShare(1, int(went == Went.TAKEN))
        otherwise = Verdict.HOLDS if stopped is None else Verdict.INCOMPLETE
        unseen = () if self.systems.compared else (NOTHING_COMPARED.format(name=self.systems.name),)
        return TourResult(
            model=model_reference(graph.model),
            bounds=graph.model.identity,
            within=names_within(graph.model),
            stopped_by=stopped,
            adapter=self.systems.name,
            verdict=Verdict.VIOLATED if failure is not None else otherwise,
            states=len(graph),
            transitions=len(graph.source),
            visited=sum(plan.visited),
            taken=plan.went.count(Went.TAKEN),
            walks=self.walks,
            steps=self.steps,
            actions=actions,
            failure=failure,
            warnings=(*unseen, *suspicions(graph.model, {})),
            seconds=clock.seconds,
        )


def _failure_of(graph: StateGraph, best: FailedWalk, found: FailedWalk) -> TourFailure:
    """Return the failure that users see; the evaluator takes its steps."""
    moves: list[Move] = [(None, graph.codes(best.start))]
    taken = zip(best.steps, best.actions, strict=True)
    moves += [(number, graph.codes(int(graph.target[step]))) for step, number in taken]
    model = graph.model
    trace = trace_of(model, AGREEMENT, confirmed(model, moves), best.reason)
    return TourFailure(best.kind, trace, len(found.steps) + 1, best.error)
