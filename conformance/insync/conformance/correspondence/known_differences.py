"""Where a model and Kafka are known to go apart, and steps that Kafka cannot be made to take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from insync.conformance.correspondence.facts import Difference, Fact
from insync.model import ReadableState

__all__ = [
    "Compared",
    "Direction",
    "Known",
    "KnownDifference",
    "Missing",
    "NotSchedulable",
    "Step",
    "Thrown",
    "Unlike",
]


class Direction(Enum):
    """Who does more than the other where both go apart."""

    MODEL = "the model does more"
    KAFKA = "Kafka does more"
    NEITHER = "each does what the other does not"


@dataclass(frozen=True, slots=True)
class Known:
    """What Kafka is known to do otherwise than a model: a row of the page of known differences.

    Attributes:
        name: a clause without names of brokers; walks count under it.
        kafka: what Kafka does, with its methods in backticks, and where that was read or executed.
        when: the condition under which a walk ends there.
        model: what the model does there, as a predicate.
        direction: who does more.
    """

    name: str
    kafka: str
    when: str
    model: str
    direction: Direction


class NotSchedulable(Exception):
    """A step that cannot be brought about on Kafka's classes.

    Args:
        message: why.
        known: the known difference that it is; None if the message has no names of brokers, and is counted itself.
    """

    def __init__(self, message: str, known: Known | None = None) -> None:
        super().__init__(message)
        self.kind = message if known is None else known.name


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


ComparedT = TypeVar("ComparedT", bound=Compared)


@dataclass(frozen=True, slots=True)
class KnownDifference(Known, Generic[ComparedT]):
    """A place where the model and Kafka are known to go apart after a step.

    What differs besides `may_differ` is a difference that nobody knows, whatever else is the case.

    Attributes:
        steps: the actions after which it is looked for; empty for all.
        may_differ: the facts that may differ, with names of parameters, such as `{leader}.hw`; None for all.
        applies: returns what is the case, with the names of brokers; None where it is something else.
    """

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
