"""A part of the cluster: what a broker, the controller or a client has of Kafka's classes, and what it can reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from insync.kafka.beside import beside
from insync.kafka.cluster.steps import steps_off
from insync.kafka.replica import Replica
from insync.model import Condition, Index

if TYPE_CHECKING:
    from insync.kafka.cluster.model import Cluster

__all__ = ["Part"]

Sort = TypeVar("Sort", bound=Index)


class Part:
    """A part of one cluster. It reaches the others by their names in `cluster`.

    Attributes:
        cluster: the cluster that it is a part of.
        b: the chosen bounds and settings.
        features: what is in force under them.
        rules: what the release does its own way.
        fixes: what no release does.
        guards: what all releases do alike.
        acks: what producers ask for.
        needed: how many members the ISR must have for acks=all: min.insync.replicas, but never more than all.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.b, self.features = cluster, cluster.b, cluster.features
        self.rules, self.fixes, self.guards = cluster.rules, cluster.fixes, cluster.guards
        self.acks, self.needed = cluster.acks, cluster.needed
        for name in steps_off(type(self), self.features):
            setattr(self, name, None)  # which the cluster then does not have

    def all(self, sort: type[Sort]) -> list[Sort]:
        """Return the members of a sort."""
        return self.cluster.all(sort)

    def others(self, replica: Replica) -> list[Replica]:
        """Return all replicas but one, which must be a constant."""
        return [other for other in self.all(Replica) if other != replica]

    def beside(self, replica: Replica | None) -> list[tuple[Replica, Condition]]:
        """Return the replicas that may be another one than `replica`, each with the condition that it is.

        Args:
            replica: a replica; None for nobody, from whom all differ.
        """
        return beside(self.all(Replica), replica)
