"""N-02, N-05 and N-07 by an operator: replicas that were removed are still eligible.

One of them leads with nothing when it comes back; or, while none does, the replica that is left is not elected again.
In N-05 it stays eligible when it is given back before the one that is left goes down, as partition 0 has more replicas.
"""

from __future__ import annotations

from collections.abc import Callable

from insync.conformance.live.nodes.node_files import ClusterPlan
from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios.scenario import Scenario, Written, acknowledged, all_have, is_elected, named

__all__ = [
    "REMOVED_REPLICA",
    "REMOVED_REPLICA_AND_KILL",
    "REPLICA_GIVEN_BACK",
    "REPLICA_LEFT_ALONE",
    "left_alone",
]

_WATCHED = 20.0
"""Seconds after b1 is unfenced; one that may lead is elected with its unfencing."""


def left_alone(operator: Operator, tell: Callable[[str], None], min_insync: int = 2) -> list[str]:
    """Have two records acknowledged, the second one by b1, to which the partition has been reassigned alone."""
    cluster = operator.cluster
    operator.create([1, 2, 3], min_insync)
    of_two = ", of which partition 1 is looked at" if operator.partition else ""
    tell(f"a topic with replicas b1 b2 b3, min.insync.replicas={min_insync}{of_two}; b1 leads")
    first = acknowledged(operator, 1, "r0")
    all_have(operator, first)
    tell("r0 is acknowledged with acks=all, and all three have it")
    operator.reassign([1])
    cluster.until(lambda: operator.now.replicas == (1,), "the reassignment to b1")
    cluster.until(lambda: not operator.has_log(2), "that b2 has deleted its log")
    tell(f"reassigned to b1 alone; eligible leader replicas: {named(operator.now.elr)}, which are replicas no more")
    second = acknowledged(operator, 1, "r1")
    tell("r1 is acknowledged with acks=all: of one replica, one is enough")
    return [first, second]


def _run(operator: Operator, tell: Callable[[str], None]) -> Written:
    promised = left_alone(operator, tell)
    operator.stop(2)
    operator.stop(1)
    operator.cluster.until(lambda: operator.now.leader == -1, "that nobody leads")
    tell("b2 and then b1 stop in order, as for maintenance; nobody leads")
    return _come_back(operator, tell, promised)


def _run_and_kill(operator: Operator, tell: Callable[[str], None]) -> Written:
    promised = left_alone(operator, tell)
    operator.stop(2)
    operator.kill(1)
    tell("b2 stops in order, and b1 is killed (kill -9)")
    operator.cluster.until(lambda: operator.now.leader == -1, "that nobody leads")
    tell("the session of b1 ends; nobody leads")
    return _come_back(operator, tell, promised)


def _run_given_back(operator: Operator, tell: Callable[[str], None]) -> Written:
    promised = left_alone(operator, tell)
    operator.stop(2)
    operator.reassign([1, 2])
    tell(f"b2 stops in order; reassigned to b1 b2; eligible leader replicas: {named(operator.now.elr)}")
    operator.kill(1)
    operator.cluster.until(lambda: operator.now.leader == -1, "that nobody leads")
    tell("b1 is killed (kill -9), and its session ends; nobody leads")
    return _start_both(operator, tell, promised)


def _come_back(operator: Operator, tell: Callable[[str], None], promised: list[str]) -> Written:
    operator.reassign([1, 2])
    tell("reassigned to b1 b2")
    return _start_both(operator, tell, promised)


def _start_both(operator: Operator, tell: Callable[[str], None], promised: list[str]) -> Written:
    cluster = operator.cluster
    operator.start(2)
    tell(f"b2 starts, and {'b2' if is_elected(operator, 2) else 'nobody'} leads; unclean elections are off")
    operator.start(1)
    cluster.until(lambda: set(operator.now.isr) == {1, 2}, "that both are in the ISR")
    tell("b1 starts, and both are in the ISR")
    return Written(promised)


def _run_left_alone(operator: Operator, tell: Callable[[str], None]) -> Written:
    cluster = operator.cluster
    promised = left_alone(operator, tell)
    operator.kill(1)
    cluster.until(lambda: operator.brokers[1].fenced, "that the session of b1 ends")
    tell(f"b1 is killed (kill -9), and its session ends; eligible leader replicas: {named(operator.now.elr)}")
    operator.start(1)
    cluster.until(lambda: not operator.brokers[1].fenced, "that b1 is unfenced")
    tell(f"b1 starts, with {' '.join(operator.log(1))} in its log; eligible leader replicas: {named(operator.now.elr)}")
    if cluster.try_for(lambda: operator.now.leader > 0, _WATCHED):
        tell(f"b{operator.now.leader} leads")
        return Written(promised)
    tell(f"all brokers run, and {_WATCHED:.0f} s later nobody leads")
    error = operator.ask_reassignment([1, 2])
    tell(f"an operator asks for b1 b2: {f'refused with error {error}' if error else 'accepted'}")
    return Written(promised, offline=True)


REMOVED_REPLICA = Scenario(
    name="n-02",
    title="a replica that was removed leads with an empty log",
    means="reassignments, and brokers that stop and start in order",
    elr=True,
    min_insync=2,
    plan=ClusterPlan(session=9000, lag=60000),
    run=_run,
)
REMOVED_REPLICA_AND_KILL = Scenario(
    name="n-02-kill",
    title="a replica that was removed leads with an empty log after the one that is left is killed",
    means="reassignments, a broker that stops and starts in order, and kill -9",
    elr=True,
    min_insync=2,
    plan=ClusterPlan(session=9000, lag=60000),
    run=_run_and_kill,
)
REPLICA_GIVEN_BACK = Scenario(
    name="n-05",
    title="a replica that was removed and is assigned again leads with an empty log, by the replicas of partition 0",
    means="reassignments of partition 1, a broker that stops and starts in order, and kill -9",
    elr=True,
    min_insync=2,
    plan=ClusterPlan(session=9000, lag=60000),
    run=_run_given_back,
    partition=1,
)
REPLICA_LEFT_ALONE = Scenario(
    name="n-07",
    title="the one replica of a partition runs with its whole log, and is not elected",
    means="a reassignment, and kill -9",
    elr=True,
    min_insync=2,
    plan=ClusterPlan(session=9000, lag=60000),
    run=_run_left_alone,
)
