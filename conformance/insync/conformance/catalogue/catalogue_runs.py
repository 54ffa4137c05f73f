"""The catalogue on versions of Kafka: each entry by its own trace, or by that of the release where it takes another."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache

from insync.conformance.catalogue.catalogue_record import RecordedEntry, RecordedRun, RecordedTrace
from insync.conformance.catalogue.entry_traces import (
    EntryTrace,
    catalogue_trace,
    release_traces,
    takes_trace,
    trace_digest,
)
from insync.conformance.catalogue.reached import changed_rules
from insync.conformance.catalogue.rule_traces import RULE_TRACES, rule_trace
from insync.conformance.classes.subject import Answer, Argument, Subject
from insync.conformance.jars.pinned import version_order
from insync.conformance.replay import KafkaReplay, KafkaVerdict, replay_on_kafka
from insync.kafka.defects import DEFECTS, Defect
from insync.kafka.defects.named import no_such_defect
from insync.kafka.releases import Release, has_defect, release_of

__all__ = ["EntryRun", "as_expected", "catalogue_names", "entry_names", "merged", "recorded_run", "run_entry"]

EntryRun = tuple[EntryTrace, KafkaReplay]
"""What was run, and what came of it."""

_TAKEN = (KafkaVerdict.REPRODUCED, KafkaVerdict.AGREES)


@cache
def catalogue_names() -> tuple[str, ...]:
    """Return what there is to run: the entries that do harm, then rules that have a trace of their own."""
    return (*(name for name, defect in DEFECTS.items() if not defect.harmless), *RULE_TRACES)


def entry_names(given: str | None) -> tuple[str, ...]:
    """Return what there is to run by the name of an entry or a rule, in any case; all of it without a name.

    Raises:
        UserError: there is no such entry.
    """
    if given is None:
        return catalogue_names()
    found = tuple(name for name in catalogue_names() if name.upper() == given.upper())
    if not found:
        said = f"{given!r} is no entry of `insync defects` that can be run."
        raise no_such_defect(given, catalogue_names(), said)
    return found


def run_entry(name: str, subject: Subject) -> EntryRun:
    """Take the steps of an entry on one version of Kafka.

    The trace of the catalogue comes first. Where it is not taken to its end, and the version has other rules than the
    catalogue's, the shortest trace under the version's rules is what is shown: only there the entry may be what
    makes a difference.

    Args:
        name: one of `catalogue_names`.
        subject: who takes the commands.
    """
    if name in RULE_TRACES:
        return _run(rule_trace(name), _WithDefaultElr(subject) if RULE_TRACES[name].default_elr else subject)
    defect, release = DEFECTS[name], release_of(subject.version)
    found = _run(_catalogue(name), subject)
    if found[1].verdict in _TAKEN or not _asks_again(defect, release):
        return found
    others = [_run(other, subject) for other in _others(name, release.same_since)]
    return next((one for one in others if one[1].verdict in _TAKEN), others[0] if others else found)


class _WithDefaultElr:
    """Opens clusters with eligible leader replicas as new clusters of the release have them."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    @property
    def version(self) -> str:
        return self._subject.version

    def take(self, command: str, **arguments: Argument) -> Answer:
        if command == "open":
            arguments["elr"] = "default"
        return self._subject.take(command, **arguments)


def _run(asked: EntryTrace, subject: Subject) -> EntryRun:
    return asked, replay_on_kafka(asked.trace, asked.model, subject)


def _asks_again(defect: Defect, release: Release) -> bool:
    """Whether the rules of a release matter: it has the defect, or may have it, or its fix came within reach."""
    return has_defect(defect, release) is not False or bool(set(defect.rules) & changed_rules())


@cache
def _catalogue(name: str) -> EntryTrace:
    found = catalogue_trace(DEFECTS[name])
    assert found is not None, name
    return found


@cache
def _others(name: str, release: Release) -> list[EntryTrace]:
    """The traces under the rules of a release that are not the catalogue's."""
    known = _catalogue(name)
    return [
        one
        for one in release_traces(DEFECTS[name], release)
        if (one.trace.steps, one.model.features.elr) != (known.trace.steps, known.model.features.elr)
    ]


def as_expected(run: RecordedRun) -> bool | None:
    """Return whether a version did what the model says of its release; None where a step could not be scheduled."""
    if run.verdict == KafkaVerdict.NOT_SCHEDULABLE.value:
        return None
    return run.taken == run.predicted


# -------------------------------------------------------------------------------------------------------- on record


def recorded_run(name: str, run: EntryRun, date: datetime.date) -> RecordedRun:
    """Return what came of the trace of an entry as it goes on record."""
    asked, replayed = run
    found = RecordedRun(
        kafka=replayed.kafka,
        on="classes",
        verdict=replayed.verdict.value,
        steps=replayed.steps,
        date=date.isoformat(),
        trace=trace_digest(asked),
        predicted=_predicted(name, asked, release_of(replayed.kafka).same_since),
    )
    if replayed.differences:
        first, last = replayed.differences[0], replayed.trace.steps[-1]
        return replace(found, label=last.label, field=first.field, model=first.model, seen=first.kafka)
    if replayed.reason is not None:
        return replace(found, label=replayed.step or "", reason=replayed.reason)
    if replayed.for_ever is not None and not replayed.for_ever.shown:
        return replace(found, reason=replayed.for_ever.said)
    return found


def _predicted(name: str, asked: EntryTrace, release: Release) -> bool:
    key = (trace_digest(asked), release)
    if key not in _PREDICTED:
        default_elr = name in RULE_TRACES and RULE_TRACES[name].default_elr
        _PREDICTED[key] = takes_trace(release, asked, default_elr=default_elr)
    return _PREDICTED[key]


_PREDICTED: dict[tuple[str, Release], bool] = {}


def merged(
    before: Mapping[str, RecordedEntry], runs: Iterable[tuple[str, EntryRun]], date: datetime.date
) -> dict[str, RecordedEntry]:
    """Return a record with runs added, which replace those of the same versions.

    Entries that the catalogue no longer has are left out, and so are traces that no run is of.
    """
    entries = {name: before.get(name, RecordedEntry()) for name in catalogue_names()}
    for name, run in runs:
        new = recorded_run(name, run, date)
        kept = [one for one in entries[name].runs if one.kafka != new.kafka]
        ordered = sorted([*kept, new], key=lambda one: version_order(one.kafka))
        traces = {**entries[name].traces, new.trace: _recorded_trace(run[0])}
        used = {one.trace for one in ordered}
        traces = {digest: traces[digest] for digest in sorted(used)}
        entries[name] = replace(entries[name], traces=traces, runs=tuple(ordered))
    return {name: entry for name, entry in entries.items() if entry.runs}


def _recorded_trace(asked: EntryTrace) -> RecordedTrace:
    failing = "" if asked.trace.witness else asked.trace.property
    return RecordedTrace(asked.given, failing, tuple(asked.steps), asked.trace.loop)
