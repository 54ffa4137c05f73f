"""The ledger of a search on Spark: the figures of each level, and when they end the search.

The rules are those of the local search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from insync.explorer.manifest_entries import as_dict, as_list, as_numbers, as_text, require
from insync.explorer.search.explored import Hit, Space, SpaceShape, space_entries, space_of
from insync.machine.packed import Found
from insync.runtime.checksums import DIGEST_BYTES
from insync.runtime.watch import Limits, Watch
from insync.spark_explore.wire.states_file import CountedFiles

__all__ = ["Ledger", "LevelFigures"]


@dataclass(slots=True)
class LevelFigures:
    """The figures of a level.

    Attributes:
        count: how many states were visited.
        states: how many states these represent, with symmetry.
        outside: how many of those are outside the confinement.
        violations: for each property the visited states that violate it.
        steps: from its states, for each action; None before it is expanded.
        refused: the steps whose checks fail.
        stepless: how many of its states have no step, though they are not outside.
        files: the digest of each partition's file; empty for a level that the driver searched itself.
    """

    count: int = 0
    states: int = 0
    outside: int = 0
    violations: list[Found] = field(default_factory=list)
    steps: list[int] | None = None
    refused: Found = field(default_factory=Found)
    stepless: int = 0
    files: dict[int, bytes] = field(default_factory=dict)

    def add_closed(
        self, partition: int, digest: bytes, count: int, states: int, outside: int, violations: Sequence[Found]
    ) -> None:
        """Add the figures of a partition, and the digest of its file."""
        self.files[partition] = digest
        self.count += count
        self.states += states
        self.outside += outside
        if not self.violations:
            self.violations = [Found() for _ in violations]
        for total, found in zip(self.violations, violations, strict=True):
            total.add(found)

    def add_expanded(self, steps: Sequence[int], refused: Found, stepless: int) -> None:
        """Add the figures of the expansion of a partition."""
        self.steps = list(steps) if self.steps is None else [a + b for a, b in zip(self.steps, steps, strict=True)]
        self.refused.add(refused)
        self.stepless += stepless


class Ledger:
    """All levels that were searched.

    Args:
        start: the levels that the driver searched itself; they are complete, and the last one is not expanded.
        start_files: the digests of the files with these levels, one per partition.
    """

    def __init__(self, start: Space, start_files: bytes) -> None:
        self.start, self.start_files = start, start_files
        self.levels: dict[int, LevelFigures] = {}

    @property
    def warm(self) -> int:
        """How many levels the driver searched itself."""
        return len(self.start.levels)

    @property
    def depth(self) -> int:
        """How many levels have states."""
        return self.warm + sum(1 for level, figures in self.levels.items() if level > self.warm and figures.count)

    @property
    def expanded(self) -> int:
        """The last level whose states were expanded, all successors being in these levels."""
        return max([self.start.expanded, *(n for n, figures in self.levels.items() if figures.steps is not None)])

    @property
    def counted(self) -> CountedFiles:
        """The digests of the files of all levels."""
        digests = {1: self.start_files}
        for level, figures in self.levels.items():
            if figures.files:
                digests[level] = b"".join(digest for _, digest in sorted(figures.files.items()))
        return CountedFiles(digests)

    def visited(self, level: int) -> int:
        """Return how many states were visited up to a level."""
        further = (self.levels[each].count for each in range(self.warm + 1, level + 1))
        return sum(self.start.visited[:level]) + sum(further)

    def figures(self, level: int) -> LevelFigures:
        """Return the figures of a level, which can be added to."""
        return self.levels.setdefault(level, LevelFigures())

    def fits(self, shape: SpaceShape) -> bool:
        """Return whether this can be the ledger of a search with a shape."""
        every = [(figures, [*figures.violations, figures.refused]) for figures in self.levels.values()]
        return shape.fits(self.start) and all(
            len(figures.violations) == (shape.conditions if figures.files else 0)
            and all(found.least is None or len(found.least) == shape.words for found in those)
            for figures, those in every
        )

    def space(self, watch: Watch, keep_going: bool) -> tuple[Space, bool]:
        """Return the explored space, and whether the search is over.

        It is the space that the local search explores; levels that were searched beyond its end are left out.
        """
        start = self.start
        space = replace(
            start,
            steps=list(start.steps),
            levels=list(start.levels),
            violations=dict(start.violations),
            visited=list(start.visited),
            stepless=list(start.stepless),
            outside=list(start.outside),
        )
        if space.expanded == len(space.levels):
            return space, True
        while True:
            if not keep_going and (space.violations or space.refused):
                return space, True
            space.stopped_by = watch.after_level(len(space.levels), sum(space.levels))
            if space.stopped_by is not None:
                return space, True
            figures = self.levels.get(len(space.levels))
            if figures is None or figures.steps is None:
                return space, False
            if figures.refused.least is not None and space.refused is None:
                space.refused = Hit(len(space.levels), figures.refused.count, figures.refused.least)
                if not keep_going:  # the level does not count as expanded
                    return space, True
            space.steps = [a + b for a, b in zip(space.steps, figures.steps, strict=True)]
            space.stepless.append(figures.stepless)
            space.expanded = len(space.levels)
            if not self._close(space):
                return space, space.expanded == len(space.levels) and len(space.levels) + 1 in self.levels

    def before_violations(self, keep_going: bool) -> Space:
        """Return the space before the first violation beyond the levels that the driver searched itself."""
        space, _ = self.space(Watch(Limits(), None), keep_going)
        ends = [hit.level - 1 for hit in space.violations.values() if hit.level > self.warm]
        if space.refused is not None and space.refused.level > self.warm:
            ends.append(space.refused.level)
        return self.space(Watch(Limits(depth=min(ends, default=None)), None), keep_going)[0]

    def _close(self, space: Space) -> bool:
        level = len(space.levels) + 1
        figures = self.levels.get(level)
        if figures is None or not figures.count:
            return False
        space.levels.append(figures.states)
        space.visited.append(figures.count)
        space.outside.append(figures.outside)
        for number, found in enumerate(figures.violations):
            if found.least is not None and number not in space.violations:
                space.violations[number] = Hit(level, found.count, found.least)
        return True

    # ----------------------------------------------------------------------------------------------------- manifest

    def entries(self) -> dict[str, Any]:
        """Return the ledger as JSON values for the manifest."""
        return {
            "start": space_entries(self.start),
            "start_files": self.start_files.hex(),
            "levels": {
                str(level): {
                    "count": figures.count,
                    "states": figures.states,
                    "outside": figures.outside,
                    "violations": [_found(found) for found in figures.violations],
                    "steps": figures.steps,
                    "refused": _found(figures.refused),
                    "stepless": figures.stepless,
                    "files": b"".join(digest for _, digest in sorted(figures.files.items())).hex(),
                }
                for level, figures in sorted(self.levels.items())
            },
        }

    @classmethod
    def from_entries(cls, entries: Mapping[str, Any]) -> Ledger:
        """Return the ledger that `entries` described.

        Raises:
            Damaged: `entries` cannot have returned them.
        """
        start = space_of(entries.get("start"))
        ledger = cls(start, b"".join(_read_digests(entries.get("start_files"))))
        partitions = len(ledger.start_files) // DIGEST_BYTES
        for name, found in as_dict(entries.get("levels")).items():
            require(name.isdecimal() and name.isascii() and len(name) < 9)
            level, figures = int(name), _read_figures(as_dict(found))
            require(figures.steps is None or len(figures.steps) == len(start.steps))
            require(len(figures.files) == (partitions if level > ledger.warm else 0))
            ledger.levels[level] = figures
        require(sorted(ledger.levels) == list(range(ledger.warm, ledger.warm + len(ledger.levels))))
        return ledger


def _read_figures(entries: Mapping[str, Any]) -> LevelFigures:
    numbers = as_numbers([entries.get(name) for name in ("count", "states", "outside", "stepless")])
    count, states, outside, stepless = numbers
    steps = entries.get("steps", 0)
    return LevelFigures(
        count,
        states,
        outside,
        [_read_found(found) for found in as_list(entries.get("violations"))],
        None if steps is None else as_numbers(steps),
        _read_found(entries.get("refused")),
        stepless,
        dict(enumerate(_read_digests(entries.get("files")))),
    )


def _read_digests(found: object) -> list[bytes]:
    text, length = as_text(found), 2 * DIGEST_BYTES
    require(len(text) % length == 0 and set(text) <= set("0123456789abcdef"))
    return [bytes.fromhex(text[at : at + length]) for at in range(0, len(text), length)]


def _found(found: Found) -> list[Any]:
    return [found.count, found.least]


def _read_found(found: object) -> Found:
    entry = as_list(found)
    require(len(entry) == 2)
    (count,) = as_numbers(entry[:1])
    return Found(count, None if entry[1] is None else tuple(as_numbers(entry[1])))
