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
    "everyday": _once("crashes", "controlled_shutdowns", "preferred_elections", "isr_shrinks"),
    "failures": _once("power_failures", "fencings", "isr_shrinks"),
    "operations": _once("reassignments", "spares", "preferred_elections", "controlled_shutdowns", "config_changes"),
    "everything": _once(
        *BUDGETS,
        late_fetch_responses="on",
        late_alter_partition_responses="on",
        fetch_sessions="on",
        stale_checkpoints="on",
        consumer="follower",
        flush="sometimes",
    ),
}
"""Restarts of brokers, failures, what operators do, and one of each with all that may be late: that is for walks."""
