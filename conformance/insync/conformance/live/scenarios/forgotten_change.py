"""N-06 by a proxy: a leader drops a change of its ISR that is in flight, and commits without a member of the ISR.

Three things are held, each for seconds: the leader's metadata while the response to its first AlterPartition passes,
its second AlterPartition until that metadata has been applied, and its metadata from then on.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from insync.conformance.live.nodes.node_files import ClusterPlan
from insync.conformance.live.operator import Operator
from insync.conformance.live.proxies import ALTER_PARTITION, FETCH, to_controller
from insync.conformance.live.scenarios.scenario import WAIT, Scenario, Written, acknowledged, all_have, outwait

__all__ = ["FORGOTTEN_CHANGE"]

_LAG = 4000
_APPLIED = 2.0
"""Seconds in which a broker applies the metadata that it is given."""


def _run(operator: Operator, tell: Callable[[str], None]) -> Written:
    cluster = operator.cluster
    operator.create([1, 2, 3], min_insync=2)
    first = acknowledged(operator, 1, "a")
    all_have(operator, first)
    tell("a topic with replicas b1 b2 b3, min.insync.replicas=2; b1 leads")
    metadata = cluster.proxies.hold(to_controller(1, FETCH, request=False))
    operator.pause(2)
    outwait()
    sending = operator.send(1, "b")
    cluster.until(lambda: set(operator.now.isr) == {1, 3}, "that b2 leaves the ISR")
    sending.wait()
    time.sleep(_APPLIED)
    tell("b2 stands still while b is written, and leaves the ISR: b1 has the response, and its metadata is held")
    asked = cluster.proxies.hold(to_controller(1, ALTER_PARTITION, request=True))
    operator.resume(2)
    cluster.until(lambda: bool(asked.waiting), "that b1 asks to add b2 to the ISR")
    operator.pause(2)
    tell("b2 goes on, and b1 asks to add it to the ISR: that is held; b2 stands still again")
    metadata.release()
    time.sleep(_APPLIED)
    metadata = cluster.proxies.hold(to_controller(1, FETCH, request=False))
    tell("b1 gets the metadata of the ISR without b2, which it has already by the response")
    asked.release()
    cluster.until(lambda: set(operator.now.isr) == {1, 2, 3}, "that the controller adds b2 to the ISR")
    tell("the controller has what b1 has asked for, and adds b2 to the ISR")
    time.sleep(_LAG / 1000 + 1)
    promised = acknowledged(operator, 1, "r0")
    tell("r0 is acknowledged with acks=all: b1 and b3 have it, and b2, which is in the ISR, has not")
    operator.kill(1)
    metadata.release()
    operator.resume(2)
    cluster.until(lambda: operator.now.leader not in (-1, 1), "that another one leads")
    leader = operator.now.leader
    tell(f"b1 is killed, and b2 goes on; b{leader} is elected, a member of the ISR; unclean elections are off")
    cluster.until(lambda: operator.high_watermark(leader) is not None, f"that b{leader} serves clients")
    outwait()
    operator.start(1)
    cluster.until(lambda: set(operator.now.isr) == {1, 2, 3}, "that all are in the ISR")
    tell("b1 starts, and all three are in the ISR")
    return Written([first, "b", promised])


FORGOTTEN_CHANGE = Scenario(
    name="n-06",
    title="a leader commits without a member of the ISR, which is elected when the leader is killed",
    means="a proxy that holds metadata and one request for seconds, pauses (SIGSTOP, SIGCONT), and kill -9",
    elr=False,
    min_insync=2,
    plan=ClusterPlan(session=24000, lag=_LAG, wait=WAIT),
    run=_run,
)
