"""What a release and its settings can lose: the searches behind `insync ask`, without a word of output."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from insync.explorer import Limits, check
from insync.kafka.cluster.configuration import Acks, Elr, Flushing
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import Release
from insync.model import Switch
from insync.properties.kafka import cluster as properties

if TYPE_CHECKING:
    from insync.explorer import CheckResult, Trace

__all__ = [
    "LOSS",
    "PROMISES",
    "Asked",
    "Cell",
    "Search",
    "ask",
    "matrix",
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


@dataclass(frozen=True, slots=True)
class Search:
    """How long a search may take, and who may stop it."""

    seconds: float | None
    threads: int | None
    stop: threading.Event


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
    """

    settings: Given
    verdict: str
    length: int | None


def ask(given: Given, search: Search) -> Asked:
    """Search the cluster for the shortest way to break each promise."""
    model = Cluster(**given)
    result = check(
        model,
        properties=list(PROMISES),
        limits=Limits(seconds=search.seconds),
        threads=search.threads,
        keep_going=True,
        stop=search.stop,
    )
    return Asked(model, result)


def remedies(given: Given, search: Search, broken: str = LOSS) -> Iterator[Cell]:
    """Yield every single change of a setting with what comes of it, then all of them together if none suffices."""
    single = list(_changes(Cluster(**given)))
    suffices = False
    for change in single:
        cell = _try(given, change, broken, search)
        suffices = suffices or cell.verdict == "holds"
        yield cell
        if search.stop.is_set():
            return
    if not suffices and len(single) > 1:
        together = {name: value for change in single for name, value in change.items()}
        yield _try(given, together, broken, search)


def matrix(given: Given, search: Search) -> Iterator[Cell]:
    """Yield the outcome of each acks, min.insync.replicas and unclean.leader.election.enable, in this order."""
    replicas: int = Cluster(**given).b.replicas
    for acks in ("0", "1", "all"):
        for minimum in range(1, replicas + 1):
            for unclean in ("off", "on"):
                settings: dict[str, int | str] = {"acks": acks, "min_insync": minimum, "unclean": unclean}
                yield Cell(settings, "", None) if acks == "0" else _try(given, settings, LOSS, search)
                if search.stop.is_set():
                    return


def _try(given: Given, change: Given, name: str, search: Search) -> Cell:
    model = Cluster(**{**given, **change})
    result = check(
        model, properties=[name], limits=Limits(seconds=search.seconds), threads=search.threads, stop=search.stop
    )
    length = result.violations[0].trace_length if result.violations else None
    return Cell(change, str(result.verdict), length)


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
