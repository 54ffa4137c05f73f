"""The session of a search and its Python workers, which start while the driver searches the first levels."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from insync.explorer.progress import Phase, Progress, Reporter
from insync.explorer.search.explored import Explored
from insync.explorer.task import Clock
from insync.runtime.memory import resident_memory
from insync.runtime.watch import Limits, Stopped, Watch, Work
from insync.spark_explore.driver.jobs import run_again, seeded_plan
from insync.spark_explore.driver.session import ComingSession, default_partitions, prepare_workers
from insync.spark_explore.executor.level_task import start_task
from insync.spark_explore.wire.code_bundle import insync_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Workers"]

_CANCEL_SECONDS = 0.5  # how long the job is waited for after an interrupt


class Workers:
    """The workers of a search. A job of their own starts Python in them and has them compile the model.

    Args:
        coming: the session, which may still be starting.
        recipe: the code of the model, from `write_recipe`.
        watch: the limits of the search.
        clock: measures how long Spark is waited for.
        partitions: how many partitions the states are divided into; None is one for each task that runs at once.
        run_dir, ship: see `prepare_workers`.
    """

    def __init__(
        self,
        coming: ComingSession,
        recipe: bytes,
        watch: Watch,
        clock: Clock,
        partitions: int | None = None,
        run_dir: str | None = None,
        ship: bool | None = None,
    ) -> None:
        self._coming, self._recipe, self._watch, self._clock = coming, recipe, watch, clock
        self._partitions, self._run_dir, self._ship = partitions, run_dir, ship
        self._over = threading.Event()  # ends the job
        self._starting: Work[None] | None = None

    @cached_property
    def spark(self) -> SparkSession:
        """The session, which is waited for, with insync sent to its workers where necessary."""
        self._clock.lap("search")
        spark = self._coming.session()
        prepare_workers(spark, self._run_dir, self._ship)
        self._clock.lap("start")
        return spark

    @property
    def partitions(self) -> int:
        """How many partitions the states are divided into."""
        return self._partitions or self._coming.tasks or default_partitions(self.spark)

    @property
    def have_session(self) -> bool:
        """Whether `spark` is there at once."""
        return self._coming.has_started()

    @property
    def have_started(self) -> bool:
        """Whether all workers have started, or failed to. As soon as the session is there, they are started."""
        if self._starting is None and self.have_session:
            self.start()
        return self._starting is not None and self._starting.done

    def start(self) -> None:
        """Begin the job that starts the workers, unless it has begun; the session is waited for.

        Raises:
            UserError: there is no session.
            Stopped: the watch ended the start of the session.
        """
        if self._starting is None:
            spark, watch = self.spark, Watch(Limits(), self._over)
            plan = partial(seeded_plan, spark, self.partitions, 0, start_task(insync_version(), self._recipe))
            what = "Python starts in the workers and compiles the model"

            def job() -> None:
                run_again(spark, plan, watch, what)

            self._starting = self._watch.begin(job, self._over.set, _CANCEL_SECONDS)

    def wait(self, space: Explored, reporter: Reporter | None) -> None:
        """Wait until the workers have started.

        Args:
            space: what the driver has searched.
            reporter: called about once a second.

        Raises:
            Stopped: the watch ended it.
            JobFailed: Spark could not start them.
            UserError: a worker cannot take part.
        """
        self._watch.check()
        self.start()
        assert self._starting is not None
        with self._watch.telling(None if reporter is None else _telling(self._watch, space, reporter)):
            try:
                self._starting.result()
            except Stopped:
                self._watch.check()  # raises with its own reason; that of the job is the event
                raise

    def close(self) -> None:
        """End the job, without waiting for it."""
        if self._starting is not None and not self._starting.done:
            self._starting.give_up()


def _telling(watch: Watch, space: Explored, reporter: Reporter) -> Callable[[], None]:
    """Return the function that reports that workers start."""
    known = space.visited
    said = Progress(len(known), known[-1], sum(known), 0.0, 0, 0.0, Phase.START)
    return lambda: reporter(replace(said, memory_bytes=resident_memory(), seconds=watch.seconds))
