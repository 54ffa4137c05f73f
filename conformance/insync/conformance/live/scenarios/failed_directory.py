"""N-13, N-14 and N-19 by a directory that fails while a request about it is on its way: nobody serves clients.

A directory fails as its folder is renamed: what is open stays so, and the next checkpoint that is written there fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from insync.conformance.live.nodes.node_files import ClusterPlan
from insync.conformance.live.operator import Operator
from insync.conformance.live.proxies import ALTER_PARTITION, ASSIGN_DIRECTORIES, FETCH, to_controller
from insync.conformance.live.scenarios.scenario import Scenario, Written, acknowledged, named

__all__ = ["FAILED_COPY", "FAILED_MEMBER", "UNNOTICED_FAILURE"]

_SLOW = 1
"""Bytes a second: the copy gets nothing more for ten seconds once it has a record, so it does not become the log."""
_APPLIED = 2.0
"""Seconds in which a broker applies the metadata that it is given."""
_WATCHED = 20.0
"""Seconds in which somebody would be elected who may be."""


def _directories(operator: Operator, broker: int) -> tuple[Path, Path]:
    """Return the directory of a broker that has its log, once the controller has that, and its other one."""
    target, place = sorted(operator.cluster.log_disks(broker), key=lambda disk: disk == operator.place(broker))
    operator.cluster.until(lambda: operator.assigned(broker) == place, f"that the controller has b{broker}'s directory")
    return place, target


def _fail(operator: Operator, broker: int, directory: Path) -> None:
    """Have a directory fail, and wait until the controller has that."""
    failed = operator.fail(broker, directory)
    operator.cluster.until(lambda: failed not in operator.online(broker), "that the controller learns of the failure")


def _leaderless(operator: Operator, tell: Callable[[str], None], promised: list[str]) -> Written:
    """Wait for a leader, in vain if the defect is there."""
    if operator.cluster.try_for(lambda: operator.now.leader > 0, _WATCHED):
        tell(f"b{operator.now.leader} leads")
        return Written(promised)
    tell(f"all brokers run, and {_WATCHED:.0f} s later nobody leads; ISR: {named(operator.now.isr)}")
    return Written(promised, offline=True)


def _unnoticed(operator: Operator, tell: Callable[[str], None]) -> Written:
    cluster = operator.cluster
    operator.throttle(2, _SLOW)
    operator.create([2, 1], min_insync=2)
    promised = [acknowledged(operator, 2, "r0")]
    place, target = _directories(operator, 2)
    tell("a topic with replicas b2 b1, min.insync.replicas=2; b2, which leads, has two directories in log.dirs")
    time.sleep(_APPLIED)
    answers = cluster.proxies.hold(to_controller(2, ASSIGN_DIRECTORIES, request=False))
    operator.move(2, target)
    cluster.until(lambda: operator.assigned(2) == target, "that the controller accepts the copy")
    time.sleep(_APPLIED)
    metadata = cluster.proxies.hold(to_controller(2, FETCH, request=False))
    tell("b2 moves its log, throttled; the controller has the new directory, and its response to b2 is held")
    answers.release()
    told = cluster.try_for(lambda: operator.assigned(2) == place, _APPLIED)
    tell(f"b2 has the response{', has told the controller of the old directory' * told}, and its metadata is held")
    cluster.until(lambda: operator.place(2) == target, "that the copy becomes the log")
    _fail(operator, 2, target)
    tell("the copy becomes the log; the new directory fails, and the controller is told")
    metadata.release()
    cluster.try_for(lambda: operator.now.leader == 1, _WATCHED)
    if operator.now.leader == 1:
        tell("b1 leads")
        return Written(promised)
    error = operator.read(2)["ErrorCode"]
    tell(f"{_WATCHED:.0f} s later b2 leads, which answers clients with error {error}; ISR: {named(operator.now.isr)}")
    return Written(promised, offline=error != 0)


def _member(operator: Operator, tell: Callable[[str], None]) -> Written:
    cluster = operator.cluster
    operator.create([1, 2], min_insync=1)
    promised = [acknowledged(operator, 1, "r0")]
    place, _ = _directories(operator, 2)
    cluster.until(lambda: operator.log(2) == promised, "that b2 has r0")
    tell("a topic with replicas b1 b2, min.insync.replicas=1; b1 leads; each broker has two directories in log.dirs")
    operator.stop(2)
    cluster.until(lambda: operator.now.isr == (1,), "that b2 leaves the ISR")
    asked = cluster.proxies.hold(to_controller(1, ALTER_PARTITION, request=True))
    operator.start(2)
    cluster.until(lambda: bool(asked.waiting), "that b1 asks to add b2 to the ISR")
    tell("b2 stops in order and starts, and b1 asks to add it to the ISR: that is held")
    _fail(operator, 2, place)
    tell("the directory of b2 with the log fails, and the controller has marked it offline")
    asked.release()
    cluster.try_for(lambda: 2 in operator.now.isr, _APPLIED)
    tell(f"the controller has what b1 has asked for; ISR: {named(operator.now.isr)}")
    operator.kill(1)
    cluster.until(lambda: operator.now.leader == -1, "that nobody leads")
    operator.start(1)
    cluster.until(lambda: not operator.brokers[1].fenced, "that b1 is unfenced")
    tell(f"b1 is killed (kill -9), its session ends, and it starts again, with {' '.join(operator.log(1))} in its log")
    return _leaderless(operator, tell, promised)


def _copy(operator: Operator, tell: Callable[[str], None]) -> Written:
    cluster = operator.cluster
    operator.throttle(1, _SLOW)
    operator.create([1], min_insync=1)
    promised = [acknowledged(operator, 1, "r0")]
    _, target = _directories(operator, 1)
    tell("a topic with the replica b1, which has two directories in log.dirs; r0 is written")
    operator.move(1, target)
    cluster.until(lambda: operator.assigned(1) == target, "that the controller accepts the copy")
    failed = operator.fail(1, target)
    tell(f"b1 moves its log, throttled to {_SLOW} byte a second; as the controller has the new directory, that fails")
    cluster.until(lambda: failed not in operator.online(1), "that the controller learns of the failure")
    tell("the controller is told of the failure")
    return _leaderless(operator, tell, promised)


UNNOTICED_FAILURE = Scenario(
    name="n-13",
    title="a broker leads a log whose directory has failed, and nobody else is elected",
    means="a throttled move between directories, a proxy that holds a response and metadata, a directory that fails",
    elr=False,
    min_insync=2,
    plan=ClusterPlan(session=9000, lag=60000, log_dirs=2),
    run=_unnoticed,
    again=False,
)
FAILED_MEMBER = Scenario(
    name="n-14",
    title="a replica whose directory has failed joins the ISR, and the leader that comes back is not elected",
    means="a broker that stops and starts, a proxy that holds one request, a directory that fails, and kill -9",
    elr=False,
    min_insync=1,
    plan=ClusterPlan(session=9000, lag=60000, log_dirs=2),
    run=_member,
    again=False,
)
FAILED_COPY = Scenario(
    name="n-19",
    title="the directory that a log is moved to fails, and nobody leads though the log is there",
    means="a throttled move between directories, and the new directory that fails before the move is done",
    elr=False,
    min_insync=1,
    plan=ClusterPlan(session=9000, log_dirs=2, settings={"replica.high.watermark.checkpoint.interval.ms": "10"}),
    run=_copy,
    again=False,
)
