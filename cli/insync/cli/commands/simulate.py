"""`insync simulate`: random walks."""

from __future__ import annotations

from pathlib import Path

import click

from insync.cli.exit_codes import EPILOG, exit_code_for
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.engine import SparkChoice, engine_option, session_options
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
from insync.cli.options.values import Seconds, Whole
from insync.cli.show.terminal import emit

__all__ = ["command"]


@click.command(
    "simulate",
    cls=ModelCommand,
    epilog=EPILOG,
    short_help="Take random walks through a model, and shorten the one that fails.",
)
@model_argument
@click.option("--walks", type=Whole(1), default=10_000, show_default=True, metavar="N", help="How many walks to take.")
@click.option(
    "--depth", type=Whole(1, 1_000_000), default=100, show_default=True, metavar="N", help="Most steps of a walk."
)
@click.option(
    "--seed",
    type=Whole(0, (1 << 64) - 1),
    default=0,
    show_default=True,
    metavar="N",
    help="Of the random numbers: same seed, same walks.",
)
@property_option
@trace_option
@click.option("--max-seconds", type=Seconds(), metavar="S", help="Stop after S seconds, compilation included.")
@threads_option
@click.option("--partitions", type=Whole(1, 4096), metavar="N", help="Spark: tasks at a time [default: one a core].")
@engine_option
@session_options
@json_option
@color_option
@quiet_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    walks: int,
    depth: int,
    seed: int,
    properties: tuple[str, ...],
    trace: Path | None,
    max_seconds: float | None,
    threads: int | None,
    partitions: int | None,
    engine: str,
    spark: SparkChoice,
    json_: bool,
    color: str,
    quiet: bool,
    **model: str,
) -> int:
    """Take random walks through MODEL, each step uniform over the enabled ones, and check properties on the way.

    For spaces that are too large to search: walks find violations and prove nothing, so without one the verdict is
    incomplete, with exit code 3. The first walk that fails is shortened, by leaving out the steps that it does not
    need, and shown. The result depends on model, bounds, properties, --depth and --seed alone, never on --threads;
    walk number n of a seed is the same whatever the number of walks.
    """
    spark.require_spark(engine, threads)
    from insync.cli.options.models import build_model, select_properties
    from insync.cli.show.trace_files import check_trace_path, traces_written

    built = build_model(chosen_model(ctx), chosen_bounds(ctx))
    names = select_properties(built, properties)
    if trace is not None:
        check_trace_path(trace)

    from insync.cli.show.as_json import simulation_json
    from insync.cli.show.progress import walk_reporter
    from insync.cli.show.report import describe_simulation
    from insync.cli.show.terminal import grid_width, painter
    from insync.explorer.limits import Limits

    limits, reporter = Limits(seconds=max_seconds), walk_reporter(quiet)
    with stop_on_interrupt() as stop:
        if engine == "spark":
            from insync import spark_explore

            options = spark.options(partitions)
            result = spark_explore.simulate(
                built,
                properties=names,
                walks=walks,
                depth=depth,
                seed=seed,
                limits=limits,
                options=options,
                reporter=reporter,
                stop=stop,
            )
        else:
            from insync import explorer

            result = explorer.simulate(
                built,
                properties=names,
                walks=walks,
                depth=depth,
                seed=seed,
                limits=limits,
                threads=threads,
                reporter=reporter,
                stop=stop,
            )
    traces = [result.violation.trace] if result.violation is not None else []
    with traces_written(trace, traces, built) as files:
        file = files[0] if files else None
        if json_:
            emit(simulation_json(result, file))
        else:
            emit(describe_simulation(result, built.grid, file, painter(color), grid_width()))
    return exit_code_for(result.verdict)
