"""What is counted in a cluster: leader epochs, records, offsets, changes, and sets of brokers."""

from __future__ import annotations

from insync.kafka.cluster.configuration import epoch_bumps
from insync.kafka.replica import Replica
from insync.model import BoundValues, Index, Subset

__all__ = ["ChangeIndex", "LeaderEpoch", "Offset", "RecordNumber", "Target"]


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


class ChangeIndex(Index):
    """A place among the controller's latest changes, 0 being the newest."""

    label = ""
    first = 0

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """As many as a broker may be late by, but a sort has a member."""
        return max(1, bounds.metadata_lag)
