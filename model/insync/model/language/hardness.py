"""What a trace takes to happen: how hard its schedule is, in words that a model finds for its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from insync.model.domains.composite import ReadableState

__all__ = ["Demand", "Hardness", "Taken"]


class Hardness(Enum):
    """What has to happen, from what is done every day to what hardly ever comes about."""

    OPERATION = "operation"
    FAILURE = "failure"
    DELAY = "delay"
    RACE = "race"


@dataclass(frozen=True, slots=True)
class Demand:
    """Something that must happen for a trace to come about.

    Attributes:
        step: the number of the step at which it has happened.
        hardness: what it is.
        text: it in words, as a clause without a full stop.
    """

    step: int
    hardness: Hardness
    text: str


class Taken(Protocol):
    """A step of a trace: its action by name (None for the start), its parameters by name, and the state after it."""

    @property
    def action(self) -> str | None:
        """The name of the action."""

    @property
    def parameters(self) -> Mapping[str, str]:
        """The labels of the parameters, by name."""

    @property
    def state(self) -> ReadableState:
        """The readable state after the step."""
