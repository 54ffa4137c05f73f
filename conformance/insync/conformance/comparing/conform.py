"""`conform`: the model `cluster` beside Kafka's classes, over many steps, until they differ."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from enum import Enum

from insync.conformance.classes.subject import Subject
from insync.conformance.comparing.coverage import Coverage
from insync.conformance.comparing.forbidden import Forbidden, forbidden_of
from insync.conformance.comparing.handed_out import HandedOut
from insync.conformance.comparing.touring import ActionShare, KafkaTour, Space
from insync.conformance.comparing.walking_process import AskedWalks, WalkingProcess
from insync.conformance.comparing.walks import Divergence, KafkaWalks
from insync.conformance.replay import KafkaReplay, KafkaVerdict
from insync.conformance.steps.pair import Pair
from insync.explorer.breadth_first.workers import Team
from insync.explorer.evaluator.shrink import shrink
from insync.explorer.evaluator.stepping import Stepper
from insync.explorer.limits import Limits, StopReason, Watch
from insync.explorer.machine_stepping import MachineStepper
from insync.explorer.progress import Pulse, WalkProgress, WalkReporter
from insync.explorer.runs.state_graph import build_graph
from insync.explorer.traces.trace import AGREEMENT, Trace
from insync.kafka.cluster.model import Cluster
from insync.machine.interruptible import GivenUp
from insync.model.catalogue import model_reference

__all__ = ["TOUR", "WALKS", "Conformance", "Conforming", "conform_tour", "conform_walks"]

WALKS: Mapping[str, int | str] = {
    "replicas": 3,
    "records": 3,
    "lossy_crashes": 1,
    "crashes": 1,
    "stops": 1,
    "fencings": 1,
    "shrinks": 1,
    "elections": 1,
    "reassignments": 1,
    "deletions": 1,
    "minimum_changes": 1,
    "unclean": "on",
    "late_replies": "on",
    "isr_replies": "on",
    "flushing": "sometimes",
}
"""The bounds of the random walks: all that the harness can bring about, once."""


TOUR: Mapping[str, int | str] = {
    "replicas": 2,
    "records": 1,
    "min_insync": 1,
    "lossy_crashes": 1,
    "fencings": 1,
    "shrinks": 1,
}
"""The bounds of the tour: what goes wrong in most traces, once."""


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
        verdict: agrees: all that was asked for was compared and nothing differs; diverges; or it was stopped before.
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
    model: Cluster
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


def conform_walks(
    model: Cluster,
    *subjects: Subject,
    walks: int,
    beside: Sequence[WalkingProcess] = (),
    seed: int = 0,
    depth: int = 60,
    forbidden: bool = False,
    limits: Limits | None = None,
    reporter: WalkReporter | None = None,
    stop: threading.Event | None = None,
    new_pair: Callable[[Stepper, Subject], Pair] = Pair,
) -> Conformance:
    """Take random walks on the model and on Kafka, up to the first difference, which is then shortened.

    Args:
        model: the model.
        subjects: who take the commands; several of one release take walks at once, which changes nothing but the time.
        walks: how many.
        beside: processes that take walks as well, with a Kafka of the same release each.
        seed: of the random numbers; walk number n of a seed is the same whatever the number of walks.
        depth: most steps of a walk.
        forbidden: whether Kafka is also asked for what the model forbids, which it must refuse.
        limits: a limit on the seconds.
        reporter: is told about once a second how far it is.
        stop: ends it when it is set, with what is known by then.
        new_pair: makes what walks: the model and Kafka, side by side.
    """
    watch, asked = Watch(limits or Limits(), stop), forbidden_of(model) if forbidden else []
    with ExitStack() as opened, Team(len(subjects) + len(beside)) as team:
        steppers = [opened.enter_context(closing(MachineStepper(model, watch.interrupted))) for _ in subjects]
        each = [
            _Comparison(stepper, subject, watch, new_pair, asked)
            for stepper, subject in zip(steppers, subjects, strict=True)
        ]
        for process in beside:
            process.begin(AskedWalks(model.identity, seed, depth, forbidden))
        tell, handed_out = _Telling(reporter, watch, [*(one.coverage for one in each), *beside]), HandedOut(walks)

        def work(place: int) -> None:
            def take(number: int) -> Divergence | None:
                def stopped() -> object:
                    return handed_out.needless(number) or tell.stopped(place)

                if place >= len(each):
                    return beside[place - len(each)].take(number, stopped)
                return taking[place].random(seed, number, stopped)

            handed_out.work(take)

        taking = [KafkaWalks(one.stepper, one.pair, one.coverage, depth, asked) for one in each]
        team.run(work)
        first, *others = each
        for compared in (*(other.coverage for other in others), *(process.coverage() for process in beside)):
            if compared is not None:
                first.coverage.add(compared)
        ended = first.ended(handed_out.found, handed_out.stopped_by, walks=handed_out.walks)
        return replace(ended, seed=seed, gaps=first.coverage.gaps)


def conform_tour(
    model: Cluster,
    subject: Subject,
    *,
    limits: Limits | None = None,
    reporter: WalkReporter | None = None,
    stop: threading.Event | None = None,
    new_pair: Callable[[Stepper, Subject], Pair] = Pair,
) -> Conformance:
    """Take every step of a small space on Kafka, in as few walks as can be, up to the first difference.

    Args:
        model: the model.
        subject: who takes the commands.
        limits: a limit on the seconds, and one on the states of the space.
        reporter: is told about once a second how far it is.
        stop: ends it when it is set, with what is known by then.
        new_pair: makes what walks: the model and Kafka, side by side.

    Raises:
        UserError: the extra `graph` is not installed.
    """
    watch = Watch(limits or Limits(), stop)
    with closing(MachineStepper(model, watch.interrupted)) as stepper:
        beside = _Comparison(stepper, subject, watch, new_pair)
        tell = _Telling(reporter, watch, [beside.coverage])
        graph = build_graph(model, limits=limits, stop=stop)
        tour = KafkaTour(graph, beside.pair, beside.coverage)
        found, stopped_by = None, graph.stopped_by
        try:
            found = tour.run(tell.stopped)
        except GivenUp as given_up:
            stopped_by = StopReason.of(given_up)
        ended = beside.ended(found, stopped_by, walks=beside.coverage.opened)
        return replace(ended, space=tour.space, bound_actions=tour.bound_actions, gaps=tour.gaps)


class _Telling:
    """Says how far it is, about once a second, and why to stop.

    Args:
        reporter: is told.
        watch: says when to stop.
        coverages: what was compared so far, of each that takes walks.
    """

    def __init__(
        self, reporter: WalkReporter | None, watch: Watch, coverages: Sequence[Coverage | WalkingProcess]
    ) -> None:
        self._reporter, self._watch, self._coverages, self._pulse = reporter, watch, coverages, Pulse()

    def stopped(self, place: int = 0) -> object:
        """Return why to stop, if so; the first of those that take commands reports on the way."""
        watch = self._watch
        if self._reporter is not None and place == 0 and self._pulse.due():
            opened, steps = (
                sum(counts) for counts in zip(*((c.opened, c.steps) for c in self._coverages), strict=True)
            )
            self._reporter(WalkProgress(opened, steps, self._pulse.rate(steps), watch.resident, watch.seconds))
        return watch.interrupted()


class _Comparison:
    """A comparison that is under way.

    Args:
        stepper: of the model.
        subject: who takes the commands.
        watch: says when to stop.
        new_pair: makes what walks.
        forbidden: what Kafka is asked for though the model forbids it.
    """

    def __init__(
        self,
        stepper: Stepper,
        subject: Subject,
        watch: Watch,
        new_pair: Callable[[Stepper, Subject], Pair],
        forbidden: Sequence[Forbidden] = (),
    ) -> None:
        self.stepper, self.subject, self.watch, self.forbidden = stepper, subject, watch, forbidden
        self.coverage = Coverage.of(stepper)
        self._new_pair = new_pair

    def pair(self) -> Pair:
        """Make what walks."""
        return self._new_pair(self.stepper, self.subject)

    def ended(self, found: Divergence | None, stopped_by: StopReason | None, *, walks: int) -> Conformance:
        """Return the result, in which a difference is shortened."""
        agrees = Conforming.AGREES if stopped_by is None else Conforming.INCOMPLETE
        shown, repeats = (None, None) if found is None else self._shortened(found)
        return Conformance(
            verdict=agrees if found is None else Conforming.DIVERGES,
            kafka=self.subject.version,
            model=self.stepper.model,  # type: ignore[arg-type]
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

        def stopped() -> StopReason | None:
            return StopReason.INTERRUPT if self.watch.stopped else None

        if stopped():
            return found, None
        again = _Alike(KafkaWalks(self.stepper, self.pair, Coverage.of(self.stepper), 0, self.forbidden), found)
        try:
            if again.failing(found.actions, stopped) is None:
                return found, False
            return shrink(again, found.actions, stopped), True
        except GivenUp:
            return found, None

    def _as_replay(self, found: Divergence, *, repeats: bool | None) -> KafkaReplay:
        model, version, first = self.stepper.model, self.subject.version, found.differences[0]
        after = f"After `{found.taken[-1].label}`" if len(found.taken) > 1 else "In the initial state"
        reason = f"{after} {first.field} is {first.model} in the model and {first.kafka} in Kafka {version}."
        if found.forbidden:
            asked = "; ".join(f"{label} (after step {step})" for step, label in found.forbidden)
            reason = f"{reason} Asked of Kafka, though the model forbids it: {asked}."
        if repeats is False:
            reason = f"{reason} {_NOT_AGAIN}"
        trace = Trace(model_reference(model), model.identity, AGREEMENT, found.taken, reason)
        return KafkaReplay(KafkaVerdict.DIVERGES, version, trace, found.own, found.state, found.differences)


class _Alike:
    """Lists of actions that lead to a difference in one of the fields in which another one has it."""

    def __init__(self, walks: KafkaWalks, first: Divergence) -> None:
        self._walks, self._kinds = walks, _kinds(first)

    def failing(self, actions: Sequence[int], stopped: Callable[[], object] = lambda: None) -> Divergence | None:
        """Return what differs along a list of actions, if it is of that kind."""
        found = self._walks.failing(actions, stopped)
        return found if found is not None and _kinds(found) & self._kinds else None


def _kinds(found: Divergence) -> set[str]:
    return {re.sub(r"\bb\d+\b", "", one.field) for one in found.differences}
