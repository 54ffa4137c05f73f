"""The levels of a run: the counts of each, and which of them a search with some limits takes for its own.

Both engines write them into the manifest of a run directory. On Spark a job may find levels beyond the end of a search.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from insync.explorer.manifest_entries import as_dict, as_list, as_numbers, as_text, require
from insync.explorer.search.explored import Explored, LevelSummary
from insync.machine.packed import Found
from insync.machine.stores.run_files import CountedFiles
from insync.runtime.checksums import DIGEST_BYTES
from insync.runtime.watch import Limits

__all__ = ["RunLevels", "SpaceShape"]


@dataclass(frozen=True, slots=True)
class SpaceShape:
    """The numbers of bound actions, of conditions, and of 64-bit words of a state."""

    actions: int
    conditions: int
    words: int


@dataclass(slots=True)
class RunLevels:
    """All levels that were searched.

    Attributes:
        actions: how many bound actions the program has.
        levels: by their numbers, from 1 on.
        together: how many of the first levels are in one file per partition; the digests are those of level 1.
    """

    actions: int
    levels: dict[int, LevelSummary] = field(default_factory=dict)
    together: int = 1

    @property
    def depth(self) -> int:
        """How many levels have states."""
        return sum(1 for level in self.levels.values() if level.visited)

    @property
    def expanded(self) -> int:
        """The last level whose states were expanded, all successors being in these levels; 0 if none was."""
        return max((number for number, level in self.levels.items() if level.steps is not None), default=0)

    @property
    def counted(self) -> CountedFiles:
        """The digests of the files of all levels."""
        return CountedFiles({number: _joined(level) for number, level in self.levels.items() if level.files})

    def counted_for(self, level: int) -> CountedFiles:
        """Return the digests of the files with one level."""
        first, _ = self.range_of(level)
        return CountedFiles({first: _joined(self.levels[first])})

    def range_of(self, level: int) -> tuple[int, int]:
        """Return the first and the last level of the files with a level."""
        return (1, self.together) if level <= self.together else (level, level)

    def visited(self, level: int) -> int:
        """Return how many states were visited up to a level."""
        return sum(self.levels[number].visited for number in range(1, level + 1))

    def figures(self, level: int) -> LevelSummary:
        """Return the counts of a level, which can be added to."""
        return self.levels.setdefault(level, LevelSummary())

    def has_files(self, level: int) -> bool:
        """Return whether a level has files with its number."""
        return level == 1 or level > self.together

    def space(self, limits: Limits, keep_going: bool) -> tuple[Explored, bool]:
        """Return the explored space, and whether the search is over.

        Levels that were searched beyond its end are left out.
        """
        space = Explored([0] * self.actions)
        goes_on = 1 in self.levels and space.close(self.levels[1], limits, keep_going)
        while goes_on:
            last, following = (self.levels.get(len(space.levels) + further) for further in (0, 1))
            if last is None or (last.steps is None and (keep_going or last.refused.least is None)):
                return space, False
            goes_on = space.expand(last, keep_going)
            if goes_on and following is None:
                return space, False
            goes_on = goes_on and following is not None and space.close(following, limits, keep_going)
        return space, True

    def before_violations(self, keep_going: bool) -> Explored:
        """Return the space before the first violation beyond the levels that are in one file."""
        space, _ = self.space(Limits(), keep_going)
        ends = [hit.level - 1 for hit in space.violations.values() if hit.level > self.together]
        if space.refused is not None and space.refused.level > self.together:
            ends.append(space.refused.level)
        return self.space(Limits(depth=min(ends, default=None)), keep_going)[0]

    # ----------------------------------------------------------------------------------------------------- manifest

    def entries(self) -> dict[str, Any]:
        """Return the levels as JSON values for the manifest."""
        every = [_entry(self.levels[number]) for number in range(1, len(self.levels) + 1)]
        return {"actions": self.actions, "together": self.together, "levels": every}

    @classmethod
    def from_entries(cls, entries: dict[str, Any], partitions: int) -> RunLevels:
        """Return the levels that `entries` described.

        Raises:
            Damaged: `entries` cannot have returned them.
        """
        actions, together = as_numbers([entries.get("actions"), entries.get("together")])
        read = cls(actions, together=together)
        for number, found in enumerate(as_list(entries.get("levels")), 1):
            level = read.levels[number] = _level(as_dict(found))
            require(level.steps is None or len(level.steps) == actions)
            require(len(level.files) == (partitions if read.has_files(number) else 0))
            before = read.levels.get(number - 1)
            require(not level.visited or before is None or (before.steps is not None and before.visited > 0))
        require(1 <= together <= read.depth)
        return read

    def fits(self, shape: SpaceShape) -> bool:
        """Return whether a search with a shape can have these levels."""
        return self.actions == shape.actions and all(
            len(level.violations) == shape.conditions
            and all(each.least is None or len(each.least) == shape.words for each in (*level.violations, level.refused))
            for level in self.levels.values()
        )


def _joined(level: LevelSummary) -> bytes:
    return b"".join(digest for _, digest in sorted(level.files.items()))


def _entry(level: LevelSummary) -> dict[str, Any]:
    return {
        "visited": level.visited,
        "states": level.states,
        "outside": level.outside,
        "violations": [_found_entry(found) for found in level.violations],
        "steps": level.steps,
        "refused": _found_entry(level.refused),
        "stepless": level.stepless,
        "files": " ".join(digest.hex() for _, digest in sorted(level.files.items())),
    }


def _level(entries: dict[str, Any]) -> LevelSummary:
    numbers = as_numbers([entries.get(name) for name in ("visited", "states", "outside", "stepless")])
    visited, states, outside, stepless = numbers
    require(visited <= states and (visited > 0) == (states > 0) and outside <= states and stepless <= states)
    steps, digests = entries.get("steps", 0), as_text(entries.get("files")).split()
    require(all(len(each) == 2 * DIGEST_BYTES and set(each) <= set("0123456789abcdef") for each in digests))
    level = LevelSummary(
        visited,
        states,
        outside,
        [_found(found) for found in as_list(entries.get("violations"))],
        None if steps is None else as_numbers(steps),
        _found(entries.get("refused")),
        stepless,
        {number: bytes.fromhex(each) for number, each in enumerate(digests)},
    )
    require(all(found.count <= visited for found in level.violations))  # a state may have several refused steps
    require(level.steps is not None or not stepless)
    return level


def _found_entry(found: Found) -> list[Any]:
    return [found.count, found.least]


def _found(value: object) -> Found:
    entry = as_list(value)
    require(len(entry) == 2)
    (count,), least = as_numbers(entry[:1]), entry[1]
    words = None if least is None else tuple(as_numbers(least))
    require((words is not None) == (count > 0) and all(word < 1 << 64 for word in words or ()))
    return Found(count, words)
