"""The record of an entry of the catalogue on Kafka itself, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING

from insync.conformance.catalogue.catalogue_record import (
    BrokersRun,
    RecordedEntry,
    RecordedRun,
    read_record,
    version_ranges,
)
from insync.conformance.catalogue.vocabulary import present_fact
from insync.conformance.documents.outcomes import outcome_words
from insync.conformance.jars.pinned import pinned_versions
from insync.explorer.documents.text import plural
from insync.kafka.defects.findings import finding_of

if TYPE_CHECKING:
    from insync.conformance.documents.json_types import OnKafkaEntry

__all__ = ["seen_at_length", "seen_in_short", "seen_json"]


@cache
def _record() -> dict[str, RecordedEntry]:
    return read_record()


def seen_in_short(name: str) -> str:
    """Return the releases that reproduce an entry, in a line; empty if none does."""
    entry = _record().get(name, RecordedEntry())
    on = {
        "Kafka's classes": [run.kafka for run in entry.runs if run.verdict == "reproduced"],
        "running brokers": list(dict.fromkeys(run.kafka for run in entry.on_brokers if run.reproduced)),
    }
    seen = [f"{where}, {version_ranges(found, pinned_versions())}" for where, found in on.items() if found]
    return f"seen on {'; on '.join(seen)}" if seen else ""


def seen_at_length(name: str) -> list[str]:
    """Return the outcomes of an entry, a line for all releases with the same outcome."""
    entry = _record().get(name, RecordedEntry())
    classes: dict[str, list[RecordedRun]] = {}
    for run in entry.runs:
        classes.setdefault(outcome_words(run), []).append(run)
    brokers: dict[tuple[str, str], list[BrokersRun]] = {}
    for one in entry.on_brokers:
        brokers.setdefault((_means(one), _how_often(one)), []).append(one)
    said = [f"on the classes of {_which(runs)}: {words} ({_last(runs)})" for words, runs in classes.items()]
    said += [
        f"on running brokers of {_which(ran)}, {how}: {words} ({_last(ran)})" for (how, words), ran in brokers.items()
    ]
    finding = finding_of(name)
    if not said and finding is not None and finding.paged:
        return [f"on Kafka's classes and running controllers: {finding.page} has the runs"]
    return said or ["on Kafka's classes: not run"]


def _which(runs: Sequence[RecordedRun] | Sequence[BrokersRun]) -> str:
    return f"Kafka {version_ranges([run.kafka for run in runs], pinned_versions())}"


def _last(runs: Sequence[RecordedRun] | Sequence[BrokersRun]) -> str:
    return max(run.date for run in runs)


def _means(run: BrokersRun) -> str:
    return "step by step" if run.how == "trace" else f"by the scenario {run.how}"


def _how_often(run: BrokersRun) -> str:
    if run.runs == 1:
        return "reproduced" if run.reproduced else "not reproduced"
    return f"reproduced in {run.reproduced} of {plural(run.runs, 'run')}"


def seen_json(name: str) -> list[OnKafkaEntry]:
    """Return the runs of an entry as JSON values; `on` is `classes` or `brokers`."""
    entry = _record().get(name, RecordedEntry())
    runs = [{**asdict(run), "field": present_fact(run.field)} for run in entry.runs]
    return [*runs, *({"on": "brokers", **asdict(run)} for run in entry.on_brokers)]
