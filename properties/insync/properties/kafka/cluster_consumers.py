"""What a consumer may rely on that goes on from its position."""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.model import And, Condition, Implies, Not
from insync.properties import invariant
from insync.properties.kafka import cluster_reasons as reasons

__all__ = ["consumer_reads_one_log", "consumers_read_what_is_committed"]


@invariant(Cluster, because=reasons.misled)
def consumer_reads_one_log(model: Cluster, s: ClusterState) -> Condition:
    """A consumer gets each record of a log once and in order, until it is reset or goes back to where logs part.

    When it reads a record, the log from which that comes has exactly the records that it got before, from where it
    began or was last put. It has passed over none, and got none that is no longer there. Deleted records do not count.
    """
    return Not(s.consumer.misled) if model.features.consumes else True


@invariant(Cluster, because=reasons.early)
def consumers_read_what_is_committed(model: Cluster, s: ClusterState) -> Condition:
    """A consumer gets no record from an offset that no leader's high watermark has passed yet."""
    if not model.features.consumes:
        return True
    c = s.consumer
    passed = [Implies(And(c.begin <= at, at < c.position), s.seen[at].is_some()) for at in range(model.b.records)]
    return And(*passed)
