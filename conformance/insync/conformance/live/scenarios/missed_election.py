"""N-01 by pauses: a leader that missed its deposition trusts what it knew of an ISR member before.

Nobody loses a file: brokers stand still for some seconds, as in a long pause of the JVM or of a virtual machine, and an
operator has the preferred leader elected meanwhile. The record that is on too few brokers then is lost with the next
election, which an operator asks for, or which comes because the leader dies.
"""

from __future__ import annotations

from collections.abc import Callable

from insync.conformance.live.nodes.node_files import ClusterPlan
from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios.scenario import WAIT, Scenario, Written, acknowledged, all_have, outwait
from insync.runtime.errors import UserError

__all__ = ["MISSED_ELECTION", "MISSED_ELECTION_THEN_KILL"]


def _acknowledged_by_few(operator: Operator, tell: Callable[[str], None]) -> Written:
    """Have a record acknowledged that b2, a member of the ISR, has not got; b2 stands still in the end."""
    cluster = operator.cluster
    operator.create([1, 2, 3], min_insync=2)
    tell("a topic with replicas b1 b2 b3, min.insync.replicas=2; b1 leads in epoch 0")
    first = acknowledged(operator, 1, "a")
    all_have(operator, first)
    operator.pause(3)
    outwait()
    sending = operator.send(1, "r0")
    cluster.until(lambda: operator.log(2) == ["a", "r0"], "that b2 copies r0")
    outwait()
    tell("b3 stands still; r0 is written to b1, b2 has copied it and says so with its next fetch")
    operator.pause(1)
    operator.resume(3)
    operator.prefer(3)
    cluster.until(lambda: operator.log(2) == ["a"], "that b2 cuts its log back")
    tell("b1 stands still; b3 is elected, and b2 cuts r0 off, for b3 has not got it")
    operator.pause(2)
    operator.prefer(1)
    tell("b2 stands still; b1 is elected again")
    operator.resume(1)
    error = sending.wait()
    if error:
        message = f"b1 refuses r0 with error {error}, so it cannot be lost. Run the scenario again."
        raise UserError(message)
    tell(f"b1 goes on and learns of both elections at once: r0 is acknowledged with acks=all. b2 has {operator.log(2)}")
    return Written([first, "r0"])


def _run(operator: Operator, tell: Callable[[str], None]) -> Written:
    cluster = operator.cluster
    written = _acknowledged_by_few(operator, tell)
    operator.prefer(2)
    operator.resume(2)
    cluster.until(lambda: operator.high_watermark(2) is not None, "that b2 serves clients")
    tell("b2 is elected, a member of the ISR, and goes on")
    cluster.until(lambda: all(len(operator.log(broker)) == 1 for broker in (1, 3)), "that b1 and b3 follow b2")
    tell("b1 and b3 cut r0 off")
    return written


def _run_then_kill(operator: Operator, tell: Callable[[str], None]) -> Written:
    cluster = operator.cluster
    written = _acknowledged_by_few(operator, tell)
    operator.kill(1)
    operator.resume(2)
    tell("b1 is killed (kill -9), and b2 goes on")
    cluster.until(lambda: operator.now.leader not in (-1, 1), "that another one leads")
    leader = operator.now.leader
    tell(f"the session of b1 ends, and b{leader} is elected, a member of the ISR; unclean elections are off")
    cluster.until(lambda: operator.high_watermark(leader) is not None, f"that b{leader} serves clients")
    operator.start(1)
    cluster.until(lambda: set(operator.now.isr) == {1, 2, 3}, "that all are in the ISR")
    tell("b1 starts, and all three are in the ISR")
    return written


MISSED_ELECTION = Scenario(
    name="n-01",
    title="an acknowledged record is on one broker alone, and the next election loses it",
    means="pauses (SIGSTOP, SIGCONT), reassignments of the order of replicas, and preferred-leader elections",
    elr=False,
    min_insync=2,
    plan=ClusterPlan(session=30000, lag=60000, wait=WAIT),
    run=_run,
)
MISSED_ELECTION_THEN_KILL = Scenario(
    name="n-01-kill",
    title="an ISR member lacks an acknowledged record, and leads when the leader is killed",
    means="pauses (SIGSTOP, SIGCONT), reassignments of the order of replicas, preferred-leader elections, and kill -9",
    elr=False,
    min_insync=2,
    plan=ClusterPlan(session=18000, lag=60000, wait=WAIT),
    run=_run_then_kill,
)
