"""Spark played in this process: the driver's plans run one task after the other, with the real tasks of the executors.

It has what Spark has that matters to them: partitions, shuffles, retries that are none, and errors as text.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from insync.spark_explore.driver.session import ComingSession
from insync.spark_explore.executor import worker
from insync.spark_explore.wire.packets import Kind, to_batch

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PlayedSpark", "playing_spark"]

Batches = list["pa.RecordBatch"]


class PlayedSpark:
    """A session whose tasks run here.

    Attributes:
        tables: what was written as Parquet, by path.
    """

    def __init__(self) -> None:
        self.sparkContext = SimpleNamespace(
            master="local[2]", defaultParallelism=2, setJobDescription=lambda text: None
        )
        self.tables: dict[str, Batches] = {}
        self.read = SimpleNamespace(parquet=lambda path: SimpleNamespace(count=lambda: self._count(path)))

    def addTag(self, tag: str) -> None: ...

    def interruptTag(self, tag: str) -> None: ...

    def range(self, start: int, end: int, step: int, partitions: int) -> _Numbers:
        return _Numbers(self, end, partitions)

    def _count(self, path: str) -> int:
        return sum(batch.num_rows for batch in self.tables[path])


class _Numbers:
    """The numbers from 0 on, in some partitions, and what is made of each."""

    def __init__(self, spark: PlayedSpark, end: int, partitions: int) -> None:
        self._spark, self._end, self._partitions = spark, end, partitions

    def selectExpr(self, *columns: str) -> _Frame:
        import pyarrow as pa

        if len(columns) == 2:  # of an export: a partition and a level
            levels = range(1, self._end // self._partitions + 1)
            parts = [
                [pa.record_batch({"partition": [part], "level": [level]}) for level in levels]
                for part in range(self._partitions)
            ]
        else:
            (level,) = (int(column.split()[0]) for column in columns if column.endswith(" level"))
            parts = [[to_batch([(part, Kind.SEED, level, 0, b"")])] for part in range(self._end)]
        return _Frame(self._spark, lambda: parts)


class _Frame:
    """A plan."""

    def __init__(self, spark: PlayedSpark, made: Any) -> None:
        self._spark, self._made = spark, made
        self.write = SimpleNamespace(parquet=self._write)

    def mapInArrow(self, task: Any, schema: str) -> _Frame:
        def made() -> list[Batches]:
            return [list(task(iter(batches))) for batches in self._made()]

        return _Frame(self._spark, made)

    def repartitionById(self, partitions: int, column: str) -> _Frame:
        def made() -> list[Batches]:
            parts: list[Batches] = [[] for _ in range(partitions)]
            for batch in (batch for batches in self._made() for batch in batches):
                for row, part in enumerate(batch.column(0).to_pylist()):
                    parts[part].append(batch.slice(row, 1))
            return parts

        return _Frame(self._spark, made)

    def toArrow(self) -> pa.Table:
        import pyarrow as pa

        rows = self._rows()
        return pa.Table.from_batches(rows) if rows else pa.table({})

    def _write(self, path: str) -> None:
        self._spark.tables[path] = self._rows()

    def _rows(self) -> Batches:
        from pyspark.errors import PySparkException

        try:
            return [batch for batches in self._made() for batch in batches]
        except Exception as error:  # noqa: BLE001  (as Spark does)
            text = "".join(traceback.format_exception(error))
            raise PySparkException(message=f"An exception was thrown from the Python worker.\n{text}") from None


@contextmanager
def playing_spark(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[PlayedSpark]:
    """Have `check` and `export` use a session that is played, with this folder for what an executor keeps."""
    spark: Any = PlayedSpark()

    @contextmanager
    def begin(*given: object, **more: object) -> Iterator[ComingSession]:
        yield ComingSession(lambda: spark, 2)

    @contextmanager
    def opened(*given: object, **more: object) -> Iterator[PlayedSpark]:
        yield spark

    names = ("check", "export", "workers")
    check, export, workers = (import_module(f"insync.spark_explore.driver.{name}") for name in names)
    patch.setattr(check, "begin_session", begin)
    patch.setattr(export, "open_session", opened)
    for module in (export, workers):
        patch.setattr(module, "prepare_workers", lambda *given: None)
    folder.mkdir(exist_ok=True)
    for name in ("driver.check", "executor.worker"):
        patch.setattr(f"insync.spark_explore.{name}.spark_folder", lambda: folder)
    try:
        yield spark
    finally:
        while worker._workers:
            worker._workers.popitem()[1].close()
