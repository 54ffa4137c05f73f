"""The ledger of a search on Spark: the figures of each level, and when they end the search.

The rules are those of the local search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from insync.explorer.manifest_entries import as_dict, as_list, as_numbers, as_text, require
from insync.explorer.search.explored import Explored, LevelSummary
from insync.explorer.search.manifest_counts import SpaceShape, space_entries, space_of
from insync.machine.packed import Found
from insync.runtime.checksums import DIGEST_BYTES
from insync.runtime.watch import Limits
from insync.spark_explore.wire.run_states import CountedFiles

__all__ = ["Ledger", "LevelFigures"]


@dataclass(slots=True)
class LevelFigures(LevelSummary):
    """The counts of a level, and the digest of each partition's file; no files for a level of the driver's own."""

    files: dict[int, bytes] = field(default_factory=dict)


class Ledger:
    """All levels that were searched.

    Args:
        start: the levels that the driver searched itself; they are complete, and the last one is not expanded.
        start_files: the digests of the files with these levels, one per partition.
    """

    def __init__(self, start: Explored, start_files: bytes) -> None:
        self.start, self.start_files = start, start_files
        self.levels: dict[int, LevelFigures] = {}

    @property
    def warm(self) -> int:
        """How many levels the driver searched itself."""
        return len(self.start.levels)

    @property
    def depth(self) -> int:
        """How many levels have states."""
        return self.warm + sum(1 for level, figures in self.levels.items() if level > self.warm and figures.visited)

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
        further = (self.levels[each].visited for each in range(self.warm + 1, level + 1))
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

    def space(self, limits: Limits, keep_going: bool) -> tuple[Explored, bool]:
        """Return the explored space, and whether the search is over.

        It is the space that the local search explores; levels that were searched beyond its end are left out.
        """
        space = self.start.without_states()
        goes_on = not space.is_complete and space.goes_on(limits, keep_going)
        while goes_on:
            last, following = (self.levels.get(len(space.levels) + further) for further in (0, 1))
            if last is None or last.steps is None:
                return space, False
            goes_on = space.expand(last, keep_going)
            if goes_on and following is None:
                return space, False
            goes_on = goes_on and following is not None and space.close(following, limits, keep_going)
        return space, True

    def before_violations(self, keep_going: bool) -> Explored:
        """Return the space before the first violation beyond the levels that the driver searched itself."""
        space, _ = self.space(Limits(), keep_going)
        ends = [hit.level - 1 for hit in space.violations.values() if hit.level > self.warm]
        if space.refused is not None and space.refused.level > self.warm:
            ends.append(space.refused.level)
        return self.space(Limits(depth=min(ends, default=None)), keep_going)[0]

    # ----------------------------------------------------------------------------------------------------- manifest

    def entries(self) -> dict[str, Any]:
        """Return the ledger as JSON values for the manifest."""
        return {
            "start": space_entries(self.start),
            "start_files": self.start_files.hex(),
            "levels": {
                str(level): {
                    "count": figures.visited,
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
    visited, states, outside, stepless = numbers
    steps = entries.get("steps", 0)
    return LevelFigures(
        visited,
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
