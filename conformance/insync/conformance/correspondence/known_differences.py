"""Where a model and Kafka are known to go apart, and steps that Kafka cannot be made to take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from insync.conformance.correspondence.facts import Difference, Fact
from insync.model import ReadableState

__all__ = ["Compared", "Direction", "KnownDifference", "Missing", "NotSchedulable", "Step", "Thrown", "Unlike"]


class NotSchedulable(Exception):
    """A step that cannot be brought about on Kafka's classes.

    Args:
        message: why.
        kind: the same without names of brokers, which many steps have in common; None if the message has none.
    """

    def __init__(self, message: str, kind: str | None = None) -> None:
        super().__init__(message)
        self.kind = message if kind is None else kind


class Missing(NotSchedulable):
    """A step that cannot be brought about because the harness, or this build of Kafka, lacks what it takes.

    The guide names every other reason, which is expected on each release; with this one nobody knows what Kafka does.
    """


class Thrown(NotSchedulable):
    """A step that the model has taken into a state that is illegal, and at which Kafka throws an exception."""


class Unlike(Exception):
    """Kafka answers otherwise than the model.

    Args:
        what: what is answered.
        model: what the model takes the answer to be.
        kafka: what Kafka says.
    """

    def __init__(self, what: str, model: Fact, kafka: Fact) -> None:
        super().__init__(what, model, kafka)
        self.what, self.model, self.kafka = what, model, kafka


@dataclass(frozen=True, slots=True)
class Step:
    """A step that is taken on both.

    Attributes:
        action: the name of its action.
        given: the parameters.
        before: the model's state before it.
        after: the model's state after it, without what Kafka does by itself.
    """

    action: str
    given: Mapping[str, str]
    before: ReadableState
    after: ReadableState


@dataclass(frozen=True, slots=True)
class Compared:
    """What a step has left of both, where they differ.

    Attributes:
        step: the step.
        state: the model's state after it, with what Kafka has done by itself.
        found: the facts that differ.
    """

    step: Step
    state: ReadableState
    found: Sequence[Difference]


class Direction(Enum):
    """Who does more than the other where both go apart."""

    MODEL = "the model does more"
    KAFKA = "Kafka does more"
    NEITHER = "each does what the other does not"


ComparedT = TypeVar("ComparedT", bound=Compared)


@dataclass(frozen=True, slots=True)
class KnownDifference(Generic[ComparedT]):
    """A place where the model and Kafka are known to go apart after a step.

    What differs besides `may_differ` is a difference that nobody knows, whatever else is the case.

    Attributes:
        name: what Kafka does there; walks count under it.
        kafka: the methods of Kafka, as docstrings of the model cite them.
        direction: who does more.
        steps: the actions after which it is looked for; empty for all.
        may_differ: the facts that may differ, with names of parameters, such as `{leader}.hw`; None for all.
        applies: returns what is the case, with the names of brokers; None where it is something else.
    """

    name: str
    kafka: str
    direction: Direction
    steps: frozenset[str]
    may_differ: frozenset[str] | None
    applies: Callable[[ComparedT], str | None]

    def met(self, compared: ComparedT) -> str | None:
        """Return what is the case after a step, if this is the difference; else None."""
        step, found = compared.step, compared.found
        if self.steps and step.action not in self.steps:
            return None
        if self.may_differ is not None:
            may_differ = {name.format(**step.given) for name in self.may_differ}
            if not {one.field for one in found} <= may_differ:
                return None
        return self.applies(compared)
