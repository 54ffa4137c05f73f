"""N-04 by an operator: a broker whose directory is taken out of log.dirs is elected with an empty log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from insync.conformance.live.nodes.node_files import ClusterPlan
from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios.scenario import Scenario, Written, acknowledged, all_have, is_elected, named

__all__ = ["LOST_DIRECTORY", "stop_all"]


def stop_all(operator: Operator, tell: Callable[[str], None]) -> tuple[str, Path]:
    """Have a record acknowledged, and all brokers stopped in order.

    Returns:
        The record, and the directory of b1 that has the log.
    """
    cluster = operator.cluster
    operator.create([1, 2, 3], min_insync=2)
    tell("a topic with replicas b1 b2 b3, min.insync.replicas=2; b1 leads; each broker has two directories in log.dirs")
    promised = acknowledged(operator, 1, "r0")
    all_have(operator, promised)
    place = operator.place(1)
    assert place is not None
    tell("r0 is acknowledged with acks=all, and all three have it")
    for broker in (3, 2, 1):
        operator.stop(broker)
    cluster.until(lambda: operator.now.leader == -1, "that nobody leads")
    electable = named(operator.now.elr)
    tell(f"b3, b2 and b1 stop in order, as for maintenance; nobody leads, eligible leader replicas: {electable}")
    return promised, place


def _run(operator: Operator, tell: Callable[[str], None]) -> Written:
    cluster = operator.cluster
    promised, place = stop_all(operator, tell)
    operator.take_out(1, place)
    tell("the directory of b1 with the log is taken out of log.dirs")
    operator.start(1)
    tell(f"b1 starts, and {'b1' if is_elected(operator, 1) else 'nobody'} leads; unclean elections are off")
    operator.start(2)
    operator.start(3)
    cluster.until(lambda: set(operator.now.isr) == {1, 2, 3}, "that all are in the ISR")
    tell("b2 and b3 start, and all three are in the ISR")
    return Written([promised])


LOST_DIRECTORY = Scenario(
    name="n-04",
    title="a broker whose directory is gone leads with an empty log",
    means="brokers that stop and start in order, and log.dirs",
    elr=True,
    min_insync=2,
    plan=ClusterPlan(session=9000, log_dirs=2),
    run=_run,
    again=False,
)
