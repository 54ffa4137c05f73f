"""KAFKA-16892 by an operator: a removed leader that catches up by a snapshot of the metadata leads on.

The settings keep the metadata log short: the controller makes a snapshot after a few records, and deletes each minute
what is older than 3 s. By default a snapshot comes every hour or 20 MB, and is kept for a week or 100 MB.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from insync.conformance.live.metadata_log import first_on_disk
from insync.conformance.live.nodes.node_files import CONTROLLER, ClusterPlan
from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios.scenario import WAIT, Scenario, Written, acknowledged, outwait

__all__ = ["REMOVED_LEADER"]

_WATCHED = 20.0
"""Seconds in which a record with acks=all may be answered; then the removed leader is written to once more."""
_ACTED_ON = 1.0
"""Seconds after which a broker has acted on metadata: it tells clients of it first (BrokerMetadataPublisher)."""
_CLEANED = 150.0
"""Seconds in which the controller deletes what is older than its last snapshots; it looks every minute."""
_SNAPSHOTS = {
    "metadata.log.max.record.bytes.between.snapshots": "100",
    "metadata.max.retention.ms": "3000",
    "metadata.max.retention.bytes": "1000",
}


def _removed(operator: Operator, tell: Callable[[str], None]) -> str:
    """Remove the leader from the partition while it stands still, and let it catch up; return what it has before."""
    cluster = operator.cluster
    operator.create([1, 2], min_insync=1)
    promised = acknowledged(operator, 1, "r0")
    cluster.until(lambda: operator.log(2) == [promised], "that b2 has r0")
    tell("a topic with replicas b1 b2, min.insync.replicas=1; b1 leads, and r0 is acknowledged with acks=all")
    outwait()
    operator.pause(1)
    cluster.until(lambda: operator.now.leader == 2, "that b2 leads")
    operator.reassign([2, 3])
    cluster.until(lambda: set(operator.now.replicas) == {2, 3} and not operator.now.removing, "the reassignment")
    removal = operator.history[-1].offset
    tell("b1 stands still; b2 is elected, and the partition is reassigned to b2 b3")
    cluster.until(lambda: first_on_disk(cluster.disk(CONTROLLER)) > removal, "that old metadata is deleted", _CLEANED)
    tell("the controller has deleted that metadata, and has it in a snapshot")
    operator.resume(1)
    cluster.until(lambda: operator.leader_known_to(1) == 2, "that b1 has the metadata")
    time.sleep(_ACTED_ON)
    tell("b1 goes on, gets a snapshot, and tells clients that b2 leads")
    return promised


def _run(operator: Operator, tell: Callable[[str], None]) -> Written:
    promised = [_removed(operator, tell)]
    if not _is_acknowledged(operator, "r1", tell):
        return Written(promised)
    tell(f"a consumer gets {' '.join(operator.readable(1))} from b1, and {' '.join(operator.readable(2))} from b2")
    waiting = operator.send(1, "r2")
    if operator.cluster.try_for(waiting.is_answered, _WATCHED):
        error = waiting.wait()
        tell(f"r2 with acks=all is {f'refused with error {error}' if error else 'acknowledged'} by b1")
        promised += ["r1"] if error else ["r1", "r2"]
    else:
        waiting.give_up()
        tell(f"r2 with acks=all is not answered by b1 in {_WATCHED:.0f} s")
        promised.append("r1")
    return Written([*promised, *(["r3"] if _is_acknowledged(operator, "r3", tell) else [])])


def _is_acknowledged(operator: Operator, record: str, tell: Callable[[str], None]) -> bool:
    """Write a record to b1 with acks=1, and return whether it takes it."""
    error = operator.produce(1, record, acks=1)
    tell(f"{record} with acks=1 is {f'refused with error {error}' if error else 'acknowledged'} by b1")
    return not error


REMOVED_LEADER = Scenario(
    name="r-70",
    title="a leader that was removed catches up by a snapshot of the metadata, and acknowledges writes",
    means="a pause (SIGSTOP, SIGCONT), a reassignment, and settings with which metadata is deleted within a minute",
    elr=False,
    min_insync=1,
    plan=ClusterPlan(session=6000, lag=60000, wait=WAIT, settings=_SNAPSHOTS),
    run=_run,
)
