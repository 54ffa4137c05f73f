"""When Kafka's leader must ask for a larger ISR: within the fetch that shows a follower to have caught up.

Whether that follower may join by the leader's metadata is told here by what the controller has written, and not by what
the leader says of itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from insync.conformance.classes.observation import ControllerSeen, Observation
from insync.conformance.correspondence.facts import Difference
from insync.conformance.steps.likeness import broker_id
from insync.model import ReadableState

__all__ = ["FETCHES", "Registrations", "unlike_in_asking"]

FETCHES = ("fetch", "lose_fetch_response")
"""The actions in which a leader serves a fetch."""


class Registrations:
    """Who may join an ISR by the metadata up to a place: who is not fenced, not stopping, no other incarnation."""

    def __init__(self) -> None:
        self._out: list[tuple[int, frozenset[int]]] = []  # the places at which that changed, and who is fenced or stops
        self._fenced: list[tuple[int, frozenset[int]]] = []  # the same of who is fenced
        self._started: dict[int, int] = {}  # where the present incarnation of a broker has registered

    def note(self, controller: ControllerSeen) -> None:
        """Note what the controller has written up to its newest batch."""
        fenced = frozenset(controller.fenced)
        for known, members in ((self._out, fenced.union(controller.stopping)), (self._fenced, fenced)):
            if not known or known[-1][1] != members:
                known.append((controller.end, members))

    def note_start(self, broker: int, place: int) -> None:
        """Note up to where the controller has written that a broker registers."""
        self._started[broker] = place

    def may_join(self, broker: int, applied: int) -> bool:
        """Return whether a broker may join, as who has applied the metadata up to a place knows it."""
        return broker not in _newest(self._out, applied) and self._started.get(broker, -1) <= applied

    def is_fenced(self, broker: int, applied: int) -> bool:
        """Return whether a broker is fenced, as who has applied the metadata up to a place knows it."""
        return broker in _newest(self._fenced, applied)


def _newest(known: list[tuple[int, frozenset[int]]], applied: int) -> frozenset[int]:
    return next((members for place, members in reversed(known) if place <= applied), frozenset())


def unlike_in_asking(
    fetch: Mapping[str, str],
    before: ReadableState,
    after: ReadableState,
    seen: Observation,
    registered: Registrations,
    *,
    possible: bool,
) -> list[Difference]:
    """Return how Kafka's leader differs, after a fetch, in whether it may ask for the follower, and whether it has.

    The model asks whenever it likes, so that it never sees that Kafka's has not asked: that is looked at here.

    Args:
        fetch: the parameters of the step.
        before: the model's state before it.
        after: the model's after it, with what Kafka has done by itself.
        seen: Kafka's after it.
        registered: who may join by which metadata.
        possible: whether the model's leader may ask for the follower now.
    """
    leader, follower = fetch["leader"], fetch["follower"]
    kafka, known = seen.brokers[broker_id(leader)], after["broker"][leader]["remote_replicas"][follower]
    # Else the leader has learnt nothing by the fetch.
    counts = known["broker_epoch_is_current"] and known["leo"] == before["broker"][follower]["leo"]
    if kafka.leading is None or not counts:
        return []
    may_join = registered.may_join(broker_id(follower), kafka.applied)
    said = kafka.leading.known[broker_id(follower)].may_join
    if said is not may_join:
        return [Difference(f"whether {follower} may join the ISR by the metadata of {leader}", may_join, said)]
    # A model of a defect may ask too early: Kafka's leader looks at its high watermark, and where its epoch starts.
    reaches = known["leo"] >= max(before["broker"][leader]["hw"], kafka.leading.epoch_start or 0)
    if possible and may_join and reaches and not kafka.leading.proposed:
        return [Difference(f"whether {leader} asks within the fetch for {follower}", True, False)]
    return []
