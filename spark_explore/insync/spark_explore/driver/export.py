"""`export`: the state graph of a run on Spark as Parquet tables, for Spark SQL and notebooks."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.explorer.named_model import Naming, opened_kind
from insync.explorer.run_identity import code_of
from insync.explorer.search.manifest import Manifest, read_manifest
from insync.explorer.task import model_of
from insync.machine.arrow_states import Column, columns_of, decode_states
from insync.machine.kernels import Part, load
from insync.machine.packed import BATCH
from insync.machine.store_kernels import order_kernels
from insync.machine.stores.row_encoding import StateRows
from insync.machine.stores.run_files import CountedFiles, RunFiles
from insync.machine.stores.run_folder import RunFolder
from insync.model.catalogue import model_reference
from insync.properties.registry import confined, judge
from insync.runtime.errors import UserError
from insync.spark_explore.driver.check import SparkOptions
from insync.spark_explore.driver.jobs import JobFailed, error_of
from insync.spark_explore.driver.session import open_session, prepare_workers
from insync.spark_explore.wire.code_bundle import insync_version, read_recipe, recipe_for, require_version, write_recipe
from insync.spark_explore.wire.run_folder import run_folder

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame, SparkSession

    from insync.model import Model
    from insync.model.tracing.program import Program
    from insync.spark_explore.executor.level_task import Task

__all__ = ["export"]


@dataclass(frozen=True, slots=True)
class _Graph:
    """The parameters of the tasks of an export; `recipe` is the code of the part EDGES, from `write_recipe`."""

    uri: str
    run: str
    version: str
    together: int
    levels: int
    words: int
    counted: CountedFiles
    columns: tuple[Column, ...]
    actions: tuple[tuple[str, str], ...]
    recipe: bytes


def export(
    run_dir: str, out: str, options: SparkOptions | None = None, *, model: type[Model] | str | None = None
) -> tuple[int, int]:
    """Write the tables `states` and `transitions` of a run below `out`, and return how many rows each has.

    `states` has a row per state: `state` (its packed words, the key), `depth` (1 for initial states), and a column per
    field. `transitions` has a row per step: `state`, `depth` (of that state), `action`, `step` (the action with its
    parameters) and `next` (the state after it). States of a last level that was not expanded have no rows there.

    Args:
        run_dir: the run directory of a search.
        out: a path or URI that Spark writes to; it must not exist.
        options: how to use Spark.
        model: the model of the run, a class or a name. None takes the model that the run names, if that comes with
            insync or its class has been imported already.

    Raises:
        UnnamedModel: the run names a Python file, and `model` is None; nothing was imported.
        UserError: there is no such run, another version of insync made it, or `out` cannot be written.
    """
    options = options or SparkOptions()
    run = run_folder(run_dir)
    manifest = read_manifest(run)
    require_version(manifest.identity.insync)
    if manifest.identity.symmetric:
        message = (
            f"{run.shown}: this run has one of the states that differ only in the names of symmetric members, and "
            f"tables need every state. Search again with symmetry=False (--no-symmetry) in another --run-dir."
        )
        raise UserError(message)
    if manifest.encoding != StateRows.name:
        message = (
            f"{run.shown}: this run has codes in place of states, as memory was full. Go on with it by --engine spark, "
            "which writes the states, and then make tables of it."
        )
        raise UserError(message)
    graph = _graph(run, manifest, model)
    expanded = manifest.levels.expanded
    with open_session(options.session, options.master, options.remote) as spark:
        from pyspark.errors import PySparkException

        prepare_workers(spark, run_dir, options.ship)
        try:
            states = _write(spark, _states_task(graph), _states_schema(graph), f"{out}/states", manifest, graph.levels)
            steps = _write(spark, _steps_task(graph), _STEPS, f"{out}/transitions", manifest, expanded)
        except PySparkException as error:
            found = error_of(error)
            if not isinstance(found, JobFailed):  # the run directory is the cause
                raise found from error
            message = (
                f"{out}: the tables cannot be written ({str(error).splitlines()[0]}). Name a new directory with room."
            )
            raise UserError(message) from error
    if states != manifest.levels.visited(graph.levels):
        message = (
            f"{run.shown}: the files have {states:,} states, and the manifest counts "
            f"{manifest.levels.visited(graph.levels):,}. The run directory is damaged; search again in another "
            "--run-dir."
        )
        raise UserError(message)
    return states, steps


_STATES_A_BATCH = 64 * BATCH
_STEPS = "state binary, depth int, action string, step string, next binary"


def _graph(run: RunFolder, manifest: Manifest, given: type[Model] | str | None) -> _Graph:
    searched = manifest.identity
    kind = opened_kind(Naming(searched.model, "run", run.shown)) if given is None else given
    model = confined(model_of(kind, searched.bounds), searched.within)
    program: Program = model.program
    if code_of(program, judge(model, searched.properties).nodes, None) != searched.code:
        message = (
            f"{run.shown}: this run was made by other rules than those of {model_reference(model)}. Name its model."
        )
        raise UserError(message)
    return _Graph(
        run.uri,
        manifest.run,
        insync_version(),
        manifest.levels.together,
        manifest.levels.depth,
        program.schema.words,
        manifest.levels.counted,
        columns_of(model.state, program.schema),
        tuple((action.name, str(action)) for action in program.actions),
        write_recipe(recipe_for(program, parts=(Part.EDGES,))),
    )


def _write(spark: SparkSession, task: Task, schema: str, path: str, manifest: Manifest, levels: int) -> int:
    """Run a task for each partition of each level, write its rows, and return how many were written."""
    parts = manifest.partitions
    seeds = spark.range(0, parts * levels, 1, parts).selectExpr(
        f"cast(id % {parts} as int) partition", f"cast(id div {parts} as int) + 1 level"
    )
    table: DataFrame = seeds.mapInArrow(task, schema)
    table.write.parquet(path)
    return int(spark.read.parquet(path).count())


def _states_schema(graph: _Graph) -> str:
    return ", ".join(["state binary", "depth int", *(f"`{column.name}` {column.type}" for column in graph.columns)])


def _batches(graph: _Graph, seeds: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, NDArray[np.uint64]]]:
    """Yield (level, states) for each piece of the partitions and levels in the seeds of a task."""
    import numpy as np

    require_version(graph.version)
    states = RunFiles(run_folder(graph.uri), graph.run, order_kernels(graph.words), graph.together, graph.counted)
    for seed in seeds:
        for partition, level in zip(seed.column(0).to_pylist(), seed.column(1).to_pylist(), strict=True):
            for address, count in states.states(partition, level):
                piece = ctypes.string_at(address, 8 * graph.words * count)
                yield level, np.frombuffer(piece, dtype=np.uint64).reshape(-1, graph.words)
            states.close()


def _states_task(graph: _Graph) -> Task:
    def task(seeds: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np
        import pyarrow as pa

        names = ["state", "depth", *(column.name for column in graph.columns)]
        for level, rows in _batches(graph, seeds):
            head = [_keys(rows), pa.array(np.full(len(rows), level, dtype=np.int32))]
            yield pa.RecordBatch.from_arrays([*head, *decode_states(graph.columns, rows)], names=names)

    return task


def _steps_task(graph: _Graph) -> Task:
    def task(seeds: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        edges = _Edges(graph)
        try:
            for level, rows in _batches(graph, seeds):
                for start in range(0, len(rows), _STATES_A_BATCH):
                    some = rows[start : start + _STATES_A_BATCH]
                    parts = [edges.batch(level, some[at : at + BATCH]) for at in range(0, len(some), BATCH)]
                    yield from pa.Table.from_batches(parts).combine_chunks().to_batches()
        finally:
            edges.close()

    return task


class _Edges:
    """Computes the steps of states by machine code."""

    def __init__(self, graph: _Graph) -> None:
        import pyarrow as pa

        self._edges = load(read_recipe(graph.recipe).texts).edges()
        self._names = pa.array([name for name, _ in graph.actions], pa.string())
        self._labels = pa.array([label for _, label in graph.actions], pa.string())

    def batch(self, level: int, rows: NDArray[np.uint64]) -> pa.RecordBatch:
        """Return the rows of `transitions` for at most `BATCH` states."""
        import numpy as np
        import pyarrow as pa

        edges = self._edges.of(rows)
        action = pa.array(edges.action)
        columns = [
            _keys(rows[edges.source]),
            pa.array(np.full(len(action), level, dtype=np.int32)),
            self._names.take(action),
            self._labels.take(action),
            _keys(edges.target),
        ]
        return pa.RecordBatch.from_arrays(columns, names=["state", "depth", "action", "step", "next"])

    def close(self) -> None:
        """Free all memory."""
        self._edges.close()


def _keys(rows: NDArray[np.uint64]) -> pa.Array:
    """The packed words as binary values that sort like states: the first word first, its high byte first."""
    import pyarrow as pa

    packed = pa.py_buffer(rows.astype(">u8").tobytes())
    width = 8 * rows.shape[1]
    return pa.Array.from_buffers(pa.binary(width), len(rows), [None, packed]).cast(pa.binary())
