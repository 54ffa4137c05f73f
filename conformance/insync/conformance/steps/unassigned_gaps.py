"""Known differences about replicas whose directory the controller does not know (N-18)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from insync.conformance.classes.observation import ControllerSeen, Observation
from insync.conformance.correspondence.known_differences import NotSchedulable
from insync.conformance.steps.known_reasons import DOWN_BEFORE_NAMED, LISTED_ANEW, NAMED_LATE_BY_ANOTHER
from insync.conformance.steps.likeness import broker_id
from insync.kafka.cluster.broker_state import unassigned_in
from insync.model import ReadableState

__all__ = [
    "named_late",
    "require_late_name_applied",
    "require_named_before",
    "require_nobody_named_by_it",
    "require_same_list",
]


def require_nobody_named_by_it(after: ReadableState, seen: Observation) -> None:
    """Refuse a directory that Kafka's controller learns later than the model's, if another broker names its own by it.

    Args:
        after: the model's state after the step.
        seen: Kafka's state, whose controller does not know the first directory yet.

    Raises:
        NotSchedulable: the model's controller knows the directory of a broker that has nothing to send yet in Kafka.
    """
    known = _known_in_the_model_alone(after, seen)
    telling = named_late(after, seen)
    if telling and telling < known:
        first, other = min(telling), min(known - telling)
        message = (
            f"b{first} names its directory later than in the model, as that makes an AlterPartition late, and b{other} "
            "names its own only when it learns of that; in the model it has"
        )
        raise NotSchedulable(message, NAMED_LATE_BY_ANOTHER)


def named_late(after: ReadableState, seen: Observation) -> set[int]:
    """Return the brokers that have still to name a directory which the model's controller knows."""
    return {number for number in _known_in_the_model_alone(after, seen) if _tells_of_log(seen, number)}


def require_late_name_applied(after: ReadableState, seen: Observation, end: int) -> None:
    """Refuse that a broker names its directory by an older change than the one that lists it in Kafka.

    Args:
        after: the model's state after the step.
        seen: Kafka's state after it.
        end: where the metadata log ended after the newest directory that was named late; -1 for none.

    Raises:
        NotSchedulable: the model's controller knows the directory of a broker that has not applied that change.
    """
    known = _known_in_the_model_alone(after, seen)
    for number in sorted(known - named_late(after, seen)):
        if seen.brokers[number].applied < end:
            message = (
                "another broker has named its directory later than in the model, as that makes an AlterPartition "
                f"late, and b{number} names its own only when it learns of that; in the model it has"
            )
            raise NotSchedulable(message, NAMED_LATE_BY_ANOTHER)


def require_named_before(replica: str, before: ReadableState, seen: Observation) -> None:
    """Refuse that a broker goes down before it names a directory whose naming would make an AlterPartition late.

    Args:
        replica: the broker that goes down.
        before: the model's state before the step.
        seen: Kafka's state before the step.

    Raises:
        NotSchedulable: the model's controller knows the directory, and Kafka's does not.
    """
    number = broker_id(replica)
    named = number in seen.controller.unassigned and replica not in unassigned_in(before)
    if named and _tells_of_log(seen, number):
        message = (
            f"{replica} has not named its directory yet, as that makes an AlterPartition late, and goes down; in the "
            "model it has"
        )
        raise NotSchedulable(message, DOWN_BEFORE_NAMED)


def _known_in_the_model_alone(after: ReadableState, seen: Observation) -> set[int]:
    """Return the brokers whose directory the model's controller knows and Kafka's does not."""
    return set(seen.controller.unassigned) - {broker_id(name) for name in unassigned_in(after)}


def _tells_of_log(seen: Observation, number: int) -> bool:
    directory = seen.brokers[number].directory
    return directory is not None and directory.to_assign == "log"


def require_same_list(
    action: str, given: Mapping[str, str], before: ReadableState, after: ReadableState, seen: Sequence[ControllerSeen]
) -> None:
    """Refuse a step that lists a directory again by Kafka's order of replicas and not by the model's, or the reverse.

    Without `replica_order_changes` the model orders replicas by number, those that are to be removed last. The order
    matters if the controller does not know a directory: its broker names it when a change lists it again.

    Args:
        action: the name of the action.
        given: the parameters of the step.
        before: the model's state before the step.
        after: the model's state after the step.
        seen: the state of Kafka's controller before and after the step.

    Raises:
        NotSchedulable: the two orders list different directories that the controller does not know.
    """
    was, now = seen
    concerned = set(_ids(unassigned_in(before))) & set(now.replicas)
    if not concerned:
        return
    kafka, mine = [was.order, now.order], [_by_number(before), _by_number(after)]
    if action == "elect":
        first = broker_id(given["replica"])
        for orders in (kafka, mine):
            orders[1] = (first, *(number for number in orders[0] if number != first))
    listed = [_listed_anew(kafka, was.unassigned), _listed_anew(mine, _ids(unassigned_in(before)))]
    if action == "elect":  # and the order is put back
        listed = [all_ if all_ == set(was.replicas) else set() for all_ in listed]
    if (listed[0] ^ listed[1]) & concerned:
        message = (
            f"the replicas are in the order {list(now.order)}, and in the model by number, so that one of the two "
            "lists their directories anew"
        )
        raise NotSchedulable(message, LISTED_ANEW)


def _ids(names: Iterable[str]) -> tuple[int, ...]:
    return tuple(broker_id(name) for name in names)


def _by_number(state: ReadableState) -> tuple[int, ...]:
    """The replicas in the model's order: by number, those that are to be removed last."""
    removing = state["controller"]["removing"]
    return _ids(sorted(state["registrations"][0]["replicas"], key=lambda name: (name in removing, broker_id(name))))


def _listed_anew(orders: Sequence[Sequence[int]], unassigned: Sequence[int]) -> set[int]:
    """Return the replicas whose directory is listed again, by the replicas' order before and after a change.

    These are all replicas if the list of known directories differs, else those with another place in it.
    """
    known = set(orders[0]) - set(unassigned)
    was, now = ([number if number in known else None for number in order] for order in orders)
    if was != now:
        return set(orders[1])
    return {number for place, number in enumerate(orders[1]) if orders[0][place] != number}
