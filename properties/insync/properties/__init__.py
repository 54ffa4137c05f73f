"""What must hold in every reachable state, and why it does not where it fails."""

from __future__ import annotations

from insync.properties.deadlock import DEADLOCK_FREE
from insync.properties.explain import explain, failure
from insync.properties.kafka import async_isr, cluster, cluster_progress, replication, replication_progress
from insync.properties.property import (
    TYPE_OK,
    Failure,
    Invariant,
    Judged,
    invariants_of,
    judge,
    property_of,
    select,
    sentences_of,
)

__all__ = [
    "DEADLOCK_FREE",
    "TYPE_OK",
    "Failure",
    "Invariant",
    "Judged",
    "async_isr",
    "cluster",
    "cluster_progress",
    "explain",
    "failure",
    "invariants_of",
    "judge",
    "property_of",
    "replication",
    "replication_progress",
    "select",
    "sentences_of",
]
