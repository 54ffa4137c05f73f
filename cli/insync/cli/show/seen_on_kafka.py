"""Where an entry of the catalogue was seen on Kafka itself, from what is on record."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache

from insync.cli.show.outcomes import outcome_words
from insync.conformance.catalogue.catalogue_record import RecordedEntry, RecordedRun, read_record, version_ranges
from insync.conformance.jars.pinned import pinned_versions

__all__ = ["seen_at_length", "seen_in_short", "seen_json"]


@cache
def _record() -> dict[str, RecordedEntry]:
    return read_record()


def seen_in_short(name: str) -> str:
    """Return the versions that reproduce an entry, in a line; empty where none does."""
    entry = _record().get(name)
    versions = [] if entry is None else [run.kafka for run in entry.runs if run.verdict == "reproduced"]
    return f"seen on Kafka's classes, {version_ranges(versions, pinned_versions())}" if versions else ""


def seen_at_length(name: str) -> list[str]:
    """Return what versions did with an entry, a line for those that did the same."""
    entry = _record().get(name)
    if entry is None or not entry.runs:
        return ["on Kafka's classes: not run"]
    groups: dict[str, list[RecordedRun]] = {}
    for run in entry.runs:
        groups.setdefault(outcome_words(run), []).append(run)
    return [
        f"on the classes of Kafka {version_ranges([run.kafka for run in runs], pinned_versions())}: {words} "
        f"({max(run.date for run in runs)})"
        for words, runs in groups.items()
    ]


def seen_json(name: str) -> list[dict[str, object]]:
    """Return what scripts are told of the runs of an entry."""
    entry = _record().get(name)
    return [] if entry is None else [asdict(run) for run in entry.runs]
