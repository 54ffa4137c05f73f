"""How a model of the quorum corresponds to Kafka's: what a step asks of Kafka, and which facts of both are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Protocol

from insync.conformance.classes.subject import Argument
from insync.conformance.correspondence.facts import Fact
from insync.conformance.quorum.quorum_seen import QuorumSeen
from insync.model import ReadableState

__all__ = ["Command", "Correspondence", "Facts", "number_in"]

Command = tuple[str, dict[str, Argument]]
"""The name of a command to Kafka's quorum, and its arguments."""

Facts = dict[str, Fact]
"""What is compared, by name."""


class Correspondence(Protocol):
    """What `QuorumCorrespondence` calls of one model, and of the release beside it."""

    @property
    def always(self) -> frozenset[str]:
        """The actions without which little happens."""

    @property
    def founders(self) -> Iterable[str]:
        """The first voters, where voters come and go, by the names of the model."""

    def opening(self) -> Mapping[str, Argument]:
        """Return the arguments of `open`, the command with which the servers are started."""

    def command_of(
        self, action: str, given: Mapping[str, str], seen: QuorumSeen, state: ReadableState
    ) -> Command | None:
        """Return the command that a step of the model is, None where Kafka has no such message.

        Args:
            action: the model's action.
            given: its parameters.
            seen: Kafka's state before the step.
            state: the model's.

        Raises:
            NotSchedulable: it cannot be brought about.
        """

    def next_command(self, action: str, given: Mapping[str, str], seen: QuorumSeen) -> Command | None:
        """Return what is still to be done for a step, None when all of it is; asked again after each command.

        The action is `open` where the servers have been started.
        """

    def own_steps(self, seen: QuorumSeen, state: ReadableState) -> Iterable[tuple[str, dict[str, str]]]:
        """Return the steps that Kafka seems to have taken by itself: actions of the model with their parameters.

        The first that the model can take is taken, and then it is asked again.
        """

    def facts_of_model(self, state: ReadableState, kafka: Facts) -> Facts:
        """Return what is compared of a state of the model.

        Args:
            state: it.
            kafka: what is compared of Kafka's quorum, which the model may have more of.
        """

    def facts_of_kafka(self, seen: QuorumSeen, acknowledged: Set[int]) -> Facts:
        """Return what is compared of Kafka's quorum.

        Args:
            seen: its state.
            acknowledged: the clients' records that any leader has committed so far.
        """


def number_in(name: str) -> int:
    """Return the number by which Kafka knows a server or a value of the model's, such as `n1` or `v2`."""
    return int(name[1:])
