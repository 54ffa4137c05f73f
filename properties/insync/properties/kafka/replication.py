"""What Kafka's replication promises: committed records are on every replica that counts."""

from __future__ import annotations

from typing import Any, cast

from insync.kafka.published import Replication
from insync.kafka.published.replication import RecordOffset, Replica
from insync.model import And, Condition, Implies, Not, Or, SetValue, StateView, exists, for_all
from insync.properties import Failure, invariant, offset_in, said

__all__ = ["leader_in_isr", "strong_isr", "weak_isr", "well_formed_log"]


def _weak_reason(failure: Failure) -> str:
    leader = cast(dict[str, Any], failure.state["replica"])[failure.bindings["leader"]]
    return _missing_record(failure, said("in the ISR {{{isr}}}", isr=leader["isr"]))


def _strong_reason(failure: Failure) -> str:
    isr = failure.state["quorum"]["isr"]
    return _missing_record(failure, said("in the {controller}'s ISR {{{isr}}}", controller="controller", isr=isr))


def _missing_record(failure: Failure, membership: str) -> str:
    """Say which member lacks a committed record, or has another one in its place."""
    name, member = failure.bindings["leader"], failure.bindings["member"]
    offset = int(failure.bindings["offset"])
    replicas = cast(dict[str, Any], failure.state["replica"])
    leader = replicas[name]
    mine, other = _record(leader, offset), _record(replicas[member], offset)
    if mine is None:
        but = said("it has itself no record at {offset}", offset=offset_in(offset, name))
    else:
        has = said("no record at {offset}", offset=offset_in(offset, name, member))
        if other is not None:
            has = said(
                "{other} at {offset}, where {name} has {mine}",
                other=other,
                offset=offset_in(offset, name, member),
                name=name,
                mine=mine,
            )
        but = said("{member}, {membership}, has {has}", member=member, membership=membership, has=has)
    return said(
        "{name} believes it leads ({epoch}) and its high watermark is {hw}, but {but}.",
        name=name,
        epoch="no epoch" if leader["epoch"] is None else f"epoch {leader['epoch']}",  # none where it cannot be reached
        hw=leader["hw"],
        but=but,
    )


def _leader_reason(failure: Failure) -> str:
    quorum = failure.state["quorum"]
    if quorum["leader"] is None:
        return said("The partition has no leader; its ISR is {{{isr}}}.", isr=quorum["isr"])
    return said("The leader {leader} is not in the controller's ISR {{{isr}}}.", **quorum)


def _log_reason(failure: Failure) -> str:
    name, offset = failure.bindings["replica"], int(failure.bindings["offset"])
    replica = cast(dict[str, Any], failure.state["replica"])[name]
    return said(
        "{name} has {a} record at {offset}, and its log ends at {end}.",
        name=name,
        a="no" if offset < replica["leo"] else "a",
        offset=offset_in(offset, name),
        end=replica["leo"],
    )


def _record(replica: dict[str, Any], offset: int) -> str | None:
    entry = replica["log"][offset] if offset < replica["leo"] else None
    return None if entry is None else f"{entry['id']}@{entry['epoch']}"


def _committed_records_are_on(model: Replication, s: StateView, leader: Replica, isr: SetValue) -> Condition:
    """Whether all members of the ISR have, at each offset below a leader's high watermark, the leader's very record."""
    mine = s.replica[leader]

    def has_record(member: int, offset: int) -> Condition:
        other = s.replica[member]
        return And(offset < mine.leo, offset < other.leo, mine.log[offset] == other.log[offset])

    def has_committed_records(member: int) -> Condition:
        return for_all(RecordOffset, lambda offset: Implies(offset < mine.hw, has_record(member, offset)))

    # The second case is the third for want of offsets; it is said because most leaders have committed nothing.
    return Or(
        Not(model.believes_it_leads(s, leader)),
        mine.hw == 0,
        for_all(isr, has_committed_records),
    )


@invariant(Replication, because=_weak_reason)
def weak_isr(model: Replication, s: StateView) -> Condition:
    """Every record that a replica which believes it leads has committed is on all members of the ISR that it knows.

    TLA+: WeakIsr. The leader's ISR may be out of date, so this does not say that the record survives an election.
    """
    replicas = model.all(Replica)
    return for_all(replicas, lambda leader: _committed_records_are_on(model, s, leader, s.replica[leader].isr))


@invariant(Replication, because=_strong_reason)
def strong_isr(model: Replication, s: StateView) -> Condition:
    """Every record that a replica which believes it leads has committed is on all replicas that may be elected.

    TLA+: StrongIsr. Those are the members of the controller's ISR: what consumers have seen survives clean elections.
    """
    return for_all(model.all(Replica), lambda leader: _committed_records_are_on(model, s, leader, s.quorum.isr))


@invariant(Replication, because=_leader_reason)
def leader_in_isr(model: Replication, s: StateView) -> Condition:
    """The partition has a leader, and the controller's ISR contains it.

    TLA+: LeaderInIsr. It fails at once in all published modules, because a partition starts without a leader.
    """
    quorum = s.quorum
    return exists(model.all(Replica), lambda leader: And(quorum.leader == leader, quorum.isr.contains(leader)))


@invariant(Replication, because=_log_reason)
def well_formed_log(model: Replication, s: StateView) -> Condition:
    """Every log has a record at each offset below its end, and none from there on.

    TLA+: ReplicaLogTypeOk, a part of TypeOk.
    """

    def consistent(replica: Replica, offset: int) -> Condition:
        r = s.replica[replica]
        return (offset < r.leo) == r.log[offset].is_some()

    return for_all(
        model.all(Replica), lambda replica: for_all(RecordOffset, lambda offset: consistent(replica, offset))
    )
