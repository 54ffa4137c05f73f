"""What is promised to users of Kafka, and a cluster under its settings that may break it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from insync.explorer.check import check, check_further
from insync.explorer.results import Verdict
from insync.explorer.stepping.stepper import Refused, Stepper, claims_of
from insync.kafka.cluster.configuration import Acks, Flushing
from insync.kafka.cluster.model import Cluster
from insync.model import Model
from insync.model.tracing.tracer import traced
from insync.properties.kafka import cluster as properties
from insync.runtime.watch import Limits, Stopped, Watch, limits_of

if TYPE_CHECKING:
    from insync.explorer.progress import Reporter
    from insync.explorer.results import CheckResult, Violation
    from insync.explorer.traces.trace import Trace

__all__ = [
    "CALM",
    "ELECTABLE",
    "FEWEST_RECORDS",
    "LOSS",
    "PROMISES",
    "Began",
    "Given",
    "Key",
    "Question",
    "Searched",
    "in_a_line",
    "is_promised",
    "replication_factor",
    "shown_bounds",
    "unclean_sleeps",
    "with_shown_bounds",
]

LOSS = properties.no_acknowledged_record_is_lost.__name__
"""The first promise: an acknowledged record is never lost."""

ELECTABLE = properties.electable_replicas_are_complete.__name__
"""The promise without which the next election may lose a record, or show another one."""

PROMISES: dict[str, str] = {
    LOSS: "an acknowledged record is never lost",
    "reads_repeat": "a reader of an offset again gets the same record",
    "watermark_never_goes_back": "the end of the partition never goes back",
    "acks_mean_enough_copies": "an acknowledged record was on min.insync.replicas replicas",
    "logs_keep_write_order": "records stay in the order in which they were written",
    "leader_is_eligible": "the leader is in the ISR and not fenced",
    ELECTABLE: "every broker that may be elected has every committed record",
}
"""The promises to an operator: properties of `Cluster`, each with a few words."""

FEWEST_RECORDS = {"reads_repeat": 2, "logs_keep_write_order": 3}
"""How many records it takes to break a promise, if one is not enough."""

CALM: dict[str, int | str] = {"records": 1, "power_failures": 0, "fencings": 0, "isr_shrinks": 0, "races": "off"}
"""The budgets of a cluster in which nothing goes wrong, and no race inside one method of Kafka happens."""

_OF_ACKNOWLEDGED = (LOSS, properties.acks_mean_enough_copies.__name__)

Given = Mapping[str, int | str]

Began = Callable[[str], None]
"""Called when a search begins, with what is searched in words."""

Key = tuple[tuple[str, int | str], ...]
"""All settings and bounds of a cluster."""

_MOST_STATES = 4_000_000
_MOST_WITHOUT_LOSS = 20_000_000


@dataclass(frozen=True, slots=True)
class Searched:
    """One search of a cluster.

    Attributes:
        model: the cluster.
        result: of the search.
    """

    model: Cluster
    result: CheckResult

    @property
    def broken(self) -> dict[str, Violation]:
        """The broken promises, in the order of `PROMISES`."""
        found = {violation.property: violation for violation in self.result.violations}
        return {name: found[name] for name in PROMISES if name in found}

    @property
    def complete(self) -> bool:
        """Whether every promise was decided."""
        return all(each.verdict is not Verdict.INCOMPLETE for each in self.result.properties)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A cluster under its settings, and the limits of the searches.

    Attributes:
        settings: the release and the settings that are not the default.
        limits: of each search; the seconds are for all searches together, from when the question is made.
        threads: the number of threads; None is one per core.
        reporter: called about once a second with the progress of a search.
        stop: ends the search at work when it is set; those after it do not begin, and their outcome is unknown.
        began: called when one of several searches begins.
        asked_at: when the question was made, by `time.monotonic`.
        found: the searches that were made, by all settings and bounds, so that none is made twice; several questions
            may have the same.
        clusters: those that are traced and not searched yet, in the same way.
    """

    settings: Given
    limits: Limits | None = None
    threads: int | None = None
    reporter: Reporter | None = None
    stop: threading.Event | None = None
    began: Began | None = None
    asked_at: float = field(default_factory=time.monotonic)
    found: dict[Key, Searched] = field(default_factory=dict)
    clusters: dict[Key, Cluster] = field(default_factory=dict)

    @property
    def model(self) -> Cluster:
        """The cluster with the settings, and the model's own budgets."""
        return Cluster(**self.settings)

    def search(self, bounds: Given, words: str = "", *, far: bool = False) -> Searched:
        """Search a cluster for the shortest way to break each promise, with the limits of this question.

        Args:
            bounds: the settings and budgets that are not the default.
            words: what is searched, for the progress.
            far: whether more states are searched than for other questions, as long as nothing is lost.
        """
        model = Cluster(**bounds)
        model = self.clusters.pop(key := _key(model), model)
        found = self.found.get(key)
        far = far and (self.limits is None or self.limits.states is None)
        if found is None or (far and _may_go_further(found)):
            if self.began is not None and words:
                self.began(words)
            found = self.found[key] = Searched(model, self._searched(model, far=far))
        return found

    def _searched(self, model: Cluster, *, far: bool) -> CheckResult:
        further = partial(check_further, held=LOSS, states=_MOST_WITHOUT_LOSS)
        search: Callable[..., CheckResult] = further if far else partial(check, keep_going=True)
        return search(
            model,
            properties=[name for name in PROMISES if _can_break(name, model)],
            limits=self._limits_left(),
            threads=self.threads,
            reporter=self.reporter,
            stop=self.stop,
        )

    def breaks_all(self, bounds: Given, violations: Collection[Violation]) -> bool:
        """Return whether a cluster takes the steps of traces of another one, and breaks the same promises by them.

        A search finds none of these promises kept then, nor broken later, so it is not needed. False says nothing.

        Args:
            bounds: the settings and budgets that are not the default.
            violations: violations of the other cluster.
        """
        model = Cluster(**bounds)
        if (key := _key(model)) in self.found:
            return False
        model = self.clusters.get(key, model)
        try:
            traced(model, self.watch().check)
        except Stopped:
            return False
        stepper = Stepper(model)
        breaks = all(_takes_too(stepper, violation.trace) for violation in violations)
        if not breaks:  # it is searched next
            self.clusters[key] = model
        return breaks

    def changed(self, settings: Given) -> Question:
        """Return the same question about a cluster with other settings."""
        own = dict(self.settings)
        if "release" in settings:  # another release may not have the defect that is fixed in this one
            own.pop("defect", None)
            own.pop("fixed", None)
            if unclean_sleeps(self.model):  # a later release may heed it, so it is to be turned off before
                own["unclean_leader_election"] = "off"
        return replace(self, settings={**own, **settings})

    def share(self, part: float) -> Question:
        """Return the same question with the fraction `part` of the seconds that are left, if these are limited."""
        left = self._limits_left()
        if left.seconds is None:
            return self
        return replace(self, limits=replace(left, seconds=part * left.seconds), asked_at=time.monotonic())

    @property
    def is_over(self) -> bool:
        """Whether nothing can be searched any more: it was stopped, or its seconds are spent."""
        return self.watch().reason() is not None

    def watch(self) -> Watch:
        """Return the watch over work that begins now and ends with the question."""
        return Watch(limits_of(self._limits_left()), self.stop)

    def _limits_left(self) -> Limits:
        """Return the limits with the seconds that are left, and by default with a number of states for each search."""
        limits = Limits() if self.limits is None else self.limits
        if limits.states is None:
            limits = replace(limits, states=_MOST_STATES)
        if limits.seconds is None:
            return limits
        spent = time.monotonic() - self.asked_at
        return replace(limits, seconds=max(0.0, limits.seconds - spent))


def _may_go_further(found: Searched) -> bool:
    """Whether a search was cut where nothing was lost, and one with more states was not made yet."""
    result = found.result
    return result.stopped_by == "states" and result.distinct_states < _MOST_WITHOUT_LOSS and LOSS not in found.broken


def _key(model: Cluster) -> Key:
    return tuple(sorted(model.identity.items()))


def _takes_too(stepper: Stepper, trace: Trace) -> bool:
    """Return whether a model takes the steps of another one's trace, and breaks its property on the way."""
    program = stepper.model.program
    (claim,), codes = claims_of(stepper.model, [trace.property]), program.initials[0]
    for step in trace.steps[1:]:
        if not claim.holds(codes):
            return True
        number = program.action_number(step.action or "", dict(step.parameters))
        after = None if number is None else stepper.attempt(codes, number)
        if after is None or isinstance(after, Refused):
            return False
        codes = after
    return not claim.holds(codes)


def _can_break(name: str, model: Cluster) -> bool:
    """Whether a promise applies to a cluster, and it has enough records to break it."""
    return is_promised(name, model) and model.b.records >= FEWEST_RECORDS.get(name, 1)


def is_promised(name: str, model: Cluster) -> bool:
    """Return whether a promise applies to the settings of a cluster: acks=0 acknowledges no record."""
    return model.acks is not Acks.NONE or name not in _OF_ACKNOWLEDGED


def unclean_sleeps(model: Cluster) -> bool:
    """Return whether unclean elections are on and the release ignores that, as KRaft's controller does before 3.9."""
    return bool(model.b.settings.unclean_leader_election) and not model.features.unclean_leader_election


def replication_factor(model: Cluster) -> int:
    """Return how many replicas the partition of a cluster has; spare brokers have none."""
    return int(model.b.replicas - model.b.spares)


def in_a_line(model: Cluster) -> str:
    """Return the settings of a cluster but its release, in a line."""
    unclean, elr = ("on" if on else "off" for on in (model.features.unclean_leader_election, model.features.elr))
    unclean = f"on (Kafka {model.b.settings.release.value} ignores it)" if unclean_sleeps(model) else unclean
    said = f"RF {replication_factor(model)}, min.insync.replicas={model.b.min_insync_replicas}"
    said += f", acks={model.acks.value}, unclean election {unclean}, ELR {elr}"
    return said if model.flushing is Flushing.NEVER else f"{said}, flushed {model.flushing.value}"


def shown_bounds(model: Model) -> dict[str, int | str]:
    """Return the release, and every bound and setting that is not the default."""
    usual = type(model)().identity
    return {name: value for name, value in model.identity.items() if name == "release" or value != usual[name]}


def with_shown_bounds(trace: Trace, model: Model) -> Trace:
    """Return a trace whose header has only the bounds of `shown_bounds`."""
    return replace(trace, bounds=shown_bounds(model))
