"""What a release and its settings can lose: the searches behind `insync ask`, without a word of output."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from insync.explorer import Limits, Verdict, check
from insync.explorer.limits import StopReason
from insync.kafka.cluster.configuration import Acks, Elr, Flushing
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release
from insync.model import Switch
from insync.properties.kafka import cluster as properties

if TYPE_CHECKING:
    from insync.explorer import CheckResult, Trace
    from insync.explorer.progress import Reporter

__all__ = [
    "LOSS",
    "PROMISES",
    "Asked",
    "Began",
    "Cell",
    "Given",
    "Search",
    "ask",
    "matrix",
    "matrix_warnings",
    "remedies",
    "shown_bounds",
    "with_shown_bounds",
]

LOSS = properties.no_acknowledged_record_is_lost.__name__
"""The promise that the matrix and the remedies are about."""

PROMISES: dict[str, str] = {
    LOSS: "an acknowledged record is never lost",
    "reads_repeat": "who reads an offset again gets the same record",
    "watermark_never_goes_back": "the end of the partition never goes back",
    "acks_mean_enough_copies": "an acknowledged record was on min.insync.replicas replicas",
    "logs_keep_write_order": "records stay in the order in which they were written",
    "leader_is_eligible": "the leader is a broker that may lead",
}
"""The properties that an operator is promised, each in a few words."""

Given = Mapping[str, int | str]


Began = Callable[[int, int, Given], None]
"""Is told of a search that begins: its number from 1, how many there are, and what differs from what was asked."""


@dataclass(frozen=True, slots=True)
class Search:
    """How long a search may take, who may stop it, and who is told where it is.

    Attributes:
        seconds: how long each search may take; None is for ever.
        threads: how many work at once; None is one per core.
        stop: ends the search at work when it is set; those after it are not begun, and their outcome is not known.
        reporter: is told about once a second how far a search is.
        began: is told of each of several searches as it begins.
    """

    seconds: float | None
    threads: int | None
    stop: threading.Event
    reporter: Reporter | None = None
    began: Began | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The answer for one release and its settings.

    Attributes:
        model: the cluster with these settings.
        result: what the search has found.
    """

    model: Cluster
    result: CheckResult


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination of settings and what comes of it.

    Attributes:
        settings: what differs from the settings asked for.
        verdict: holds, violated or incomplete; empty where nothing is promised.
        length: the states of the shortest trace, where it is violated.
        stopped_by: what ended the search before it was complete, or kept it from beginning.
    """

    settings: Given
    verdict: str
    length: int | None
    stopped_by: StopReason | None = None


def ask(given: Given, search: Search) -> Asked:
    """Search the cluster for the shortest way to break each promise."""
    model = Cluster(**given)
    result = check(
        model,
        properties=list(PROMISES),
        limits=Limits(seconds=search.seconds),
        threads=search.threads,
        keep_going=True,
        reporter=search.reporter,
        stop=search.stop,
    )
    return Asked(model, result)


def remedies(given: Given, search: Search, broken: str = LOSS) -> Iterator[Cell]:
    """Yield every single change of a setting with what comes of it, then all of them together if none suffices."""
    single = list(_changes(Cluster(**given)))
    suffices = False
    for cell in _tried(given, single, broken, search):
        suffices = suffices or cell.verdict == "holds"
        yield cell
    if not suffices and len(single) > 1:
        together = {name: value for change in single for name, value in change.items()}
        yield from _tried(given, [together], broken, search)


def matrix(given: Given, search: Search) -> Iterator[Cell]:
    """Yield the outcome of each acks, min.insync.replicas and unclean.leader.election.enable, in this order."""
    replicas: int = Cluster(**given).b.replicas
    wanted: list[dict[str, int | str]] = [
        {"acks": acks, "min_insync": minimum, "unclean": unclean}
        for acks in ("0", "1", "all")
        for minimum in range(1, replicas + 1)
        for unclean in ("off", "on")
    ]
    promised = [settings for settings in wanted if settings["acks"] != "0"]
    yield from (Cell(settings, "", None) for settings in wanted if settings not in promised)
    yield from _tried(given, promised, LOSS, search)


def matrix_warnings(given: Given) -> tuple[str, ...]:
    """Return which settings of a matrix do not exist in the release, or mean less than they say, a sentence for each.

    With acks other than all min.insync.replicas means nothing; the table's own column says so of a row.
    """
    replicas: int = Cluster(**given).b.replicas
    rows = [Cluster(**{**given, "acks": "all", "min_insync": minimum}) for minimum in range(1, replicas + 1)]
    return tuple(dict.fromkeys(text for row in rows for text in row.remarks()))


def _tried(given: Given, changes: Sequence[Given], name: str, search: Search) -> Iterator[Cell]:
    """Yield what comes of each change; of those that are left when somebody stops the search, nothing is known."""
    for number, change in enumerate(changes, start=1):
        if search.stop.is_set():
            yield Cell(change, str(Verdict.INCOMPLETE), None, StopReason.INTERRUPT)
            continue
        if search.began is not None:
            search.began(number, len(changes), change)
        limits = Limits(seconds=search.seconds)
        model = Cluster(**{**given, **change})
        result = check(
            model,
            properties=[name],
            limits=limits,
            threads=search.threads,
            reporter=search.reporter,
            stop=search.stop,
        )
        length = result.violations[0].trace_length if result.violations else None
        yield Cell(change, str(result.verdict), length, result.stopped_by)


def _changes(model: Cluster) -> Iterator[dict[str, int | str]]:
    """Yield the settings that could keep a record where those of the model do not, from the usual to the costly."""
    newest = list(Release)[-1]
    if model.acks is not Acks.ALL:
        yield {"acks": Acks.ALL.value}
    if model.b.min_insync < 2 <= model.b.replicas:
        yield {"min_insync": 2}
    if model.unclean:
        yield {"unclean": Switch.OFF.value}
    if not model.elr and model.rules.last_leader_must_live:
        yield {"elr": Elr.ON.value}
    if model.b.settings.release is not newest:
        yield {"release": newest.value}
    if model.flushing is not Flushing.ALWAYS:
        yield {"flushing": Flushing.ALWAYS.value}


def shown_bounds(model: Cluster) -> dict[str, int | str]:
    """Return the release, and every bound and setting that is not the default."""
    usual = type(model)().identity
    return {name: value for name, value in model.identity.items() if name == "release" or value != usual[name]}


def with_shown_bounds(trace: Trace, model: Cluster) -> Trace:
    """Return a trace whose header says only what is not the default."""
    return replace(trace, bounds=shown_bounds(model))
