"""Where a trace is reproduced and where not, over versions of Kafka, and where that changes."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from insync.conformance.catalogue.catalogue_record import RecordedRun
from insync.conformance.catalogue.catalogue_runs import catalogue_names, recorded_run, run_entry
from insync.conformance.catalogue.entry_traces import EntryTrace
from insync.conformance.classes.subject import Subject
from insync.conformance.given_trace import given_trace
from insync.conformance.replay import replay_on_kafka
from insync.model import Model

__all__ = ["Bisection", "Change", "bisect"]


@dataclass(frozen=True, slots=True)
class Change:
    """Two successive versions: one reproduces the trace, the other does not."""

    before: RecordedRun
    since: RecordedRun


@dataclass(frozen=True, slots=True)
class Bisection:
    """What came of a trace on each version.

    Attributes:
        name: the entry or the file.
        runs: what each version did, the oldest first.
    """

    name: str
    runs: tuple[RecordedRun, ...]

    @property
    def changes(self) -> list[Change]:
        """Where it changes whether the trace is reproduced; a version that cannot be asked is passed over."""
        asked = [run for run in self.runs if run.verdict != "not_schedulable"]
        return [Change(one, other) for one, other in pairwise(asked) if one.taken != other.taken]


def bisect(
    given: str,
    versions: Sequence[str],
    start: Callable[[str], AbstractContextManager[Subject]],
    *,
    model: type[Model] | None = None,
) -> Iterator[RecordedRun]:
    """Yield what each version does with a trace, in the order of the versions.

    An entry of the catalogue has its own trace on a release whose rules ask for it (`run_entry`); a trace file is taken
    as it is.

    Args:
        given: a trace file, the name of an entry, or the name of a rule with a trace of its own.
        versions: the versions.
        start: starts the harness of a version.
        model: the class of the model of a trace file, as `given_trace` takes it.

    Raises:
        UserError: as `given_trace` raises.
    """
    today = datetime.datetime.now(datetime.UTC).date()
    names = {name.upper(): name for name in catalogue_names()}
    name = None if Path(given).exists() else names.get(given.upper())
    if name is None:
        built, trace = given_trace(given, model=model)
        asked = EntryTrace(trace.bounds, built, trace)
    for version in versions:
        with start(version) as subject:
            run = run_entry(name, subject) if name else (asked, replay_on_kafka(asked.trace, asked.model, subject))
        yield recorded_run(name or given, run, today)
