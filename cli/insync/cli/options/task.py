"""Where a search runs: on this machine's threads, or on Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from insync.cli.options.groups import Decorator, Option, gathered, option
from insync.cli.options.values import RunPlace, Whole

if TYPE_CHECKING:
    from insync.spark_explore import SparkOptions

__all__ = ["ENGINES", "Engine", "engine_options", "session_options", "thread_options"]

ENGINES = ("local", "spark")


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine and its options, as they were said on the command line.

    Attributes:
        name: local or spark.
        threads: worker threads of the local engine.
        partitions: parts of the visited states; for walks on Spark, tasks at a time.
        run_dir, resume: where the states are kept, and the run that goes on.
        master, remote, tables_on_disk: the options of Spark.
    """

    name: str = "local"
    threads: int | None = None
    partitions: int | None = None
    master: str | None = None
    remote: str | None = None
    run_dir: str | None = None
    resume: str | None = None
    tables_on_disk: bool = False

    @property
    def on_spark(self) -> bool:
        """Whether the search runs on Spark."""
        return self.name == "spark"

    @property
    def beginning(self) -> str:
        """What is done before a search on it reports for the first time, if that can take long; see `show.progress`."""
        return "starting Spark" if self.on_spark else ""

    def require_own_options(self) -> None:
        """Raise UsageError for an option that the engine does not have."""
        if self.on_spark and self.threads is not None:
            message = "--threads applies to the local engine only; on Spark, use --master local[N], or --partitions N."
            raise click.UsageError(message)
        if self.run_dir is not None and self.resume is not None:
            message = "--run-dir begins a run and --resume goes on with one; give one of them."
            raise click.UsageError(message)
        given = [name for name in _SPARK_ALONE if getattr(self, name)]
        if not self.on_spark and given:
            message = f"--{given[0].replace('_', '-')} needs the Spark engine; add --engine spark."
            raise click.UsageError(message)

    def spark_options(self) -> SparkOptions:
        """Return the options of Spark, for its engine.

        Raises:
            UsageError: options that exclude each other.
        """
        from insync.spark_explore import SparkOptions

        if self.master is not None and self.remote is not None:
            message = "--master and --remote name two places to run; give one of them."
            raise click.UsageError(message)
        return SparkOptions(
            master=self.master,
            remote=self.remote,
            partitions=self.partitions,
            run_dir=self.resume or self.run_dir,
            resume=self.resume is not None,
            tables_on_disk=self.tables_on_disk,
        )


_SPARK_ALONE = ("master", "remote", "tables_on_disk")

_THREADS = option("--threads", type=Whole(1, 256), metavar="N", help="Worker threads [default: one for each core].")
_NAME = option(
    "--engine",
    type=click.Choice(ENGINES),
    default="local",
    show_default=True,
    help="Where it runs: in this process, or on Spark (needs the extra `spark` and Java 17).",
)
_SESSION = {
    "master": option(
        "--master",
        metavar="URL",
        help="Spark: where to run, such as local[4] or spark://host:7077 [default: local[*]].",
    ),
    "remote": option("--remote", metavar="URL", help="Spark: a Spark Connect server, such as sc://host:15002."),
}
_RUN = {
    "run_dir": option(
        "--run-dir",
        type=RunPlace(),
        metavar="DIR",
        help="Keep each level in DIR when it is complete; on Spark a path or a URI that all executors reach.",
    ),
    "resume": option(
        "--resume", type=RunPlace(), metavar="DIR", help="Go on with the run in DIR after its last complete level."
    ),
    "tables_on_disk": option(
        "--tables-on-disk",
        is_flag=True,
        help="Spark: keep the visited states as sorted files on the executors' disks from the beginning.",
    ),
}


def engine_options(*, partitions: str, keeps_states: bool) -> Decorator:
    """Return a decorator that gives a command the choice of an engine and its options, which it gets as `engine`.

    Args:
        partitions: what --partitions means to it, as the help text says it.
        keeps_states: whether it keeps the states of a run on Spark in a folder.
    """
    parts = option("--partitions", type=Whole(1, 4096), metavar="N", help=partitions)
    options: dict[str, Option] = {"threads": _THREADS, "partitions": parts, "name": _NAME, **_SESSION}
    return gathered("engine", Engine, **options, **(_RUN if keeps_states else {}))


thread_options = gathered("engine", Engine, threads=_THREADS)
"""Gives a command --threads, which it gets as `engine`, the local one."""

session_options = gathered("engine", Engine, **_SESSION)
"""Gives a command the options of a Spark session alone, which it gets as `engine`."""
