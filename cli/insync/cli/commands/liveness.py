"""`insync liveness`: properties of runs, under fairness."""

from __future__ import annotations

import click

from insync.cli.completion import complete_actions
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.annotations import Build, build_options
from insync.cli.options.model import ChosenModel, ModelCommand, model_command, property_option, within_option
from insync.cli.options.output import Output, output_options
from insync.cli.options.task import gathered, limit_options, option
from insync.cli.progress import search_progress
from insync.cli.terminal import exit_code_for
from insync.explorer import Limits, liveness
from insync.explorer.documents.liveness import LivenessDocument
from insync.model import Model
from insync.properties.registry import run_properties_of
from insync.properties.temporal import Fairness
from insync.runtime.errors import UserError

__all__ = ["command"]


class _RunsCommand(ModelCommand):
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


@model_command("liveness", "Decide what can happen, and what must in every fair run.", cls=_RunsCommand)
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
@click.option("--witnesses", is_flag=True, help="Show the traces to states that `sometimes` properties ask for.")
@limit_options(
    states="Stop once N states were found [default: 3,000,000].", seconds="Stop after S seconds, compilation included."
)
@output_options(trace=True)
@build_options
def command(
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
    model = chosen.build(within)
    output.check_trace_path()
    build.check(output)
    with stop_on_interrupt() as stop, search_progress(output.quiet) as reporter:
        result = liveness(
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
