"""The workers of a search start while the driver searches; Spark itself is played here."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from insync.explorer.progress import Phase, Progress
from insync.explorer.search.explored import Explored
from insync.explorer.task import Clock
from insync.runtime.errors import UserError
from insync.runtime.watch import Limits, Stopped, StopReason, Watch
from insync.spark_explore.driver import jobs
from insync.spark_explore.driver.jobs import JobFailed
from insync.spark_explore.driver.workers import Workers

SPACE = Explored([0], [1, 3_000])


class Coming:
    """A session whose tasks may be known before it is there."""

    def __init__(self, tasks: int | None, has_started: bool = True) -> None:
        self.tasks, self.waited, self.there = tasks, 0, has_started

    def has_started(self) -> bool:
        return self.there

    def session(self) -> Any:
        self.waited += 1
        return SimpleNamespace(
            sparkContext=SimpleNamespace(master="local[7]", defaultParallelism=7, pythonExec=sys.executable)
        )


class Job:
    """Spark, which has nothing to do until it is told to go on.

    Attributes:
        faults: what the next attempts raise.
    """

    def __init__(self) -> None:
        self.goes_on, self.ended = threading.Event(), threading.Event()
        self.faults: list[Exception] = []
        self.said: list[str] = []

    def run(self, spark: object, plan: Callable[[], object], watch: Watch, what: str) -> list[Any]:
        self.said.append(what)
        if self.faults:
            raise self.faults.pop(0)
        try:
            while not self.goes_on.wait(0.01):
                watch.check()
        finally:
            self.ended.set()
        return []


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> Job:
    made = Job()
    monkeypatch.setattr(jobs, "run_plan", made.run)
    return made


def workers_of(coming: Any, watch: Watch | None = None, partitions: int | None = None) -> Workers:
    return Workers(coming, b"recipe", watch or Watch(), Clock(), partitions)


@pytest.mark.parametrize(("chosen", "tasks", "parts", "waits"), [(3, None, 3, 0), (None, 2, 2, 0), (None, None, 7, 1)])
def test_spark_is_waited_for_where_it_alone_knows_how_many_tasks_there_are(
    chosen: int | None, tasks: int | None, parts: int, waits: int
) -> None:
    coming = Coming(tasks)
    workers = workers_of(coming, partitions=chosen)
    assert (workers.partitions, coming.waited) == (parts, waits)
    assert workers.spark is workers.spark
    assert coming.waited == 1, "it is there once"


def test_workers_start_as_soon_as_there_is_a_session_and_the_driver_goes_on(job: Job) -> None:
    coming = Coming(2, has_started=False)
    workers = workers_of(coming)
    assert (workers.have_started, coming.waited, job.said) == (False, 0, [])
    coming.there = True
    assert not workers.have_started, "the job runs"
    assert not workers.have_started
    job.goes_on.set()
    job.ended.wait(10)
    workers.wait(SPACE, None)
    assert workers.have_started
    assert job.said == ["Python starts in the workers and compiles the model"], "once"


def test_that_workers_start_is_told_while_the_driver_waits(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.runtime.watch._TELLING_SECONDS", 0.0)
    told: list[Progress] = []

    def reporter(progress: Progress) -> None:
        told.append(progress)
        job.goes_on.set()

    workers_of(Coming(2)).wait(SPACE, reporter)
    assert {(said.phase, said.level, said.frontier, said.distinct_states) for said in told} == {
        (Phase.START, 2, 3_000, 3_001)
    }


def test_workers_that_cannot_start_are_an_error_where_they_are_waited_for(job: Job) -> None:
    job.goes_on.set()
    job.faults = [JobFailed("once"), JobFailed("twice")]
    workers = workers_of(Coming(2))
    workers.wait(SPACE, None)
    assert len(job.said) == 3
    job.faults = [UserError("another version")]
    workers = workers_of(Coming(2))
    workers.start()
    with pytest.raises(UserError, match="another version"):
        workers.wait(SPACE, None)
    assert workers.have_started, "the driver need not go on"


@pytest.mark.parametrize("reason", [StopReason.TIME, StopReason.INTERRUPT])
def test_the_job_ends_with_the_search(job: Job, reason: StopReason) -> None:
    stop = threading.Event()
    watch = Watch(Limits(seconds=0.1 if reason is StopReason.TIME else None), stop)
    workers = workers_of(Coming(2), watch)
    workers.start()
    if reason is StopReason.INTERRUPT:
        stop.set()
    with pytest.raises(Stopped) as stopped:
        workers.wait(SPACE, None)
    assert stopped.value.reason is reason
    workers.close()
    assert job.ended.wait(10)


def test_a_job_that_nobody_needs_is_ended_and_not_waited_for(job: Job) -> None:
    workers = workers_of(Coming(2))
    workers.start()
    began = time.monotonic()
    workers.close()
    assert time.monotonic() - began < 5
    assert job.ended.wait(10)
    workers_of(Coming(2)).close()
