"""Facts of the model and of Kafka, and where they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Difference", "Fact", "Facts", "differing"]

Fact = str | int | bool | list[str] | None

Facts = Mapping[str, Fact]
"""What is compared, by name."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact on which the model and Kafka do not agree.

    Attributes:
        field: its name, such as `b1.hw`.
        model: what the model says.
        kafka: what Kafka says.
    """

    field: str
    model: Fact
    kafka: Fact


def differing(model: Facts, kafka: Facts) -> list[Difference]:
    """Return the facts that differ."""
    return [Difference(name, fact, kafka.get(name)) for name, fact in model.items() if kafka.get(name) != fact]
