"""`insync check`: the exhaustive search."""

from __future__ import annotations

from pathlib import Path

import click

from insync.cli.exit_codes import EPILOG, exit_code_for
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.engine import SparkChoice, engine_option, spark_options
from insync.cli.options.model_command import ModelCommand, chosen_bounds, chosen_model
from insync.cli.options.shared import (
    color_option,
    json_option,
    model_argument,
    property_option,
    quiet_option,
    threads_option,
    trace_option,
)
from insync.cli.options.values import Seconds, Size, Whole
from insync.cli.show.terminal import emit

__all__ = ["command"]


@click.command(
    "check",
    cls=ModelCommand,
    epilog=EPILOG,
    short_help="Search the whole space of a model, and prove or refute its properties.",
)
@model_argument
@property_option
@trace_option
@click.option("--keep-going", is_flag=True, help="After a violation go on to the end of the space, for all counts.")
@click.option("--max-depth", type=Whole(1), metavar="N", help="Stop after N levels; the initial state is level 1.")
@click.option("--max-states", type=Whole(1), metavar="N", help="Stop once N distinct states were found.")
@click.option("--max-seconds", type=Seconds(), metavar="S", help="Stop after S seconds, compilation included.")
@click.option(
    "--memory", type=Size(), metavar="SIZE", help="Keep the process within SIZE, such as 300M or 2G, or stop."
)
@threads_option
@click.option(
    "--partitions",
    type=Whole(1, 4096),
    metavar="N",
    help="Parts of the visited states [default: one a thread or core].",
)
@engine_option
@spark_options
@json_option
@color_option
@quiet_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    properties: tuple[str, ...],
    trace: Path | None,
    keep_going: bool,
    max_depth: int | None,
    max_states: int | None,
    max_seconds: float | None,
    memory: int | None,
    threads: int | None,
    partitions: int | None,
    engine: str,
    spark: SparkChoice,
    json_: bool,
    color: str,
    quiet: bool,
    **model: str,
) -> int:
    """Search every state of MODEL, breadth first, and check its properties in each.

    MODEL is a name that `insync list` shows, or path/to/file.py:Class for a model of your own. Its bounds are options:
    `insync check MODEL --help` shows them with the properties. The result depends on model, bounds and properties
    alone, never on threads or partitions. A violation is shown as the shortest trace that leads to it; the search ends
    with the level in which the first property fails, unless --keep-going.

    type_ok, that no step leaves the domain of a field, is always checked.
    """
    spark.require_spark(engine, threads)
    from insync.cli.options.models import build_model, select_properties
    from insync.cli.show.trace_files import check_trace_path, traces_written

    built = build_model(chosen_model(ctx), chosen_bounds(ctx))
    names = select_properties(built, properties)
    if trace is not None:
        check_trace_path(trace)

    from insync.cli.show.as_json import check_json
    from insync.cli.show.progress import progress_reporter
    from insync.cli.show.report import describe_check
    from insync.cli.show.terminal import grid_width, painter
    from insync.explorer.limits import Limits

    limits = Limits(depth=max_depth, states=max_states, seconds=max_seconds, memory_bytes=memory)
    with stop_on_interrupt() as stop:
        if engine == "spark":
            from insync import spark_explore

            options = spark.options(partitions)
            result = spark_explore.check(
                built,
                properties=names,
                limits=limits,
                options=options,
                keep_going=keep_going,
                reporter=progress_reporter(quiet),
                stop=stop,
            )
        else:
            from insync import explorer

            result = explorer.check(
                built,
                properties=names,
                limits=limits,
                threads=threads,
                partitions=partitions,
                keep_going=keep_going,
                reporter=progress_reporter(quiet),
                stop=stop,
            )
    traces = [violation.trace for violation in result.violations]
    with traces_written(trace, traces, built) as files:
        emit(
            check_json(result, files)
            if json_
            else describe_check(result, built.grid, files, painter(color), grid_width())
        )
    return exit_code_for(result.verdict)
