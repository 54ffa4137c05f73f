"""When an operator is answered who has deleted records, and where Kafka's leader is known to answer otherwise.

A leader waits for all replicas that are alive by its metadata (`Partition.lowWatermarkIfLeader`). What its metadata
says is told here by what the controller has written, and not by what the leader says of itself.
"""

from __future__ import annotations

from insync.conformance.classes.observation import Observation
from insync.conformance.steps.gaps import NotSchedulable, Unlike
from insync.conformance.steps.isr_expansions import Registrations
from insync.conformance.steps.likeness import broker_id
from insync.kafka.cluster.beliefs import believed_by
from insync.model import ReadableState

__all__ = ["require_same_answer"]


def require_same_answer(
    leader: str, model: ReadableState, seen: Observation, registered: Registrations, *, answered: bool
) -> None:
    """Demand that the operator who has deleted records is answered at once, or not, as in the model.

    Args:
        leader: whose records are deleted.
        model: the model's state after it.
        seen: Kafka's.
        registered: who is fenced by which metadata.
        answered: whether Kafka's low watermark has reached the offset.

    Raises:
        NotSchedulable: they differ for one of the reasons that are known.
        Unlike: they differ.
    """
    waits = bool(model["broker"][leader]["deleting"])
    if waits is not answered:
        return
    if answered:
        _require_waited_for_that_are_alive(leader, model, seen, registered)
    else:
        _require_fenced_that_are_known(leader, model, seen, registered)
    words = {True: "answered", False: "not answered yet"}
    what = f"the deletion at {leader}"
    raise Unlike(what, words[not waits], words[answered])


def _require_waited_for_that_are_alive(
    leader: str, model: ReadableState, seen: Observation, registered: Registrations
) -> None:
    """Refuse the answer of a leader by whose metadata all are fenced that the model's leader waits for.

    The model's leader knows who is fenced if metadata has brought it the newest change of the partition, and takes all
    for alive else. Kafka's knows of each broker that was fenced before what it acts on, also where the next that it is
    to hear of is a directory of its own, and then who is back. In the model one that stops is not fenced until it has
    ended, or died. Kafka's BrokerHeartbeatManager has one fenced as it asks to stop that leads nothing, or is fenced.
    """
    view, applied = model["broker"][leader], seen.brokers[broker_id(leader)].applied
    waited = _waited_for(leader, model)
    if not waited or not all(registered.is_fenced(broker_id(name), applied) for name in waited):
        return
    if view["lag"] or view.get("repeats"):
        message = (
            f"{leader} has heard who is fenced, though not of the newest change of the partition, so it answers that "
            "the records are gone; in the model it takes all for alive then"
        )
        raise NotSchedulable(message, "Kafka's leader has heard who is fenced, though not of the newest change")
    if view.get("to_hear") and applied < seen.controller.end:
        message = f"{leader} is to hear of a directory first, and then who is back, for whom the model's waits"
        raise NotSchedulable(message, "Kafka's leader is to hear of a directory before it hears who is back")
    if all(model["broker"][name]["stopping"] for name in waited):
        message = f"{leader} does not wait for {waited[0]}, which is fenced as it asks to stop; in the model it does"
        raise NotSchedulable(message, "Kafka's leader does not wait for one that is fenced as it asks to stop")


def _require_fenced_that_are_known(
    leader: str, model: ReadableState, seen: Observation, registered: Registrations
) -> None:
    """Refuse that a leader waits by whose metadata somebody is alive who is fenced in the model, or for its copy."""
    view, applied = model["broker"][leader], seen.brokers[broker_id(leader)].applied
    alive = [name for name in _fenced(leader, model) if not registered.is_fenced(broker_id(name), applied)]
    dead = [
        name for name in alive if broker_id(name) in seen.controller.stopping and not model["broker"][name]["running"]
    ]
    if dead:
        message = f"{leader} waits for {dead[0]}, which has died while it stopped; in the model it counts as fenced"
        raise NotSchedulable(message, "Kafka waits for a broker that has died while it stopped")
    if alive and view.get("to_hear") and applied < seen.controller.end:
        message = f"{leader} is to hear of a directory first, and then that {alive[0]} is fenced, for whom it waits"
        raise NotSchedulable(message, "Kafka's leader is to hear of a directory before it hears who is fenced")
    if view.get("copied") is not None:
        message = f"{leader} waits until the copy of its log has deleted the records too; in the model it does not"
        raise NotSchedulable(message, "Kafka waits until the copy of the leader's log has deleted the records too")


def _waited_for(leader: str, model: ReadableState) -> list[str]:
    """Return the replicas whose log starts the model's leader waits for."""
    view, fenced = model["broker"][leader], _fenced(leader, model)
    others = [name for name in _others(leader, model) if view["lag"] or view.get("repeats") or name not in fenced]
    return [name for name in others if view["known"][name]["start"] < view["deleting"]]


def _fenced(leader: str, model: ReadableState) -> list[str]:
    """Return the other replicas that are fenced in the model, as brokers know it that have the newest metadata."""
    fenced = model["controller"]["fenced"]
    return [name for name in _others(leader, model) if name in fenced and not model["broker"][name]["stopping"]]


def _others(leader: str, model: ReadableState) -> list[str]:
    replicas = believed_by(model, leader).get("replicas", list(model["broker"]))
    return [name for name in replicas if name != leader]
