"""The Spark engine on the command line: the options of `check` and `simulate` for it, and what they become."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from insync.spark_explore import SparkOptions

__all__ = ["ENGINES", "SparkChoice", "engine_option", "session_options", "spark_options"]

ENGINES = ("local", "spark")

engine_option = click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="local",
    show_default=True,
    help="Where it runs: in this process, or on Spark (needs the extra `spark` and Java 17).",
)

_SESSION = (
    click.option(
        "--master",
        metavar="URL",
        help="Spark: where to run, such as local[4] or spark://host:7077 [default: local[*]].",
    ),
    click.option("--remote", metavar="URL", help="Spark: a Spark Connect server, such as sc://host:15002."),
)
_RUN = (
    click.option(
        "--run-dir", metavar="DIR", help="Spark: keep the states in DIR, a path or a URI that all executors reach."
    ),
    click.option("--resume", metavar="DIR", help="Spark: go on with the run in DIR."),
    click.option("--tables-on-disk", is_flag=True, help="Spark: map the visited states from the executors' disks."),
)


@dataclass(frozen=True, slots=True)
class SparkChoice:
    """What was said of Spark on the command line."""

    master: str | None = None
    remote: str | None = None
    run_dir: str | None = None
    resume: str | None = None
    tables_on_disk: bool = False

    def options(self, partitions: int | None) -> SparkOptions:
        """Return it for the engine.

        Raises:
            UsageError: options that exclude each other.
        """
        from insync.spark_explore import SparkOptions

        if self.master is not None and self.remote is not None:
            message = "--master and --remote name two places to run; give one of them."
            raise click.UsageError(message)
        if self.run_dir is not None and self.resume is not None:
            message = "--run-dir begins a run and --resume goes on with one; give one of them."
            raise click.UsageError(message)
        return SparkOptions(
            master=self.master,
            remote=self.remote,
            partitions=partitions,
            run_dir=self.resume or self.run_dir,
            resume=self.resume is not None,
            tables_on_disk=self.tables_on_disk,
        )

    def require_spark(self, engine: str, threads: int | None) -> None:
        """Raise UsageError for an option that the engine does not have."""
        if engine == "spark" and threads is not None:
            message = "--threads applies to the local engine only; on Spark, use --master local[N], or --partitions N."
            raise click.UsageError(message)
        if engine != "spark" and self != SparkChoice():
            given = [name for name in self.__slots__ if getattr(self, name)]
            message = f"--{given[0].replace('_', '-')} needs the Spark engine; add --engine spark."
            raise click.UsageError(message)


def spark_options(function: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a run on Spark; it gets them as `spark`, a `SparkChoice`."""
    return _with((*_SESSION, *_RUN), ("master", "remote", "run_dir", "resume", "tables_on_disk"), function)


def session_options(function: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a Spark session alone; it gets them as `spark`, a `SparkChoice`."""
    return _with(_SESSION, ("master", "remote"), function)


_Option = Callable[[Callable[..., int]], Callable[..., int]]


def _with(options: Sequence[_Option], names: Sequence[str], function: Callable[..., int]) -> Callable[..., int]:
    @functools.wraps(function)
    def gathered(*args: object, **given: object) -> int:
        said = {name: given.pop(name) for name in names}
        return function(*args, spark=SparkChoice(**said), **given)  # type: ignore[arg-type]

    result: Callable[..., int] = gathered
    for option in reversed(options):
        result = option(result)
    return result
