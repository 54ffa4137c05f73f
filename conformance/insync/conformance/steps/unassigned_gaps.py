"""Where Kafka is known to do otherwise about replicas of which the controller knows no directory (N-18)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from insync.conformance.classes.observation import ControllerSeen, Observation
from insync.conformance.steps.gaps import NotSchedulable
from insync.conformance.steps.likeness import broker_id
from insync.model import ReadableState

__all__ = ["require_named_before", "require_nobody_named_by_it", "require_same_list"]


def require_nobody_named_by_it(after: ReadableState, seen: Observation) -> None:
    """Refuse a directory that is named later than in the model, where another broker names its own by that.

    Args:
        after: the model's state.
        seen: Kafka's, whose controller has not heard of the first.

    Raises:
        NotSchedulable: the model's controller knows the directory of one that has nothing to tell yet.
    """
    known = set(seen.controller.unassigned) - {broker_id(name) for name in after["controller"].get("unassigned", ())}
    telling = {number for number in known if _tells_of_log(seen, number)}
    if telling and telling < known:
        first, other = min(telling), min(known - telling)
        message = (
            f"b{first} names its directory later than in the model, as that makes an AlterPartition late, and b{other} "
            "names its own only when it hears of that; in the model it has"
        )
        raise NotSchedulable(message, "a directory that is named late lets another broker name its own late")


def require_named_before(replica: str, before: ReadableState, seen: Observation) -> None:
    """Refuse that a broker goes down before it names a directory, as that would make an AlterPartition late.

    Args:
        replica: who goes down.
        before: the model's state before it.
        seen: Kafka's, whose controller has not heard of the directory.

    Raises:
        NotSchedulable: the model's has.
    """
    number = broker_id(replica)
    named = number in seen.controller.unassigned and replica not in before["controller"]["unassigned"]
    if named and _tells_of_log(seen, number):
        message = (
            f"{replica} has not named its directory yet, as that makes an AlterPartition late, and goes down; in the "
            "model it has"
        )
        raise NotSchedulable(message, "a broker goes down before it names a directory that is named late")


def _tells_of_log(seen: Observation, number: int) -> bool:
    directory = seen.brokers[number].directory
    return directory is not None and directory.to_assign == "log"


def require_same_list(
    action: str, given: Mapping[str, str], before: ReadableState, after: ReadableState, seen: Sequence[ControllerSeen]
) -> None:
    """Refuse a step that lists a directory anew in Kafka's order of replicas and not in the model's, or the reverse.

    The model has an order of replicas of its own without `reorderings`: by number, those last who are to go. A broker
    names its directory by such a change if the controller does not know it, so another order matters then.

    Args:
        action: the name of the action.
        given: its parameters.
        before: the model's state before it.
        after: the model's state after it.
        seen: what Kafka's controller knew before it, and knows after it.

    Raises:
        NotSchedulable: it is so of a directory that it does not know.
    """
    was, now = seen
    concerned = set(_ids(before["controller"]["unassigned"])) & set(now.replicas)
    if not concerned:
        return
    kafka, mine = [was.order, now.order], [_by_number(before), _by_number(after)]
    if action == "elect":
        first = broker_id(given["replica"])
        for orders in (kafka, mine):
            orders[1] = (first, *(number for number in orders[0] if number != first))
    listed = [_listed_anew(kafka, was.unassigned), _listed_anew(mine, _ids(before["controller"]["unassigned"]))]
    if action == "elect":  # and the order is put back
        listed = [all_ if all_ == set(was.replicas) else set() for all_ in listed]
    if (listed[0] ^ listed[1]) & concerned:
        message = (
            f"the replicas are in the order {list(now.order)}, and in the model by number, so that one of the two "
            "lists their directories anew"
        )
        raise NotSchedulable(message, "directories are listed anew in Kafka's order of replicas, or in the model's")


def _ids(names: Iterable[str]) -> tuple[int, ...]:
    return tuple(broker_id(name) for name in names)


def _by_number(state: ReadableState) -> tuple[int, ...]:
    """The replicas in the model's order: by number, those last who are to go."""
    removing = state["controller"]["removing"]
    return _ids(sorted(state["changes"][0]["replicas"], key=lambda name: (name in removing, broker_id(name))))


def _listed_anew(orders: Sequence[Sequence[int]], unassigned: Sequence[int]) -> set[int]:
    """Return who finds its directory listed anew, by the orders of replicas and those without a directory before.

    All, if the list is another one; else those who are at another place in it.
    """
    known = set(orders[0]) - set(unassigned)
    was, now = ([number if number in known else None for number in order] for order in orders)
    if was != now:
        return set(orders[1])
    return {number for place, number in enumerate(orders[1]) if orders[0][place] != number}
