"""Budgets that go together, by name: `--preset operations`, `Cluster(preset="operations")`.

A preset says of every budget how much it is, so those that it does not name are 0. What is given beside a preset wins.
Without one the defaults of the model hold, which are those of `failures`.
"""

from __future__ import annotations

from collections.abc import Mapping

from insync.kafka.cluster.configuration import BUDGETS

__all__ = ["PRESETS"]


def _once(*budgets: str, **other: int | str) -> Mapping[str, int | str]:
    """Each of these budgets once, and no other."""
    return {**{name: int(name in budgets) for name in BUDGETS}, **other}


PRESETS: Mapping[str, Mapping[str, int | str]] = {
    "everyday": _once("crashes", "stops", "elections", "shrinks"),
    "failures": _once("lossy_crashes", "fencings", "shrinks"),
    "operations": _once("reassignments", "spares", "elections", "stops", "minimum_changes"),
    "everything": _once(
        *BUDGETS,
        controllers=3,
        late_replies="on",
        isr_replies="on",
        fetch_sessions="on",
        old_checkpoints="on",
        consumer="follower",
        deletion_answers="on",
        write_errors="on",
        flushing="sometimes",
    ),
}
"""Restarts of brokers, failures, what operators do, and one of each with all that may be late: that is for walks."""
