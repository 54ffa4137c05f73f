"""The model `cluster`: one partition of a Kafka cluster, with crashes, fencing, settings and releases."""

from __future__ import annotations

from insync.kafka.cluster.client import Client
from insync.kafka.cluster.grid import cluster_grid
from insync.model import ReadableState

__all__ = ["Cluster"]


class Cluster(Client):
    """One partition of a cluster of a given release: brokers that crash and return, a controller, producers.

    The actions are in one module per actor: `controller`, `leader`, `follower`, `broker`, `client`.
    """

    name = "cluster"
    headline = (
        "no_acknowledged_record_is_lost",
        "electable_replicas_are_complete",
        "no_divergence",
        "reads_repeat",
    )

    def grid(self, state: ReadableState) -> dict[str, str]:
        """One column per broker, one for the controller, one for what clients know."""
        return cluster_grid(state)
