"""The end of a run: executors free its tables."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from insync.runtime.watch import Watch
from insync.spark_explore.driver.jobs import run_plan, seeded_plan
from insync.spark_explore.driver.session import is_local
from insync.spark_explore.executor.release import release_task
from insync.spark_explore.executor.tables import release_tables
from insync.spark_explore.executor.worker import RunPlace, executor_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["releasing"]

_RELEASE_SECONDS = 0.3


@contextlib.contextmanager
def releasing(spark: SparkSession, place: RunPlace, watch: Watch) -> Iterator[None]:
    """Free the tables of a run when the block ends, for whatever reason.

    An executor that no task reaches keeps its tables until its idle Python workers end, a minute later. After an
    interrupt this does not wait for the executors.
    """
    try:
        yield
    finally:
        if is_local(spark):
            release_tables(executor_folder(place.run))
        else:

            def plan() -> DataFrame:
                return seeded_plan(spark, place.partitions, 0, release_task(place.run))

            with contextlib.suppress(Exception):  # the session may be lost, and with it the tables
                watch.untimed().later(_RELEASE_SECONDS).attend(lambda: run_plan(spark, plan, None))
