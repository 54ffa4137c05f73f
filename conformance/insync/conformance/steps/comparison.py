"""The model's state and Kafka's, compared after each step."""

from __future__ import annotations

from collections.abc import Set

from insync.conformance.classes.observation import Observation
from insync.conformance.correspondence.facts import Difference
from insync.conformance.steps.likeness import broker_id, compared, kafka_state
from insync.model import ReadableState

__all__ = ["StepComparison"]


class StepComparison:
    """Compares one state after the other: all facts of them.

    The facts of a broker that were alike, and of which neither the model nor Kafka has told anything new since, are
    alike still. They count as compared and are not looked up again: in most steps one broker of three does something.
    What is new is told by the objects, as both sides make new ones only of what has changed (`Model.decode_after`,
    `Observation.after`).
    """

    def __init__(self) -> None:
        self._shared: tuple[object, object, object] = (None, None, None)
        self._alike: dict[str, tuple[object, object, int]] = {}  # of a broker: the model's, Kafka's, how many facts

    def of(self, model: ReadableState, seen: Observation, acknowledged: Set[str]) -> tuple[int, list[Difference]]:
        """Return how many facts both have, and those that differ, the controller's first.

        Args:
            model: the model's state.
            seen: Kafka's.
            acknowledged: the records of which producers have been told so far that they are written.
        """
        self._forget_what_is_new(model, seen)
        new = {name: broker for name, broker in model["broker"].items() if name not in self._alike}
        part: ReadableState = {**model, "broker": new}
        counts, found = compared(part, kafka_state(part, seen, acknowledged))
        if found:
            self._alike = {}
            counts, found = compared(model, kafka_state(model, seen, acknowledged))
            return sum(counts.values()), found
        others = sum(count for _, _, count in self._alike.values())
        self._alike |= {name: (broker, seen.brokers[broker_id(name)], counts[name]) for name, broker in new.items()}
        return sum(counts.values()) + others, []

    def _forget_what_is_new(self, model: ReadableState, seen: Observation) -> None:
        """Forget the brokers of which something is new; all of them where it is what all of them are compared by."""
        changes, epochs, controller = self._shared
        if (
            model["registrations"] is not changes
            or model["epoch_of"] is not epochs
            or seen.controller is not controller
        ):
            self._shared = model["registrations"], model["epoch_of"], seen.controller
            self._alike = {}
        for name, (broker, kafka, _) in list(self._alike.items()):
            if model["broker"][name] is not broker or seen.brokers[broker_id(name)] is not kafka:
                del self._alike[name]
