"""Spark jobs: plans of tasks and shuffles, run under a watch, and what comes back."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from insync.explorer.limits import StopReason, Watch
from insync.model.errors import InternalError, UserError
from insync.spark_explore.executor.level_task import LevelJob, Task, level_task
from insync.spark_explore.executor.worker import RunPlace
from insync.spark_explore.wire.packets import COLUMNS, Row, rows_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["JobFailed", "OutOfMemory", "Stopped", "level_plan", "run_plan", "seeded_plan"]

_POLL_SECONDS = 0.1
_RAISED = re.compile(r"^(?:insync\.[\w.]+\.)(UserError|ModelError|TableFull|InternalError): (.*)$", re.MULTILINE)
_NO_MODULE = re.compile(r"^ModuleNotFoundError: No module named '([\w.]+)'$", re.MULTILINE)


class Stopped(Exception):
    """The job was ended because its time was up, or somebody asked for it."""

    def __init__(self, reason: StopReason) -> None:
        self.reason = reason


class JobFailed(UserError):
    """A job failed for a reason of Spark's, which may be gone the next time."""


class OutOfMemory(Exception):
    """A partition does not fit in the memory that tables may take."""


def seeded_plan(spark: SparkSession, partitions: int, level: int, task: Task) -> DataFrame:
    """Return the plan that runs a task once for each partition."""
    columns = ["cast(id as int) partition", "0 kind", f"{level} level", "0L count", "cast('' as binary) block"]
    return spark.range(0, partitions, 1, partitions).selectExpr(*columns).mapInArrow(task, COLUMNS)


def level_plan(spark: SparkSession, place: RunPlace, level: int, further: int) -> DataFrame:
    """Return the plan that expands a level and makes so many further ones, a shuffle for each."""
    job = LevelJob(place, level, inserts=False, expands=True)
    plan = seeded_plan(spark, place.partitions, level, level_task(job))
    for following in range(level + 1, level + further + 1):
        job = LevelJob(place, following, inserts=True, expands=following < level + further)
        plan = plan.repartitionById(place.partitions, "partition").mapInArrow(level_task(job), COLUMNS)
    return plan


def run_plan(spark: SparkSession, plan: DataFrame, watch: Watch | None) -> list[Row]:
    """Run a plan and return its rows, which are few.

    Raises:
        Stopped: the watch ended it.
        OutOfMemory: a table had no room.
        JobFailed: Spark could not finish it.
        UserError: a worker cannot take part.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    with _watched(spark, watch) as stopped:
        try:
            table = plan.toArrow()
        except (PySparkException, Py4JError) as error:
            if stopped:
                raise Stopped(stopped[0]) from None
            raise _translated(_text(error)) from error
    return [row for batch in table.to_batches() for row in rows_of(batch)]


def _text(error: Exception) -> str:
    """What Spark says; Java's own exceptions say it themselves, as long as there is a JVM."""
    try:
        java = getattr(error, "java_exception", None)
        return str(error) if java is None else str(java.toString())
    except Exception:  # noqa: BLE001 -- py4j raises whatever it met
        return "the connection to Spark's JVM was lost"


def _translated(text: str) -> Exception:
    raised = _RAISED.search(text)
    if raised is not None:
        kind, message = raised.groups()
        if kind == "TableFull":
            return OutOfMemory(message)
        return InternalError(message) if kind == "InternalError" else UserError(message)
    missing = _NO_MODULE.search(text)
    if missing is not None:
        return UserError(
            f"The Python of Spark's workers has no module {missing[1]!r}: install llvmlite, pyarrow and pandas for it "
            "(insync itself is shipped), or set spark.pyspark.python to one that has them."
        )
    line = next((line for line in text.splitlines() if line.strip()), "no reason was given")
    return JobFailed(
        f"A Spark job failed: {line.strip()} (Spark's logs say more; a run with --run-dir can be resumed)."
    )


@contextlib.contextmanager
def _watched(spark: SparkSession, watch: Watch | None) -> Iterator[list[StopReason]]:
    """Cancel what runs within, when the watch says so; the list then has the reason."""
    stopped: list[StopReason] = []
    if watch is None:
        yield stopped
        return
    over = threading.Event()
    tag = f"insync-{id(over)}"
    spark.addTag(tag)

    def look() -> None:
        while not over.wait(_POLL_SECONDS):
            reason = watch.interrupted()
            if reason is not None:
                stopped.append(reason)
                with contextlib.suppress(Exception):  # the job may be over by now
                    spark.interruptTag(tag)
                return

    looker = threading.Thread(target=look, daemon=True)
    looker.start()
    try:
        yield stopped
    finally:
        over.set()
        looker.join()
        with contextlib.suppress(Exception):
            spark.removeTag(tag)
