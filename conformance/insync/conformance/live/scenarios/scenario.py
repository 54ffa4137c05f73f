"""A scenario: what an operator does to a cluster, and which acknowledged records the cluster still has."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from insync.conformance.live.metadata_log import PartitionAt
from insync.conformance.live.nodes.node_files import ClusterPlan
from insync.conformance.live.operator import Operator
from insync.runtime.errors import UserError

__all__ = [
    "WAIT",
    "Outcome",
    "Scenario",
    "Written",
    "acknowledged",
    "all_have",
    "is_elected",
    "named",
    "outcome",
    "outwait",
]

WAIT = 500
"""replica.fetch.wait.max.ms where brokers are to be paused: how long a fetch waits for records at most."""
_SETTLED = 20.0
_ELECTED = 5.0
"""Seconds in which a broker that is unfenced and may lead is elected."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a scenario has written, and what was seen of it.

    Attributes:
        acknowledged: the records that were acknowledged.
        unread: where it is about consumers, the committed records that one was not given, and not told of.
        offline: whether nobody serves clients in the end, though all brokers run, so that consumers are given nothing.
        asked: where it is about reassignments, the replicas that were requested last.
    """

    acknowledged: list[str]
    unread: list[str] | None = None
    offline: bool = False
    asked: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome.

    Attributes:
        acknowledged: the records that were acknowledged, in this order.
        lost: those that the leader has not got.
        unread: where it is about consumers, or nobody serves them in the end, the records that consumers are not given;
            else None.
        leader: who leads, by what the controller says; "nobody" if nobody does.
        isr: the ISR.
        logs: the records of each broker.
        unlike: where it is about reassignments, how the replicas differ from those that were requested last, empty if
            they do not; else None.
    """

    acknowledged: tuple[str, ...]
    lost: tuple[str, ...]
    unread: tuple[str, ...] | None
    leader: str
    isr: tuple[str, ...]
    logs: Mapping[str, list[str]]
    unlike: str | None = None

    @property
    def shown(self) -> tuple[str, ...]:
        """The records with which what the scenario is about has happened, or how; empty if it has not."""
        if self.unlike is not None:
            return (self.unlike,) if self.unlike else ()
        return self.lost if self.unread is None else self.unread


@dataclass(frozen=True, slots=True)
class Scenario:
    """A script.

    Attributes:
        name: what it is called: after the defect that it shows and, if another one shows it, what is special.
        title: what it shows.
        means: with which means.
        elr: whether it needs eligible leader replicas, which the releases before 4.0 have not got.
        min_insync: min.insync.replicas of its topic.
        plan: the cluster that it is for.
        run: takes the steps, and tells of each.
        again: whether it can be run again on another topic of the same cluster.
        partition: the number of the partition that it is about.
    """

    name: str
    title: str
    means: str
    elr: bool
    min_insync: int
    plan: ClusterPlan
    run: Callable[[Operator, Callable[[str], None]], Written]
    again: bool = True
    partition: int = 0

    @property
    def defect(self) -> str:
        """The name of the defect that it shows."""
        return "-".join(self.name.split("-")[:2]).upper()


def acknowledged(operator: Operator, broker: int, record: str) -> str:
    """Write a record with acks=all, and return it once it is acknowledged.

    Raises:
        UserError: it is refused.
    """
    error = operator.produce(broker, record)
    if error:
        message = f"b{broker} refuses {record} with error {error}, so nothing can be lost. Run the scenario again."
        raise UserError(message)
    return record


def all_have(operator: Operator, *records: str) -> None:
    """Wait until these are the records of all brokers of the cluster."""
    held = list(records)
    brokers = operator.cluster.plan.numbers
    operator.cluster.until(
        lambda: all(operator.log(broker) == held for broker in brokers), f"that all have {' '.join(records)}"
    )


def outwait() -> None:
    """Wait until a fetch that waits for records has been answered, so that a broker that is paused has none open."""
    time.sleep(3 * WAIT / 1000)


def is_elected(operator: Operator, broker: int) -> bool:
    """Return whether a broker that was started leads, soon after it is unfenced."""
    operator.cluster.until(lambda: not operator.brokers[broker].fenced, f"that b{broker} is unfenced")
    return operator.cluster.try_for(lambda: operator.now.leader == broker, _ELECTED)


def named(brokers: Iterable[int]) -> str:
    """Return what brokers are called, in ascending order."""
    return " ".join(f"b{broker}" for broker in sorted(brokers)) or "none"


def outcome(operator: Operator, written: Written) -> Outcome:
    """Return the outcome once the leader serves clients, or at once where no leader is expected."""
    if written.offline:
        promised, at_last = tuple(written.acknowledged), operator.now
        leader = f"b{at_last.leader}" if at_last.leader > 0 else "nobody"
        return Outcome(promised, (), promised, leader, _brokers(at_last.isr), operator.logs())
    cluster = operator.cluster

    def served() -> PartitionAt | None:
        now = operator.now
        return now if now.leader > 0 and operator.high_watermark(now.leader) is not None else None

    now = cluster.until(served, "a leader that serves clients", _SETTLED)
    assert now is not None
    kept = operator.log(now.leader)
    return Outcome(
        acknowledged=tuple(written.acknowledged),
        lost=tuple(record for record in written.acknowledged if record not in kept),
        unread=None if written.unread is None else tuple(written.unread),
        leader=f"b{now.leader}",
        isr=_brokers(now.isr),
        logs=operator.logs(),
        unlike=_unlike(now, written.asked) if written.asked else None,
    )


def _brokers(numbers: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"b{broker}" for broker in sorted(numbers))


def _unlike(now: PartitionAt, asked: tuple[int, ...]) -> str:
    """How the replicas of a partition differ from those that were requested."""
    if now.adding or now.removing:
        return f"still reassigning, adding: {named(now.adding)}, removing: {named(now.removing)}"
    if set(now.replicas) != set(asked):
        return f"replicas {named(now.replicas)}, where {named(asked)} were requested"
    return ""
