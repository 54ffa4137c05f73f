"""`insync explore`: a model explored by hand."""

from __future__ import annotations

import math
import webbrowser
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import click
from click.core import ParameterSource

from insync.cli.completion import complete_properties, complete_traces
from insync.cli.exploring import ExplorationText, Prompt
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.model import ChosenModel, model_command, property_option, within_option
from insync.cli.options.output import Output, output_options
from insync.cli.options.task import ReadFile, Whole, limit_options
from insync.cli.progress import search_progress
from insync.cli.terminal import ExitCode, emit, exit_code_for
from insync.explorer import Exploration, Limits, NoViolation, explore, read_trace
from insync.explorer.explore import refuse_trace_of_another
from insync.explorer.exploring.session import FIND_LIMITS
from insync.runtime.errors import UserError

__all__ = ["command"]


@model_command("explore", "Step through a model by hand, and see why a step is not enabled.")
@click.option("--text", is_flag=True, help="Explore here, by typed commands, and not in a browser.")
@click.option(
    "--port", type=Whole(1, 65535), metavar="N", help="Serve the page at this port [default: any that is free]."
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@click.option(
    "--from",
    "file",
    type=ReadFile(),
    metavar="TRACE",
    shell_complete=complete_traces,
    help="Begin at the end of this trace file.",
)
@click.option("--at", "address", metavar="ADDRESS", help="Begin at the state with this address.")
@click.option(
    "--violation",
    metavar="NAME",
    shell_complete=complete_properties,
    help="Search for a violation of this property, and begin at its end.",
)
@property_option("Watch this property; may be repeated; `none` watches type_ok alone [default: those marked *].")
@within_option()
@limit_options(seconds="End the search for a violation, and each for a condition, after S seconds.")
@output_options(json=False)
def command(
    chosen: ChosenModel,
    text: bool,
    port: int | None,
    opens: bool,
    file: Path | None,
    address: str | None,
    violation: str | None,
    properties: tuple[str, ...],
    within: tuple[str, ...],
    limits: Limits,
    output: Output,
) -> int:
    """Step through MODEL by hand, on a page in the browser, or with --text in the terminal.

    It shows a state, how its properties stand there, and every step: take one, go back, branch off, walk at random,
    search on from here for a state in which a condition holds; of a step that is not enabled it says which condition of
    its guard is false, and the values in it. The page is served on 127.0.0.1 alone, until Ctrl-C.
    """
    if text and (port is not None or opens):
        message = "--text explores in the terminal, and --port and --open are about the page. Leave one of them out."
        raise click.UsageError(message)
    if file is not None:
        chosen = _as_in_trace(chosen, file)
    model = chosen.build(within)
    names = chosen.select(model, properties) if properties else None
    try:
        with stop_on_interrupt() as stop, search_progress(output.quiet) as reporter:
            made = explore(
                model,
                properties=names,
                trace=file,
                address=address,
                violation=violation,
                limits=limits,
                reporter=reporter,
                stop=stop,
            )
    except NoViolation as none:
        emit(none.args[0])
        return exit_code_for(none.verdict)
    seconds = FIND_LIMITS.seconds if limits.seconds is None else limits.seconds
    if text:
        finds = replace(FIND_LIMITS, seconds=seconds)
        Prompt(made, ExplorationText(made, output.paint, output.width), finds, output.quiet).run()
    else:
        _serve(made, port or 0, math.ceil(seconds or 0), opens)
    return ExitCode.HOLDS


def _serve(made: Exploration, port: int, seconds: int, opens: bool) -> None:
    """Serve the page until Ctrl-C."""
    from insync.explorer.exploring_page.server import PageServer

    server = PageServer(made.again, port, seconds)
    emit(f"{made.model.name} is explored at {server.address}\nCtrl-C ends it.")
    if opens:
        webbrowser.open(server.address)
    with suppress(KeyboardInterrupt):
        server.run()
    emit("Ended.")


def _as_in_trace(chosen: ChosenModel, file: Path) -> ChosenModel:
    """Return the model with the bounds and settings of a trace.

    Raises:
        UserError: the trace belongs to another model, or an option contradicts it.
    """
    context = click.get_current_context()
    claim = read_trace(file)
    refuse_trace_of_another(claim, chosen.kind, str(file))
    known = {name: value for name, value in claim.bounds.items() if name in chosen.chosen}
    for name, value in known.items():
        given = context.get_parameter_source(f"bound_{name}") is ParameterSource.COMMANDLINE
        if given and chosen.chosen[name] != value:
            message = f"{file} was made with {name} {value}, and {chosen.chosen[name]} is asked for. Leave that out."
            raise UserError(message)
    return ChosenModel(chosen.kind, {**chosen.chosen, **known})
