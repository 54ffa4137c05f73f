"""What is counted in a cluster: leader epochs, records, offsets, changes, and sets of brokers."""

from __future__ import annotations

from insync.kafka.cluster.configuration import rules_of
from insync.kafka.cluster.features import Features
from insync.kafka.replica import Replica
from insync.model import BoundValues, Index, Subset

__all__ = ["LeaderEpoch", "Offset", "RecordNumber", "RegistrationIndex", "Target", "epoch_bumps"]


class LeaderEpoch(Index):
    """A leader epoch; the first leader has epoch 0."""

    label = ""
    first = 0

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """As many as the budgets can make necessary."""
        return epoch_bumps(bounds) + 1


class RecordNumber(Index):
    """A record that a producer writes; every write is of a new one, in this order."""

    label = "r"
    first = 0

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """As many as the bound says."""
        return bounds.records


class Offset(Index):
    """An end of a log: how many records it has."""

    label = ""
    first = 0

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """From no record to all that are written."""
        return bounds.records + 1


class Target(Subset, of=Replica):
    """A set of brokers to which an operator assigns the partition."""


class RegistrationIndex(Index):
    """A place among the controller's latest changes, 0 being the newest."""

    label = ""
    first = 0

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """As many as a broker may be late by, but a sort has a member."""
        return max(1, bounds.metadata_lag)


def epoch_bumps(b: BoundValues) -> int:
    """Return the highest leader epoch that the budgets allow.

    A failure can end a leadership and begin another when it has passed, and so can a reassignment; what the rules add
    is one at a time.
    """
    rules = rules_of(b)
    features = Features(b, rules)
    failures = b.reassignments + b.power_failures + b.crashes + b.controlled_shutdowns + b.fencings
    failures += b.log_dir_failures if features.directories_fail else 0
    deposed = b.controller_failovers if features.stale_controller_may_write else 0
    shrinks = 0 if rules.release.shrink_keeps_epoch else b.isr_shrinks
    return 2 * failures + b.preferred_elections + deposed + shrinks
