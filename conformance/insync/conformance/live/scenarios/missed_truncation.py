"""N-11 by two leaders that die: a consumer goes on in a log that is not the one it has read, and is not told.

Unclean elections are on, as they are where availability counts for more. The consumer must not skip records, so its
auto.offset.reset is none. A third broker has no replica: before 4.0 a consumer that knows one broker alone, which is
dead, knows nobody else to ask.
"""

from __future__ import annotations

from collections.abc import Callable

from insync.conformance.live.clients.reading_consumer import ReadingConsumer
from insync.conformance.live.nodes.node_files import ClusterPlan
from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios.scenario import WAIT, Scenario, Written, acknowledged, outwait

__all__ = ["MISSED_TRUNCATION"]


def _run(operator: Operator, tell: Callable[[str], None]) -> Written:
    cluster = operator.cluster
    operator.create([1, 2], min_insync=1, unclean_leader_election_enable="true")
    consumer = ReadingConsumer(cluster, operator.topic)
    tell(
        "a topic with replicas b1 b2, min.insync.replicas=1, unclean elections; a consumer reads it from the beginning"
    )
    operator.pause(2)
    outwait()
    operator.produce(1, "r0", acks=1)
    cluster.until(lambda: operator.log(1) == ["r0"], "that b1 has r0")
    operator.kill(1)
    operator.resume(2)
    cluster.until(lambda: operator.now.leader == 2, "that b2 leads")
    cluster.until(lambda: operator.high_watermark(2) is not None, "that b2 serves clients")
    tell("b2 stands still while r0 is written to b1, which is killed; b2 is elected, a member of the ISR")
    promised = [acknowledged(operator, 2, "r1")]
    cluster.until(lambda: consumer.records == [(0, "r1")], "that the consumer gets r1")
    tell("r1 is acknowledged, and the consumer gets it, at offset 0")
    operator.kill(2)
    cluster.until(lambda: operator.now.leader == -1, "that nobody leads")
    operator.start(1)
    cluster.until(lambda: operator.now.leader == 1, "that b1 leads")
    cluster.until(lambda: operator.high_watermark(1) is not None, "that b1 serves clients")
    tell("b2 is killed; b1 starts, and is elected uncleanly, with r0 at offset 0")
    promised.append(acknowledged(operator, 1, "r2"))
    cluster.until(lambda: len(consumer.records) > 1 or consumer.told, "that the consumer gets r2, or is told")
    given = [f"{record} at offset {offset}" for offset, record in consumer.records[1:]]
    tell(f"r2 is acknowledged; the consumer {f'gets {given[0]}' if given else f'is told: {consumer.told[0]}'}")
    operator.start(2)
    cluster.until(lambda: len(operator.now.isr) > 1, "that both are in the ISR")
    tell("b2 starts, and cuts r1 off")
    return Written(promised, [] if consumer.told else _passed_over(operator.log(1), consumer.records))


def _passed_over(log: list[str], given: list[tuple[int, str]]) -> list[str]:
    """Return the records of a log below a consumer's position that the consumer did not receive."""
    position = given[-1][0] + 1
    return [record for record in log[:position] if record not in {one for _, one in given}]


MISSED_TRUNCATION = Scenario(
    name="n-11",
    title="a consumer reads on in a log that has lost what it has read, and is not told",
    means="unclean elections, a pause (SIGSTOP, SIGCONT), and leaders that are killed",
    elr=False,
    min_insync=1,
    plan=ClusterPlan(session=9000, lag=60000, wait=WAIT),
    run=_run,
    again=False,
)
