"""`simulate` on Spark: the walks of the local engine, taken by Spark tasks, with the same result."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from insync.explorer.given_model import ModelLike, model_of
from insync.explorer.limits import Limits, Watch
from insync.explorer.progress import WalkProgress, WalkReporter
from insync.explorer.simulate import SimulationResult, shortened, simulation_of, walk_watch, walks_per_share
from insync.machine.kernels import Part
from insync.machine.memory import resident_memory
from insync.machine.walker import FailedWalk, Walked
from insync.model.evaluator import evaluate
from insync.properties.registry import judge
from insync.spark_explore.driver.jobs import Stopped, run_plan, seeded_plan
from insync.spark_explore.driver.options import SparkOptions
from insync.spark_explore.driver.session import default_partitions, open_session, prepare_workers
from insync.spark_explore.executor.walk_task import Tour, merged, read_walked, walk_task
from insync.spark_explore.wire.recipe import Recipe, recipe_for, write_recipe
from insync.spark_explore.wire.version import insync_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["simulate"]

_FIRST_SHARES = 4  # of a partition in the first job; each further job takes twice as many
_MOST_SHARES = 1024


def simulate(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    properties: Sequence[str] | None = None,
    walks: int = 10_000,
    depth: int = 100,
    seed: int = 0,
    limits: Limits | None = None,
    options: SparkOptions | None = None,
    reporter: WalkReporter | None = None,
    stop: threading.Event | None = None,
) -> SimulationResult:
    """Take random walks on Spark, each step uniform over the enabled ones, and check properties in each state.

    The result is that of `insync.explorer.simulate` in every field but the times and the memory.

    Args:
        model: what to walk through: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        bounds: bounds and settings of a class or a name; those left out have their defaults.
        properties: names of properties; None is the model's headline. type_ok is always checked.
        walks: how many, at least 1; walk n is the same whatever their number.
        depth: most steps of a walk, at least 1.
        seed: of the random numbers, from 0 to 2^64 - 1.
        limits: `seconds` of compilation and walks together; walks have no other limit.
        options: how to use Spark; there is no run directory.
        reporter: is told after each job how far it is.
        stop: ends it when it is set.

    Raises:
        UserError: an unknown model, bound or property, a model that cannot be traced, another limit than seconds, or
            something that Spark lacks.
        InternalError: the evaluator does not confirm what the machine code found.
    """
    options = options or SparkOptions()
    watch = walk_watch(limits, stop)
    model = model_of(model, bounds)
    judged = judge(model, properties)
    started = time.perf_counter()
    recipe = recipe_for(model.program, judged.nodes, (Part.WALK,))
    compiled = time.perf_counter()
    wrong = [place for place, node in enumerate(judged.nodes) if not evaluate(node, model.program.initial)]
    if wrong:
        walked = [Walked((0,) * recipe.sizes.actions, (1,), 0, FailedWalk(0, wrong[0], ()))]
        stopped = None
    else:
        with open_session(options.session, options.master, options.remote) as spark:
            prepare_workers(spark, "", options.ship)
            tours = _Tours(spark, recipe, watch, reporter)
            partitions = options.partitions or default_partitions(spark)
            walked = tours.walk(walks, depth, seed, partitions)
            stopped = tours.stopped_by
    total = merged(walked) if walked else Walked((0,) * recipe.sizes.actions, (0,), 0, None)
    taken = time.perf_counter()
    violation = None if total.failed is None else shortened(model, judged, total.failed, stopped=watch.interrupted)
    spent = {"compile": compiled - started, "search": taken - compiled}
    if violation is not None:
        spent["shrink"] = time.perf_counter() - taken
    return simulation_of(model, judged, (seed, depth, sum(total.lengths)), total, violation, stopped, spent)


class _Tours:
    """The jobs of a simulation, one after the other, until the last walk or the first failure."""

    def __init__(self, spark: SparkSession, recipe: Recipe, watch: Watch, reporter: WalkReporter | None) -> None:
        self.spark, self.recipe, self.watch, self.reporter = spark, write_recipe(recipe), watch, reporter
        self.stopped_by = watch.interrupted()

    def walk(self, walks: int, depth: int, seed: int, partitions: int) -> list[Walked]:
        share = walks_per_share(depth)
        walked: list[Walked] = []
        first, shares = 0, _FIRST_SHARES
        while first < walks and self.stopped_by is None:
            end = min(first + shares * partitions * share, walks)
            task = walk_task(insync_version(), self.recipe, Tour(seed, depth, first, end, share, partitions))
            plan = seeded_plan(self.spark, partitions, 0, task)
            try:
                rows = run_plan(self.spark, plan, self.watch)
            except Stopped as stopped:
                self.stopped_by = stopped.reason
                break
            parts = [read_walked(row.block) for row in sorted(rows, key=lambda row: row.partition)]
            walked = [merged([*walked, *parts])]
            if walked[0].failed is not None:
                break
            self._report(walked[0])
            first, shares = end, min(2 * shares, _MOST_SHARES)
            self.stopped_by = self.watch.interrupted() if first < walks else None
        return walked

    def _report(self, walked: Walked) -> None:
        if self.reporter is not None:
            steps, seconds = sum(walked.steps), self.watch.seconds
            rate = steps / max(seconds, 1e-9)
            self.reporter(WalkProgress(sum(walked.lengths), steps, rate, resident_memory(), seconds))
