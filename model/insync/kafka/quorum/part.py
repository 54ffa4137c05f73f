"""A part of the quorum: some of Kafka's classes, the steps that they take, and how a part reaches the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from insync.kafka.quorum.options import When, always
from insync.kafka.quorum.sorts import Voter
from insync.model import Condition, Index, Range, action

if TYPE_CHECKING:
    from insync.kafka.quorum.kraft import Kraft

__all__ = ["Part", "depends_on", "step"]

Sort = TypeVar("Sort", bound="Index | Range")
F = TypeVar("F", bound=Callable[..., Any])
_ON = "__insync_quorum_step_is_on__"


def step(label: str, *, on: When = always) -> Callable[[F], F]:
    """Mark a method of a part as a step.

    Args:
        label: the step in words, with its parameters in braces.
        on: what it depends on; a quorum in which that is not in force has no such step.
    """

    def mark(function: F) -> F:
        setattr(function, _ON, on)
        return action(label=label)(function)

    return mark


def depends_on(method: object) -> When:
    """Return what a step depends on; a method that is no step depends on nothing."""
    found: When = getattr(method, _ON, always)
    return found


class Part:
    """A part of one quorum. It reaches the others by their names in `quorum`.

    Attributes:
        quorum: the quorum that it is a part of.
        b: the chosen bounds.
        features: what is in force under them.
        rules: the rules that are in force.
    """

    def __init__(self, quorum: Kraft) -> None:
        self.quorum, self.b = quorum, quorum.b
        self.features, self.rules = quorum.features, quorum.rules
        for name in dir(type(self)):
            if not depends_on(getattr(type(self), name))(self.features):
                setattr(self, name, None)  # which the quorum then does not have

    def all(self, sort: type[Sort]) -> list[Sort]:
        """Return the members of a sort."""
        return self.quorum.all(sort)

    def beside(self, server: Voter) -> list[tuple[Voter, Condition]]:
        """Return all servers but one, each with the condition that it is another."""
        return self.quorum.beside(server)
