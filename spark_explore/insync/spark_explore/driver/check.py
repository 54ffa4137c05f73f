"""`check` on Spark: verdict, counts and traces of the local search, with the states partitioned across executors.

Also the options of the Spark engine, and the way back from a state over the levels in the run directory.
"""

from __future__ import annotations

import contextlib
import shutil
import threading
import uuid
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, product
from typing import TYPE_CHECKING

from insync.explorer.progress import Reporter
from insync.explorer.results import CheckResult, Violation, check_result, nothing_searched
from insync.explorer.run_identity import Identity, code_of, identity_of
from insync.explorer.search.explored import Explored
from insync.explorer.search.manifest import (
    MANIFEST,
    Manifest,
    new_id,
    read_manifest,
    refuse_old_run,
    resumed,
    write_manifest,
)
from insync.explorer.search.run_levels import RunLevels, SpaceShape
from insync.explorer.search.trace_back import traced_back, violations_in
from insync.explorer.stepping.stepper import Move
from insync.explorer.task import ModelLike, Needs, Prepared, Task
from insync.explorer.traces.trace import Trace, violation_trace
from insync.machine.kernels import Kernels, least_predecessor, load
from insync.machine.packed import Words
from insync.machine.store_kernels import order_kernels
from insync.machine.stores.hash_table import TABLE_BYTES_OF_STATE
from insync.machine.stores.row_encoding import StateRows
from insync.machine.stores.run_files import RunFiles, name_of
from insync.machine.stores.run_folder import RunFolder
from insync.model import Model
from insync.properties.invariants import TYPE_OK
from insync.properties.registry import Judged
from insync.runtime.errors import UserError
from insync.runtime.watch import Limits, Stopped, StopReason, Watch, limits_of
from insync.spark_explore.driver.jobs import run_plan, seeded_plan
from insync.spark_explore.driver.lease import sole_driver
from insync.spark_explore.driver.search import SparkSearch, TaskReporter
from insync.spark_explore.driver.session import begin_session
from insync.spark_explore.driver.warm_start import WarmStart
from insync.spark_explore.driver.workers import Workers
from insync.spark_explore.executor.decode_task import DecodeJob, decode_task
from insync.spark_explore.executor.level_task import PredecessorJob, predecessor_task
from insync.spark_explore.executor.worker import Assignment, RunPlace, spark_folder
from insync.spark_explore.wire.code_bundle import Recipe, insync_version, recipe_for, write_recipe
from insync.spark_explore.wire.file_systems import full_name
from insync.spark_explore.wire.run_folder import run_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WHILE_STARTING = 32  # times as many states are searched by the driver while a session and its workers start
_BYTES_WHILE_STARTING = 1 << 29  # the driver stops after the level in which they and their table reach this size

_TABLES_ON_DISK = "tables_on_disk has no meaning any more, as Spark's executors keep no states; leave it out."

__all__ = [
    "PathFinder",
    "SparkOptions",
    "check",
    "open_run",
]


def check(
    model: ModelLike,
    *,
    bounds: Mapping[str, int | str] | None = None,
    properties: Sequence[str] | None = None,
    limits: Limits | None = None,
    options: SparkOptions | None = None,
    keep_going: bool = False,
    symmetry: bool = True,
    within: Sequence[str] | None = None,
    reporter: Reporter | None = None,
    task_reporter: TaskReporter | None = None,
    stop: threading.Event | None = None,
) -> CheckResult:
    """Search every state of a model on Spark, breadth first, and check properties in each.

    The result is that of `insync.explorer.check` in every field except engine, times and memory.

    Args:
        model: what to search: a class, an instance, or a name such as "kip320" or "path/to/file.py:ModelName".
        bounds: bounds and settings of a class or a name; the others have their defaults.
        properties: names of properties; None is the model's headline. type_ok is always checked.
        limits: limits of compilation and search; `memory_bytes` bounds the candidates that one executor has in memory.
        options: how to use Spark.
        keep_going: whether to continue to the end of the space after a violation.
        symmetry: whether one state is visited of all that differ only by a permutation of the members of symmetric
            sorts.
        within: names of invariants; states in which one fails are checked and not expanded. None takes those that the
            model's class names.
        reporter: called for each level.
        task_reporter: called with the times and sizes of each task.
        stop: ends compilation or search when it is set.

    Raises:
        UserError: a model, bound or property is unknown, the model cannot be traced, or Spark lacks something.
        InternalError: the evaluator does not confirm what the machine code found.
    """
    options, limits = options or SparkOptions(), limits_of(limits)
    if _is_here(options):
        _require_usable(options)  # before anything that takes time
    task = Task(
        model=model,
        bounds=bounds,
        properties=properties,
        within=within,
        limits=replace(limits, memory_bytes=None),
        symmetry=symmetry,
        reporter=reporter,
        stop=stop,
    )

    def searched(prepared: Prepared) -> CheckResult:
        if not _is_here(options):
            usable = partial(_require_usable, options)  # an object store may respond slowly
            prepared.watch.attend(lambda: usable())
        used = None if prepared.symmetry is None else prepared.symmetry.symmetry
        program, nodes = prepared.model.program, prepared.judged.nodes
        recipe = prepared.watch.attend(lambda: recipe_for(program, nodes, symmetry=used))
        return _searched(prepared, recipe, options, limits, keep_going, task_reporter)

    return task.run(
        searched,
        lambda prepared, reason: nothing_searched(prepared, "spark", Explored([], stopped_by=reason)),
        Needs.SYMMETRY,
    )


def _searched(
    prepared: Prepared,
    recipe: Recipe,
    options: SparkOptions,
    limits: Limits,
    keep_going: bool,
    task_reporter: TaskReporter | None,
) -> CheckResult:
    model, judged, watch, clock = prepared.model, prepared.judged, prepared.watch, prepared.clock
    names, stop = [found.name for found in judged.invariants], prepared.task.stop
    symmetry = None if prepared.symmetry is None else prepared.symmetry.symmetry
    code = code_of(model.program, judged.nodes, symmetry)
    identity = identity_of(model, names, code, recipe.sizes.symmetric, insync_version())
    shape = SpaceShape(recipe.sizes.actions, len(judged.nodes), recipe.sizes.words)
    warnings: tuple[str, ...] = (_TABLES_ON_DISK,) if options.tables_on_disk else ()
    known: RunLevels | None = None
    try:
        with contextlib.ExitStack() as opened:
            if options.run_dir is not None:
                folder = run_folder(options.run_dir)
                if options.resume:
                    resumed(folder, identity, shape)  # before Spark starts
                else:
                    folder.make()
                warning = opened.enter_context(sole_driver(folder, watch.reason))
                warnings += () if warning is None else (warning,)
            coming = opened.enter_context(begin_session(options.session, options.master, options.remote, watch=watch))
            with prepared.compiling():
                kernels = load(recipe.texts, watch)
            clock.lap("compile")
            written, parts = write_recipe(recipe), options.partitions
            workers = Workers(coming, written, watch, clock, parts, options.run_dir, options.ship)
            opened.callback(workers.close)
            with _warm_start(kernels, recipe, workers, options, limits, keep_going, stop) as warm:
                spark = workers.spark
                if warm and not warm.is_over:
                    workers.start()  # while the levels are written
                run = opened.enter_context(open_run(options))
                if warm:
                    manifest = _manifest(run, identity, recipe, warm)
                else:
                    manifest = _taken_over(run, resumed(run, identity, shape), shape.words, watch, keep_going)
            known = manifest.levels
            place = _place(run, manifest, limits)
            given = Assignment(place, written, manifest.levels.counted)
            if manifest.encoding != StateRows.name:
                manifest = _decoded(spark, run, given, manifest, watch)
                given = replace(given, counted=manifest.levels.counted)
            search = SparkSearch(
                spark,
                given,
                recipe.sizes,
                manifest.levels,
                watch,
                keep_going,
                prepared.task.reporter,
                task_reporter,
            )
            clock.lap("search")
            searched, is_over = manifest.levels.space(watch.limits, keep_going)
            if not is_over:
                workers.wait(searched, prepared.task.reporter)
            clock.lap("start")
            space = search.run(lambda: write_manifest(run, manifest))
            clock.lap("search")
            given = replace(given, counted=manifest.levels.counted)
            states = RunFiles(run, manifest.run, order_kernels(recipe.sizes.words), place.together, given.counted)
            finder = PathFinder(spark, given, states, kernels, model, Watch(Limits(), stop))
            traced = _traced(model, judged, space, manifest.levels, finder, keep_going)
    except Stopped as ended:
        clock.lap("start" if "compile" in clock.seconds else "compile")
        return _not_begun(prepared, ended.reason, options, keep_going, known)
    if traced.violations:
        clock.lap("trace")
    result = check_result(prepared, "spark", traced.space, traced.violations)
    return replace(result, warnings=(*warnings, *result.warnings, *traced.left_out))


@dataclass(frozen=True, slots=True)
class _Traced:
    """The explored space, the traces of its violations, and a warning for each violation without a trace."""

    space: Explored
    violations: tuple[Violation, ...]
    left_out: tuple[str, ...] = ()


def _traced(
    model: Model, judged: Judged, space: Explored, levels: RunLevels, finder: PathFinder, keep_going: bool
) -> _Traced:
    """Find the traces of the violations; after an interrupt only those that need no Spark job.

    No violation is reported without a trace: the result then ends with the level before the first one without a trace.
    """

    def trace(number: int, moves: Sequence[Move]) -> Trace:
        return violation_trace(model, judged.invariants[number], moves)

    try:
        return _Traced(space, violations_in(model, space, finder.path_to, trace))
    except Stopped as stopped:
        known = levels.before_violations(keep_going)
        known.stopped_by = stopped.reason
        found = [(judged.invariants[number].name, hit.level) for number, hit in sorted(space.violations.items())]
        found += [] if space.refused is None else [(TYPE_OK, space.refused.level)]
        left_out = tuple(
            f"{name} fails after {level} states; there was no time to find the trace, so this counts for nothing yet."
            for name, level in found
            if level > levels.together
        )
        return _Traced(known, violations_in(model, known, finder.path_to, trace), left_out)


def _not_begun(
    prepared: Prepared, reason: StopReason, options: SparkOptions, keep_going: bool, levels: RunLevels | None = None
) -> CheckResult:
    """Return the result of a search that ended while Spark started: what the driver, or a resumed run, has found.

    Args:
        prepared: the model.
        reason: what ended the search.
        options: of the search.
        keep_going: whether a violation ends no search.
        levels: those in the run directory; None if these were not looked at.
    """
    if levels is None and options.resume and options.run_dir is not None:
        levels = read_manifest(run_folder(options.run_dir)).levels
    if levels is not None:
        known = levels.before_violations(keep_going)
        if not known.violations and known.refused is None:
            known.stopped_by = reason
            return check_result(prepared, "spark", known)
    return nothing_searched(prepared, "spark", Explored([], stopped_by=reason))


def _is_here(options: SparkOptions) -> bool:
    return options.run_dir is None or full_name(options.run_dir).startswith("/")


def _require_usable(options: SparkOptions) -> None:
    """Raise UserError if there is no run to resume, or if the directory of a new run has one already."""
    if options.run_dir is None:
        if options.resume:
            message = "To resume a run, name its run directory."
            raise UserError(message)
    elif options.resume:
        read_manifest(run_folder(options.run_dir))
    else:
        refuse_old_run(run_folder(options.run_dir))


@contextlib.contextmanager
def _warm_start(
    kernels: Kernels,
    recipe: Recipe,
    workers: Workers,
    options: SparkOptions,
    limits: Limits,
    keep_going: bool,
    stop: threading.Event | None,
) -> Iterator[WarmStart | None]:
    """Yield the first levels of a new run, and free their memory afterwards; None for a resumed run."""
    if options.resume:
        yield None
        return
    least, partitions = options.warm_states, workers.partitions
    most = least
    if not workers.have_session:
        room = _BYTES_WHILE_STARTING // (recipe.sizes.row_bytes + TABLE_BYTES_OF_STATE)
        most = max(least, min(least * _WHILE_STARTING, room))
    within = Limits(limits.depth, most if limits.states is None else min(most, limits.states))

    def is_enough(known: int) -> bool:
        return workers.have_started and known >= least  # in this order: the workers start as early as possible

    start = WarmStart(kernels, recipe.initials, partitions, within, keep_going, stop, is_enough)
    with contextlib.closing(start):
        yield start


def _taken_over(run: RunFolder, manifest: Manifest, words: int, watch: Watch, keep_going: bool) -> Manifest:
    """The manifest of a resumed run, with this driver in it if something is left to search."""
    run.remove_parts()
    if run.is_local:
        _remove_unsure(run, manifest, words)
    _, over = manifest.levels.space(watch.limits, keep_going)
    if not over:
        write_manifest(run, manifest)
    return manifest


def _remove_unsure(run: RunFolder, manifest: Manifest, words: int) -> None:
    """Remove files of levels that the manifest does not count, unless a task wrote them: others may not be flushed."""
    files = RunFiles(run, manifest.run, order_kernels(words), manifest.levels.together)
    counted = len(manifest.levels.levels)
    for part in range(manifest.partitions):
        for level in files.levels_after(part, counted):
            if not files.is_of_task(part, level):
                run.remove(name_of(StateRows.name, part, level, level))
    files.close()


def _decoded(spark: SparkSession, run: RunFolder, given: Assignment, before: Manifest, watch: Watch) -> Manifest:
    """Have executors write the states of a run in place of their codes; return its manifest, which is written."""
    job, parts = DecodeJob(given, before.encoding, before.levels.depth), before.partitions
    plan = partial(seeded_plan, spark, parts, 1, decode_task(job))
    levels = dict(before.levels.levels)
    counts = dict.fromkeys(levels, 0)
    for row in run_plan(spark, plan, watch, f"states in place of codes for {job.levels} levels"):
        levels[row.level] = replace(levels[row.level], files={**levels[row.level].files, row.partition: row.block})
        counts[row.level] += row.count
    if any(counts[number] != level.visited for number, level in levels.items()):
        raise run.damaged(MANIFEST)
    manifest = replace(before, levels=replace(before.levels, levels=levels), encoding=StateRows.name)
    write_manifest(run, manifest)
    for number, part in product(levels, range(parts)):
        run.remove(name_of(before.encoding, part, number, number))
    return manifest


def _manifest(run: RunFolder, identity: Identity, recipe: Recipe, warm: WarmStart) -> Manifest:
    """Write the first levels of a new run to its run directory, and return the manifest."""
    files = RunFiles(run, new_id(), order_kernels(recipe.sizes.words), warm.levels)
    refuse_old_run(run)  # another driver may have begun one meanwhile
    manifest = Manifest(identity, files.run, new_id(), 1, warm.partitions, warm.write(files))
    write_manifest(run, manifest)
    return manifest


def _place(run: RunFolder, manifest: Manifest, limits: Limits) -> RunPlace:
    return RunPlace(
        run.uri,
        manifest.run,
        manifest.identity.insync,
        manifest.identity.code,
        manifest.partitions,
        manifest.levels.together,
        run.flushed,
        limits.memory_bytes,
    )


# -------------------------------------------------------------------------------------------------------------- options


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """How a search uses Spark.

    Attributes:
        session: the caller's SparkSession. None takes the active one if neither `master` nor `remote` is given, and
            makes one otherwise.
        master: where a new session runs, such as local[4], spark://host:7077 or yarn; None is the master of
            spark-submit, or this machine.
        remote: a Spark Connect server, such as sc://host:15002.
        partitions: how many partitions the states are divided into; None is one per core of the executors.
        run_dir: a path or URI that all executors reach; None is a temporary folder, for executors on this machine.
        resume: whether to resume the interrupted run in run_dir.
        warm_states: how many states the driver searches itself before Spark takes over; while a new session and its
            workers start, up to 32 times as many, in about half a gigabyte.
        tables_on_disk: has no meaning any more, as executors keep no states; a result has a warning then.
        ship: whether insync is sent to the workers; None sends it unless they are on this machine and run this Python.
    """

    session: SparkSession | None = None
    master: str | None = None
    remote: str | None = None
    partitions: int | None = None
    run_dir: str | None = None
    resume: bool = False
    warm_states: int = 500_000
    tables_on_disk: bool = False
    ship: bool | None = None


@contextlib.contextmanager
def open_run(options: SparkOptions) -> Iterator[RunFolder]:
    """Yield the run directory; a temporary one, for executors on this machine, is removed afterwards."""
    if options.run_dir is not None:
        yield run_folder(options.run_dir)
        return
    folder = spark_folder() / f"insync-run-{uuid.uuid4().hex}"
    try:
        yield RunFolder(folder, flushed=False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# --------------------------------------------------------------------------------------------------------------- traces


class PathFinder:
    """Finds the trace to a state of the search, backwards over the levels in the run directory, by a job per step.

    Args:
        spark: the session.
        given: the assignment of the tasks after the search.
        states: the states in the run directory.
        kernels: the compiled program.
        model: the model that was searched; its evaluator confirms the steps.
        watch: when to stop.
    """

    def __init__(
        self, spark: SparkSession, given: Assignment, states: RunFiles, kernels: Kernels, model: Model, watch: Watch
    ) -> None:
        self.spark, self.given, self.states = spark, given, states
        self.kernels, self.model, self.watch = kernels, model, watch

    def path_to(self, target: Words, level: int) -> list[Move]:
        """Return a shortest sequence of moves to a state of a level: the one that the local search returns.

        Raises:
            Stopped: the watch ended it, which is possible only beyond the levels that the driver searched itself.
        """
        return traced_back(self.model, target, level, self._step_back, self.kernels.representative)

    def _step_back(self, target: Words, level: int) -> Words | None:
        return self._here(target, level) if level <= self.states.together else self._there(target, level)

    def _here(self, target: Words, level: int) -> Words | None:
        """Find the predecessor in the first levels, which the driver searched itself, without a job."""
        parts = (self.states.states(partition, level) for partition in range(self.given.place.partitions))
        try:
            return least_predecessor(self.kernels, chain.from_iterable(parts), target)
        finally:
            self.states.close()

    def _there(self, target: Words, level: int) -> Words | None:
        task = predecessor_task(PredecessorJob(self.given, level, target))
        spark, partitions = self.spark, self.given.place.partitions
        rows = run_plan(
            spark, lambda: seeded_plan(spark, partitions, level, task), self.watch, f"a trace, level {level}"
        )
        return min((tuple(array("Q", row.block)) for row in rows), default=None)
