"""Kafka as another model of itself: what walks beside `cluster` where there is no Java."""

from __future__ import annotations

from dataclasses import dataclass

from insync.conformance.classes.subject import Answer, Argument, Subject
from insync.conformance.correspondence.facts import Difference
from insync.conformance.correspondence.known_differences import Missing, NotSchedulable
from insync.conformance.steps.likeness import compared
from insync.conformance.steps.pair import Pair
from insync.explorer.stepping.stepper import Stepper, Walk
from insync.kafka.cluster.model import Cluster
from insync.model import ReadableState

__all__ = ["FakeKafka", "FakePair"]


@dataclass
class FakeKafka:
    """A Kafka that does what a model does.

    Attributes:
        stepper: of the model that it is.
        not_schedulable: actions that it cannot be made to take.
        steps: how many it has taken, in all clusters.
        lacks: of those actions the ones that it should be able to take.
    """

    stepper: Stepper
    not_schedulable: tuple[str, ...] = ()
    steps: int = 0
    version: str = "0.0.0"
    lacks: tuple[str, ...] = ()

    @classmethod
    def of(cls, model: Cluster, *not_schedulable: str) -> FakeKafka:
        return cls(Stepper(model), not_schedulable)

    def take(self, command: str, **arguments: Argument) -> Answer:
        raise AssertionError(command)


class FakePair(Pair):
    """A pair whose Kafka is fake; the two models have the same actions."""

    def __init__(self, stepper: Stepper, subject: Subject) -> None:
        super().__init__(stepper, subject)
        assert isinstance(subject, FakeKafka)
        self.kafka, self.other = subject, Walk(subject.stepper)

    def open(self) -> list[Difference]:
        return self.differences()

    def kafka_state(self) -> ReadableState:
        return self.kafka.stepper.model.decode(self.other.codes)

    def differences(self) -> list[Difference]:
        counts, found = compared(self.taken[-1].state, self.kafka_state())
        self.compared = sum(counts.values())
        return found

    def take(self, number: int) -> list[Difference]:
        action = self.walk.stepper.actions[number]
        if action.name in self.kafka.not_schedulable:
            message = f"the fake Kafka takes no {action.name}"
            raise (Missing if action.name in self.kafka.lacks else NotSchedulable)(message)
        self.kafka.steps += 1
        self._step(number)
        if number not in self.other.enabled.get(action.name, ()):
            return [Difference(f"the answer to {action.name}", "NONE", "REFUSED")]
        self.other.step(number)
        return self.differences()
