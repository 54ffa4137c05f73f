"""What a producer may rely on: one that sends a record again, that starts anew, that is told an error."""

from __future__ import annotations

from insync.kafka.cluster.configuration import Acks
from insync.kafka.cluster.model import Cluster
from insync.kafka.cluster.state import ClusterState
from insync.kafka.replica import Replica
from insync.model import And, Condition, Implies, for_all
from insync.properties import invariant
from insync.properties.kafka import cluster_reasons as reasons

__all__ = ["records_are_stored_once", "refused_writes_are_not_read", "zombies_are_fenced"]


@invariant(Cluster, because=reasons.repeated)
def records_are_stored_once(model: Cluster, s: ClusterState) -> Condition:
    """A log has what a producer has sent once at most, and in the order of sending, however often it was sent."""
    if not model.features.sends_again:
        return True

    def in_order(replica: Replica, first: int, second: int) -> Condition:
        log = s.broker[replica].log
        both = And(model.log.holds(s, replica, first), model.log.holds(s, replica, second))
        return Implies(both, s.sent[log[first]] < s.sent[log[second]])

    places = range(model.b.records)
    return for_all(
        model.all(Replica),
        lambda replica: And(*[in_order(replica, one, two) for one in places for two in places if one < two]),
    )


@invariant(Cluster, because=reasons.haunted)
def zombies_are_fenced(model: Cluster, s: ClusterState) -> Condition:
    """No log has a record that a producer sent before it started anew behind one that it sent after that."""
    if not model.features.restarts_producer:
        return True

    def in_order(replica: Replica, first: int, second: int) -> Condition:
        log = s.broker[replica].log
        both = And(model.log.holds(s, replica, first), model.log.holds(s, replica, second))
        return Implies(both, s.producer_epoch[log[first]] <= s.producer_epoch[log[second]])

    pairs = [(one, one + 1) for one in range(model.b.records - 1)]
    return for_all(model.all(Replica), lambda replica: And(*[in_order(replica, *pair) for pair in pairs]))


@invariant(Cluster, because=reasons.refused)
def refused_writes_are_not_read(model: Cluster, s: ClusterState) -> Condition:
    """Consumers read no record whose producer was told that too few replicas have it.

    The error is NOT_ENOUGH_REPLICAS_AFTER_APPEND, which a leader sends when its high watermark passes a record that it
    has appended, and the ISR is too small. So where nobody gets it, consumers read of a leader's own records only those
    that are acknowledged. Other records may be read all the same: the producer got no response.
    """
    if model.acks is not Acks.ALL:
        return True

    def acknowledged(leader: Replica, offset: int) -> Condition:
        led = s.broker[leader]
        own = And(led.led_since <= offset, offset < led.hw, model.log.holds(s, leader, offset))
        return Implies(And(own, s.seen[offset] == led.log[offset]), s.acked.contains(led.log[offset]))

    return for_all(
        model.all(Replica),
        lambda leader: Implies(
            model.image.leads(s, leader), for_all(range(model.b.records), lambda offset: acknowledged(leader, offset))
        ),
    )
