"""`check` on Spark: the same search, verdict, counts and traces, with the states partitioned across executors."""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from insync.explorer.breadth_first.search import Space
from insync.explorer.check import result_of
from insync.explorer.limits import Limits, Watch
from insync.explorer.progress import Reporter
from insync.explorer.traces.counterexample import refusal_trace, violation_trace
from insync.explorer.verdict import CheckResult, Violation
from insync.machine.kernels import Kernels, load
from insync.model import Model
from insync.properties.every_model import TYPE_OK
from insync.properties.invariants import Invariant
from insync.properties.registry import judge
from insync.spark_explore.driver.ledger import Ledger
from insync.spark_explore.driver.manifest import (
    Identity,
    Manifest,
    identity_of,
    read_manifest,
    refuse_old_run,
    require_same,
    write_manifest,
)
from insync.spark_explore.driver.options import SparkOptions, open_run
from insync.spark_explore.driver.paths import PathFinder
from insync.spark_explore.driver.search import Figures, SparkSearch
from insync.spark_explore.driver.session import default_partitions, open_session, prepare_workers
from insync.spark_explore.driver.warm_start import warm_start
from insync.spark_explore.executor.release import releasing
from insync.spark_explore.executor.worker import RECIPE, RunPlace
from insync.spark_explore.wire.recipe import Recipe, recipe_for, write_recipe
from insync.spark_explore.wire.run_folder import RunFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["check"]


def check(
    model: Model,
    properties: Sequence[str] | None = None,
    limits: Limits | None = None,
    options: SparkOptions | None = None,
    keep_going: bool = False,
    reporter: Reporter | None = None,
    stop: threading.Event | None = None,
    figures: Figures | None = None,
) -> CheckResult:
    """Search every state of a model on Spark, breadth first, and check properties in each.

    The result is that of `insync.explorer.check` in every field but the engine, the times and the memory.

    Args:
        model: what to search.
        properties: names of properties; None is the model's headline. type_ok is always checked.
        limits: bounds of the search; `memory_bytes` bounds the tables of one executor.
        options: how to use Spark.
        keep_going: whether to go on to the end of the space after a violation.
        reporter: is told of each level.
        stop: ends the search when it is set.
        figures: is told the times and sizes of each task.

    Raises:
        UserError: an unknown property, a model that cannot be traced, or something that Spark lacks.
        InternalError: the evaluator does not confirm what the machine code found.
    """
    options, limits = options or SparkOptions(), limits or Limits()
    clock = _Clock()
    judged = judge(model, properties)
    recipe = recipe_for(model.program, judged.nodes)
    kernels = load(recipe.texts)
    clock.lap("compile")
    identity = identity_of(model, tuple(found.name for found in judged.invariants), recipe.digest)
    if options.run_dir is not None:
        _examine(RunFolder(options.run_dir), identity, options.resume)  # before Spark is started
    with _workers(options) as spark, open_run(options) as run:
        clock.lap("start")
        watch = Watch(replace(limits, memory_bytes=None), stop)
        manifest = _begun(spark, run, identity, recipe, kernels, options, limits, keep_going)
        place = _place(run, manifest, options, limits)
        with releasing(spark, place):
            search = SparkSearch(spark, place, recipe, manifest.ledger, watch, keep_going, reporter, figures)
            space = search.run(lambda: write_manifest(run, manifest))
            clock.lap("search")
            finder = PathFinder(spark, place, run, kernels, model)
            violations = _violations(model, judged.invariants, space, finder)
    if violations:
        clock.lap("trace")
    return replace(result_of(model, judged, space, violations, clock.seconds), engine="spark")


@contextlib.contextmanager
def _workers(options: SparkOptions) -> Iterator[SparkSession]:
    with open_session(options.session, options.master, options.remote) as spark:
        prepare_workers(spark, options.run_dir, options.ship)
        yield spark


class _Clock:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name], self._last = now - self._last, now


def _examine(run: RunFolder, identity: Identity, resume: bool) -> None:
    if resume:
        require_same(run, read_manifest(run).identity, identity)
    else:
        refuse_old_run(run)


def _begun(
    spark: SparkSession,
    run: RunFolder,
    identity: Identity,
    recipe: Recipe,
    kernels: Kernels,
    options: SparkOptions,
    limits: Limits,
    keep_going: bool,
) -> Manifest:
    """The manifest of the run that goes on, or of a new one with its first levels."""
    if options.resume:
        return read_manifest(run)
    partitions = options.partitions or default_partitions(spark)
    run.write(RECIPE, write_recipe(recipe))
    enough = options.warm_states if limits.states is None else min(options.warm_states, limits.states)
    start = warm_start(kernels, recipe.initial, run, partitions, Limits(limits.depth, enough), keep_going)
    manifest = Manifest(identity, uuid.uuid4().hex[:16], partitions, Ledger(start))
    write_manifest(run, manifest)
    return manifest


def _place(run: RunFolder, manifest: Manifest, options: SparkOptions, limits: Limits) -> RunPlace:
    return RunPlace(
        run.uri,
        manifest.run,
        manifest.identity.insync,
        manifest.partitions,
        manifest.ledger.warm,
        limits.memory_bytes,
        options.tables_on_disk,
    )


def _violations(model: Model, checked: Sequence[Invariant], space: Space, finder: PathFinder) -> tuple[Violation, ...]:
    """The traces of all violations, the shortest first, then in the order of the properties."""
    found: list[Violation] = []
    for number, hit in sorted(space.violations.items()):
        trace = violation_trace(model, checked[number], finder.path_to(hit.least, hit.level))
        found.append(Violation(checked[number].name, trace.length, trace))
    if space.refused is not None:
        trace = refusal_trace(model, finder.path_to(space.refused.least, space.refused.level))
        found.append(Violation(TYPE_OK, trace.length, trace))
    return tuple(sorted(found, key=lambda violation: violation.trace_length))
