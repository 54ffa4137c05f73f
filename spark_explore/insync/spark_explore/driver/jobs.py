"""Spark jobs: plans of tasks and shuffles, run under a watch, and the translation of their errors."""

from __future__ import annotations

import contextlib
import re
import threading
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING

from insync.runtime.errors import InternalError, UserError
from insync.runtime.watch import Watch
from insync.spark_explore.driver.session import is_connect
from insync.spark_explore.executor.level_task import LevelJob, Task, level_task
from insync.spark_explore.executor.worker import Assignment
from insync.spark_explore.wire.packets import COLUMNS, Row, rows_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["JobFailed", "error_of", "level_plan", "run_again", "run_plan", "seeded_plan"]

_ATTEMPTS = 3  # of a job
_CANCEL_SECONDS = 0.3  # how long a cancelled job is waited for
_RAISED = re.compile(r"^(?:insync\.[\w.]+\.)(UserError|ModelError|InternalError): (.*)$", re.MULTILINE)
_PYTHON = re.compile(r"^Traceback \(most recent call last\):\n(?:[ \t].*\n)+(\S.*)$", re.MULTILINE)
_NO_MODULE = re.compile(r"^ModuleNotFoundError: No module named '([\w.]+)'$", re.MULTILINE)


class JobFailed(UserError):
    """Spark could not finish a job; the next attempt may succeed."""


def seeded_plan(spark: SparkSession, partitions: int, level: int, task: Task) -> DataFrame:
    """Return the plan that runs a task once per partition."""
    columns = ["cast(id as int) partition", "0 kind", f"{level} level", "0L count", "cast('' as binary) block"]
    return spark.range(0, partitions, 1, partitions).selectExpr(*columns).mapInArrow(task, COLUMNS)


def level_plan(spark: SparkSession, given: Assignment, level: int, further: int) -> DataFrame:
    """Return the plan that expands a level and makes `further` more levels, with a shuffle for each."""
    partitions = given.place.partitions
    job = LevelJob(given, level, inserts=False, expands=True)
    plan = seeded_plan(spark, partitions, level, level_task(job))
    for following in range(level + 1, level + further + 1):
        job = LevelJob(given, following, inserts=True, expands=following < level + further)
        plan = plan.repartitionById(partitions, "partition").mapInArrow(level_task(job), COLUMNS)
    return plan


def run_plan(spark: SparkSession, plan: Callable[[], DataFrame], watch: Watch, what: str) -> list[Row]:
    """Run a plan and return its rows, which are few.

    Args:
        spark: the session.
        plan: makes the plan, which takes many calls to the JVM.
        watch: when to stop.
        what: the description of the job in Spark's user interface.

    Raises:
        Stopped: the watch ended it.
        JobFailed: Spark could not finish it.
        UserError: a worker cannot take part.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    tag = f"insync: {what} ({uuid.uuid4().hex[:8]})".replace(",", "")

    def run() -> pa.Table:
        spark.addTag(tag)  # tags and descriptions belong to a thread
        if not is_connect(spark):
            spark.sparkContext.setJobDescription(f"insync: {what}")
        return plan().toArrow()

    def interrupt_tag() -> None:
        with contextlib.suppress(Exception):  # the job may be over
            spark.interruptTag(tag)

    def cancel() -> None:  # called again and again, as a job that has not begun yet cannot be cancelled
        threading.Thread(target=interrupt_tag, daemon=True).start()

    try:
        table = watch.attend(run, cancel, _CANCEL_SECONDS)
    except (PySparkException, Py4JError) as error:
        watch.check()
        raise error_of(error) from error
    return [row for batch in table.to_batches() for row in rows_of(batch)]


def run_again(spark: SparkSession, plan: Callable[[], DataFrame], watch: Watch, what: str) -> list[Row]:
    """Run a plan as `run_plan`, and again if Spark could not finish it: in local mode Spark tries a task only once."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return run_plan(spark, plan, watch, what)
        except JobFailed:
            if attempt == _ATTEMPTS or watch.reason():
                raise
    raise AssertionError


def error_of(error: Exception) -> Exception:
    """Translate an exception of Spark: return the error that a task raised, or a `JobFailed`."""
    return _translated(_text(error))


def _text(error: Exception) -> str:
    """The text of an exception of Spark; that of a Java exception comes from the JVM, if it still runs."""
    try:
        java = getattr(error, "java_exception", None)
        return str(error) if java is None else str(java.toString())
    except Exception:  # noqa: BLE001 -- py4j raises any exception
        return "the connection to Spark's JVM was lost"


def _translated(text: str) -> Exception:
    raised = _RAISED.search(text)
    if raised is not None:
        kind, message = raised.groups()
        return InternalError(message) if kind == "InternalError" else UserError(message)
    missing = _NO_MODULE.search(text)
    if missing is not None:
        return UserError(
            f"The Python of Spark's workers has no module {missing[1]!r}: install llvmlite, pyarrow and pandas for it "
            "(insync itself is shipped), or set spark.pyspark.python to one that has them."
        )
    lines = _PYTHON.findall(text)[-1:] or [line for line in text.splitlines() if line.strip()]
    reason = (lines or ["no reason was given"])[0].strip()
    return JobFailed(f"A Spark job failed: {reason} (Spark's logs say more; a run with --run-dir can be resumed).")
