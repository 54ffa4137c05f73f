"""`insync graph`: the state graph of a small space, for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.model import ChosenModel, model_command, within_option
from insync.cli.options.output import Output, output_options
from insync.cli.options.task import OutputPath, Whole
from insync.cli.progress import search_progress
from insync.cli.show.as_json import graph_json
from insync.cli.show.figures import plural
from insync.cli.show.report import confined_lines
from insync.cli.terminal import ExitCode, emit_error
from insync.explorer import Limits, StateGraph, StopReason, graph, write_graph
from insync.explorer.runs.state_graph import require_graph_format
from insync.properties.invariants import names_within
from insync.runtime.errors import UserError
from insync.runtime.files import check_writable

__all__ = ["command"]

_MOST = 20_000


@model_command("graph", "Write the graph of a small space for other tools.")
@click.option(
    "--output",
    "file",
    type=OutputPath(),
    required=True,
    metavar="FILE",
    help="Where the graph goes: GraphML when FILE ends in .graphml, DOT when it ends in .dot.",
)
@click.option("--max-depth", type=Whole(1), metavar="N", help="Leave out what is beyond N levels.")
@click.option(
    "--max-states", type=Whole(1), metavar="N", default=_MOST, show_default=True, help="Refuse a larger graph."
)
@within_option()
@output_options(color=False)
def command(
    chosen: ChosenModel, file: Path, max_depth: int | None, max_states: int, within: tuple[str, ...], output: Output
) -> int:
    """Write the graph of all states of MODEL and the steps between them to a file.

    A node has every field of the state in readable form, an edge has the action and its parameters. Such graphs are
    for looking at: take small bounds, --max-depth, or --within.
    """
    require_graph_format(file)
    model = chosen.build(within)
    check_writable(file)
    limits = Limits(depth=max_depth, states=max_states + 1)
    with stop_on_interrupt() as stop, search_progress(output.quiet) as reporter:
        found = graph(model, limits=limits, reporter=reporter, stop=stop)
    if found.stopped_by is StopReason.INTERRUPT:
        emit_error(f"Stopped by Ctrl-C after {plural(len(found), 'state')}; {file} was not written.")
        return ExitCode.INCOMPLETE
    if found.stopped_by not in (None, StopReason.DEPTH) or len(found) > max_states:
        message = (
            f"The graph has more than {plural(max_states, 'state')}, so it was not written; take smaller bounds, "
            f"--max-depth, or a larger --max-states."
        )
        raise UserError(message)
    write_graph(file, found)
    output.show(lambda: _as_text(found, file), lambda: graph_json(found, file))
    return ExitCode.HOLDS


def _as_text(found: StateGraph, file: Path) -> str:
    left = "" if found.stopped_by is None else f"; {plural(len(found) - found.expanded, 'state')} not expanded"
    counted = f"{file}: {plural(len(found), 'state')}, {plural(len(found.source), 'step')}{left}"
    return "\n".join([counted, *confined_lines(names_within(found.model))])
