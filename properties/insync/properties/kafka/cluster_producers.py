"""What a producer may rely on that sends a record again when it has no answer."""

from __future__ import annotations

from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import Replica
from insync.model import And, Condition, Implies, StateView, for_all
from insync.properties import invariant
from insync.properties.kafka import cluster_reasons as reasons

__all__ = ["records_are_stored_once", "zombies_are_fenced"]


@invariant(Cluster, because=reasons.repeated)
def records_are_stored_once(model: Cluster, s: StateView) -> Condition:
    """A log has what a producer has sent once at most, and in the order of sending, however often it was sent."""
    if not model.b.retries:
        return True

    def in_order(replica: Replica, first: int, second: int) -> Condition:
        log = s.broker[replica].log
        both = And(model.holds(s, replica, first), model.holds(s, replica, second))
        return Implies(both, s.sent[log[first]] < s.sent[log[second]])

    places = range(model.b.records)
    return for_all(
        model.all(Replica),
        lambda replica: And(*[in_order(replica, one, two) for one in places for two in places if one < two]),
    )


@invariant(Cluster, because=reasons.haunted)
def zombies_are_fenced(model: Cluster, s: StateView) -> Condition:
    """No log has a record that a producer sent before it started anew behind one that it sent after that."""
    if not model.restarts_producer:
        return True

    def in_order(replica: Replica, first: int, second: int) -> Condition:
        log = s.broker[replica].log
        both = And(model.holds(s, replica, first), model.holds(s, replica, second))
        return Implies(both, s.producer_epoch[log[first]] <= s.producer_epoch[log[second]])

    pairs = [(one, one + 1) for one in range(model.b.records - 1)]
    return for_all(model.all(Replica), lambda replica: And(*[in_order(replica, *pair) for pair in pairs]))
