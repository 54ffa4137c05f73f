"""How often scenarios have done on running brokers what entries of the catalogue say, as a table for a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from insync.conformance.catalogue.catalogue_record import BrokersRun, RecordedEntry, version_ranges
from insync.conformance.jars.pinned import pinned_versions

__all__ = ["brokers_table"]


def brokers_table(record: Mapping[str, RecordedEntry], names: Sequence[str]) -> list[str]:
    """Return the recorded runs of the scenarios of some entries in Markdown, a line for releases that did the same.

    Args:
        record: what is on record.
        names: the entries.
    """
    alike: dict[tuple[str, str, int, int], list[BrokersRun]] = {}
    for run in sorted((run for name in names if name in record for run in record[name].on_brokers), key=_order):
        if run.how != "trace":
            alike.setdefault((run.how, run.date, run.reproduced, run.runs), []).append(run)
    if not alike:
        return []
    lines = ["| scenario | Kafka | run on | seen in |", "|---|---|---|---|"]
    for (how, date, reproduced, count), runs in alike.items():
        versions = version_ranges([run.kafka for run in runs], pinned_versions())
        each = " each" if len(runs) > 1 else ""
        lines.append(f"| {how} | {versions} | {date} | {reproduced} of {count}{each} |")
    return lines


def _order(run: BrokersRun) -> tuple[str, int]:
    return run.how, pinned_versions().index(run.kafka)
