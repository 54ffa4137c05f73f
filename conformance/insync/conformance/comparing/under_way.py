"""A comparison of a model with Kafka that is under way, and what came of it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

from insync.conformance.comparing.coverage import Coverage
from insync.conformance.comparing.touring import KafkaTour, Space
from insync.conformance.comparing.walks import AskedThough, Divergence, KafkaWalks
from insync.conformance.correspondence.side_by_side import SideBySide
from insync.conformance.replay import KafkaReplay, KafkaVerdict
from insync.explorer.progress import Pulse, WalkProgress, WalkReporter
from insync.explorer.runs.state_graph import build_graph
from insync.explorer.runs.transition_tour import ActionShare
from insync.explorer.stepping.shrinking import shrink
from insync.explorer.stepping.stepper import Stepper
from insync.explorer.traces.trace import AGREEMENT, Trace
from insync.model import Model
from insync.model.catalogue import model_reference
from insync.runtime.watch import Limits, Stopped, StopReason, Watch

__all__ = ["Comparison", "Conformance", "Conforming", "Telling"]

P = TypeVar("P", bound=SideBySide[Any])

_NOT_AGAIN = (
    "The same steps, taken once more, show no difference, so something decides here that is no command: "
    "report it as a fault of insync's harness."
)


class Conforming(Enum):
    """What came of a comparison."""

    AGREES = "agrees"
    DIVERGES = "diverges"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Conformance:
    """The result of a comparison.

    Attributes:
        verdict: agrees: all that was asked for was compared and nothing differs; diverges; incomplete: it was stopped
            before, nothing was compared at all, or some of it cannot be brought about, which nobody expects.
        kafka: the release.
        model: the model, with its bounds.
        coverage: what was compared.
        walks: how many walks were taken to their end, up to the one that differs.
        seconds: how long it took.
        seed: of the walks; None of a tour.
        space: how much of the space a tour has seen; None of random walks.
        bound_actions: how much of each bound action a tour has seen; empty of random walks.
        spaces: where several spaces were toured, each by the budgets that are spent there; `space` is their sum.
        gaps: the transitions that cannot be brought about, for each action and reason.
        difference: the first difference, with the steps that it needs; None if there is none.
        failed_walk: the number of the walk that came to it.
        failed_walk_length: the steps of that walk before it was shortened.
        repeats: whether the same steps show the difference again; None where there is none, or nobody had the time.
        stopped_by: what ended it early.
    """

    verdict: Conforming
    kafka: str
    model: Model
    coverage: Coverage
    walks: int
    seconds: float
    seed: int | None = None
    space: Space | None = None
    bound_actions: Mapping[str, ActionShare] = field(default_factory=dict)
    spaces: Mapping[str, Space] = field(default_factory=dict)
    gaps: Mapping[tuple[str, str], int] = field(default_factory=dict)
    difference: KafkaReplay | None = None
    failed_walk: int | None = None
    failed_walk_length: int | None = None
    repeats: bool | None = None
    stopped_by: StopReason | None = None

    @property
    def unexpected(self) -> dict[tuple[str, str], int]:
        """Those of the gaps that the guide does not name."""
        return {gap: count for gap, count in self.gaps.items() if gap in self.coverage.unexpected}

    def with_gaps(self, gaps: Mapping[tuple[str, str], int]) -> Conformance:
        """Return the result with what cannot be brought about, which may leave it incomplete."""
        found = replace(self, gaps=gaps)
        complete = not found.unexpected and found.coverage.steps > 0
        return (
            found
            if complete or found.verdict is not Conforming.AGREES
            else replace(found, verdict=Conforming.INCOMPLETE)
        )


class Counted(Protocol):
    """Counts the walks and steps of who takes them."""

    @property
    def opened(self) -> int:
        """How many walks were begun."""

    @property
    def steps(self) -> int:
        """How many steps were taken."""


class Telling:
    """Says how far it is, about once a second, and why to stop.

    Args:
        reporter: is told.
        watch: says when to stop.
        coverages: what was compared so far, of each that takes walks.
    """

    def __init__(self, reporter: WalkReporter | None, watch: Watch, coverages: Sequence[Counted]) -> None:
        self._reporter, self._watch, self._coverages, self._pulse = reporter, watch, coverages, Pulse()

    def stopped(self, place: int = 0) -> StopReason | None:
        """Return why to stop, if so; the first of those that take commands reports on the way."""
        watch = self._watch
        if self._reporter is not None and place == 0 and self._pulse.due():
            opened, steps = (
                sum(counts) for counts in zip(*((c.opened, c.steps) for c in self._coverages), strict=True)
            )
            self._reporter(WalkProgress(opened, steps, self._pulse.rate(steps), watch.resident, watch.seconds))
        return watch.reason()


def tell_beginning(reporter: WalkReporter | None, watch: Watch, work: str) -> None:
    """Report that some work begins which reports nothing until it is over."""
    if reporter is not None:
        reporter(WalkProgress(0, 0, 0.0, watch.resident, watch.seconds, begins=work))


def traced(model: Model, reporter: WalkReporter | None, watch: Watch) -> Model:
    """Trace a model, and report that as well as what follows: its machine code is made at the first step."""
    tell_beginning(reporter, watch, "tracing the model")
    model.program  # noqa: B018 -- it is traced once, and kept
    tell_beginning(reporter, watch, "compiling the model")
    return model


class Comparison(Generic[P]):
    """A comparison that is under way.

    Args:
        stepper: of the model.
        version: the release of Kafka.
        watch: says when to stop.
        pair: makes what walks.
        forbidden: what Kafka is asked for though the model forbids it.
        reporter: is told what begins.
    """

    def __init__(
        self,
        stepper: Stepper,
        version: str,
        watch: Watch,
        pair: Callable[[], P],
        forbidden: Sequence[AskedThough[P]] = (),
        reporter: WalkReporter | None = None,
    ) -> None:
        self._reporter = reporter
        self.stepper, self.version, self.watch, self.pair, self.forbidden = stepper, version, watch, pair, forbidden
        self.coverage = Coverage.of(stepper)

    def walks(self, depth: int) -> KafkaWalks[P]:
        """Return walks of at most `depth` steps, which are counted."""
        return KafkaWalks(self.stepper, self.pair, self.coverage, depth, self.forbidden)

    def tour(self, tell: Telling, limits: Limits | None, stop: threading.Event | None) -> Conformance:
        """Take every step of the model's space, in as few walks as can be, up to the first difference.

        Args:
            tell: says how far it is, and when to stop.
            limits: one on the states of the space.
            stop: ends the exploration of the space when it is set.

        Raises:
            UserError: the extra `graph` is not installed.
        """
        tell_beginning(self._reporter, self.watch, "exploring the states of the model")
        graph = build_graph(self.stepper.model, limits=limits, stop=stop)
        tour = KafkaTour(graph, self.pair, self.coverage)
        found, stopped_by = None, graph.stopped_by
        try:
            found = tour.run(tell.stopped)
        except Stopped as given_up:
            stopped_by = given_up.reason
        ended = self.ended(found, stopped_by, walks=self.coverage.opened)
        return replace(ended, space=tour.space, bound_actions=tour.bound_actions).with_gaps(tour.gaps)

    def ended(self, found: Divergence | None, stopped_by: StopReason | None, *, walks: int) -> Conformance:
        """Return the result, in which a difference is shortened."""
        agrees = Conforming.AGREES if stopped_by is None else Conforming.INCOMPLETE
        shown, repeats = (None, None) if found is None else self._shortened(found)
        return Conformance(
            verdict=agrees if found is None else Conforming.DIVERGES,
            kafka=self.version,
            model=self.stepper.model,
            coverage=self.coverage,
            walks=walks,
            difference=None if shown is None else self._as_replay(shown, repeats=repeats),
            repeats=repeats,
            failed_walk=None if found is None else walks - 1,
            failed_walk_length=None if found is None else len(found.actions),
            stopped_by=stopped_by,
            seconds=self.watch.seconds,
        )

    def _shortened(self, found: Divergence) -> tuple[Divergence, bool | None]:
        """Return a difference with the steps that it needs, and whether it was there the next time.

        Another one than was found does not count. Who does not want to wait gets what was found.
        """
        watch = self.watch.untimed()
        if watch.stopped:
            return found, None
        tell_beginning(self._reporter, self.watch, "leaving out the steps that the difference does not need")
        again = _Alike(KafkaWalks(self.stepper, self.pair, Coverage.of(self.stepper), 0, self.forbidden), found)
        try:
            if again.failing(found.actions, watch.reason) is None:
                return found, False
            return shrink(again, found.actions, watch), True
        except Stopped:
            return found, None

    def _as_replay(self, found: Divergence, *, repeats: bool | None) -> KafkaReplay:
        model, version, first = self.stepper.model, self.version, found.differences[0]
        after = f"After `{found.taken[-1].label}`" if len(found.taken) > 1 else "In the initial state"
        reason = f"{after} {first.field} is {first.model} in the model and {first.kafka} in Kafka {version}."
        if found.forbidden:
            asked = "; ".join(f"{label} (after step {step})" for step, label in found.forbidden)
            reason = f"{reason} Asked of Kafka, though the model forbids it: {asked}."
        if repeats is False:
            reason = f"{reason} {_NOT_AGAIN}"
        trace = Trace(model_reference(model), model.identity, AGREEMENT, found.taken, reason)
        return KafkaReplay(KafkaVerdict.DIVERGES, version, trace, found.own, found.state, found.differences)


class _Alike(Generic[P]):
    """Lists of actions that lead to a difference in one of the fields in which another one has it."""

    def __init__(self, walks: KafkaWalks[P], first: Divergence) -> None:
        self._walks, self._kinds = walks, _kinds(first)

    def failing(
        self, actions: Sequence[int], stopped: Callable[[], StopReason | None] = lambda: None
    ) -> Divergence | None:
        """Return what differs along a list of actions, if it is of that kind."""
        found = self._walks.failing(actions, stopped)
        return found if found is not None and _kinds(found) & self._kinds else None


def _kinds(found: Divergence) -> set[str]:
    return {re.sub(r"\bb\d+\b", "", one.field) for one in found.differences}
