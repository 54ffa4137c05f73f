"""Faults for the tests of the Spark engine: what goes wrong in one task, once, in the middle of its work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from insync.spark_explore.executor.level_task import LevelJob, Task

__all__ = ["failing_once"]


def failing_once(original: Callable[[LevelJob], Task], level: int, mark: str, fault: str) -> Callable[[LevelJob], Task]:
    """Return a `level_task` whose task for partition 0 of a level fails the first time.

    Args:
        original: the real one.
        level: in which level.
        mark: a file that says that it has happened.
        fault: "raise", "worker" to kill the Python worker, "executor" to kill the executor's JVM; with "-early" after
            it before anything was yielded, else after the level was written.
    """

    def level_task(job: LevelJob) -> Task:
        real = original(job)
        if job.level != level or not job.inserts:
            return real

        # Nested, so that it is sent by value: the workers do not have this module.
        def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            import os
            import signal

            from pyspark import TaskContext

            def strike() -> None:
                context = TaskContext.get()
                assert context is not None
                if context.partitionId() != 0:
                    return
                try:
                    os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    return
                if fault.startswith("raise"):
                    raise RuntimeError("a fault of the test's")
                victim = os.getpid()
                if fault.startswith("executor"):
                    daemon = os.getppid()
                    with open(f"/proc/{daemon}/stat") as file:
                        victim = int(file.read().rsplit(")", 1)[1].split()[1])
                os.kill(victim, signal.SIGKILL)
                signal.pause()

            def hurt(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
                for number, batch in enumerate(batches):
                    yield batch
                    if number == 0 and fault.endswith("-early"):
                        strike()  # something was inserted, and the level is not complete

            for number, batch in enumerate(real(hurt(batches))):
                if number == 0 and not fault.endswith("-early"):
                    strike()  # the level is in the run directory, and its packets are on their way
                yield batch

        return task

    return level_task
