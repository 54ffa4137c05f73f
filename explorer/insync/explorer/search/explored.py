"""What a breadth-first search has found: the states by partition, and what was counted level by level."""

from __future__ import annotations

from dataclasses import dataclass, field

from insync.explorer.limits import StopReason
from insync.explorer.search.partitions import Partition, WholePartition
from insync.machine.packed import Words
from insync.model.errors import InternalError

__all__ = ["Hit", "Space"]


@dataclass(frozen=True, slots=True)
class Hit:
    """The first level in which something was found, how often, and the least state there."""

    level: int
    count: int
    least: Words


@dataclass(slots=True)
class Space:
    """The part of the state space that was searched.

    Attributes:
        partitions: the states; with symmetry their representatives.
        levels: how many states each complete level has.
        steps: how many steps of each action were taken from the levels that were expanded.
        violations: for each property that fails, by its place in the order they were given, where it first does.
        refused: where a step's checks first fail.
        stopped_by: the bound that ended the search.
        expanded: how many levels were expanded as a whole.
        stepless: of each of these how many states have no step, though they are not outside.
        visited: how many states of each complete level were visited: all, or their representatives.
        outside: how many states of each complete level are outside of what the model is confined to.
    """

    partitions: list[Partition]
    steps: list[int]
    levels: list[int] = field(default_factory=list)
    violations: dict[int, Hit] = field(default_factory=dict)
    refused: Hit | None = None
    stopped_by: StopReason | None = None
    expanded: int = 0
    stepless: list[int] = field(default_factory=list)
    visited: list[int] = field(default_factory=list)
    outside: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.visited = self.visited or list(self.levels)
        self.outside = self.outside or [0] * len(self.levels)

    @property
    def whole(self) -> list[WholePartition]:
        """The partitions of a search that was to keep its states whole."""
        whole = [partition for partition in self.partitions if isinstance(partition, WholePartition)]
        if len(whole) < len(self.partitions):
            message = "The states of this space were asked for, and only codes of them are kept."
            raise InternalError(message)
        return whole

    @property
    def kept(self) -> str:
        """As what the states are kept; see `CheckResult`."""
        return next((partition.kept for partition in self.partitions), "states")

    def without_states(self) -> Space:
        """Return a copy of what was counted; neither states nor what ended the search are part of it."""
        counts = (list(each) for each in (self.stepless, self.visited, self.outside))
        violations = dict(self.violations)
        return Space([], list(self.steps), list(self.levels), violations, self.refused, None, self.expanded, *counts)

    def close(self) -> None:
        """Give all memory back."""
        for partition in self.partitions:
            partition.close()
