"""`simulate` on Spark: Spark tasks take the walks of the local engine, with the same result."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from insync.explorer.progress import WalkProgress, WalkReporter
from insync.explorer.search.walks import SeenStates, Taken, Walks
from insync.explorer.simulate import SimulationResult, simulated, strategy_called
from insync.explorer.task import ModelLike, Task
from insync.machine.kernels import WALKS, Part, Texts, load
from insync.machine.packed import PackedRows
from insync.machine.walker import Sightings, Strategy, Walked, merged, nothing_walked
from insync.model.abstraction import Abstraction
from insync.model.expressions.graph import Node
from insync.model.tracing.program import Program
from insync.runtime.memory import resident_memory
from insync.runtime.watch import Limits, Stopped, StopReason, Watch
from insync.spark_explore.driver.check import SparkOptions
from insync.spark_explore.driver.jobs import run_plan, seeded_plan
from insync.spark_explore.driver.session import default_partitions, open_session, prepare_workers
from insync.spark_explore.executor.walk_task import Tour, read_walked, walk_task
from insync.spark_explore.wire.code_bundle import Recipe, insync_version, recipe_for, write_recipe
from insync.spark_explore.wire.packets import Kind, Row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["simulate"]

_FIRST_SHARES = 4  # per partition in the first job; each further job takes twice as many
_MOST_SHARES = 1024


def simulate(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    properties: Sequence[str] | None = None,
    options: SparkOptions | None = None,
    walks: int = 10_000,
    depth: int = 100,
    seed: int = 0,
    strategy: Strategy | str = Strategy.MIXED,
    abstract_states: bool = False,
    until_saturated: int | None = None,
    within: Sequence[str] | None = None,
    limits: Limits | None = None,
    reporter: WalkReporter | None = None,
    stop: threading.Event | None = None,
) -> SimulationResult:
    """Take random walks on Spark, and check properties in each state.

    The arguments are those of `insync.explorer.simulate`, with two differences: `options` says how to use Spark,
    without a run directory, and `reporter` is called after each job. The result is the same except times and memory.

    Raises:
        UserError: as for `insync.explorer.simulate`, or Spark lacks something.
        InternalError: the evaluator does not confirm what the machine code found.
    """
    task = Task(model=model, bounds=bounds, properties=properties, within=within, limits=limits, stop=stop)
    chosen = Walks(walks, depth, seed, strategy_called(strategy), abstract_states, until_saturated)
    return simulated(_WalkJobs(options or SparkOptions()), task, chosen, reporter)


class _WalkJobs:
    """Takes walks in Spark jobs; see `insync.explorer.simulate.WalkEngine`."""

    def __init__(self, options: SparkOptions) -> None:
        self._options = options
        self._recipe: Recipe | None = None

    def compile(
        self,
        program: Program,
        conditions: Sequence[Node],
        abstraction: Abstraction | None,
        watch: Watch,
    ) -> None:
        self._recipe = watch.attend(lambda: recipe_for(program, conditions, WALKS, abstraction=abstraction))

    def take(self, initials: PackedRows, walks: Walks, watch: Watch, reporter: WalkReporter | None) -> Taken:
        assert self._recipe is not None, "compile comes first"
        options, seen = self._options, None
        with ExitStack() as opened:
            if walks.notes_states:
                seen = SeenStates(Sightings.of(load(_sight_alone(self._recipe))), walks.until_saturated)
                opened.callback(seen.close)
            try:
                with open_session(options.session, options.master, options.remote, watch=watch) as spark:
                    prepare_workers(spark, "", options.ship)
                    tours = _Tours(spark, self._recipe, watch, reporter, seen)
                    total = tours.walk(walks, options.partitions or default_partitions(spark))
                    return Taken(total, tours.stopped_by, seen)
            except Stopped as ended:
                return Taken(nothing_walked(self._recipe.sizes.actions), ended.reason, seen)


def _sight_alone(recipe: Recipe) -> Texts:
    """Return the code with which the driver merges the abstract states of tasks."""
    return replace(recipe.texts, parts=tuple(text for text in recipe.texts.parts if text.part is Part.SIGHT))


class _Tours:
    """The jobs of a simulation, one after the other, until the last walk, the first failure, or saturation."""

    def __init__(
        self,
        spark: SparkSession,
        recipe: Recipe,
        watch: Watch,
        reporter: WalkReporter | None,
        seen: SeenStates | None,
    ) -> None:
        self.spark, self.recipe, self.watch, self.reporter = spark, write_recipe(recipe), watch, reporter
        self.stopped_by = watch.reason()
        self.walked, self.seen = nothing_walked(recipe.sizes.actions), seen

    def walk(self, walks: Walks, partitions: int) -> Walked:
        first, shares = 0, _FIRST_SHARES
        while first < walks.count and self.stopped_by is None:
            end = min(first + shares * partitions * walks.per_share, walks.count)
            try:
                walked = self._job(walks, partitions, first, end, self.seen)
                if self.seen is not None and self.seen.saturated is not None:
                    self.stopped_by = StopReason.SATURATION
            except Stopped as stopped:
                self.stopped_by = stopped.reason
                break
            self.walked = merged([self.walked, walked])
            if self.walked.failed is not None:
                break
            self._report(self.walked)
            first, shares = end, min(2 * shares, _MOST_SHARES)
            if first < walks.count:
                self.stopped_by = self.stopped_by or self.watch.reason(grows=self.seen is not None)
        return self.walked

    def _job(self, walks: Walks, partitions: int, first: int, end: int, seen: SeenStates | None) -> Walked:
        """Take the walks from `first` to before `end`, until saturation, and count the abstract states in `seen`.

        The partition in which saturation is reached is walked again up to that walk, as a task returns one sum for all
        its walks.
        """
        tour = Tour(walks.seed, walks.depth, first, end, walks.per_share, partitions, walks.strategy)
        task = walk_task(insync_version(), self.recipe, tour)
        plan = partial(seeded_plan, self.spark, partitions, 0, task)
        rows = run_plan(self.spark, plan, self.watch, f"walks {first:,} to {end - 1:,}")
        parts: list[Walked] = []
        for row in sorted((row for row in rows if row.kind is Kind.WALKED), key=lambda row: row.partition):
            parts.append(read_walked(row.block))
            failed = parts[-1].failed
            if seen is not None:
                begin, last = tour.walks(row.partition)
                entries = b"".join(_seen_by(row.partition, rows))
                seen.add(entries, begin, last, None if failed is None else failed.number)
                if seen.saturated is not None:
                    if seen.saturated < last:
                        parts[-1] = self._job(walks, partitions, begin, seen.saturated, None)
                    break
            if failed is not None:
                break
        return merged(parts)

    def _report(self, walked: Walked) -> None:
        if self.reporter is not None:
            steps, seconds = sum(walked.steps), self.watch.seconds
            rate = steps / max(seconds, 1e-9)
            walks, seen = sum(walked.lengths.values()), None if self.seen is None else len(self.seen)
            self.reporter(WalkProgress(walks, steps, rate, resident_memory(), seconds, seen))


def _seen_by(partition: int, rows: Sequence[Row]) -> list[bytes]:
    return [row.block for row in rows if row.kind is Kind.SEEN and row.partition == partition]
