"""What becomes of a job: its rows, or what Spark says of its failure in words of our own."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark")
pa = pytest.importorskip("pyarrow")

from pyspark.errors import PySparkException  # noqa: E402 -- it needs the extra

from insync.machine.stores.run_files import CountedFiles  # noqa: E402
from insync.runtime.errors import InternalError, UserError  # noqa: E402
from insync.runtime.watch import Limits, Stopped, StopReason, Watch  # noqa: E402
from insync.spark_explore.driver import jobs  # noqa: E402
from insync.spark_explore.driver.jobs import JobFailed, level_plan, run_plan  # noqa: E402
from insync.spark_explore.executor.level_task import LevelJob  # noqa: E402
from insync.spark_explore.executor.worker import Assignment, RunPlace  # noqa: E402
from insync.spark_explore.wire.packets import Kind, to_batch  # noqa: E402


class PlayedSpark:
    """A session that keeps tags and descriptions."""

    def __init__(self) -> None:
        self.tags: list[str] = []
        self.said: list[str] = []
        self.sparkContext = SimpleNamespace(setJobDescription=self.said.append)
        self.cancelled = threading.Event()

    def addTag(self, tag: str) -> None:
        self.tags.append(tag)

    def interruptTag(self, tag: str) -> None:
        assert self.tags == [tag]
        self.cancelled.set()


class PlayedPlan:
    """A plan whose rows come at once, or that fails."""

    def __init__(self, fails: Exception | None = None) -> None:
        self.fails = fails

    def toArrow(self) -> Any:
        if self.fails is not None:
            raise self.fails
        rows = [(0, Kind.CLOSED, 3, 5, b"one"), (1, Kind.FOUND, 4, 6, b"")]
        return pa.Table.from_batches([to_batch(rows[:1]), to_batch(rows[1:])])


def run(plan: PlayedPlan, watch: Watch | None = None) -> Any:
    spark: Any = PlayedSpark()
    made: Any = plan
    return run_plan(spark, lambda: made, watch or Watch(Limits(), None), "level 3, of many")


def test_all_rows_of_all_batches_come_back() -> None:
    found = [(row.partition, row.kind, row.level, row.count, row.block) for row in run(PlayedPlan())]
    assert found == [(0, Kind.CLOSED, 3, 5, b"one"), (1, Kind.FOUND, 4, 6, b"")]


TRACE = "An exception was thrown from the Python worker.\nTraceback (most recent call last):\n  File x\n{}\n\nmore"
FAILED = " (Spark's logs say more; a run with --run-dir can be resumed)."


@pytest.mark.parametrize(
    ("said", "kind", "message"),
    [
        (TRACE.format("insync.runtime.errors.UserError: Give more."), UserError, "Give more."),
        (TRACE.format("insync.runtime.errors.ModelError: That is wrong."), UserError, "That is wrong."),
        (TRACE.format("insync.runtime.errors.InternalError: Never."), InternalError, "Never."),
        (TRACE.format("ModuleNotFoundError: No module named 'llvmlite.ir'"), UserError,
         "The Python of Spark's workers has no module 'llvmlite.ir': install llvmlite, pyarrow and pandas for it"),
        ("\n \n  Stage 3 was lost.  \nmore", JobFailed, f"A Spark job failed: Stage 3 was lost.{FAILED}"),
        (TRACE.format("my.UserError: Give more."), JobFailed, f"A Spark job failed: my.UserError: Give more.{FAILED}"),
        (TRACE.format("KeyError: 'x'") + TRACE.format("OSError: no"), JobFailed,
         f"A Spark job failed: OSError: no{FAILED}"),
        ("An exception was thrown from the Python worker.", JobFailed,
         f"A Spark job failed: An exception was thrown from the Python worker.{FAILED}"),
        ("", JobFailed, f"A Spark job failed: no reason was given{FAILED}"),
    ],
)  # fmt: skip
def test_a_failure_is_told_in_our_own_words(said: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as failed:
        run(PlayedPlan(PySparkException(message=said)))
    assert type(failed.value) is kind
    assert str(failed.value).startswith(message)


def test_an_exception_of_java_says_what_it_is_itself() -> None:
    class Java:
        def toString(self) -> str:
            return "java.lang.OutOfMemoryError: heap"

    class Lost:
        def toString(self) -> str:
            raise ConnectionRefusedError

    for java, said in (
        (Java(), "java.lang.OutOfMemoryError: heap"),
        (Lost(), "the connection to Spark's JVM was lost"),
    ):
        error = PySparkException(message="see the cause")
        error.java_exception = java  # type: ignore[attr-defined]
        with pytest.raises(JobFailed, match=f"A Spark job failed: {said}"):
            run(PlayedPlan(error))


def test_a_failure_of_something_else_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        run(PlayedPlan(ZeroDivisionError()))


def test_what_fails_because_it_was_stopped_was_stopped() -> None:
    stop = threading.Event()

    class Stopping(PlayedPlan):
        def toArrow(self) -> Any:
            stop.set()
            raise PySparkException(message="cancelled")

    with pytest.raises(Stopped) as ended:
        run(Stopping(), Watch(Limits(), stop))
    assert ended.value.reason is StopReason.INTERRUPT


def test_what_is_stopped_before_it_begins_makes_no_plan() -> None:
    spark: Any = PlayedSpark()
    with pytest.raises(Stopped) as ended:
        run_plan(spark, lambda: pytest.fail("a plan was made"), Watch(Limits(seconds=0.0), None), "")
    assert ended.value.reason is StopReason.TIME
    assert spark.tags == []


def test_a_job_that_is_stopped_is_cancelled_by_its_own_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_CANCEL_SECONDS", 0.0)
    spark: Any = PlayedSpark()
    stop, over = threading.Event(), threading.Event()

    class Long(PlayedPlan):
        def toArrow(self) -> Any:
            stop.set()
            over.wait(20)

    long: Any = Long()
    with pytest.raises(Stopped) as ended:
        run_plan(spark, lambda: long, Watch(Limits(), stop), "")
    over.set()
    assert ended.value.reason is StopReason.INTERRUPT
    assert spark.cancelled.wait(20)


def test_every_job_has_a_tag_of_its_own() -> None:
    sessions: list[Any] = [PlayedSpark(), PlayedSpark()]
    plan: Any = PlayedPlan()
    for spark in sessions:
        run_plan(spark, lambda: plan, Watch(Limits(), None), "level 3, of many")
    assert sessions[0].tags != sessions[1].tags
    assert sessions[0].said == ["insync: level 3, of many"]
    assert sessions[0].tags[0].startswith("insync: level 3 of many ("), "Spark allows no comma in a tag"


SHUFFLE = ("shuffle", 3, "partition")


class PlayedFrame:
    """A session and the frame that it begins with, which keep what is to be done, in its order."""

    def __init__(self) -> None:
        self.asked: list[object] = []

    def range(self, *numbers: int) -> PlayedFrame:
        self.asked.append(("range", *numbers))
        return self

    def selectExpr(self, *columns: str) -> PlayedFrame:
        self.asked += [int(column.split()[0]) for column in columns if column.endswith(" level")]
        return self

    def repartitionById(self, partitions: int, column: str) -> PlayedFrame:
        self.asked.append(("shuffle", partitions, column))
        return self

    def mapInArrow(self, job: LevelJob, columns: str) -> PlayedFrame:
        self.asked.append((job.level, job.inserts, job.expands))
        return self


@pytest.mark.parametrize("further", [1, 2, 5])
def test_a_plan_expands_a_level_and_makes_as_many_as_it_is_to(further: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "level_task", lambda job: job)
    spark: Any = PlayedFrame()
    place = RunPlace("there", "run", "1", "c0de", partitions=3, together=1)
    level_plan(spark, Assignment(place, b"", CountedFiles({})), 4, further)
    made = [step for number in range(1, further + 1) for step in (SHUFFLE, (4 + number, True, number < further))]
    assert spark.asked[:3] == [("range", 0, 3, 1, 3), 4, (4, False, True)], "the level is there, and is expanded"
    assert spark.asked[3:] == made, "the last one is expanded by the next job"
