"""What the quorum behind the controller promises, as the module KRaft of Vanlightly/raft-tlaplus says it, and more."""

from __future__ import annotations

from typing import Any, cast

from insync.kafka.quorum.quorum_model import QuorumModel
from insync.kafka.quorum.sorts import Value, Voter, Written
from insync.model import And, Condition, Implies, Not, Or, StateView, for_all
from insync.properties import Failure, invariant, said, step_invariant

__all__ = [
    "committed_entries_reach_a_majority",
    "epochs_grow",
    "leader_has_all_acknowledged_values",
    "leaders_high_watermark_grows",
    "never_two_leaders_in_an_epoch",
    "no_illegal_state",
    "no_log_divergence",
]


def _server(failure: Failure, name: str) -> dict[str, Any]:
    return cast(dict[str, dict[str, Any]], failure.state["server"])[failure.bindings[name]]


def _missing_value(failure: Failure) -> str:
    return said(
        "{leader} leads epoch {epoch}, which is the newest, and {value} is acknowledged, but not in its log.",
        leader=failure.bindings["leader"],
        epoch=_server(failure, "leader")["epoch"],
        value=failure.bindings["value"],
    )


@invariant(QuorumModel, because=_missing_value)
def leader_has_all_acknowledged_values(model: QuorumModel, s: StateView, leader: Voter, value: Value) -> Condition:
    """No leader of the newest epoch lacks an acknowledged value.

    TLA+: LeaderHasAllAckedValues.
    """
    me = s.server[leader]
    newest = for_all(model.all(Voter), lambda other: s.server[other].epoch <= me.epoch)
    has = Or(*(me.log[place].value == value for place in range(model.capacity)))
    return Implies(And(s.written[value] == Written.ACKNOWLEDGED, model.leads(me), newest), has)


def _diverged(failure: Failure) -> str:
    return said(
        "{one} and {other} differ below both their high watermarks, which are {mark} and {other_mark}: "
        "{one} has {log}, and {other} has {other_log}.",
        one=failure.bindings["one"],
        other=failure.bindings["other"],
        mark=_server(failure, "one")["high_watermark"],
        other_mark=_server(failure, "other")["high_watermark"],
        log=_log(failure, "one"),
        other_log=_log(failure, "other"),
    )


def _log(failure: Failure, name: str) -> str:
    records = [record for record in _server(failure, name)["log"] if record["epoch"]]
    return " ".join(f"{record['value'] or 'leader'}@{record['epoch']}" for record in records) or "nothing"


@invariant(QuorumModel, because=_diverged)
def no_log_divergence(model: QuorumModel, s: StateView, one: Voter, other: Voter) -> Condition:
    """Two servers have the same record at each offset below both their high watermarks.

    TLA+: NoLogDivergence, which compares positions in a sequence: a record that is missing is different too.
    """
    a, b = s.server[one], s.server[other]

    def same(offset: int) -> Condition:
        both = And(offset <= a.end, offset <= b.end, a.log[offset - 1] == b.log[offset - 1])
        return Implies(And(offset <= a.high_watermark, offset <= b.high_watermark), both)

    return Or(one == other, And(*(same(offset) for offset in range(1, model.capacity + 1))))


def _two_leaders(failure: Failure) -> str:
    return said(
        "In epoch {epoch} {one} takes {leader} for the leader, and {other} takes {other_leader} for it.",
        epoch=_server(failure, "one")["epoch"],
        one=failure.bindings["one"],
        leader=_server(failure, "one")["leader"],
        other=failure.bindings["other"],
        other_leader=_server(failure, "other")["leader"],
    )


@invariant(QuorumModel, because=_two_leaders)
def never_two_leaders_in_an_epoch(model: QuorumModel, s: StateView, one: Voter, other: Voter) -> Condition:
    """No two servers of one epoch have different leaders.

    TLA+: NeverTwoLeadersInSameEpoch. Kafka: RaftEventSimulationTest.SingleLeader.
    """
    a, b = s.server[one], s.server[other]
    differ = And(a.leader.is_some(), b.leader.is_some(), a.leader != b.leader)
    return Not(And(differ, a.epoch == b.epoch))


def _illegal(failure: Failure) -> str:
    return said("{server} made a transition that Kafka refuses with an exception.", **failure.bindings)


@invariant(QuorumModel, because=_illegal)
def no_illegal_state(model: QuorumModel, s: StateView, server: Voter) -> Condition:
    """No server makes a transition that Kafka refuses with an exception. TLA+: NoIllegalState."""
    return Not(model.is_illegal(s.server[server]))


@invariant(QuorumModel)
def committed_entries_reach_a_majority(model: QuorumModel, s: StateView) -> Condition:
    """If leaders have committed something, one of them has its last committed record on a majority.

    It is not meant for runs in which servers lose what they had. TLA+: CommittedEntriesReachMajority.
    """
    leads = {i: And(model.leads(s.server[i]), s.server[i].high_watermark > 0) for i in model.all(Voter)}

    def has(j: Voter, i: Voter) -> Condition:
        me, you = s.server[i], s.server[j]
        places = [
            And(me.high_watermark == offset, you.end >= offset, you.log[offset - 1] == me.log[offset - 1])
            for offset in range(1, model.capacity + 1)
        ]
        return Or(*places)

    def reaches(i: Voter) -> Condition:
        return And(leads[i], has(i, i), model.majority_has(s.server[i], lambda j: has(j, i)))

    return Implies(Or(*leads.values()), Or(*(reaches(i) for i in model.all(Voter))))


@step_invariant(QuorumModel)
def epochs_grow(model: QuorumModel, before: StateView, after: StateView, server: Voter) -> Condition:
    """No server goes back to an earlier epoch. Kafka: RaftEventSimulationTest.MonotonicEpoch."""
    return after.server[server].epoch >= before.server[server].epoch


@step_invariant(QuorumModel)
def leaders_high_watermark_grows(model: QuorumModel, before: StateView, after: StateView, server: Voter) -> Condition:
    """A leader's high watermark grows while it leads; a follower's goes back to that of a new leader.

    Kafka: RaftEventSimulationTest.MonotonicHighWatermark.
    """
    was, now = before.server[server], after.server[server]
    leads = And(model.leads(was), was.epoch == now.epoch, after.restarts == before.restarts)
    return Implies(leads, now.high_watermark >= was.high_watermark)
