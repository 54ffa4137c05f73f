"""The model's state and Kafka's, in the same words.

What Kafka has is put into a state of the model, in place of what the model has there; both are then read alike, as
named facts. What Kafka has not got stays the model's: budgets, and what consumers have seen. The log ends of followers
outside the ISR are not compared: the model forgets them in a new epoch, and Kafka makes nothing of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import cache
from typing import Any

from insync.conformance.classes.observation import BrokerSeen, ConsumerSeen, Observation
from insync.conformance.correspondence.facts import Difference, Fact
from insync.kafka.cluster.broker_state import DirectoryId, FailedLogDir, is_elsewhere, is_offline, unassigned_in
from insync.kafka.cluster.configuration import Acks
from insync.kafka.cluster.metadata_image import believed_by
from insync.model import ReadableState

__all__ = [
    "ACKS",
    "broker_id",
    "broker_name",
    "compared",
    "differences",
    "facts_of",
    "kafka_state",
]

ACKS = {Acks.ALL: -1, Acks.LEADER: 1, Acks.NONE: 0}
"""A setting of the model, as a producer's request has it."""


def broker_name(number: int | None) -> str | None:
    """Return what the model calls a broker; None for nobody, which Kafka also writes as -1."""
    return None if number is None or number < 0 else f"b{number}"


@cache
def broker_id(name: str) -> int:
    """Return the id of a broker that the model calls so."""
    return int(name.removeprefix("b"))


def differences(model: ReadableState, kafka: ReadableState) -> list[Difference]:
    """Return the facts that differ, the controller's first."""
    return compared(model, kafka)[1]


def compared(model: ReadableState, kafka: ReadableState) -> tuple[dict[str, int], list[Difference]]:
    """Return how many facts both have of each part, and those that differ, the controller's first."""
    counts: dict[str, int] = {}
    found: list[Difference] = []
    its = _parts_of(kafka)
    for part, facts in _parts_of(model).items():
        others = its[part]
        if facts == others:
            counts[part] = len(facts)
            continue
        both = [name for name in facts if name in others]
        counts[part] = len(both)
        found += [Difference(f"{part}.{n}", facts[n], others[n]) for n in both if facts[n] != others[n]]
    return counts, found


# ------------------------------------------------------------------------------------------------------------- reading


def facts_of(state: ReadableState) -> dict[str, Fact]:
    """Return what is compared of a state, by name."""
    return {f"{part}.{name}": fact for part, facts in _parts_of(state).items() for name, fact in facts.items()}


def _parts_of(state: ReadableState) -> dict[str, dict[str, Fact]]:
    """The facts of the controller, of each broker, and of clients."""
    parts = {"controller": _facts_of_controller(state)}
    for name, broker in state["broker"].items():
        facts = parts[name] = {"running": broker["running"]}
        moves = "promotion" in broker  # where none does, Kafka's controller takes no log to be elsewhere
        if moves and name in state["registrations"][0].get("replicas", (name,)):  # as `offline_replicas`
            facts["elsewhere"] = is_elsewhere(broker)
        if broker["running"]:
            facts |= _facts_of_broker(name, broker, state)
    parts["clients"] = {"acked": sorted(state["acked"])}
    if "consumer" in state:
        parts["consumer"] = _facts_of_consumer(state["consumer"])
    return parts


def _facts_of_consumer(consumer: dict[str, Any]) -> dict[str, Fact]:
    names = ("position", "last_epoch", "leader_epoch")  # the last where the consumer looks at epochs
    facts: dict[str, Fact] = {name: consumer[name] for name in names if name in consumer}
    return facts | {"got": consumer["got"][consumer["begin"] : consumer["position"]]}


def _facts_of_controller(state: ReadableState) -> dict[str, Fact]:
    newest: dict[str, Any] = state["registrations"][0]
    controller: dict[str, Any] = state["controller"]
    facts: dict[str, Fact] = {"leader": newest["leader"], "epoch": newest["epoch"]}
    sets = {"isr": newest["isr"], "replicas": newest.get("replicas")}
    sets |= {name: controller.get(name) for name in ("elr", "adding", "removing", "fenced")}
    if "replicas" in newest and any("directory" in broker for broker in state["broker"].values()):
        sets["unassigned"] = unassigned_in(state)
    if "offline_replicas" in controller:  # Kafka's knows of directories, and so of nobody who has no replica there
        replicas = newest.get("replicas", controller["offline_replicas"])
        sets["offline_replicas"] = [name for name in controller["offline_replicas"] if name in replicas]
    facts |= {name: sorted(members) for name, members in sets.items() if members is not None}
    if "last_known_leader" in controller:
        facts["last_known_leader"] = controller["last_known_leader"]
    if "places" in controller:
        facts["order"] = sorted(newest.get("replicas", controller["places"]), key=controller["places"].__getitem__)
    return facts


def _facts_of_broker(name: str, broker: dict[str, Any], state: ReadableState) -> dict[str, Fact]:
    view = believed_by(state, name)
    epochs: Mapping[str, str] = state["epoch_of"]
    start = broker.get("log_start", 0)
    is_replica = name in view.get("replicas", (name,))
    has_replica = broker.get("has_replica", is_replica)
    facts: dict[str, Fact] = {"has_replica": has_replica}
    offline = is_offline(broker)
    if "failed_log_dir" in broker and is_replica:  # of others Kafka says only whether some directory has failed
        facts["offline"] = offline
    if offline:
        del facts["has_replica"]  # of what it has learned since the directory failed the model keeps nothing
    if offline or not has_replica:
        return facts
    facts.update((name, broker[name]) for name in ("future_leo",) if name in broker)
    if "session_high_watermark" in broker:
        facts.update((name, broker[name]) for name in ("session", "session_high_watermark"))
    facts |= {
        "leader": view["leader"],
        "epoch": view["epoch"],
        "log": [f"{record}@{epochs.get(record, '?')}" for record in broker["log"][start : broker["leo"]]],
        "leo": broker["leo"],
        "hw": broker["hw"],
        "latest_epoch": broker["latest_epoch"],
    }
    if "log_start" in broker:
        facts["log_start"] = start
    if view["leader"] == name:
        facts |= _facts_of_leader(broker, view)
    return facts


def _facts_of_leader(broker: dict[str, Any], view: Mapping[str, Any]) -> dict[str, Fact]:
    facts: dict[str, Fact] = {
        "isr": sorted(view["isr"]),
        "pending_isr": sorted(broker["pending_isr"]),
        "leader_epoch_start": broker["leader_epoch_start"],
    }
    for other, known in broker["remote_replicas"].items():
        if other in view["isr"]:
            facts[f"remote_replicas.{other}"] = known["leo"]
    return facts


# ------------------------------------------------------------------------------------------------------- what Kafka has


def kafka_state(model: ReadableState, seen: Observation, acknowledged: Set[str]) -> ReadableState:
    """Return a state of the model, with what Kafka has in place of what the model has.

    Args:
        model: the model's state.
        seen: Kafka's.
        acknowledged: the records that producers have had acknowledged so far.
    """
    state = _copy_of_what_is_kafka_s(model)
    controller, registered = state["controller"], seen.controller
    # Kafka does not fence a broker that has asked to stop before it ends; to the model's controller the two are one.
    controller["fenced"] = _names(tuple(sorted({*registered.fenced, *registered.stopping})))
    for name in ("elr", "adding", "removing"):
        if name in controller:
            controller[name] = _names(getattr(registered, name))
    if "offline_replicas" in controller:
        controller["offline_replicas"] = _names(registered.without_directory)
    if "last_known_leader" in controller:
        last = registered.last_known_elr
        controller["last_known_leader"] = broker_name(last[0] if last else None)
    if "places" in controller:
        controller["places"] = _places(registered.order, controller["places"])
    newest = state["registrations"][0]
    newest.update(leader=broker_name(registered.leader), epoch=str(registered.leader_epoch), isr=_names(registered.isr))
    if "replicas" in newest:
        newest["replicas"] = _names(registered.replicas)
    for name, broker in state["broker"].items():
        _put_broker(name, broker, seen.brokers[broker_id(name)], model, state)
        if "directory" in broker:
            broker["directory"] = _directory(broker_id(name), broker, seen).name
    state["acked"] = sorted(acknowledged)
    if seen.consumer is not None:
        state["consumer"] = _put_consumer(model["consumer"], seen.consumer)
    return state


def _places(order: tuple[int, ...], brokers: Iterable[str]) -> dict[str, int]:
    """The place of each broker: that of its replica in Kafka's order, or behind all of these by its number."""
    named = [f"b{number}" for number in order]
    return {name: place for place, name in enumerate([*named, *(name for name in brokers if name not in named)])}


def _put_consumer(consumer: dict[str, Any], seen: ConsumerSeen) -> dict[str, Any]:
    got = [seen.got.get(offset, known) for offset, known in enumerate(consumer["got"])]
    begin = min((*seen.got, seen.position))
    put = {"position": seen.position, "begin": begin, "got": got, "last_epoch": seen.last_epoch}
    if "leader_epoch" in consumer:
        put["leader_epoch"] = str(seen.leader_epoch)
    return {**consumer, **put}


def _copy_of_what_is_kafka_s(model: ReadableState) -> dict[str, Any]:
    """Return a state in which what Kafka has can be written without a change of the given one."""
    state: dict[str, Any] = dict(model)
    state["controller"] = dict(model["controller"])
    state["registrations"] = [dict(change) for change in model["registrations"]]
    state["broker"] = {
        name: {**broker, "remote_replicas": dict(broker["remote_replicas"])} for name, broker in model["broker"].items()
    }
    state["epoch_of"] = dict(model["epoch_of"])
    return state


def _directory(number: int, model: dict[str, Any], seen: Observation) -> DirectoryId:
    """Where Kafka's controller takes a log to be, after what its broker has to tell if the model's has told it."""
    registered, to_tell = seen.controller, _is_to_tell(seen.brokers[number])
    if number in registered.unassigned and not to_tell:
        return DirectoryId.UNASSIGNED
    told = not model.get("directory_to_hear") and to_tell
    if model["to_assign"]:  # of a directory that is gone `offline_replicas` says it
        told = not is_elsewhere(model)
    return DirectoryId.FUTURE_LOG if number in registered.elsewhere and not told else DirectoryId.LOG


def _put_broker(
    name: str, broker: dict[str, Any], seen: BrokerSeen, model: ReadableState, state: dict[str, Any]
) -> None:
    broker["running"] = seen.running
    if not seen.running:
        return
    if seen.directory is not None:
        if is_offline(broker) is not seen.directory.offline:
            broker["failed_log_dir"] = (FailedLogDir.LOG if seen.directory.offline else FailedLogDir.NONE).name
        if "future_leo" in broker:
            broker["future_leo"] = seen.directory.copied
        if seen.directory.offline:
            return
    if "session_high_watermark" in broker:
        broker["session"] = seen.session is not None
        broker["session_high_watermark"] = None if seen.session is None else seen.session.high_watermark
    broker["has_replica"] = seen.leader_epoch is not None
    if seen.leader_epoch is None:
        return
    _put_view(name, broker, seen, model, state)
    log = seen.log
    records = [] if log is None else [_record(value, epoch, state["epoch_of"]) for value, epoch in log.records]
    start = 0 if log is None else log.start
    if "log_start" in broker:
        broker["log_start"] = start
    broker["log"] = [*broker["log"][:start], *records, *broker["log"][start + len(records) :]]
    broker["leo"] = 0 if log is None else log.end
    broker["hw"] = 0 if log is None else log.high_watermark
    broker["latest_epoch"] = log.epochs[-1] if log is not None and log.epochs else -1
    leading = seen.leading
    broker["pending_isr"] = [] if leading is None else _names(leading.proposed)
    if leading is None:
        return
    broker["leader_epoch_start"] = leading.epoch_start
    for other, known in leading.known.items():
        end = None if known.end < 0 else known.end
        broker["remote_replicas"][f"b{other}"] = {"leo": end, "broker_epoch_is_current": known.current}


def _is_to_tell(seen: BrokerSeen) -> bool:
    """Return whether a broker has to tell the controller where its log is, as the model's has done at once."""
    return seen.directory is not None and seen.directory.to_assign == "log"


def _put_view(name: str, broker: dict[str, Any], seen: BrokerSeen, model: ReadableState, state: dict[str, Any]) -> None:
    """Let a broker's lag lead to a change as Kafka's broker believes it, which is added where there is none."""
    believed: dict[str, Any] = {"leader": broker_name(seen.leader), "epoch": str(seen.leader_epoch)}
    if seen.leading is not None:
        believed["isr"] = _names(seen.leading.isr)
    if broker.get("kept", {}).get("replicas"):
        broker["kept"] = {**broker["kept"], **believed}
        return
    places = [broker["image_lag"], *range(len(state["registrations"]))]
    for place in places:
        change = state["registrations"][place]
        if believed.items() <= change.items() and name in change.get("replicas", (name,)):
            broker["image_lag"] = place
            return
    other: dict[str, Any] = {**model["registrations"][broker["image_lag"]], **believed}
    if "replicas" in other:
        other["replicas"] = sorted({*other["replicas"], name})
    broker["image_lag"] = len(state["registrations"])
    state["registrations"].append(other)


def _record(value: str, epoch: int, epochs: dict[str, str]) -> str:
    """A record as the model knows it; one that has another leader epoch is a record of its own."""
    if epochs.get(value) == str(epoch):
        return value
    other = f"{value}/{epoch}"
    epochs[other] = str(epoch)
    return other


def _names(numbers: tuple[int, ...]) -> list[str]:
    return [f"b{number}" for number in numbers]
