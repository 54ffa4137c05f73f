"""What the lemmas about Kafka's replication speak of: epochs, their leaders and their ISRs, and the records in logs."""

from __future__ import annotations

from collections.abc import Callable

from insync.kafka.published import Replication
from insync.kafka.published.replication import Epoch, RecordOffset, Replica
from insync.model import And, Condition, If, Implies, Num, Or, SetValue, StateView, exists, for_all, set_of

__all__ = [
    "epoch_of",
    "every_pair",
    "every_record",
    "in_its_epoch",
    "is_left",
    "isr_of",
    "of_leader",
]


def epoch_of(s: StateView, replica: int) -> Num:
    """The epoch that a replica is in, -1 for none."""
    return s.replica[replica].epoch.or_else(-1)


def of_leader(model: Replication, s: StateView, epoch: Epoch, holds: Callable[[Replica], Condition]) -> Condition:
    """Whether something holds for the replica that the request of an epoch names, if it names one."""
    return for_all(model.all(Replica), lambda leader: Implies(s.requests[epoch].leader == leader, holds(leader)))


def isr_of(model: Replication, s: StateView, epoch: Epoch, otherwise: SetValue | None = None) -> SetValue:
    """The ISR of an epoch, once it is decided: its leader's while it leads, else the one that was sent."""
    replicas = model.all(Replica)
    leads = [And(s.requests[epoch].leader == replica, s.replica[replica].epoch == epoch) for replica in replicas]
    led = set_of([])
    for replica, does in zip(replicas, leads, strict=True):
        led = led | If(does, s.replica[replica].isr, set_of([]))
    return If(Or(*leads), led, s.requests[epoch].isr if otherwise is None else otherwise)


def is_left(model: Replication, s: StateView, epoch: Epoch) -> Condition:
    """Whether a member of the epoch's ISR is in a later epoch; nothing is committed in the epoch any more."""
    return exists(isr_of(model, s, epoch), lambda member: epoch < epoch_of(s, member))


def in_its_epoch(model: Replication, s: StateView, leader: Replica, follower: Replica) -> Condition:
    """Whether the follower names this leader, which believes that it leads, and both are in one epoch."""
    f = s.replica[follower]
    return And(f.leader == leader, f.epoch == s.replica[leader].epoch, model.believes_it_leads(s, leader))


def every_record(model: Replication, s: StateView, holds: Callable[[Replica, int], Condition]) -> Condition:
    """Whether something holds for every replica and offset at which it has a record."""

    def of_replica(replica: Replica) -> Condition:
        leo = s.replica[replica].leo
        return for_all(RecordOffset, lambda offset: Implies(offset < leo, holds(replica, offset)))

    return for_all(model.all(Replica), of_replica)


def every_pair(model: Replication, holds: Callable[[Replica, Replica, int], Condition]) -> Condition:
    """Whether something holds for every two different replicas, each two in one order, and of every offset."""
    replicas = model.all(Replica)

    def of_one(one: Replica) -> Condition:
        others = [other for other in replicas if one < other]
        return for_all(others, lambda other: for_all(RecordOffset, lambda offset: holds(one, other, offset)))

    return for_all(replicas, of_one)
