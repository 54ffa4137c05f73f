"""The task that ends a run on an executor: it frees the tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from insync.spark_explore.executor.tables import release_tables
from insync.spark_explore.executor.worker import executor_folder

if TYPE_CHECKING:
    import pyarrow as pa

    from insync.spark_explore.executor.level_task import Task

__all__ = ["release_task"]


def release_task(run: str) -> Task:
    """Return the function for `mapInArrow` that frees the tables of a run, and yields no rows."""

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            release_tables(executor_folder(run))
        yield from ()

    return task
