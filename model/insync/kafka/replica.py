"""The replicas of a partition, which all models of one partition speak of."""

from __future__ import annotations

from insync.model import BoundValues, Index

__all__ = ["Peer", "Replica"]


class Replica(Index):
    """A broker that holds a copy of the partition."""

    label = "b"

    @classmethod
    def size(cls, bounds: BoundValues) -> int:
        """As many as the bound says."""
        return bounds.replicas


class Peer(Replica, symmetric=True):
    """A replica in a model that treats all replicas alike: nobody is the first, and no order of them counts."""
