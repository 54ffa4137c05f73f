"""Search for a defect of the catalogue in its model: by `check`, or by `liveness` if it breaks a property of runs."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from insync.explorer.check import check
from insync.explorer.liveness import liveness
from insync.explorer.pictures.page import Caption
from insync.explorer.progress import Reporter
from insync.explorer.results import Verdict
from insync.explorer.traces.trace import Trace
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import Defect
from insync.kafka_questions.causes.cause import HARM, harm_of
from insync.kafka_questions.question import in_a_line
from insync.model import Model, find_model
from insync.properties.registry import run_properties_of
from insync.runtime.watch import StopReason

__all__ = ["DefectFound", "breaks_as_listed", "caption_of_defect", "search_defect"]


@dataclass(frozen=True, slots=True)
class DefectFound:
    """The result of a search for a defect.

    Attributes:
        model: the searched model.
        verdict: of the property that the defect breaks.
        distinct_states: the number of states that were found.
        trace: a shortest trace that breaks the property, with its loop if it is a property of runs.
        stopped_by: the limit that ended the search before it was complete.
        seconds: the time that the search took.
    """

    model: Model
    verdict: Verdict
    distinct_states: int
    trace: Trace | None
    stopped_by: StopReason | None
    seconds: float

    @property
    def traces(self) -> list[Trace]:
        """The trace, if there is one."""
        return [] if self.trace is None else [self.trace]


def breaks_as_listed(defect: Defect, result: DefectFound) -> bool | None:
    """Return whether the traces have the lengths in the catalogue; None if the search was stopped."""
    if result.verdict == "incomplete":
        return None
    return [trace.length for trace in result.traces] == ([] if defect.harmless else [defect.length])


def caption_of_defect(defect: Defect, found: DefectFound) -> Caption:
    """Return what a page says above the trace of a defect: its name, the settings of the cluster, its story."""
    trace, model, settings = found.trace, found.model, ""
    if isinstance(model, Cluster):
        settings = f"Kafka {model.b.settings.release.value}, {in_a_line(model)}. "
    number = None if trace is None else harm_of(trace)
    harm = None if number is None else (number, HARM)
    return Caption(f"{defect.name}: {defect.title} ({defect.ticket})", f"{settings}{defect.story}", harm)


def search_defect(
    defect: Defect,
    bounds: Mapping[str, int | str] | None = None,
    *,
    threads: int | None = None,
    reporter: Reporter | None = None,
    stop: threading.Event | None = None,
) -> DefectFound:
    """Search for a violation of the property that a defect breaks.

    Args:
        defect: the entry of the catalogue.
        bounds: the bounds and settings; None is those that witness the defect.
        threads: the number of threads; None is one per core. A property of runs is decided by one.
        reporter: called about once a second with the progress.
        stop: ends the search when it is set; the result has what was found.
    """
    model = find_model(defect.model)(**(defect.witness if bounds is None else bounds))
    if defect.breaks in run_properties_of(model):
        runs = liveness(model, properties=[defect.breaks], reporter=reporter, stop=stop)
        (decided,) = runs.properties
        spent = sum(runs.seconds.values())
        return DefectFound(model, decided.verdict, runs.distinct_states, decided.trace, runs.stopped_by, spent)
    found = check(model, properties=[defect.breaks], threads=threads, reporter=reporter, stop=stop)
    trace = found.violations[0].trace if found.violations else None
    spent = sum(found.seconds.values())
    return DefectFound(model, found.verdict, found.distinct_states, trace, found.stopped_by, spent)
