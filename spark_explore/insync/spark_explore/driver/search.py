"""Level-synchronous breadth-first search on Spark: jobs of one or several levels, until the levels end it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from insync.explorer.progress import Progress, Reporter, estimated_end, last_growth
from insync.explorer.search.explored import Explored
from insync.explorer.search.run_levels import RunLevels
from insync.machine.packed import Sizes
from insync.runtime.errors import InternalError, UserError
from insync.runtime.memory import resident_memory
from insync.runtime.watch import Stopped, StopReason, Watch
from insync.spark_explore.driver.jobs import level_plan, run_again
from insync.spark_explore.executor.worker import Assignment
from insync.spark_explore.wire.file_systems import shown_name
from insync.spark_explore.wire.packets import Kind, Row, read_closed, read_expanded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SparkSearch", "TaskReporter"]

_LONGEST = ((20_000, 8), (200_000, 6), (1_000_000, 3), (1 << 62, 2))
"""(most states in the last level, levels in one job): a job costs as much as a small level.

Where levels take little time, a job has more, up to those of the first entry.
"""

_JOB_SECONDS = 5.0  # of a job that has more levels, at most: after an interrupt its levels are lost

TaskReporter = Callable[[dict[str, float]], None]
"""Called with the times and sizes of each task."""


class SparkSearch:
    """One exhaustive search.

    Args:
        spark: the session.
        given: the assignment of the tasks.
        sizes: of the program.
        levels: the levels that were searched before, to which others are added.
        watch: when to stop.
        keep_going: whether to continue after a violation.
        reporter: called for each level.
        task_reporter: called for each task; for measurements.
    """

    def __init__(
        self,
        spark: SparkSession,
        given: Assignment,
        sizes: Sizes,
        levels: RunLevels,
        watch: Watch,
        keep_going: bool,
        reporter: Reporter | None,
        task_reporter: TaskReporter | None = None,
    ) -> None:
        self.spark, self.place, self.sizes, self.levels = spark, given.place, sizes, levels
        self._recipe = given.recipe
        self.watch, self.keep_going, self.reporter, self.task_reporter = watch, keep_going, reporter, task_reporter
        self._began = 0.0
        self._level_seconds = inf  # that a level of the last job took
        self._begun_with = levels.depth  # levels, which were not searched here

    def run(self, save: Callable[[], None]) -> Explored:
        """Search until the space is complete or something ends it.

        Args:
            save: writes the manifest; called after each job.
        """
        reported, self._began = 0, self.watch.seconds
        while True:
            space, over = self.levels.space(self.watch.limits, self.keep_going)
            reported = self._report(space, reported)
            if over:
                return space
            reason = self.watch.reason() or self._job(space)
            if reason is not None:
                space, _ = self.levels.space(self.watch.limits, self.keep_going)
                space.stopped_by = space.stopped_by or reason
                return space
            save()

    def _job(self, space: Explored) -> StopReason | None:
        """Run the next levels; return the reason if they could not be completed."""
        given, level = Assignment(self.place, self._recipe, self.levels.counted), len(space.levels)
        further = self._further(space)
        what = f"levels {level + 1} to {level + further} from {space.visited[-1]:,} of {sum(space.visited):,} states"
        began = self.watch.seconds
        try:
            rows = run_again(self.spark, lambda: level_plan(self.spark, given, level, further), self.watch, what)
        except Stopped as stopped:
            return stopped.reason
        self._level_seconds = (self.watch.seconds - began) / further
        self._book(rows)
        return None

    def _further(self, space: Explored) -> int:
        """How many levels the next job searches."""
        longest = next(number for size, number in _LONGEST if space.visited[-1] <= size)
        to_come = self._level_seconds * max(1.0, last_growth(space.visited))
        longest = max(longest, int(min(_LONGEST[0][1], _JOB_SECONDS / max(to_come, 1e-9))))
        longest = min(longest, _levels_left(space.visited))
        if self.watch.limits.depth is not None:
            longest = min(longest, self.watch.limits.depth - len(space.levels))
        return max(longest, 1)

    def _book(self, rows: list[Row]) -> None:
        """Enter the counts of the tasks; a task that ran twice is in the rows once.

        Raises:
            UserError: the number of known states at an expanded level differs from that in the manifest.
        """
        fresh: set[tuple[int, Kind]] = set()
        known: dict[int, int] = {}
        for row in rows:
            if row.kind in (Kind.CLOSED, Kind.EXPANDED):
                if (row.level, row.kind) not in fresh:
                    self._forget(row)
                    fresh.add((row.level, row.kind))
                self._enter(row)
                if row.kind is Kind.EXPANDED:
                    known[row.level] = known.get(row.level, 0) + row.count
            elif row.kind is Kind.FIGURES and self.task_reporter is not None:
                self.task_reporter(json.loads(row.block))
        for level, found in known.items():
            self._require_known(level, found)

    def _require_known(self, level: int, found: int) -> None:
        """Compare the states that tasks read from files with the count when the files were written."""
        if len(self.levels.figures(level).files) != (self.place.partitions if self.levels.has_files(level) else 0):
            message = f"Level {level} was closed by fewer tasks than there are partitions."
            raise InternalError(message)
        if found != self.levels.visited(level):
            message = (
                f"{shown_name(self.place.uri)}: the files have {found:,} states up to level {level}, and the manifest "
                f"counts {self.levels.visited(level):,}. The run directory is damaged; search again in another "
                "--run-dir."
            )
            raise UserError(message)

    def _forget(self, row: Row) -> None:
        figures = self.levels.figures(row.level)
        if row.kind is Kind.CLOSED:
            figures.visited, figures.states, figures.outside, figures.violations, figures.files = 0, 0, 0, [], {}
        else:
            figures.steps = None
            figures.refused.count, figures.refused.least, figures.stepless = 0, None, 0

    def _enter(self, row: Row) -> None:
        figures, words = self.levels.figures(row.level), self.sizes.words
        if row.kind is Kind.CLOSED:
            digest, states, outside, violations = read_closed(row.block, words)
            figures.files[row.partition] = digest
            figures.add_states(row.count, states, outside, violations)
        else:
            figures.add_steps(*read_expanded(row.block, self.sizes.actions, words))

    def _report(self, space: Explored, reported: int) -> int:
        """Report the levels that are new since the last report."""
        levels = len(space.levels)
        if self.reporter is None:
            return levels
        now = self.watch.seconds
        for level in range(max(reported, self._begun_with - 1) + 1, levels + 1):
            known = space.visited[:level]
            rate = sum(known[self._begun_with :]) / max(now - self._began, 1e-9)
            said = Progress(level, known[-1], sum(known), rate, resident_memory(), now)
            end = estimated_end(known, self.watch.allows)
            self.reporter(replace(said, growth=last_growth(known), end=end))
        return levels


def _levels_left(levels: Sequence[int]) -> int:
    """Estimate how many levels are to come, the last, empty one included, when levels are shrinking.

    Near the end of a space the ratio of the sizes of successive levels falls by nearly the same factor at each level.
    """
    if len(levels) < 3 or not levels[-1] < levels[-2] < levels[-3]:
        return 1 << 30
    size, ratio = float(levels[-1]), levels[-1] / levels[-2]
    factor = min(ratio / (levels[-2] / levels[-3]), 1.0)
    left = 1
    while size >= 1 and left < 1000:
        ratio *= factor
        size *= ratio
        left += size >= 1
    return left
