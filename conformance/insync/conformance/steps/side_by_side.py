"""What walks: a model and Kafka side by side, each step taken on both."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from insync.conformance.steps.likeness import Difference
from insync.explorer.stepping.stepper import Move, Walk
from insync.explorer.traces.trace import TraceStep
from insync.model import ReadableState

__all__ = ["SideBySide"]


class SideBySide(Protocol):
    """A model and Kafka, which are in the same state until they differ.

    Attributes:
        walk: of the model.
        taken: the steps so far, with the model's states; the first is the start.
        own: the numbers of the steps that Kafka took by itself.
        compared: how many facts were compared after the last step.
        spoilt: whether Kafka has got commands of a step that turned out not to be schedulable.
    """

    walk: Walk
    taken: list[TraceStep]
    own: list[int]
    compared: int
    spoilt: bool

    @property
    def always(self) -> Collection[str]:
        """The actions without which little happens."""

    @property
    def moves(self) -> list[Move]:
        """The moves of the model so far."""

    def open(self) -> list[Difference]:
        """Start Kafka, and return on what both differ at the start."""

    def take(self, number: int) -> list[Difference]:
        """Take an enabled action on both, and return on what they differ after it; raises NotSchedulable."""

    def kafka_state(self) -> ReadableState:
        """Return the state as Kafka has it."""
