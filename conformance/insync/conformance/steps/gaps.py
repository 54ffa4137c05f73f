"""Steps that cannot be brought about, or that Kafka answers otherwise, and where it is known to do one otherwise."""

from __future__ import annotations

from insync.conformance.classes.observation import AlterRequest, ControllerSeen, Observation
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.steps.known_reasons import (
    ACCEPTS_UNNAMED,
    CLEARED_ELECTS,
    CLEARED_ENDS,
    EPOCH_AGAIN,
    LEAVES_TWICE,
    ONE_DIRECTORY_KNOWN,
    ORDER_ALONE,
    REFUSES_OUTDATED,
)
from insync.conformance.steps.likeness import broker_id
from insync.kafka.releases import ReassignmentEnd
from insync.model import ReadableState

__all__ = [
    "is_otherwise_done",
    "require_incarnations_of_joiner_alone",
    "require_more_than_order",
    "require_no_epoch_of_deleted_records",
    "require_one_change",
    "require_unknown_directory",
]


def require_one_change(broker: int, was: ControllerSeen, now: ControllerSeen) -> None:
    """Refuse the registration of one who was cleared from the ELR where Kafka changes the partition once more.

    The index of the ELR that Kafka's controller believes, brokersToElrs, outlives a ClearElrRecord. A broker that left
    the ELR so, and is in the ISR by now, is then found twice when it registers, which costs one more leader epoch. One
    that is in neither is found once, and that change ends a reassignment that only waited for a change, or elects one
    who has become eligible since the controller last looked.

    Args:
        broker: who has registered.
        was: what the controller knew before.
        now: what it knows after it.

    Raises:
        NotSchedulable: it is so.
    """
    changes = now.partition_epoch - was.partition_epoch
    if changes == 2:
        message = (
            f"a change of min.insync.replicas took b{broker} out of the ELR, which an index of Kafka's controller "
            f"does not follow, so that it takes b{broker} out twice when it registers, with one leader epoch more"
        )
        raise NotSchedulable(message, LEAVES_TWICE)
    ends = (was.adding or was.removing) and not (now.adding or now.removing)
    if changes != 1 or broker in (*was.isr, *was.elr):
        return
    if now.leader != was.leader:
        message = (
            f"a change of min.insync.replicas took b{broker} out of the ELR, which an index of Kafka's controller "
            f"does not follow, so that it looks at the partition when b{broker} registers, and elects b{now.leader}"
        )
        raise NotSchedulable(message, CLEARED_ELECTS)
    if ends:
        message = (
            f"a change of min.insync.replicas took b{broker} out of the ELR, which an index of Kafka's controller "
            f"does not follow, so that it looks at the partition when b{broker} registers, and ends the reassignment"
        )
        raise NotSchedulable(message, CLEARED_ENDS)


def require_more_than_order(was: ControllerSeen, now: ControllerSeen) -> None:
    """Refuse a reassignment that changes nothing but the order of the replicas, which is no change in the model.

    In Kafka it is one: a leader that learns of it forgets what it has asked for, and its request comes too late.

    Args:
        was: what the controller knew before.
        now: what it knows after it.

    Raises:
        NotSchedulable: it is so.
    """
    known = ("leader", "leader_epoch", "isr", "elr", "replicas", "adding", "removing")
    same = all(getattr(was, name) == getattr(now, name) for name in known)
    if same and was.partition_epoch != now.partition_epoch:
        message = "the reassignment changes the order of the replicas alone; in the model it changes nothing"
        raise NotSchedulable(message, ORDER_ALONE)


def require_unknown_directory(was: ControllerSeen, now: ControllerSeen) -> None:
    """Refuse a reassignment that adds a replica whose directory Kafka's controller knows.

    Kafka's does where a broker has registered with one directory, or has told that the others have failed. The model
    speaks of brokers that have several all the time, and of none of them the controller knows where what it adds is.

    Args:
        was: what the controller knew before.
        now: what it knows after it.

    Raises:
        NotSchedulable: it is so.
    """
    added = set(now.replicas) - set(was.replicas)
    known = sorted(added - set(now.unassigned))
    if known:
        them = " and ".join(f"b{number}" for number in known)
        message = (
            f"the controller knows of one directory of {them}, and takes a replica that it adds there to be in that; "
            "in the model it does not know where that is"
        )
        raise NotSchedulable(message, ONE_DIRECTORY_KNOWN)


def require_incarnations_of_joiner_alone(request: AlterRequest, accepted: bool) -> None:
    """Refuse a request for an ISR that Kafka's controller answers otherwise for a member that was in the ISR before.

    Before 4.0 a broker that registers again stays in the ISR. A request names the incarnation of each member that its
    sender has received a fetch of; of others it names none, and they pass. The model has one answer for all members: it
    asks for the one who joins whether that is the present one, and refuses a request whose member registers after it.

    Args:
        request: the request.
        accepted: whether Kafka has accepted it, and the model not; else it is the other way round.

    Raises:
        NotSchedulable: it is so.
    """
    if accepted and request.unnamed and not request.outdated:
        message = (
            f"a member of the ISR {list(request.isr)} has registered again, of which the request names no incarnation, "
            "so Kafka's controller accepts it; in the model it refuses it"
        )
        raise NotSchedulable(message, ACCEPTS_UNNAMED)
    if not accepted and request.outdated:
        message = (
            f"a member of the ISR {list(request.isr)} has registered again before the request was made, which names "
            "its incarnation before that, so Kafka's controller refuses it; in the model only who joins is asked about"
        )
        raise NotSchedulable(message, REFUSES_OUTDATED)


def require_no_epoch_of_deleted_records(replica: str, model: ReadableState, seen: Observation) -> None:
    """Refuse a start after which Kafka knows the epoch of records that are all deleted, and the model none.

    The records are still in the file of the log when it is recovered a second time.

    Args:
        replica: who has started.
        model: the model's state after it.
        seen: Kafka's.

    Raises:
        NotSchedulable: it is so.
    """
    broker, log = model["broker"][replica], seen.brokers[broker_id(replica)].log
    emptied = broker["latest_epoch"] < 0 and 0 < broker.get("log_start", 0) == broker["leo"]
    if emptied and log is not None and log.start == log.end == broker["leo"] and len(log.epochs) == 1:
        message = (
            f"{replica} finds again, in the file of its log, the epoch of records that are deleted, and its next fetch "
            "names it; in the model it has no epoch"
        )
        raise NotSchedulable(message, EPOCH_AGAIN)


def is_otherwise_done(seen: ControllerSeen, waits_for: ReassignmentEnd) -> bool:
    """Return whether a reassignment is under way that ends with the next change of the partition, whichever that is.

    It waits for nobody by the ISR as it is (`Reassignment.may_end`). Kafka: PartitionChangeBuilder.build.
    """
    removing = set(seen.removing)
    left, staying = set(seen.isr) - removing, set(seen.replicas) - removing
    if not left or not (seen.adding or seen.removing):
        return False
    if waits_for is ReassignmentEnd.TARGETS:
        return staying <= left
    fewer = waits_for is ReassignmentEnd.ADDED_UNLESS_FEWER and len(seen.adding) < len(seen.removing)
    return set(seen.adding) <= left and (staying <= left or not fewer)
