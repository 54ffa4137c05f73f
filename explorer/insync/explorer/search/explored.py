"""What a breadth-first search has found: its states, and for each level the counts and first violations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from insync.explorer.manifest_entries import as_dict, as_list, as_numbers, require
from insync.explorer.search.partitions import Partition, WholePartition
from insync.machine.conditions import Counter
from insync.machine.kernels import Kernels
from insync.machine.packed import Words
from insync.model.expressions.graph import Node, Op
from insync.runtime.errors import InternalError
from insync.runtime.watch import StopReason
from insync.runtime.workers import Team

__all__ = [
    "Hit",
    "Space",
    "SpaceShape",
    "count_states",
    "negated",
    "space_entries",
    "space_of",
]


@dataclass(frozen=True, slots=True)
class Hit:
    """The first level with a violation: its number, how many states there violate, and the least of these."""

    level: int
    count: int
    least: Words


@dataclass(slots=True)
class Space:
    """The part of the state space that was searched.

    Attributes:
        partitions: the states; with symmetry their representatives.
        levels: the number of states of each complete level.
        steps: for each bound action the steps taken from the expanded levels.
        violations: the first failure of each property that fails, by the property's place in the order given.
        refused: where a step's checks first fail.
        stopped_by: the limit that ended the search.
        expanded: the number of levels that were expanded as a whole.
        stepless: for each of these, the states that have no step and are inside the confinement.
        visited: the states of each complete level that were visited: all, or their representatives.
        outside: the states of each complete level that are outside the confinement.
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
        """The partitions of a search that keeps its states whole."""
        whole = [partition for partition in self.partitions if isinstance(partition, WholePartition)]
        if len(whole) < len(self.partitions):
            message = "The states of this space were asked for, and only codes of them are kept."
            raise InternalError(message)
        return whole

    @property
    def kept(self) -> str:
        """How the states are kept; see `CheckResult`."""
        return next((partition.kept for partition in self.partitions), "states")

    def without_states(self) -> Space:
        """Return a copy of the counts and violations, without the states and the reason of the end."""
        counts = (list(each) for each in (self.stepless, self.visited, self.outside))
        violations = dict(self.violations)
        return Space([], list(self.steps), list(self.levels), violations, self.refused, None, self.expanded, *counts)

    def close(self) -> None:
        """Release all memory."""
        for partition in self.partitions:
            partition.close()


# ---------------------------------------------------------------------------------------------- entries of a manifest


def space_entries(space: Space) -> dict[str, Any]:
    """Return the counts and violations of a space as plain values for the manifest of a run directory."""
    return {
        "levels": space.levels,
        "visited": space.visited,
        "steps": space.steps,
        "expanded": space.expanded,
        "violations": {str(number): _hit(hit) for number, hit in space.violations.items()},
        "refused": None if space.refused is None else _hit(space.refused),
        "stepless": space.stepless,
        "outside": space.outside,
    }


@dataclass(frozen=True, slots=True)
class SpaceShape:
    """The numbers of bound actions, of conditions, and of 64-bit words of a state."""

    actions: int
    conditions: int
    words: int

    def fits(self, space: Space) -> bool:
        """Return whether a space read from a manifest can have this shape."""
        hits = [*space.violations.values(), *([] if space.refused is None else [space.refused])]
        return (
            len(space.steps) == self.actions
            and all(number < self.conditions for number in space.violations)
            and all(len(hit.least) == self.words for hit in hits)
        )


def space_of(found: object) -> Space:
    """Return the space that `space_entries` described, without its states.

    Raises:
        Damaged: the entries are none that `space_entries` returns.
    """
    entries = as_dict(found)
    levels, visited = (as_numbers(entries.get(name), least=1) for name in ("levels", "visited"))
    require(len(levels) == len(visited) and all(map(int.__ge__, levels, visited)))
    steps, expanded = as_numbers(entries.get("steps")), entries.get("expanded")
    stepless, outside = (as_numbers(entries.get(name)) for name in ("stepless", "outside"))
    require(type(expanded) is int and expanded == len(stepless) <= len(levels) == len(outside))
    require(all(map(int.__le__, stepless, levels)) and all(map(int.__le__, outside, levels)))
    violations = {}
    for name, entry in as_dict(entries.get("violations")).items():
        require(name.isdecimal() and name.isascii() and len(name) < 9)
        violations[int(name)] = _read_hit(entry, levels)
    first = entries.get("refused", [])
    refused = None if first is None else _read_hit(first, levels)
    return Space([], steps, levels, violations, refused, None, len(stepless), stepless, visited, outside)


def _hit(hit: Hit) -> list[Any]:
    return [hit.level, hit.count, hit.least]


def _read_hit(found: object, levels: Sequence[int]) -> Hit:
    entry = as_list(found)
    require(len(entry) == 3)
    level, count = as_numbers(entry[:2], least=1)
    least = as_numbers(entry[2])
    require(level <= len(levels) and all(word < 1 << 64 for word in least))
    return Hit(level, count, tuple(least))


# --------------------------------------------------------------------------------------- states that meet a condition


def negated(conditions: Sequence[Node]) -> list[Node]:
    """Return the negations of conditions, with which the kernels of `count_states` are compiled."""
    return [node.graph.node(Op.NOT, (node,)) for node in conditions]


def count_states(kernels: Kernels, space: Space, team: Team) -> list[int]:
    """Return for each condition the number of states of the complete levels in which it holds.

    Args:
        kernels: with the part COUNT, compiled with the conditions `negated`, as the code counts states that fail.
        space: the searched space, of states of the same size.
        team: the threads that work.
    """
    counters: list[Counter] = [kernels.counter() for _ in range(team.size)]

    def count(worker: int) -> None:
        for partition in space.whole[worker :: team.size]:
            counters[worker].count(partition.store.address(0), partition.starts[-1])

    try:
        team.run(count)
        return [sum(found) for found in zip(*(counter.take() for counter in counters), strict=True)]
    finally:
        for counter in counters:
            counter.close()
