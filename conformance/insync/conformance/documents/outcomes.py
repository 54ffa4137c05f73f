"""Recorded runs of traces on releases of Kafka, in words."""

from __future__ import annotations

from insync.conformance.catalogue.catalogue_record import RecordedRun
from insync.conformance.catalogue.vocabulary import present_fact

__all__ = ["outcome_words"]


def outcome_words(run: RecordedRun) -> str:
    """Return the outcome of a run in words."""
    if run.verdict == "diverges":
        where = f"at step {run.steps}, {run.label}" if run.steps else "at the start"
        field = present_fact(run.field)
        return f"differs {where}: {field} is {_shown(run.model)} in the model, {_shown(run.seen)} in Kafka"
    if run.verdict == "not_schedulable":
        return f"not schedulable, after {run.steps} steps {run.label}: {run.reason}"
    return f"{run.verdict} in {run.steps} steps{f'; {run.reason}' if run.reason else ''}"


def _shown(value: object) -> str:
    if isinstance(value, list):
        return f"[{' '.join(map(str, value))}]"
    return "none" if value is None else str(value)
