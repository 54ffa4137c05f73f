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
from insync.cli.show.terminal import emit, emit_error

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
    from insync.explorer import Limits, StopReason, write_graph
    from insync.explorer import graph as graph_of
    from insync.explorer.graph import require_graph_format
    from insync.explorer.traces.files import check_writable
    from insync.model.errors import UserError

    require_graph_format(output)
    built = build_model(chosen_model(ctx), chosen_bounds(ctx))
    check_writable(output)
    with stop_on_interrupt() as stop:
        graph = graph_of(built, limits=Limits(max_depth, max_states + 1), reporter=progress_reporter(quiet), stop=stop)
    if graph.stopped_by is StopReason.INTERRUPT:
        emit_error(f"Stopped by Ctrl-C after {plural(len(graph), 'state')}; {output} was not written.")
        return ExitCode.INCOMPLETE
    if graph.stopped_by not in (None, StopReason.DEPTH) or len(graph) > max_states:
        message = (
            f"The graph has more than {plural(max_states, 'state')}, so it was not written; take smaller bounds, "
            f"--max-depth, or a larger --max-states."
        )
        raise UserError(message)
    write_graph(output, graph)
    left = "" if graph.stopped_by is None else f"; {plural(len(graph) - graph.expanded, 'state')} not expanded"
    emit(f"{output}: {plural(len(graph), 'state')}, {plural(len(graph.source), 'step')}{left}")
    return ExitCode.HOLDS
