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

    The facts of a broker that were alike are alike still if neither side has changed since. They count as compared and
    are not looked up again: in most steps one broker of three does something. Both sides make new objects only of parts
    that have changed (`Model.decode_after`, `Observation.after`), so the same object means the same facts.
    """

    def __init__(self) -> None:
        self._shared: tuple[object, object, object] = (None, None, None)
        self._alike: dict[str, tuple[object, object, int]] = {}  # of a broker: the model's, Kafka's, how many facts

    def of(self, model: ReadableState, seen: Observation, acknowledged: Set[str]) -> tuple[int, list[Difference]]:
        """Return how many facts both have, and those that differ, the controller's first.

        Args:
            model: the model's state.
            seen: Kafka's.
            acknowledged: the records that producers have had acknowledged so far.
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
        """Forget the brokers that have changed; all of them where a part changed by which all are compared."""
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
