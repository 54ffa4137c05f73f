"""N-09 by an operator: a second reassignment of a partition while the first one is in progress.

One that puts the replicas back never ends (3.7, and 4.3 on). One that keeps a replica which the first removes loses it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from insync.conformance.live.nodes.node_files import ClusterPlan
from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios.scenario import Scenario, Written, acknowledged, named

__all__ = ["REASSIGNMENT_PUT_BACK", "REPLICA_KEPT_BY_THE_SECOND"]

_WATCHED = 20.0
"""Seconds after all replicas have all records; a reassignment ends as the last one joins the ISR."""


def _replaced(operator: Operator, tell: Callable[[str], None], first: Sequence[int], second: Sequence[int]) -> Written:
    """Reassign from b1 b2 twice while b3 stands still, let b3 go on, and wait for the end of the reassignment."""
    cluster = operator.cluster
    operator.create([1, 2], min_insync=2)
    promised = acknowledged(operator, 1, "r0")
    tell("a topic with replicas b1 b2, min.insync.replicas=2; b1 leads, and r0 is acknowledged with acks=all")
    operator.pause(3)
    operator.reassign(first)
    cluster.until(lambda: operator.now.adding == (3,), f"the reassignment to {named(first)}")
    tell(f"b3 stands still; reassigned to {named(first)}, which is in progress")
    operator.reassign(second)
    tell(f"reassigned to {named(second)}; {_lists(operator)}")
    operator.resume(3)
    cluster.until(lambda: operator.log(3) == [promised] or _ended(operator), "that b3 has r0, or is not to have it")
    tell(f"b3 goes on; its log has {' '.join(operator.log(3)) or 'nothing'}")
    if cluster.try_for(lambda: _ended(operator), _WATCHED):
        tell(f"the reassignment has ended, with replicas {named(operator.now.replicas)}")
    else:
        tell(f"{_WATCHED:.0f} s later the reassignment has not ended; {_lists(operator)}")
    return Written([promised], asked=tuple(second))


def _ended(operator: Operator) -> bool:
    return not (operator.now.adding or operator.now.removing)


def _lists(operator: Operator) -> str:
    return f"adding: {named(operator.now.adding)}, removing: {named(operator.now.removing)}"


def _put_back(operator: Operator, tell: Callable[[str], None]) -> Written:
    return _replaced(operator, tell, [1, 2, 3], [1, 2])


def _kept(operator: Operator, tell: Callable[[str], None]) -> Written:
    return _replaced(operator, tell, [1, 3], [1, 2, 3])


REASSIGNMENT_PUT_BACK = Scenario(
    name="n-09",
    title="a reassignment that puts back the replicas of one in progress never ends",
    means="two reassignments, the second one while a pause (SIGSTOP, SIGCONT) keeps the first from its end",
    elr=False,
    min_insync=2,
    plan=ClusterPlan(session=9000, lag=60000),
    run=_put_back,
)
REPLICA_KEPT_BY_THE_SECOND = Scenario(
    name="n-09-removed",
    title="the second of two reassignments ends without a replica that it requests",
    means="two reassignments, the second one while a pause (SIGSTOP, SIGCONT) keeps the first from its end",
    elr=False,
    min_insync=2,
    plan=ClusterPlan(session=9000, lag=60000),
    run=_kept,
)
