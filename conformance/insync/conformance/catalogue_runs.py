"""The catalogue on versions of Kafka: each entry by its own trace, or by that of the release where it takes another."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache

from insync.conformance.classes.subject import Subject
from insync.conformance.entry_traces import EntryTrace, catalogue_trace, has_defect, release_trace, trace_digest
from insync.conformance.jars.pinned import version_order
from insync.conformance.reached import changed_rules, release_of
from insync.conformance.record import RecordedEntry, RecordedRun, RecordedTrace
from insync.conformance.replay import KafkaReplay, KafkaVerdict, replay_on_kafka
from insync.conformance.rule_traces import RULE_TRACES, rule_trace
from insync.kafka.defects import DEFECTS, Defect
from insync.kafka.releases import Release

__all__ = ["Run", "as_expected", "catalogue_names", "merged", "recorded_run", "run_entry"]

Run = tuple[EntryTrace, KafkaReplay]
"""What was run, and what came of it."""

_TAKEN = (KafkaVerdict.REPRODUCED, KafkaVerdict.AGREES)


def catalogue_names() -> list[str]:
    """Return what there is to run: the entries that do harm, then rules that have a trace of their own."""
    return [*(name for name, defect in DEFECTS.items() if not defect.harmless), *RULE_TRACES]


def run_entry(name: str, subject: Subject) -> Run:
    """Take the steps of an entry on one version of Kafka.

    The trace of the catalogue comes first. Where it is not taken to its end, and the version has other rules than the
    catalogue's, the shortest trace under the version's rules is what is shown: only there the entry may be what
    makes a difference.

    Args:
        name: one of `catalogue_names`.
        subject: who takes the commands.
    """
    if name in RULE_TRACES:
        return _run(rule_trace(name), subject)
    defect, release = DEFECTS[name], release_of(subject.version)
    first = _catalogue(name)
    found = _run(first, subject)
    if found[1].verdict in _TAKEN or not _asks_again(defect, release):
        return found
    own = _release(name, release.same_since)
    return found if own is None or own.trace.steps == first.trace.steps else _run(own, subject)


def _run(asked: EntryTrace, subject: Subject) -> Run:
    return asked, replay_on_kafka(asked.trace, asked.model, subject)


def _asks_again(defect: Defect, release: Release) -> bool:
    """Whether the rules of a release matter: it has the defect, or may have it, or its fix came within reach."""
    if release.rules == Release.V4_1.rules:
        return False
    return has_defect(defect, release) is not False or bool(set(defect.rules) & changed_rules())


@cache
def _catalogue(name: str) -> EntryTrace:
    found = catalogue_trace(DEFECTS[name])
    assert found is not None, name
    return found


@cache
def _release(name: str, release: Release) -> EntryTrace | None:
    return release_trace(DEFECTS[name], release)


def as_expected(name: str, run: RecordedRun) -> bool | None:
    """Return whether a version did what the model's rules of its release say; None where they do not say it.

    A step that cannot be scheduled says nothing either.
    """
    release = release_of(run.kafka)
    if name in RULE_TRACES:
        has: bool | None = getattr(release.rules, name) == RULE_TRACES[name].value
    else:
        has = has_defect(DEFECTS[name], release)
    if has is None or run.verdict == KafkaVerdict.NOT_SCHEDULABLE.value:
        return None
    return (KafkaVerdict(run.verdict) in _TAKEN) == has


# -------------------------------------------------------------------------------------------------------- on record


def recorded_run(run: Run, date: datetime.date) -> RecordedRun:
    """Return what came of a trace as it goes on record."""
    asked, replayed = run
    found = RecordedRun(
        kafka=replayed.kafka,
        on="classes",
        verdict=replayed.verdict.value,
        steps=replayed.steps,
        date=date.isoformat(),
        trace=trace_digest(asked),
    )
    if replayed.differences:
        first, last = replayed.differences[0], replayed.trace.steps[-1]
        return replace(found, label=last.label, field=first.field, model=first.model, seen=first.kafka)
    if replayed.reason is not None:
        return replace(found, label=replayed.step or "", reason=replayed.reason)
    return found


def merged(
    before: Mapping[str, RecordedEntry], runs: Iterable[tuple[str, Run]], date: datetime.date
) -> dict[str, RecordedEntry]:
    """Return a record with runs added, in the place of what it had of the same versions.

    Entries that are not in the catalogue any more are left out, and so are traces of which no run is left.
    """
    entries = {name: before.get(name, RecordedEntry()) for name in catalogue_names()}
    for name, run in runs:
        new = recorded_run(run, date)
        kept = [one for one in entries[name].runs if one.kafka != new.kafka]
        ordered = sorted([*kept, new], key=lambda one: version_order(one.kafka))
        traces = {**entries[name].traces, new.trace: _recorded_trace(run[0])}
        used = {one.trace for one in ordered}
        entries[name] = RecordedEntry({digest: traces[digest] for digest in sorted(used)}, tuple(ordered))
    return entries


def _recorded_trace(asked: EntryTrace) -> RecordedTrace:
    failing = "" if asked.trace.witness else asked.trace.property
    return RecordedTrace(asked.given, failing, tuple(asked.steps))
