"""`insync check`, `simulate`, `liveness` and `why`: searches of a model's states and of its runs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from insync import explorer
from insync.cli.completion import complete_actions
from insync.cli.options.model import ChosenModel, ModelCommand, model_command, property_option, within_option
from insync.cli.options.output import Build, Output, build_options, output_options
from insync.cli.options.task import Engine, engine_options, limit_options, thread_options, walk_options
from insync.cli.options.values import OutputPath, gathered, option
from insync.cli.progress import search_progress, stop_on_interrupt, walk_progress
from insync.cli.rerun import WatchedCommand, watch_option
from insync.cli.terminal import ExitCode, emit, exit_code_for
from insync.explorer import Limits, StopReason
from insync.model import Model
from insync.properties.registry import run_properties_of
from insync.properties.temporal import Fairness
from insync.runtime.errors import UserError
from insync.runtime.files import check_writable, write_whole

if TYPE_CHECKING:
    from insync.explorer import CheckResult, SimulationResult
    from insync.explorer.search.walks import Walks

__all__ = ["check_command", "liveness_command", "simulate_command", "why_command"]


@model_command("check", "Search the whole space of a model, and prove or refute its properties.", cls=WatchedCommand)
@property_option(
    "Check this property; may be repeated; `none` checks nothing and counts the space [default: those marked *]."
)
@within_option()
@click.option("--keep-going", is_flag=True, help="After a violation go on to the end of the space, for all counts.")
@click.option(
    "--symmetry/--no-symmetry",
    default=True,
    help="Visit one of the states that differ only in the names of members of symmetric sorts [default: yes].",
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
def check_command(
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
    from insync.explorer.documents.check import CheckDocument

    engine.require_own_options()
    model = chosen.untraced(within)
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
        return "\n\nWith --run-dir DIR the search keeps its levels in DIR, and goes on there when the memory is full."
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
        return explorer.check(
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


# ------------------------------------------------------------------------------------------------------------- simulate


@model_command("simulate", "Take random walks through a model, and shorten the one that fails.")
@walk_options(10_000, 100, 1_000_000, strategies=True)
@property_option("Check this property; may be repeated; `none` checks type_ok alone [default: those marked *].")
@within_option()
@limit_options(seconds="Stop after S seconds, compilation included.")
@engine_options(partitions="Spark: tasks at a time [default: one a core].", keeps_states=False)
@output_options(trace=True)
@build_options
def simulate_command(
    chosen: ChosenModel,
    walks: Walks,
    properties: tuple[str, ...],
    within: tuple[str, ...],
    limits: Limits,
    engine: Engine,
    output: Output,
    build: Build,
) -> int:
    """Take random walks through MODEL, and check properties on the way.

    For spaces that are too large to search: walks find violations and prove nothing, so without one the verdict is
    incomplete, with exit code 3. The first walk that fails is shortened, by leaving out the steps that it does not
    need, and shown. The result depends on model, bounds, properties, --depth, --seed and --strategy alone, never on
    --threads; walk number n of a seed is the same whatever the number of walks.

    --abstract-states counts how many states the walks have seen that differ in what matters (of a Kafka model leader,
    ISR, lags), and --until-saturated N ends them when N walks in a row have seen nothing new.

    A walk draws an action first, and then its parameters; every second walk prefers some actions to others. With
    --strategy names no walk does, with tastes all do; uniform draws an action with its parameters at once.
    """
    from insync.explorer.documents.simulate import SimulationDocument

    engine.require_own_options()
    model = chosen.untraced(within)
    names = chosen.select(model, properties)
    output.check_trace_path()
    build.check(output)
    result = _walk(model, names, walks, limits, engine, output)
    traces = [result.violation.trace] if result.violation is not None else []
    with output.traces_written(traces, model) as files:
        file = files[0] if files else None
        output.show_document(SimulationDocument(result, model.grid, file))
    build.tell(model, traces, names, verdict=result.verdict, stopped_by=result.stopped_by, warnings=result.warnings)
    return exit_code_for(result.verdict)


def _walk(
    model: Model, names: Sequence[str], walks: Walks, limits: Limits, engine: Engine, output: Output
) -> SimulationResult:
    with stop_on_interrupt() as stop, walk_progress(output.quiet, engine.beginning) as reporter:
        if engine.on_spark:
            from insync import spark_explore

            return spark_explore.simulate(
                model,
                properties=names,
                walks=walks.count,
                depth=walks.depth,
                seed=walks.seed,
                strategy=walks.strategy,
                abstract_states=walks.abstract_states,
                until_saturated=walks.until_saturated,
                limits=limits,
                options=engine.spark_options(),
                reporter=reporter,
                stop=stop,
            )
        return explorer.simulate(
            model,
            properties=names,
            walks=walks.count,
            depth=walks.depth,
            seed=walks.seed,
            strategy=walks.strategy,
            abstract_states=walks.abstract_states,
            until_saturated=walks.until_saturated,
            limits=limits,
            threads=engine.threads,
            reporter=reporter,
            stop=stop,
        )


# ------------------------------------------------------------------------------------------------------------- liveness


class RunsCommand(ModelCommand):
    """A command about properties of runs."""

    def format_properties(self, model: type[Model], formatter: click.HelpFormatter) -> None:
        rows = [(found.name, f"{found.kind}: {found.sentence}") for found in run_properties_of(model).values()]
        with formatter.section(f"Properties of runs of {model.name}"):
            formatter.write_dl(rows or [("none", "See docs/guide/liveness.md for how to write one.")])


def _fairness(weak: tuple[str, ...], strong: tuple[str, ...], unfair: bool) -> Fairness | None:
    """Return the fairness that replaces that of each property; None if none is given.

    Raises:
        UserError: --unfair with --weak or --strong.
    """
    if unfair and (weak or strong):
        given = f"--weak {weak[0]}" if weak else f"--strong {strong[0]}"
        message = f"--unfair takes no fairness for granted, and {given} takes some. Leave one of them out."
        raise UserError(message)
    return Fairness(weak, strong) if weak or strong or unfair else None


@model_command("liveness", "Decide what can happen, and what must in every fair run.", cls=RunsCommand)
@property_option("Decide this property of runs; may be repeated [default: all].")
@gathered(
    "fairness",
    _fairness,
    weak=option(
        "--weak",
        multiple=True,
        metavar="ACTION",
        shell_complete=complete_actions,
        help="Take weak fairness of this action for granted; may be repeated.",
    ),
    strong=option(
        "--strong",
        multiple=True,
        metavar="ACTION",
        shell_complete=complete_actions,
        help="Take strong fairness of this action for granted; may be repeated.",
    ),
    unfair=option("--unfair", is_flag=True, help="Take no fairness for granted."),
)
@within_option()
@click.option("--witnesses", is_flag=True, help="Show a trace to a state of each `sometimes` property.")
@limit_options(
    states="Stop once N states were found [default: 3,000,000].", seconds="Stop after S seconds, compilation included."
)
@output_options(trace=True)
@build_options
def liveness_command(
    chosen: ChosenModel,
    properties: tuple[str, ...],
    fairness: Fairness | None,
    within: tuple[str, ...],
    witnesses: bool,
    limits: Limits,
    output: Output,
    build: Build,
) -> int:
    """Decide the properties of MODEL's runs, such as eventually and leads_to.

    The whole graph of states is kept in memory, so the bounds must be small. A `sometimes` property holds if some state
    is as it says; the others hold if every fair run fulfils them, and a counterexample is a stem and a loop.
    --weak and --strong replace the fairness that the properties come with. ACTION is `fetch` for the action as a whole,
    `fetch(follower)` for each follower by itself, `fetch(*)` for each binding; of 'fetch | lead' any one will do.
    """
    from insync.explorer.documents.liveness import LivenessDocument

    model = chosen.untraced(within)
    output.check_trace_path()
    build.check(output)
    with stop_on_interrupt() as stop, search_progress(output.quiet) as reporter:
        result = explorer.liveness(
            model,
            properties=properties or None,
            fairness=fairness,
            limits=limits,
            reporter=reporter,
            stop=stop,
        )
    shown = [found for found in result.properties if found.trace is not None and (witnesses or not found.trace.witness)]
    refused = [] if result.refused is None else [result.refused]
    traces = [*refused, *(found.trace for found in shown if found.trace is not None)]
    with output.traces_written(traces, model) as files:
        by_name = {trace.property: file for trace, file in zip(traces, files, strict=True)}
        output.show_document(LivenessDocument(result, model.grid, shown, by_name))
    failed = [found for found in result.properties if found.verdict == "violated"]
    shortest = [*refused, *(found.trace for found in failed if found.trace is not None)]
    never = [found.name for found in failed if found.trace is None]
    build.tell(
        model,
        shortest,
        [*(trace.property for trace in refused), *(found.name for found in result.properties)],
        verdict=result.verdict,
        stopped_by=result.stopped_by,
        warnings=result.warnings,
        never=never,
    )
    return exit_code_for(result.verdict)


# ------------------------------------------------------------------------------------------------------------------ why


@model_command("why", "Count what a search exercised: every guard, branch, field and premise.")
@click.argument("actions", metavar="[ACTION]...", nargs=-1, shell_complete=complete_actions)
@property_option("Look at this property; may be repeated; `none` looks at none [default: those marked *].")
@within_option()
@click.option(
    "--html",
    "html",
    type=OutputPath(),
    metavar="FILE",
    help="Write the model's source to FILE, one page with the counts in its margin.",
)
@limit_options(
    depth="Count the first N levels; the initial state is level 1.",
    states="Stop once N distinct states were found, and count these.",
    seconds="Stop after S seconds, tracing and compilation included, and count what was found.",
    memory="Keep the process within SIZE, such as 300M or 2G, or stop and count what was found.",
)
@thread_options
@output_options()
def why_command(
    chosen: ChosenModel,
    actions: tuple[str, ...],
    properties: tuple[str, ...],
    within: tuple[str, ...],
    html: Path | None,
    limits: Limits,
    engine: Engine,
    output: Output,
) -> int:
    """Search every state of MODEL and count what its actions and properties exercise.

    Of each action: in how many states it is enabled, how often each of its guards was false, and was alone in that;
    which branches of If and when were never taken, and which fields no step changes. Of each property: which premise
    was never true, and in how many states it was near to failing. With ACTIONs every guard, branch and assignment of
    these is shown; without, what was not exercised. The exit code is 0 whatever was counted, and 3 if a limit ended the
    search: then the counts are those of its complete levels.
    """
    from insync.explorer.coverage.source_page import why_page
    from insync.explorer.documents.why import WhyDocument

    model = chosen.untraced(within)
    names = chosen.select(model, properties)
    if html is not None:
        check_writable(html)
    with stop_on_interrupt() as stop, search_progress(output.quiet) as reporter:
        result = explorer.why(
            model,
            actions=actions or None,
            properties=names,
            limits=limits,
            threads=engine.threads,
            reporter=reporter,
            stop=stop,
        )
    output.show_document(WhyDocument(result, model, bool(actions), html))
    if html is not None:
        write_whole(html, why_page(result))
        if not output.json:
            emit(f"Page: {html}")
    return ExitCode.HOLDS if result.stopped_by is None else ExitCode.INCOMPLETE
