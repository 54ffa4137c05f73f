"""What a consumer does, as commands: it reads a record, asks a new leader about its position, and is reset."""

from __future__ import annotations

from collections.abc import Mapping

from insync.conformance.steps.commands import Commands
from insync.conformance.steps.likeness import broker_id

__all__ = ["OF_CONSUMER", "ConsumerSteps"]

OF_CONSUMER = {"consume": "replica", "validate_position": "leader", "reset_position": "leader"}
"""The actions, which are called like their commands, and the parameter of each that names a broker."""


class ConsumerSteps:
    """Takes the steps of a consumer.

    Args:
        kafka: what takes the commands.
    """

    def __init__(self, kafka: Commands) -> None:
        self._kafka = kafka

    def take(self, action: str, given: Mapping[str, str]) -> None:
        """Take a step.

        Raises:
            Unlike: the consumer is told something else than that all is well, as that the log is truncated.
        """
        broker = broker_id(given[OF_CONSUMER[action]])
        self._kafka.give_accepted("what the consumer is told", action, broker=broker)
