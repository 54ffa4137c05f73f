"""How a search uses Spark, and where its run directory is."""

from __future__ import annotations

import contextlib
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from insync.spark_explore.executor.folders import spark_folder
from insync.spark_explore.wire.run_folder import RunFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SparkOptions", "open_run"]


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """How a search uses Spark.

    Attributes:
        session: the caller's SparkSession; None takes the active one, if it is not said where to run, or makes one.
        master: where that runs, such as local[4], spark://host:7077 or yarn; None is spark-submit's, or this machine.
        remote: a Spark Connect server, such as sc://host:15002.
        partitions: how many parts the states are in; None is one per core of the executors.
        run_dir: a path or URI that all executors reach; None is a temporary folder, for executors on this machine.
        resume: whether run_dir holds a run that was interrupted, which goes on.
        warm_states: how many states the driver searches itself before Spark takes over.
        tables_on_disk: whether executors keep sorted files on their disks from the beginning; else when they know much.
        ship: whether insync is sent to the workers; None sends it unless they are on this machine.
    """

    session: SparkSession | None = None
    master: str | None = None
    remote: str | None = None
    partitions: int | None = None
    run_dir: str | None = None
    resume: bool = False
    warm_states: int = 500_000
    tables_on_disk: bool = False
    ship: bool | None = None


@contextlib.contextmanager
def open_run(options: SparkOptions) -> Iterator[RunFolder]:
    """Yield the run directory; a temporary one, for executors on this machine, is removed afterwards."""
    if options.run_dir is not None:
        yield RunFolder(options.run_dir)
        return
    folder = spark_folder() / f"insync-run-{uuid.uuid4().hex}"
    try:
        yield RunFolder(str(folder), flushed=False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
