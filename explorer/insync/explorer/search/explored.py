"""What a level-synchronous breadth-first search has found, level by level, and the rule that ends it.

Every engine uses it: the search on this machine, the evaluator, and the driver of the search on Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from insync.machine.packed import Found, Words
from insync.machine.stores.hash_table import HashTableStore
from insync.machine.stores.store import StateStore
from insync.runtime.errors import InternalError
from insync.runtime.watch import Limits, StopReason

__all__ = ["Explored", "Hit", "LevelSummary"]


@dataclass(frozen=True, slots=True)
class Hit:
    """The first level with a violation: its number, how many states there violate, and the least of these."""

    level: int
    count: int
    least: Words


@dataclass(slots=True)
class LevelSummary:
    """The counts of one level: of its states, and of the steps from them. Workers, or partitions, are added up.

    Attributes:
        visited: the states that were visited: all, or their representatives.
        states: the states that these represent.
        outside: the states outside the confinement.
        violations: for each property the visited states that violate it.
        steps: from its states, for each bound action; None before the level is expanded.
        refused: the states with a step whose checks fail.
        stepless: the states that have no step and are inside the confinement.
        files: the digest of the file of each partition, if the level was written to a run directory.
    """

    visited: int = 0
    states: int = 0
    outside: int = 0
    violations: list[Found] = field(default_factory=list)
    steps: list[int] | None = None
    refused: Found = field(default_factory=Found)
    stepless: int = 0
    files: dict[int, bytes] = field(default_factory=dict)

    def add_states(self, visited: int, states: int, outside: int, violations: Sequence[Found]) -> None:
        """Add the states of a part of the level."""
        self.visited += visited
        self.states += states
        self.outside += outside
        self.violations = self.violations or [Found() for _ in violations]
        for total, found in zip(self.violations, violations, strict=True):
            total.add(found)

    def add_steps(self, steps: Sequence[int], refused: Found, stepless: int) -> None:
        """Add the steps from a part of the level."""
        self.steps = list(steps) if self.steps is None else [a + b for a, b in zip(self.steps, steps, strict=True)]
        self.refused.add(refused)
        self.stepless += stepless


@dataclass(slots=True)
class Explored:
    """The part of the state space that was searched, and the rule that ends a search of any engine.

    Attributes:
        steps: for each bound action the steps taken from the expanded levels.
        levels: the number of states of each complete level.
        violations: the first failure of each property that fails, by the property's place in the order given.
        refused: where a step's checks first fail.
        stopped_by: the limit that ended the search.
        stepless: for each expanded level, the states that have no step and are inside the confinement.
        visited: the states of each complete level that were visited: all, or their representatives.
        outside: the states of each complete level that are outside the confinement.
        partitions: the states; with symmetry their representatives. Empty if an engine keeps them elsewhere.
        summaries: the counts of each complete level, from which the other counts follow.
    """

    steps: list[int]
    levels: list[int] = field(default_factory=list)
    violations: dict[int, Hit] = field(default_factory=dict)
    refused: Hit | None = None
    stopped_by: StopReason | None = None
    stepless: list[int] = field(default_factory=list)
    visited: list[int] = field(default_factory=list)
    outside: list[int] = field(default_factory=list)
    partitions: list[StateStore] = field(default_factory=list)
    summaries: list[LevelSummary] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.visited = self.visited or list(self.levels)
        self.outside = self.outside or [0] * len(self.levels)

    @property
    def expanded(self) -> int:
        """The number of levels that were expanded as a whole."""
        return len(self.stepless)

    @property
    def is_complete(self) -> bool:
        """Whether this is the whole space."""
        return self.stopped_by is None and self.expanded == len(self.levels)

    def expand(self, level: LevelSummary, keep_going: bool) -> bool:
        """Add the steps from the last level; return whether the search goes on.

        A level in which a refused step ends the search is not counted as expanded: its successors are dropped.
        """
        if level.refused.least is not None and self.refused is None:
            self.refused = Hit(len(self.levels), level.refused.count, level.refused.least)
            if not keep_going:
                self._expanded(refused=level.refused)
                return False
        assert level.steps is not None, "the level was expanded"
        self.steps = [a + b for a, b in zip(self.steps, level.steps, strict=True)]
        self.stepless.append(level.stepless)
        self._expanded(steps=level.steps, refused=level.refused, stepless=level.stepless)
        return True

    def _expanded(self, **found: Any) -> None:
        """Add what the expansion of the last level has found to its summary, which others may share."""
        self.summaries[-1:] = [replace(each, **found) for each in self.summaries[-1:]]

    def close(self, level: LevelSummary, limits: Limits, keep_going: bool) -> bool:
        """Add the states of the next level, unless it has none; return whether the search goes on."""
        if not level.visited:
            return False
        self.levels.append(level.states)
        self.visited.append(level.visited)
        self.outside.append(level.outside)
        self.summaries.append(level)
        for number, found in enumerate(level.violations):
            if found.least is not None and number not in self.violations:
                self.violations[number] = Hit(len(self.levels), found.count, found.least)
        return self.goes_on(limits, keep_going)

    def goes_on(self, limits: Limits, keep_going: bool) -> bool:
        """Return whether the last level is to be expanded: unless a property fails, or a limit is reached.

        Args:
            limits: of the search.
            keep_going: whether the search continues after a violation.
        """
        if not keep_going and (self.violations or self.refused):
            return False
        self.stopped_by = limits.after_level(len(self.levels), sum(self.levels))
        return self.stopped_by is None

    @property
    def whole(self) -> list[HashTableStore]:
        """The partitions of a search that keeps its states whole."""
        whole = [partition for partition in self.partitions if isinstance(partition, HashTableStore)]
        if len(whole) < len(self.partitions):
            message = "This search has kept codes of its states, not the states themselves."
            raise InternalError(message)
        return whole

    @property
    def kept(self) -> str:
        """How the states are kept; see `CheckResult`."""
        return next((partition.kept for partition in self.partitions), "states")

    def release(self) -> None:
        """Release all memory."""
        for partition in self.partitions:
            partition.close()
