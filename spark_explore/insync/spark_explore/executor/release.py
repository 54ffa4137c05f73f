"""The end of a run: the executors give back its tables."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from insync.spark_explore.driver.jobs import run_plan, seeded_plan
from insync.spark_explore.driver.session import is_local
from insync.spark_explore.executor.tables import release_tables
from insync.spark_explore.executor.worker import RunPlace, executor_folder

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from insync.spark_explore.executor.level_task import Task

__all__ = ["releasing"]


@contextlib.contextmanager
def releasing(spark: SparkSession, place: RunPlace) -> Iterator[None]:
    """Give back the tables of a run, however the block ends.

    An executor that no task reaches any more keeps its tables until its idle Python workers end, a minute later.
    """
    try:
        yield
    finally:
        if is_local(spark):
            release_tables(executor_folder(place.run))
        else:
            with contextlib.suppress(Exception):  # the session may be lost, and with it the tables
                run_plan(spark, seeded_plan(spark, place.partitions, 0, _release_task(place.run)), None)


def _release_task(run: str) -> Task:
    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            release_tables(executor_folder(run))
        yield from ()

    return task
