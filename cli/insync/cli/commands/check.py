"""`insync check`: the exhaustive search."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

import click
from click.core import ParameterSource

from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.annotations import Build, build_options
from insync.cli.options.model import PATIENCE, ChosenModel, model_command, property_option, within_option
from insync.cli.options.output import Output, output_options
from insync.cli.options.task import Engine, engine_options, limit_options
from insync.cli.progress import search_progress
from insync.cli.rerun import WatchedCommand, watch_option
from insync.cli.terminal import exit_code_for
from insync.explorer import CheckResult, Limits, StopReason, check
from insync.explorer.documents.check import CheckDocument
from insync.model import Model

__all__ = ["command"]


@model_command("check", "Search the whole space of a model, and prove or refute its properties.", cls=WatchedCommand)
@property_option(
    "Check this property; may be repeated; `none` checks nothing and counts the space [default: those marked *]."
)
@within_option()
@click.option("--keep-going", is_flag=True, help="After a violation go on to the end of the space, for all counts.")
@click.option(
    "--symmetry/--no-symmetry",
    default=True,
    help="Visit one state for all that differ only in who is who, where a sort is declared symmetric [default: yes].",
)
@click.option(
    "--statistics", is_flag=True, help="Show the levels as a bar, the steps of a state, and the largest fields as well."
)
@limit_options(
    depth="Stop after N levels; the initial state is level 1.",
    states="Stop once N distinct states were found.",
    seconds="Stop after S seconds, tracing and compilation included.",
    memory="Keep the process within SIZE, such as 300M or 2G, or stop.",
)
@engine_options(partitions="Parts of the visited states [default: one a thread or core].", keeps_states=True)
@output_options(trace=True)
@build_options
@watch_option()
def command(
    chosen: ChosenModel,
    properties: tuple[str, ...],
    within: tuple[str, ...],
    keep_going: bool,
    symmetry: bool,
    statistics: bool,
    limits: Limits,
    engine: Engine,
    output: Output,
    build: Build,
) -> int:
    """Search every state of MODEL, breadth first, and check its properties in each.

    MODEL is a name that `insync list` shows, or path/to/file.py:Class for a model of your own. Its bounds and settings
    are options: `insync check MODEL --help` shows them with the properties. The result depends on model, bounds and
    properties alone, never on threads or partitions. A violation is shown as the shortest trace that leads to it; the
    search ends with the level in which the first property fails, unless --keep-going.

    type_ok, that no step leaves the domain of a field, is always checked.
    """
    engine.require_own_options()
    model = chosen.build(within, patience=None if engine.on_spark else PATIENCE)
    names = chosen.select(model, properties)
    output.check_trace_path()
    build.check(output)
    result = _search(model, names, keep_going, symmetry, limits, engine, output)
    if symmetry and click.get_current_context().get_parameter_source("symmetry") is not ParameterSource.DEFAULT:
        result = replace(result, warnings=(*result.warnings, *_without_symmetry(model, result)))
    traces = [violation.trace for violation in result.violations]
    with output.traces_written(traces, model) as files:
        after = _how_to_go_on(result, engine)
        output.show_document(CheckDocument(result, model.grid, files, model if statistics else None, after))
    build.tell(model, traces, names, verdict=result.verdict, stopped_by=result.stopped_by, warnings=result.warnings)
    return exit_code_for(result.verdict)


_RAISED = {StopReason.DEPTH: "--max-depth", StopReason.STATES: "--max-states", StopReason.MEMORY: "--memory"}
"""The limits that must be raised for a run to go on."""


def _how_to_go_on(result: CheckResult, engine: Engine) -> str:
    """Return the line about going on with an incomplete run, or about --run-dir; empty if neither applies."""
    kept = engine.resume or engine.run_dir
    if kept is None and result.stopped_by is StopReason.MEMORY and not engine.on_spark:
        return "\n\nWith --run-dir DIR it keeps its levels in DIR, and goes on from there when the memory is full."
    if kept is None or result.stopped_by is None or not result.levels:
        return ""
    instead = "" if engine.run_dir is None else " in place of --run-dir"
    raised = _RAISED.get(result.stopped_by)
    more = "" if raised is None else f" and a larger {raised}"
    again = f"the same command with --resume {shlex.quote(kept)}{instead}{more}"
    return f"\n\nIts complete levels are in {kept}: {again} goes on."


def _without_symmetry(model: Model, result: CheckResult) -> list[str]:
    """Return the warning for --symmetry with a model that has no symmetric sort."""
    if not result.levels or model.program.symmetry is not None:
        return []
    why = f": {model.tells_apart}" if model.tells_apart else ""
    return [f"No sort of {model.name} is symmetric{why}. Every state was visited."]


def _search(
    model: Model,
    names: Sequence[str],
    keep_going: bool,
    symmetry: bool,
    limits: Limits,
    engine: Engine,
    output: Output,
) -> CheckResult:
    with stop_on_interrupt() as stop, search_progress(output.quiet, engine.beginning) as reporter:
        if engine.on_spark:
            from insync import spark_explore

            return spark_explore.check(
                model,
                properties=names,
                limits=limits,
                options=engine.spark_options(),
                keep_going=keep_going,
                symmetry=symmetry,
                reporter=reporter,
                stop=stop,
            )
        return check(
            model,
            properties=names,
            limits=limits,
            threads=engine.threads,
            partitions=engine.partitions,
            keep_going=keep_going,
            symmetry=symmetry,
            run_dir=engine.resume or engine.run_dir,
            resume=engine.resume is not None,
            reporter=reporter,
            stop=stop,
        )
