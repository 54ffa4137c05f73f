"""The names in records of what Kafka did, which stay as they were written when the model's names change.

Who reads a record takes the names of today. The digest of a trace is made of the first names, so that it stays when
names change: a trace of other names is no other trace. The digest of a trace on record is made of the names that it has
there, some of which have been merged or are gone since.
"""

from __future__ import annotations

from collections.abc import Mapping

from insync.kafka.cluster.former_names import FORMER_NAMES

__all__ = ["first_bounds", "present_bounds"]

Bounds = Mapping[str, int | str]

_FIRST = {now: first for first, now in FORMER_NAMES.items() if now}


def present_bounds(recorded: Bounds) -> dict[str, int | str]:
    """Return settings and budgets on record by the names of today; of several that are one now, the sum."""
    present: dict[str, int | str] = {}
    for name, value in recorded.items():
        now = FORMER_NAMES.get(name, name)
        if now:
            present[now] = value if isinstance(value, str) else value + int(present.get(now, 0))
    return present


def first_bounds(bounds: Bounds) -> dict[str, int | str]:
    """Return settings and budgets by the names that the first records have."""
    return {_FIRST.get(name, name): value for name, value in bounds.items()}
