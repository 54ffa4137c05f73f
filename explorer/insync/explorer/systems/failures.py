"""How a system fails beside a model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["FailedWalk", "FailureKind"]


class FailureKind(StrEnum):
    """How a tour failed.

    DIFFERENCE: the system shows or returns something else than the model, each time these steps are taken.
    RAISED: a method of the adapter raised an exception.
    HUNG: a method of the adapter did not return within the limit.
    UNSTABLE: the system contradicts itself: it shows two things after the same steps.
    """

    DIFFERENCE = "difference"
    RAISED = "raised"
    HUNG = "hung"
    UNSTABLE = "unstable"


@dataclass(frozen=True, slots=True)
class FailedWalk:
    """A walk that failed.

    Attributes:
        kind: how it failed.
        reason: why, in a sentence.
        start: the number of the initial state.
        steps: the steps of the graph, by number; the last one failed.
        actions: the numbers of their bound actions.
        called: the method that raised or hung; empty for a difference.
        error: what it raised.
    """

    kind: FailureKind
    reason: str
    start: int
    steps: list[int]
    actions: list[int]
    called: str = ""
    error: BaseException | None = None

    def is_like(self, other: FailedWalk) -> bool:
        """Return whether two walks fail in the same way."""
        return (self.kind, self.called, type(self.error)) == (other.kind, other.called, type(other.error))
