"""The names in records of what Kafka did, which stay as they were written when the model's names change.

Who reads a record takes the names of today. The digest of a trace is made of the first names, so that it stays when
names change: a trace of other names is no other trace.
"""

from __future__ import annotations

from collections.abc import Mapping

from insync.kafka.cluster.former_names import FORMER_NAMES

__all__ = ["first_bounds", "present_bounds"]

Bounds = Mapping[str, int | str]

_FIRST = {now: first for first, now in FORMER_NAMES.items()}


def present_bounds(recorded: Bounds) -> dict[str, int | str]:
    """Return settings and budgets on record by the names of today."""
    return {FORMER_NAMES.get(name, name): value for name, value in recorded.items()}


def first_bounds(bounds: Bounds) -> dict[str, int | str]:
    """Return settings and budgets by the names that the first records have."""
    return {_FIRST.get(name, name): value for name, value in bounds.items()}
