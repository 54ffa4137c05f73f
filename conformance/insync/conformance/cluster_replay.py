"""Take the steps of a trace of `cluster` on real brokers, and compare what can be seen of both after each.

Of a broker that is its log, on its disk; of the controller everything in its metadata log; and what producers are told.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from insync.conformance.correspondence.facts import Difference
from insync.conformance.live.broker_files import epochs_on_disk, log_on_disk
from insync.conformance.live.levers import CannotBeHeld
from insync.conformance.live.metadata_log import PartitionAt
from insync.conformance.live.nodes.node_files import ClusterPlan
from insync.conformance.live.operator import Operator
from insync.conformance.live.step_taking import StepTaking
from insync.conformance.replay import KafkaReplay, KafkaVerdict
from insync.conformance.steps.going_round import ForEver
from insync.conformance.steps.likeness import broker_id, broker_name, differences
from insync.explorer.traces.trace import Trace
from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState

__all__ = ["kafka_state", "plan_for", "replay_on_cluster"]

_SETTLED = 10.0
_NOT_FOLLOWED = "whether Kafka goes on so is not shown: running brokers were not watched any longer"


def plan_for(model: Cluster, version: str) -> ClusterPlan:
    """Return the cluster that a model speaks of: its brokers and whether it keeps eligible leader replicas."""
    has_elr = not version.startswith("3.")
    return ClusterPlan(
        brokers=model.b.replicas, elr=model.features.elr if has_elr else None, session=9000, lag=600000, wait=50
    )


def replay_on_cluster(trace: Trace, model: Cluster, operator: Operator) -> KafkaReplay:
    """Take the steps of a trace on a cluster that is ready.

    Args:
        trace: the trace, which its model confirms.
        model: its model.
        operator: who does things to the cluster.
    """
    taking, version = StepTaking(operator, model), operator.cluster.version
    taking.open()
    taken = [trace.steps[0]]
    state, found = _compared(taken[-1].state, operator, taking)
    verdict, reason, label = KafkaVerdict.DIVERGES, None, None
    for step in trace.steps[1:]:
        if found:
            break
        try:
            taking.take(step, taken[-1].state, step.state)
        except CannotBeHeld as fault:
            verdict, reason, label = KafkaVerdict.NOT_SCHEDULABLE, str(fault), step.label
            break
        taken.append(step)
        state, found = _compared(step.state, operator, taking)
    else:
        if not found:
            proves = not (trace.witness or trace.refused or trace.loop is not None)
            verdict = KafkaVerdict.REPRODUCED if proves else KafkaVerdict.AGREES
    shown = replace(trace, steps=tuple(taken), refused=None, loop=None, fairness=None)
    for_ever = ForEver(False, _NOT_FOLLOWED) if trace.loop is not None and verdict is KafkaVerdict.AGREES else None
    return KafkaReplay(verdict, version, shown, (), state, tuple(found), reason, label, for_ever)


def _compared(
    model: ReadableState, operator: Operator, taking: StepTaking
) -> tuple[ReadableState, Sequence[Difference]]:
    """What Kafka has in place of what the model has, and where they differ once Kafka has had time to write it."""
    seen: list[ReadableState] = []

    def agrees() -> bool:
        taking.hear()
        seen.append(kafka_state(model, operator, taking.acknowledged))
        return not differences(model, seen[-1])

    operator.cluster.try_for(agrees, _SETTLED)
    return seen[-1], differences(model, seen[-1])


def kafka_state(model: ReadableState, operator: Operator, acknowledged: set[str]) -> ReadableState:
    """Return a state of the model with what the cluster has in its place: the partition, and logs from the disks."""
    state: dict[str, Any] = copy.deepcopy(dict(model))
    _put_controller(state, operator.now, operator)
    for name, broker in state["broker"].items():
        number = broker_id(name)
        broker["running"] = number in operator.cluster.running
        if not broker["running"] or not broker.get("has_replica", True):
            continue
        records = log_on_disk(operator.cluster.disk(number), operator.topic)
        if not operator.has_log(number) and not model["broker"][name]["leo"]:
            continue  # a broker that has no replica has no log
        epochs = {record: str(epoch) for record, epoch in records}
        broker["log"] = [
            record if state["epoch_of"].get(record) == epoch else f"{record}/{epoch}"
            for record, epoch in epochs.items()
        ] + broker["log"][len(records) :]
        state["epoch_of"] |= {f"{record}/{epoch}": epoch for record, epoch in epochs.items()}
        broker["leo"] = len(records)
        known = epochs_on_disk(operator.cluster.disk(number), operator.topic)
        broker["latest_epoch"] = known[-1][0] if known else -1
    state["acked"] = sorted(acknowledged)
    return state


def _put_controller(state: dict[str, Any], now: PartitionAt, operator: Operator) -> None:
    newest, controller = state["registrations"][0], state["controller"]
    newest.update(leader=broker_name(now.leader), epoch=str(now.leader_epoch), isr=_names(now.isr))
    if "replicas" in newest:
        newest["replicas"] = _names(now.replicas)
    for field in ("elr", "adding", "removing"):
        if field in controller:
            controller[field] = _names(getattr(now, field))
    if "last_known_leader" in controller:
        controller["last_known_leader"] = broker_name(now.last_known[0] if now.last_known else None)
    known = operator.brokers.items()
    controller["fenced"] = _names(tuple(broker for broker, one in known if one.fenced or one.stopping))


def _names(brokers: tuple[int, ...]) -> list[str]:
    return [f"b{broker}" for broker in brokers]
