"""How a model corresponds to Kafka: what a step is there, what Kafka does by itself, and which facts are compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Protocol

from insync.conformance.correspondence.facts import Difference
from insync.conformance.correspondence.known_differences import Compared, KnownDifference, Step
from insync.model import ReadableState

__all__ = ["Correspondence", "Named"]

Named = tuple[str, dict[str, str]]
"""An action with its parameters, as traces have them."""


class Correspondence(Protocol):
    """What `SideBySide` calls of one model and one Kafka."""

    @property
    def differences(self) -> Sequence[KnownDifference[Any]]:
        """The known differences that a step may show, in the order in which they are looked for."""

    @property
    def own_may_come_first(self) -> bool:
        """Whether a step of Kafka's own may have come before the step within which it was taken."""

    @property
    def always(self) -> Collection[str]:
        """The actions without which little happens."""

    @property
    def given(self) -> int:
        """How many commands the last step took; of one that is not schedulable, before that was clear."""

    def open(self) -> None:
        """Start Kafka with the settings of the model."""

    def take(self, step: Step) -> None:
        """Give Kafka the commands of a step.

        Raises:
            NotSchedulable: it cannot be brought about.
            Unlike: Kafka refuses what the model accepts, or the other way round.
        """

    def own_steps(self, state: ReadableState) -> Iterable[Named]:
        """Yield the steps that Kafka seems to have taken by itself.

        The first that the model can take is taken, and then this is called again with the state after it.
        """

    def compare(self, state: ReadableState) -> tuple[int, list[Difference]]:
        """Return how many facts both have, and those that differ."""

    def compared(self, step: Step, state: ReadableState, found: Sequence[Difference]) -> Compared:
        """Return what known differences are looked for in."""

    def unlike_after(self, step: Step, state: ReadableState, possible: Callable[[Named], bool]) -> list[Difference]:
        """Return what differs after a step that agrees in all facts.

        Args:
            step: the step.
            state: the model's state after it, with what Kafka has done by itself.
            possible: returns whether the model can take an action there.
        """

    def kafka_state(self, state: ReadableState) -> ReadableState:
        """Return a state of the model with what Kafka has in the place of it."""
