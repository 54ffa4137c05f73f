"""N-12 by a move between directories: a broker that starts takes a copy for its log that lacks a record.

The move is throttled, so that the copy stays behind for seconds. The controller accepts its directory 0.1 s after the
copy has caught up, and a broker takes that back 0.1 s after it has learned of it; it learns of it only once it
has made the logs of another topic, which it was told of before. What is acknowledged in the meantime the copy has not.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from insync.conformance.live.broker_files import copy_on_disk
from insync.conformance.live.nodes.node_files import ClusterPlan
from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios.scenario import Scenario, Written, acknowledged, is_elected, named

__all__ = ["ABANDONED_COPY", "accepted_copy", "start_first"]

_SLOW = 1
"""Bytes a second: a record is more than that, and the copy gets nothing more for ten seconds, the quota's windows."""
_LOGS = 1000
"""Logs that take a broker two seconds to make."""


def accepted_copy(operator: Operator, tell: Callable[[str], None]) -> tuple[list[str], Path, Path]:
    """Have two records acknowledged, the second one after the controller has accepted a copy on b2 of the first.

    Returns:
        The records, the directory of b2 with its log, and that with the copy.
    """
    cluster = operator.cluster
    operator.throttle(2, _SLOW)
    operator.create([1, 2], min_insync=2)
    tell("a topic with replicas b1 b2, min.insync.replicas=2; b1 leads; each broker has two directories in log.dirs")
    written = [acknowledged(operator, 1, "r0")]
    cluster.until(lambda: operator.log(2) == written, "that b2 has r0")
    target, place = sorted(cluster.log_disks(2), key=lambda disk: disk == operator.place(2))
    cluster.until(lambda: operator.assigned(2) == place, "that the controller knows the directory of b2")
    operator.move(2, target)
    operator.create_beside(f"{operator.topic}-beside", 2, _LOGS)
    tell(f"r0 is acknowledged; b2 is to move its log to its other directory, throttled to {_SLOW} byte a second")
    tell(f"a topic of {_LOGS} partitions is created on b2, which is busy with that")
    cluster.until(lambda: operator.assigned(2) == target, "that the controller accepts the copy")
    tell("the copy has r0, and the controller has accepted its directory")
    written.append(acknowledged(operator, 1, "r1"))
    cluster.until(lambda: operator.log(2) == written, "that b2 has r1")
    tell(f"r1 is acknowledged with acks=all; b2 has it, its copy has {' '.join(copy_on_disk(target, operator.topic))}")
    return written, place, target


def start_first(operator: Operator, tell: Callable[[str], None]) -> None:
    """Stop b1 in order, and start b2, which has stopped before, and then b1."""
    cluster = operator.cluster
    operator.stop(1)
    cluster.until(lambda: operator.now.leader == -1, "that nobody leads")
    tell(f"b1 stops in order; nobody leads, eligible leader replicas: {named(operator.now.elr)}")
    operator.start(2)
    elected = is_elected(operator, 2)
    tell(f"b2 starts, and {'b2' if elected else 'nobody'} leads; its log has {' '.join(operator.log(2))}")
    operator.start(1)
    cluster.until(lambda: set(operator.now.isr) == {1, 2}, "that both are in the ISR")
    tell("b1 starts, and both are in the ISR")


def _run(operator: Operator, tell: Callable[[str], None]) -> Written:
    written, place, _ = accepted_copy(operator, tell)
    operator.stop(2)
    late = operator.assigned(2) == place
    tell(f"b2 stops in order{', but has told the controller before that its log has not moved' if late else ''}")
    start_first(operator, tell)
    return Written(written)


ABANDONED_COPY = Scenario(
    name="n-12",
    title="a broker starts with a copy of its log that lacks a record, and leads",
    means="a throttled move between directories, a topic of many partitions, and brokers that stop and start in order",
    elr=True,
    min_insync=2,
    plan=ClusterPlan(session=9000, log_dirs=2),
    run=_run,
    again=False,
)
