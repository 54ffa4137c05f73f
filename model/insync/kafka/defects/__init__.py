"""Internal: the catalogue of published defects of Kafka's replication, as data."""

from __future__ import annotations

from collections.abc import Mapping

from insync.kafka.defects.consumers import CONSUMERS
from insync.kafka.defects.defect import NO_DEFECT, Defect, LeftOut
from insync.kafka.defects.deposed import DEPOSED
from insync.kafka.defects.disks import DISKS
from insync.kafka.defects.failures import FAILURES
from insync.kafka.defects.harmless import HARMLESS
from insync.kafka.defects.hazards import HAZARDS
from insync.kafka.defects.left_out import LEFT_OUT
from insync.kafka.defects.membership import MEMBERSHIP
from insync.kafka.defects.mutants import MUTANTS
from insync.kafka.defects.progress import PROGRESS
from insync.kafka.defects.reassignments import REASSIGNMENT
from insync.kafka.defects.truncation import TRUNCATION
from insync.kafka.defects.uncommitted import UNCOMMITTED
from insync.kafka.defects.voting import VOTING

__all__ = ["DEFECTS", "LEFT_OUT", "NO_DEFECT", "QUORUM_DEFECTS", "Defect", "LeftOut", "all_defects"]


def _by_number(entry: Defect) -> tuple[int, int]:
    letter, _, number = entry.name.partition("-")
    return "RNLMC".index(letter), int(number)


DEFECTS: Mapping[str, Defect] = {
    entry.name: entry
    for entry in sorted(
        [
            *TRUNCATION,
            *MEMBERSHIP,
            *REASSIGNMENT,
            *FAILURES,
            *DEPOSED,
            *UNCOMMITTED,
            *CONSUMERS,
            *DISKS,
            *MUTANTS,
            *HARMLESS,
            *HAZARDS,
            *PROGRESS,
        ],
        key=_by_number,
    )
}
"""Every defect that the model `cluster` shows, by name."""

QUORUM_DEFECTS: Mapping[str, Defect] = {entry.name: entry for entry in VOTING}
"""Every defect that the models of the quorum show, by name."""


def all_defects() -> dict[str, Defect]:
    """Return the whole catalogue by name, those of `cluster` first."""
    return {**DEFECTS, **QUORUM_DEFECTS}
