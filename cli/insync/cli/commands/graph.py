"""`insync graph`: the state graph of a small space, for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from insync.cli.exit_codes import EPILOG, ExitCode
from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.model_command import ModelCommand, chosen_bounds, chosen_model
from insync.cli.options.shared import model_argument, quiet_option
from insync.cli.options.values import OutputPath, Whole
from insync.cli.show.figures import plural
from insync.cli.show.terminal import emit

__all__ = ["command"]

_MOST = 20_000


@click.command("graph", cls=ModelCommand, epilog=EPILOG, short_help="Write the graph of a small space for other tools.")
@model_argument
@click.option(
    "--output",
    type=OutputPath(),
    required=True,
    metavar="FILE",
    help="Where the graph goes: GraphML when FILE ends in .graphml, DOT when it ends in .dot.",
)
@click.option("--max-depth", type=Whole(1), metavar="N", help="Leave out what is beyond N levels.")
@click.option(
    "--max-states", type=Whole(1), metavar="N", default=_MOST, show_default=True, help="Refuse a larger graph."
)
@quiet_option
@click.pass_context
def command(
    ctx: click.Context, /, output: Path, max_depth: int | None, max_states: int, quiet: bool, **model: str
) -> int:
    """Write the graph of all states of MODEL and the steps between them to a file.

    A node has every field of the state in readable form, an edge has the action and its parameters. Such graphs are
    for looking at: take small bounds, or --max-depth.
    """
    from insync.cli.options.models import build_model
    from insync.cli.show.progress import progress_reporter
    from insync.explorer.limits import Limits, StopReason
    from insync.explorer.runs.graph_export import dot_text, graphml_text
    from insync.explorer.runs.state_graph import build_graph
    from insync.explorer.traces.files import check_writable, write_whole
    from insync.model.errors import UserError

    writers = {".graphml": graphml_text, ".dot": dot_text}
    if output.suffix not in writers:
        message = f"{output}: a graph is written as .graphml or .dot; give the file one of these endings."
        raise UserError(message)
    built = build_model(chosen_model(ctx), chosen_bounds(ctx))
    check_writable(output)
    with stop_on_interrupt() as stop:
        graph = build_graph(built, Limits(max_depth, max_states + 1), progress_reporter(quiet), stop)
    if graph.stopped_by not in (None, StopReason.DEPTH) or len(graph) > max_states:
        message = (
            f"The graph has more than {plural(max_states, 'state')}, so it was not written; take smaller bounds, "
            f"--max-depth, or a larger --max-states."
        )
        raise UserError(message)
    write_whole(output, writers[output.suffix](graph))
    left = "" if graph.stopped_by is None else f"; {plural(len(graph) - graph.expanded, 'state')} not expanded"
    emit(f"{output}: {plural(len(graph), 'state')}, {plural(len(graph.source), 'step')}{left}")
    return ExitCode.HOLDS
