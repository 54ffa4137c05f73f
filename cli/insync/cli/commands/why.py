"""`insync why`: the coverage of a model by its search."""

from __future__ import annotations

from pathlib import Path

import click

from insync.cli.completion import complete_actions
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.model import PATIENCE, ChosenModel, model_command, property_option, within_option
from insync.cli.options.output import Output, output_options
from insync.cli.options.task import Engine, OutputPath, limit_options, thread_options
from insync.cli.progress import search_progress
from insync.cli.terminal import ExitCode, emit
from insync.explorer import Limits, why
from insync.explorer.coverage.source_page import why_page
from insync.explorer.documents.why import WhyDocument
from insync.runtime.files import check_writable, write_whole

__all__ = ["command"]


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
    states="Count what was found once there are N distinct states.",
    seconds="Count what was found after S seconds, tracing and compilation included.",
    memory="Keep the process within SIZE, such as 300M or 2G, and count what was found.",
)
@thread_options
@output_options()
def command(
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
    model = chosen.build(within, patience=PATIENCE)
    names = chosen.select(model, properties)
    if html is not None:
        check_writable(html)
    with stop_on_interrupt() as stop, search_progress(output.quiet) as reporter:
        result = why(
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
