"""N-01 by pauses: a leader that missed its deposition trusts what it knew of an ISR member before.

Nothing crashes and nobody loses a file: brokers stand still for some seconds, as in a long pause of the JVM or of a
virtual machine, and an operator has the preferred leader elected meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable

from insync.conformance.live.nodes.node_files import ClusterPlan
from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios.scenario import WAIT, Scenario, Written, acknowledged, all_have, outwait
from insync.model.errors import UserError

__all__ = ["MISSED_ELECTION"]


def _run(operator: Operator, tell: Callable[[str], None]) -> Written:
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
    tell(f"b1 goes on and hears of both elections at once: r0 is acknowledged with acks=all. b2 has {operator.log(2)}")
    operator.prefer(2)
    operator.resume(2)
    cluster.until(lambda: operator.high_watermark(2) is not None, "that b2 serves clients")
    tell("b2 is elected, a member of the ISR, and goes on")
    cluster.until(lambda: all(len(operator.log(broker)) == 1 for broker in (1, 3)), "that b1 and b3 follow b2")
    tell("b1 and b3 cut r0 off")
    return Written([first, "r0"])


MISSED_ELECTION = Scenario(
    name="n-01",
    title="an acknowledged record is on one broker alone, and the next election loses it",
    means="pauses (SIGSTOP, SIGCONT) and preferred-leader elections",
    elr=False,
    min_insync=2,
    plan=ClusterPlan(session=30000, lag=60000, wait=WAIT),
    run=_run,
)
