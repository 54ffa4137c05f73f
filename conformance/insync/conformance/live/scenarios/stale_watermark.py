"""N-10 by a kill: a follower that has truncated keeps an old high watermark, and readers nearby see less than there is.

The leader dies with a record that nobody has copied, and before it has written down its high watermark. It comes back
as a follower. The response to its first fetch says where the logs part, and no other has the high watermark.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from insync.conformance.live.nodes.node_files import ClusterPlan
from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios.scenario import WAIT, Scenario, Written, acknowledged, all_have, outwait

__all__ = ["STALE_WATERMARK"]

_FETCHES = 30
"""How often a follower fetches in the time in which it is watched."""


def _run(operator: Operator, tell: Callable[[str], None]) -> Written:
    cluster = operator.cluster
    operator.create([1, 2, 3], min_insync=2)
    tell("a topic with replicas b1 b2 b3, min.insync.replicas=2; b1 leads")
    promised = acknowledged(operator, 1, "r0")
    all_have(operator, promised)
    tell("r0 is acknowledged with acks=all, and all three have it")
    for broker in (2, 3):
        operator.pause(broker)
    outwait()
    operator.produce(1, "r1", acks=1)
    cluster.until(lambda: operator.log(1) == ["r0", "r1"], "that b1 has r1")
    operator.kill(1)
    for broker in (2, 3):
        operator.resume(broker)
    cluster.until(lambda: operator.now.leader in (2, 3), "that another one leads")
    leader = operator.now.leader
    cluster.until(lambda: operator.high_watermark(leader) == 1, f"that b{leader} serves clients")
    tell(
        f"b2 and b3 stand still while r1 is written to b1, which is killed; b{leader} is elected, and has r0 committed"
    )
    operator.start(1)
    cluster.until(lambda: 1 in operator.now.isr, "that b1 is in the ISR")
    cluster.until(lambda: operator.log(1) == ["r0"], "that b1 has cut r1 off")
    time.sleep(_FETCHES * WAIT / 1000)
    seen = operator.readable(1)
    tell(f"b1 starts, cuts r1 off, and is in the ISR; after {_FETCHES} fetches it gives consumers {_said(seen)}")
    last = acknowledged(operator, leader, "r2")
    cluster.until(lambda: operator.readable(1) == ["r0", last], "that b1 gives consumers what is written next")
    tell("r2 is written: b1 gives consumers r0 r2")
    return Written([promised, last], [record for record in [promised] if record not in seen])


def _said(records: list[str]) -> str:
    return " ".join(records) or "nothing"


STALE_WATERMARK = Scenario(
    name="n-10",
    title="a follower in the ISR keeps from consumers what is committed, until something else is written",
    means="pauses (SIGSTOP, SIGCONT), and a leader that is killed and starts again",
    elr=False,
    min_insync=2,
    plan=ClusterPlan(
        session=9000, lag=60000, wait=WAIT, settings={"replica.high.watermark.checkpoint.interval.ms": "600000"}
    ),
    run=_run,
)
