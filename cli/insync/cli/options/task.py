"""Groups of options, the types of their values, and the options of searches: limits, engine and walks."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from insync.cli.completion import Completion, file_names, names
from insync.cli.terminal import emit_error

if TYPE_CHECKING:
    from insync.explorer.search.walks import Walks
    from insync.spark_explore import SparkOptions

__all__ = [
    "ENGINES",
    "Decorator",
    "Engine",
    "GivenPath",
    "Named",
    "Option",
    "OutputPath",
    "ReadFile",
    "RunPlace",
    "Seconds",
    "Size",
    "Whole",
    "engine_options",
    "gathered",
    "limit_options",
    "option",
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


# Groups of options. A command receives each group as one object.


Decorator = Callable[[Callable[..., int]], Callable[..., int]]


@dataclass(frozen=True, slots=True)
class Option:
    """An option before it is added to a command: its name, and the attributes of `click.option`."""

    name: str
    attributes: dict[str, Any]


def option(name: str, **attributes: Any) -> Option:
    """Return an option, with the attributes of `click.option`."""
    return Option(name, attributes)


def gathered(argument: str, make: Callable[..., object], **options: Option) -> Decorator:
    """Return a decorator that adds options, whose values the command receives as one argument.

    Args:
        argument: the name of the argument.
        make: makes the argument from the values, by the names of `options`.
        options: the options, in the order of the help text.
    """

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(function)
        def command(*positional: object, **values: object) -> int:
            given = {name: values.pop(f"{argument}_{name}") for name in options}
            return function(*positional, **values, **{argument: make(**given)})

        decorated: Callable[..., int] = command
        for name, each in reversed(options.items()):
            decorated = click.option(each.name, f"{argument}_{name}", **each.attributes)(decorated)
        return decorated

    return decorate


# Types of values.


_MOST_OFFERED = 40


_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?[0-9]+|[0-9]{1,3}(_[0-9]{3})+")
_DIGITS = 20
_GREATEST = (1 << 63) - 1
_FACTORS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SMALLEST = 1 << 20


class Whole(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.3 alone
    """A whole number from `lowest` to `highest`; None is the greatest signed 64-bit number."""

    name = "number"

    def __init__(self, lowest: int, highest: int | None = None) -> None:
        self.lowest, self.highest = lowest, highest

    def allowed(self) -> str:
        """Return the range in words."""
        return f"of at least {self.lowest}" if self.highest is None else f"from {self.lowest} to {self.highest}"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        text = str(value)
        if not _WHOLE.fullmatch(text):
            self.fail(f"{str(value)!r} is not a whole number; give one {self.allowed()}.", param, ctx)
        greatest = _GREATEST if self.highest is None else self.highest
        beyond = self.lowest - 1 if text.startswith("-") else greatest + 1
        number = int(text) if len(text) <= _DIGITS else beyond
        if not self.lowest <= number <= greatest:
            most = f" and at most {greatest}" if self.highest is None and number > greatest else ""
            self.fail(f"{text} is out of range; give a whole number {self.allowed()}{most}.", param, ctx)
        return number

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Completion]:
        """Return the numbers, if there are few."""
        if self.highest is None or self.highest - self.lowest >= _MOST_OFFERED:
            return []
        return names(map(str, range(self.lowest, self.highest + 1)), incomplete)


class Size(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.3 alone
    """A number of bytes, at least 1 MiB: 300M, 2G, 1.5GiB; K, M, G and T are powers of 1024."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of bytes."""
        match = _SIZE.fullmatch(str(value).strip())
        if match is None:
            self.fail(
                f"{str(value)!r} is not a size; give a number of bytes with a unit, such as 300M or 2G.", param, ctx
            )
        size = int(float(match[1]) * _FACTORS[match[2].upper()])
        if size < _SMALLEST:
            self.fail(
                f"{str(value)!r} is {size} bytes, too little for any search; give at least 1M, such as 300M or 2G.",
                param,
                ctx,
            )
        return size


class Named(click.ParamType):  # type: ignore[type-arg]
    """One of some names, or another spelling of one.

    Args:
        names: the names.
        advice: gives the sentence about any other text, by default with the nearest name.
        also: gives the member of an enumeration that another spelling stands for, or None.
    """

    name = "name"

    def __init__(
        self,
        names: Sequence[str],
        advice: Callable[[str], str] | None = None,
        also: Callable[[str], Enum | None] = lambda given: None,
    ) -> None:
        self.names, self.advice, self.also = names, advice, also

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name."""
        from insync.runtime.errors import closest

        if value in self.names:
            return str(value)
        if (member := self.also(str(value))) is None:
            advice = closest(str(value), self.names) if self.advice is None else self.advice(str(value))
            self.fail(f"{str(value)!r} is not known. {advice}", param, ctx)
        if param is not None and not (ctx is not None and ctx.resilient_parsing):
            emit_error(f"warning: {param.opts[0]} {value} is answered as {member.value}, whose rules it has.")
        return str(member.value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Completion]:
        """Return the names that fit."""
        return names(self.names, incomplete)


class Seconds(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.3 alone
    """A time in seconds, whole or not, above 0."""

    name = "seconds"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds."""
        try:
            seconds = float(str(value))
        except ValueError:
            seconds = math.nan
        if not (math.isfinite(seconds) and seconds > 0):
            self.fail(f"{str(value)!r} is not a time; give a number of seconds above 0, such as 60 or 0.5.", param, ctx)
        return seconds


class GivenPath(click.Path):
    """A path that is not empty; with `exists`, of a file or folder that exists."""

    def __init__(self, *, exists: bool = False, file_okay: bool = True, readable: bool = True) -> None:
        super().__init__(exists=exists, file_okay=file_okay, readable=readable, path_type=Path)

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path."""
        found = super().convert(_not_empty(self, value, param, ctx), param, ctx)
        assert isinstance(found, Path)
        return found


class ReadFile(GivenPath):
    """A path of a file to read. It is not checked here; reading it reports errors in the words of all commands."""

    def __init__(self) -> None:
        super().__init__(readable=False)


class OutputPath(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.3 alone
    """A path of a file to write."""

    name = "file"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path."""
        return Path(_not_empty(self, value, param, ctx))

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Completion]:
        """Return a request that the shell completes names of files."""
        return file_names(incomplete)


class RunPlace(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.3 alone
    """A run directory: the path of a folder, or on Spark a URI."""

    name = "folder"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path or URI."""
        return _not_empty(self, value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Completion]:
        """Return a request that the shell completes names of folders."""
        return file_names(incomplete)


def _not_empty(
    kind: click.ParamType,  # type: ignore[type-arg]
    value: object,
    param: click.Parameter | None,
    ctx: click.Context | None,
) -> str:
    """Return a path, which must not be empty: an empty one is usually an unset variable of the shell."""
    if not (text := str(value)):
        folder = isinstance(kind, RunPlace) or (param is not None and param.metavar == "DIR")
        what = "folder" if folder else "file"
        kind.fail(f"the path is empty; name a {what}.", param, ctx)
    return text


ENGINES = ("local", "spark")


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
