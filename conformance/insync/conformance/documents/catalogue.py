"""What `insync kafka replay --all` says of the catalogue, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from insync.conformance.catalogue.catalogue_record import RecordedEntry, RecordedRun, version_ranges
from insync.conformance.catalogue.catalogue_runs import as_expected
from insync.conformance.documents.outcomes import outcome_words
from insync.conformance.jars.pinned import pinned_versions

if TYPE_CHECKING:
    from insync.conformance.documents.json_types import CatalogueRunsObject, RuledRun

__all__ = ["catalogue_runs_json", "describe_catalogue_runs", "is_as_listed", "outcome_lines"]

Found = Mapping[str, RecordedEntry]


def describe_catalogue_runs(found: Found, file: Path | None) -> str:
    """Return what came of each entry, versions with the same outcome in a line.

    Args:
        found: the entries.
        file: where they were recorded; None for nowhere.
    """
    lines = []
    for name, entry in found.items():
        head, *more = outcome_lines(entry)
        lines += [f"  {name:<5} {head}", *(f"        {line}" for line in more)]
    against = _against(found)
    said = "Every release does what the model's rules of that release say, as far as the steps can be taken."
    if against:
        said = f"Not as the model's rules of the release say: {', '.join(against)}."
    lines += ["", said]
    if file is not None:
        lines.append(f"Recorded in {file}.")
    return "\n".join(lines)


def outcome_lines(entry: RecordedEntry) -> list[str]:
    """Return what came of an entry, a line for the versions that have an outcome in common."""
    groups: dict[str, list[RecordedRun]] = {}
    for run in entry.runs:
        groups.setdefault(outcome_words(run), []).append(run)
    lines = []
    for words, runs in groups.items():
        unlike = " (not what its rules say)" if any(as_expected(run) is False for run in runs) else ""
        lines.append(f"{version_ranges([run.kafka for run in runs], pinned_versions())}: {words}{unlike}")
    return lines or ["not run"]


def catalogue_runs_json(found: Found, file: Path | None) -> str:
    """Return the object that says the same."""
    entries: dict[str, list[RuledRun]] = {
        name: [{**asdict(run), "as_the_rules_say": as_expected(run)} for run in entry.runs]
        for name, entry in found.items()
    }
    recorded = None if file is None else str(file)
    told: CatalogueRunsObject = {"entries": entries, "against_the_rules": _against(found), "recorded": recorded}
    return json.dumps(told)


def is_as_listed(found: Found) -> bool:
    """Return whether every version does as its rules say."""
    return not _against(found)


def _against(found: Found) -> list[str]:
    unlike = [(name, run.kafka) for name, entry in found.items() for run in entry.runs if as_expected(run) is False]
    return [
        f"{name} ({version_ranges([version for _, version in versions], pinned_versions())})"
        for name, versions in groupby(unlike, key=lambda one: one[0])
    ]
