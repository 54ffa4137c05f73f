"""N-02 by an operator: a replica that was removed is still eligible, and leads with nothing when it comes back."""

from __future__ import annotations

from collections.abc import Callable

from insync.conformance.live.nodes.node_files import ClusterPlan
from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios.scenario import Scenario, Written, acknowledged, all_have, named

__all__ = ["REMOVED_REPLICA"]


def _run(operator: Operator, tell: Callable[[str], None]) -> Written:
    cluster = operator.cluster
    operator.create([1, 2, 3], min_insync=2)
    tell("a topic with replicas b1 b2 b3, min.insync.replicas=2; b1 leads")
    promised = [acknowledged(operator, 1, "r0")]
    all_have(operator, "r0")
    tell("r0 is acknowledged with acks=all, and all three have it")
    operator.reassign([1])
    cluster.until(lambda: operator.now.replicas == (1,), "the reassignment to b1")
    cluster.until(lambda: not operator.has_log(2), "that b2 has deleted its log")
    tell(f"reassigned to b1 alone; eligible leader replicas: {named(operator.now.elr)}, which are replicas no more")
    promised.append(acknowledged(operator, 1, "r1"))
    tell("r1 is acknowledged with acks=all: of one replica, one is enough")
    operator.stop(2)
    operator.stop(1)
    cluster.until(lambda: operator.now.leader == -1, "that nobody leads")
    tell("b2 and then b1 stop in order, as for maintenance; nobody leads")
    operator.reassign([1, 2])
    tell("reassigned to b1 b2")
    operator.start(2)
    cluster.until(lambda: operator.now.leader > 0, "that somebody leads")
    tell(f"b2 starts, and b{operator.now.leader} leads; unclean elections are off")
    operator.start(1)
    cluster.until(lambda: set(operator.now.isr) == {1, 2}, "that both are in the ISR")
    tell("b1 starts, cuts its log back to that of its leader, and joins the ISR")
    return Written(promised)


REMOVED_REPLICA = Scenario(
    name="n-02",
    title="a replica that was removed leads with an empty log",
    means="reassignments, and brokers that stop and start in order",
    elr=True,
    min_insync=2,
    plan=ClusterPlan(session=9000),
    run=_run,
)
