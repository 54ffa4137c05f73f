"""The options of searches: limits, engine and walks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from insync.cli.options.values import (
    ENGINES,
    Decorator,
    Option,
    RunPlace,
    Seconds,
    Size,
    Whole,
    gathered,
    option,
)

if TYPE_CHECKING:
    from insync.explorer.search.walks import Walks
    from insync.spark_explore import SparkOptions

__all__ = [
    "Engine",
    "engine_options",
    "limit_options",
    "session_options",
    "thread_options",
    "walk_options",
]


# Limits.


def limit_options(
    *,
    depth: str | None = None,
    states: str | None = None,
    seconds: str | None = None,
    memory: str | None = None,
) -> Decorator:
    """Return a decorator that adds limits, which the command receives as `limits`. A limit without help is left out.

    Args:
        depth: the help text of --max-depth.
        states: the help text of --max-states.
        seconds: the help text of --max-seconds.
        memory: the help text of --memory.
    """
    sentences = {"depth": depth, "states": states, "seconds": seconds, "memory_bytes": memory}
    known = {
        "depth": option("--max-depth", type=Whole(1), metavar="N", help=depth),
        "states": option("--max-states", type=Whole(1), metavar="N", help=states),
        "seconds": option("--max-seconds", type=Seconds(), metavar="S", help=seconds),
        "memory_bytes": option("--memory", type=Size(), metavar="SIZE", help=memory),
    }
    from insync.runtime.watch import Limits  # not at the top: completion of names needs no explorer

    return gathered("limits", Limits, **{name: known[name] for name, said in sentences.items() if said is not None})


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine and its options, as given on the command line.

    Attributes:
        name: local or spark.
        threads: worker threads of the local engine.
        partitions: partitions of the visited states; for walks on Spark, concurrent tasks.
        run_dir, resume: the run directory of a new run, or of one that is continued.
        master, remote, tables_on_disk: options of Spark.
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
        """The activity to show until the first report of the search, if that can take long."""
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
        """Return the options of the Spark engine.

        Raises:
            UsageError: both `--master` and `--remote` are given.
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
        hidden=True,
        help="Spark: has no meaning any more, as executors keep no states.",
    ),
}


def engine_options(*, partitions: str, keeps_states: bool) -> Decorator:
    """Return a decorator that adds the engine and its options, which the command receives as `engine`.

    Args:
        partitions: the help text of --partitions.
        keeps_states: whether to add the options of the run directory.
    """
    parts = option("--partitions", type=Whole(1, 4096), metavar="N", help=partitions)
    options: dict[str, Option] = {"threads": _THREADS, "partitions": parts, "name": _NAME, **_SESSION}
    return gathered("engine", Engine, **options, **(_RUN if keeps_states else {}))


thread_options = gathered("engine", Engine, threads=_THREADS)
"""Decorator: adds --threads, which the command receives as `engine`, the local one."""

session_options = gathered("engine", Engine, **_SESSION)
"""Decorator: adds the options of a Spark session, which the command receives as `engine`."""


# ---------------------------------------------------------------------------------------------------------------- walks


def walk_options(count: int, depth: int, deepest: int, *, strategies: bool = False) -> Decorator:
    """Return a decorator that adds `--walks`, `--depth` and `--seed`, which the command receives as `walks`.

    Args:
        count: the default of `--walks`.
        depth: the default of `--depth`, the most steps of a walk.
        deepest: the greatest value of `--depth`.
        strategies: whether to add `--strategy` and the options on abstract states.
    """
    more = {"strategy": _STRATEGY, **_ABSTRACT} if strategies else {}
    return gathered(
        "walks",
        _walks,
        count=_number("--walks", Whole(1), count, "How many walks to take."),
        depth=_number("--depth", Whole(1, deepest), depth, "Most steps of a walk."),
        seed=_number("--seed", Whole(0, (1 << 64) - 1), 0, "Of the random numbers: same seed, same walks."),
        **more,
    )


def _walks(**given: Any) -> Walks:
    """Return the settings of the walks.

    Raises:
        UsageError: there are too few walks for `--until-saturated`.
    """
    from insync.explorer.search.walks import Walks
    from insync.machine.walker import Strategy

    if "strategy" in given:
        given["strategy"] = Strategy(given["strategy"])
    patience, count = given.get("until_saturated"), given["count"]
    if patience is not None and patience >= count:
        message = (
            f"--until-saturated {patience} cannot come about in --walks {count}, as the first walk always sees a new "
            f"abstract state; give a lower number, or more walks."
        )
        raise click.UsageError(message)
    return Walks(**given)


_STRATEGIES = ("mixed", "names", "tastes", "uniform")
"""The members of `Strategy`, whose module would be imported for them."""

_STRATEGY = option(
    "--strategy",
    type=click.Choice(_STRATEGIES),
    default=_STRATEGIES[0],
    show_default=True,
    help="How walks choose among the enabled actions.",
)

_ABSTRACT = {
    "abstract_states": option(
        "--abstract-states",
        is_flag=True,
        help="Count the abstract states that the walks see, by what the model's `abstraction` names.",
    ),
    "until_saturated": option(
        "--until-saturated",
        type=Whole(1),
        metavar="N",
        help="End after N walks in a row without a new abstract state, and count these.",
    ),
}


def _number(name: str, values: Whole, default: int, words: str) -> Option:
    return option(name, type=values, default=default, show_default=True, metavar="N", help=words)
