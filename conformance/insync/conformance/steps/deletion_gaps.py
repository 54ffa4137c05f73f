"""Responses to DeleteRecords: when they must come, and the known differences between Kafka's leader and the model's.

A leader replies when the log starts of all replicas that its metadata counts as alive have reached the offset
(`Partition.lowWatermarkIfLeader`). That metadata is taken from the controller's records, not from the leader.
"""

from __future__ import annotations

from insync.conformance.classes.observation import Observation
from insync.conformance.correspondence.known_differences import NotSchedulable, Unlike
from insync.conformance.steps.isr_expansions import Registrations
from insync.conformance.steps.known_reasons import (
    DIED_AS_IT_STOPPED,
    DIRECTORY_BEFORE_FENCING,
    DIRECTORY_BEFORE_RETURN,
    FENCED_AS_IT_STOPS,
    FENCED_BEFORE_NEWEST,
    WAITS_FOR_COPY,
)
from insync.conformance.steps.likeness import broker_id
from insync.kafka.cluster.metadata_image import believed_by
from insync.model import ReadableState

__all__ = ["require_same_answer"]


def require_same_answer(
    leader: str, model: ReadableState, seen: Observation, registered: Registrations, *, answered: bool
) -> None:
    """Raise unless Kafka replies to a deletion of records exactly where the model does.

    Args:
        leader: the leader that deletes the records.
        model: the model's state after the deletion.
        seen: Kafka's state after the deletion.
        registered: the brokers that are fenced in each version of the metadata.
        answered: whether Kafka's low watermark has reached the offset.

    Raises:
        NotSchedulable: they differ for a known reason.
        Unlike: they differ for another reason.
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
    """Raise NotSchedulable if Kafka's metadata fences all replicas that the model's leader waits for.

    The model's leader counts all replicas as alive until it has applied the newest change of the partition. Kafka's
    leader applies each fencing in the order of the metadata, so it can apply one before that change, or before a
    directory of its own and a later unfencing. In the model a broker that stops is fenced when it has ended or died;
    Kafka's BrokerHeartbeatManager fences it when it requests the stop, if it leads nothing or is fenced already.
    """
    view, applied = model["broker"][leader], seen.brokers[broker_id(leader)].applied
    waited = _waited_for(leader, model)
    if not waited or not all(registered.is_fenced(broker_id(name), applied) for name in waited):
        return
    if view["image_lag"] or view.get("isr_from_response"):
        message = (
            f"{leader} has learned who is fenced, though not of the newest change of the partition, so it answers that "
            "the records are gone; in the model it takes all for alive then"
        )
        raise NotSchedulable(message, FENCED_BEFORE_NEWEST)
    if view.get("directory_to_hear") and applied < seen.controller.end:
        message = f"{leader} is to learn of a directory first, and then who is back, for whom the model's waits"
        raise NotSchedulable(message, DIRECTORY_BEFORE_RETURN)
    if all(model["broker"][name]["in_controlled_shutdown"] for name in waited):
        message = f"{leader} does not wait for {waited[0]}, which is fenced as it asks to stop; in the model it does"
        raise NotSchedulable(message, FENCED_AS_IT_STOPS)


def _require_fenced_that_are_known(
    leader: str, model: ReadableState, seen: Observation, registered: Registrations
) -> None:
    """Raise NotSchedulable if Kafka's leader waits for a replica that only the model fences, or for its log's copy."""
    view, applied = model["broker"][leader], seen.brokers[broker_id(leader)].applied
    alive = [name for name in _fenced(leader, model) if not registered.is_fenced(broker_id(name), applied)]
    dead = [
        name for name in alive if broker_id(name) in seen.controller.stopping and not model["broker"][name]["running"]
    ]
    if dead:
        message = f"{leader} waits for {dead[0]}, which has died while it stopped; in the model it counts as fenced"
        raise NotSchedulable(message, DIED_AS_IT_STOPPED)
    if alive and view.get("directory_to_hear") and applied < seen.controller.end:
        message = f"{leader} is to learn of a directory first, and then that {alive[0]} is fenced, for whom it waits"
        raise NotSchedulable(message, DIRECTORY_BEFORE_FENCING)
    if view.get("future_leo") is not None:
        message = f"{leader} waits until the copy of its log has deleted the records too; in the model it does not"
        raise NotSchedulable(message, WAITS_FOR_COPY)


def _waited_for(leader: str, model: ReadableState) -> list[str]:
    """Return the replicas for whose log start the model's leader waits."""
    view, fenced = model["broker"][leader], _fenced(leader, model)
    others = [
        name
        for name in _others(leader, model)
        if view["image_lag"] or view.get("isr_from_response") or name not in fenced
    ]
    return [name for name in others if view["remote_replicas"][name]["log_start"] < view["deleting"]]


def _fenced(leader: str, model: ReadableState) -> list[str]:
    """Return the other replicas that are fenced in the model's newest metadata."""
    fenced = model["controller"]["fenced"]
    return [
        name
        for name in _others(leader, model)
        if name in fenced and not model["broker"][name]["in_controlled_shutdown"]
    ]


def _others(leader: str, model: ReadableState) -> list[str]:
    replicas = believed_by(model, leader).get("replicas", list(model["broker"]))
    return [name for name in replicas if name != leader]
