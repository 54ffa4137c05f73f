"""`ask`: the promises that a Kafka release with its settings may break, and the settings that would keep them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from insync.explorer.check import check
from insync.explorer.results import Verdict
from insync.kafka.cluster.configuration import Acks, Elr, Flushing, rules_of
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release
from insync.model import Model, Switch
from insync.properties.kafka import cluster as properties
from insync.runtime.watch import Limits, StopReason, Watch, limits_of

if TYPE_CHECKING:
    from insync.explorer.progress import Reporter
    from insync.explorer.results import CheckResult
    from insync.explorer.traces.trace import Trace

__all__ = [
    "ELECTABLE",
    "FEWEST_RECORDS",
    "LOSS",
    "PROMISES",
    "Asked",
    "Began",
    "Cell",
    "Given",
    "Question",
    "ask",
    "changes_of",
    "is_promised",
    "shown_bounds",
    "with_shown_bounds",
]

LOSS = properties.no_acknowledged_record_is_lost.__name__
"""The promise that the matrix and the remedies examine by default."""

ELECTABLE = properties.electable_replicas_are_complete.__name__
"""The promise without which the next election may lose a record, or show another one."""

PROMISES: dict[str, str] = {
    LOSS: "an acknowledged record is never lost",
    "reads_repeat": "who reads an offset again gets the same record",
    "watermark_never_goes_back": "the end of the partition never goes back",
    "acks_mean_enough_copies": "an acknowledged record was on min.insync.replicas replicas",
    "logs_keep_write_order": "records stay in the order in which they were written",
    "leader_is_eligible": "the leader is a broker that may lead",
    ELECTABLE: "whoever may lead next has every committed record",
}
"""The promises to an operator: properties of `Cluster`, each with a few words."""

FEWEST_RECORDS = {"reads_repeat": 2, "logs_keep_write_order": 3}
"""How many records it takes to break a promise, if one is not enough."""

_OF_ACKNOWLEDGED = (LOSS, properties.acks_mean_enough_copies.__name__)

Given = Mapping[str, int | str]


Began = Callable[[int, int, Given], None]
"""Called when a search begins, with its number from 1, how many there are, and the settings that are changed."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The answer for one release and its settings.

    Attributes:
        model: the cluster with these settings.
        result: of the search.
    """

    model: Cluster
    result: CheckResult


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination of settings and its outcome.

    Attributes:
        settings: the settings that differ from the question's.
        verdict: holds, violated or incomplete; empty if nothing is promised.
        length: the states of the shortest trace, if violated.
        stopped_by: the limit that ended the search before it was complete, or before it began.
        trace: the shortest trace, if violated.
        model: the cluster with these settings, if violated.
    """

    settings: Given
    verdict: str
    length: int | None
    stopped_by: StopReason | None = None
    trace: Trace | None = None
    model: Cluster | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Promises, a cluster that may break them, and the limits of the searches.

    Attributes:
        bounds: the release, the settings and the budgets that are not the default.
        limits: of each search; the seconds are for all searches together, from when the question is made.
        threads: the number of threads; None is one per core.
        reporter: called about once a second with the progress of a search.
        stop: ends the search at work when it is set; those after it do not begin, and their outcome is unknown.
        began: called when one of several searches begins.
        promises: the names of the promises, in the order of `PROMISES`.
        asked_at: when the question was made, by `time.monotonic`.
    """

    bounds: Given
    limits: Limits | None = None
    threads: int | None = None
    reporter: Reporter | None = None
    stop: threading.Event | None = None
    began: Began | None = None
    promises: Sequence[str] = tuple(PROMISES)
    asked_at: float = field(default_factory=time.monotonic)

    def answer(self) -> Asked:
        """Search the cluster for the shortest way to break each promise."""
        return self.search(self.bounds, self.promises, keep_going=True)

    def without_races(self, asked: Asked) -> Asked | None:
        """Search again without races for promises whose shortest trace has a race inside a method of Kafka.

        Args:
            asked: the answer to this question.

        Returns:
            The answer for these promises without races; None if no shortest trace has a race.
        """
        found = {violation.property for violation in asked.result.violations if violation.trace.takes_race}
        racing = [name for name in self.promises if name in found]
        if not racing:
            return None
        if self.began is not None:
            self.began(1, 1, {"races": "off"})
        return self.search({**self.bounds, "races": "off"}, racing, keep_going=True)

    def remedies(self, broken: str = LOSS) -> Iterator[Cell]:
        """Yield every single change of a setting with its outcome, then all of them together if none suffices."""
        single = list(changes_of(Cluster(**self.bounds)))
        suffices = False
        for cell in self.tried(single, [broken]):
            suffices = suffices or cell.verdict == "holds"
            yield cell
        if not suffices and len(single) > 1:
            together = {name: value for change in single for name, value in change.items()}
            yield from self.tried([together], [broken])

    def matrix(self, promises: Sequence[str] = (LOSS,)) -> Iterator[Cell]:
        """Yield the outcome of each combination of acks, min.insync.replicas and unclean.leader.election.enable.

        Args:
            promises: the names of the promises; a cell is violated if one of them is broken.
        """
        replicas: int = Cluster(**self.bounds).b.replicas
        wanted: list[dict[str, int | str]] = [
            {"acks": acks, "min_insync": minimum, "unclean": unclean}
            for acks in ("0", "1", "all")
            for minimum in range(1, replicas + 1)
            for unclean in ("off", "on")
        ]
        models = [Cluster(**{**self.bounds, **settings}) for settings in wanted]
        held_to = [[name for name in promises if is_promised(name, model)] for model in models]
        asked = [settings for settings, names in zip(wanted, held_to, strict=True) if names]
        yield from (Cell(settings, "", None) for settings in wanted if settings not in asked)
        yield from self.tried(asked, promises)

    def matrix_warnings(self) -> tuple[str, ...]:
        """Return a sentence for each setting of the matrix that the release lacks or ignores.

        That min.insync.replicas has no effect unless acks=all is left out, as the table has a column for it.
        """
        replicas: int = Cluster(**self.bounds).b.replicas
        wide: dict[str, int | str] = {"acks": "all", "unclean": "on"}
        rows = [Cluster(**{**self.bounds, **wide, "min_insync": least}) for least in range(1, replicas + 1)]
        return tuple(dict.fromkeys(text for row in rows for text in row.remarks()))

    def tried(self, changes: Sequence[Given], names: Sequence[str]) -> Iterator[Cell]:
        """Yield the outcome of each change; after `stop` is set, the outcomes are incomplete.

        Args:
            changes: the settings of each change.
            names: the promises; a change is violated if one of them is broken.
        """
        for number, change in enumerate(changes, start=1):
            if self.stop is not None and self.stop.is_set():
                yield Cell(change, str(Verdict.INCOMPLETE), None, StopReason.INTERRUPT)
                continue
            if self.began is not None:
                self.began(number, len(changes), change)
            asked = self.search({**self.bounds, **change}, names, keep_going=False)
            result = asked.result
            trace = result.violations[0].trace if result.violations else None
            length = None if trace is None else len(trace.steps)
            model = None if trace is None else asked.model
            yield Cell(change, str(result.verdict), length, result.stopped_by, trace, model)

    def search(self, bounds: Given, promises: Sequence[str], *, keep_going: bool) -> Asked:
        """Search a cluster under other bounds, with the limits of this question.

        Args:
            bounds: the settings and budgets that are not the default.
            promises: the names of the promises.
            keep_going: whether to continue after the first violation.
        """
        model = Cluster(**bounds)
        result = check(
            model,
            properties=promises,
            limits=self._limits_left(),
            threads=self.threads,
            keep_going=keep_going,
            reporter=self.reporter,
            stop=self.stop,
        )
        return Asked(model, result)

    def changed(self, settings: Given) -> Question:
        """Return the same question about a cluster with other settings."""
        return replace(self, bounds={**self.bounds, **settings})

    def share(self, part: float) -> Question:
        """Return the same question with the fraction `part` of the seconds that are left, if these are limited."""
        left = self._limits_left()
        if left is None or left.seconds is None:
            return self
        return replace(self, limits=replace(left, seconds=part * left.seconds), asked_at=time.monotonic())

    def watch(self) -> Watch:
        """Return the watch over work that begins now and ends with the question."""
        return Watch(limits_of(self._limits_left()), self.stop)

    def _limits_left(self) -> Limits | None:
        """Return the limits with the seconds that are left."""
        if self.limits is None or self.limits.seconds is None:
            return self.limits
        spent = time.monotonic() - self.asked_at
        return replace(self.limits, seconds=max(0.0, self.limits.seconds - spent))


def ask(
    bounds: Given | None = None,
    *,
    limits: Limits | None = None,
    threads: int | None = None,
    reporter: Reporter | None = None,
    stop: threading.Event | None = None,
) -> Asked:
    """Search a cluster for the shortest way to break each of `PROMISES`.

    Args:
        bounds: the release, the settings and the budgets of `cluster` that are not the default.
        limits: of compilation and search.
        threads: the number of threads; None is one per core.
        reporter: called about once a second with the progress of the search.
        stop: ends the search when it is set; the result has what was found.

    Raises:
        UserError: an unknown bound, setting or release.
    """
    question = Question(bounds=bounds or {}, limits=limits, threads=threads, reporter=reporter, stop=stop)
    return question.answer()


def changes_of(model: Cluster) -> Iterator[dict[str, int | str]]:
    """Yield single changes of the settings that could prevent a loss, from the usual to the costly.

    Args:
        model: the cluster that loses a record.
    """
    newest = list(Release)[-1]
    if model.acks is not Acks.ALL:
        yield {"acks": Acks.ALL.value}
    if model.b.min_insync < 2 <= model.b.replicas:
        yield {"min_insync": 2}
    if model.unclean:
        yield {"unclean": Switch.OFF.value}
    if not model.elr and model.rules.last_leader_must_live:
        yield {"elr": Elr.ON.value}
    if _differs(model, newest):
        yield {"release": newest.value}
    if model.flushing is not Flushing.ALWAYS:
        yield {"flushing": Flushing.ALWAYS.value}


def _differs(model: Cluster, release: Release) -> bool:
    """Whether a release has other rules than a model, apart from rules that its budgets never use."""
    rules, own = release.rules, rules_of(model.b)
    if not model.b.reassignments:
        rules = replace(rules, reassignment_ends=own.reassignment_ends)
    if not (model.b.moves or model.b.directory_losses):
        rules = replace(rules, named_directory_keeps_elr=own.named_directory_keeps_elr)
    if not model.directories_fail:  # else whoever is in the ISR may lead, so it is empty when nobody leads
        rules = replace(rules, last_leader_when_leaderless=own.last_leader_when_leaderless)
    return rules != own


def is_promised(name: str, model: Cluster) -> bool:
    """Return whether a promise applies to the settings of a cluster: acks=0 acknowledges no record."""
    return model.acks is not Acks.NONE or name not in _OF_ACKNOWLEDGED


def shown_bounds(model: Model) -> dict[str, int | str]:
    """Return the release, and every bound and setting that is not the default."""
    usual = type(model)().identity
    return {name: value for name, value in model.identity.items() if name == "release" or value != usual[name]}


def with_shown_bounds(trace: Trace, model: Model) -> Trace:
    """Return a trace whose header has only the bounds of `shown_bounds`."""
    return replace(trace, bounds=shown_bounds(model))
