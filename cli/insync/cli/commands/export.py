"""`insync export`: a model in another tool's language, or the graph of its states."""

from __future__ import annotations

import json
from pathlib import Path

import click

from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.model import ChosenModel, model_command, property_option, within_option
from insync.cli.options.output import Output, output_options
from insync.cli.options.task import OutputPath, Whole
from insync.cli.progress import search_progress
from insync.cli.terminal import ExitCode, emit, emit_data, emit_error
from insync.explorer import StateGraph, StopReason
from insync.explorer.documents.text import confined_lines, plural
from insync.explorer.export import FORMATS, export
from insync.explorer.export.formats import GRAPHS, MOST_STATES, small_graph
from insync.model import Model
from insync.properties.invariants import names_within
from insync.properties.registry import run_properties_of
from insync.runtime.files import check_writable, write_whole

__all__ = ["command"]


@model_command("export", "Write a model in another tool's language, or the graph of its states.")
@click.option(
    "--to",
    "form",
    type=click.Choice(list(FORMATS)),
    default=next(iter(FORMATS)),
    show_default=True,
    help="tla: a TLA+ module and its .cfg; tla-unrolled: the same with an operator for each bound action; graphml, "
    "dot: the graph of a small space.",
)
@property_option("Export this property; may be repeated; `none` exports none [default: those marked *].")
@within_option()
@click.option("--max-depth", type=Whole(1), metavar="N", help="Leave out of a graph what is beyond N levels.")
@click.option("--max-states", type=Whole(1), metavar="N", help=f"Refuse a larger graph.  [default: {MOST_STATES}]")
@click.option(
    "-o",
    "--output",
    "file",
    type=OutputPath(),
    metavar="FILE",
    help="Write to FILE, and what belongs to it beside it [default: the main file on standard output].",
)
@output_options(color=False)
def command(
    chosen: ChosenModel,
    form: str,
    properties: tuple[str, ...],
    within: tuple[str, ...],
    max_depth: int | None,
    max_states: int | None,
    file: Path | None,
    output: Output,
) -> int:
    """Say what MODEL says, under its bounds, in a language that another tool reads.

    In a graph a node has every field of the state in readable form, an edge has the action and its parameters. Graphs
    are for looking at: take small bounds, --max-depth, or --within.
    """
    given = {"--max-depth": max_depth, "--max-states": max_states, "--property": properties or None}
    for option in ("--property",) if form in GRAPHS else ("--max-depth", "--max-states"):
        if given[option] is not None:
            message = f"{option} has no effect on --to {form}; leave it out, or choose another format."
            raise click.UsageError(message)
    model = chosen.build(within)
    if file is not None:
        check_writable(file)
    if form in GRAPHS:
        return _graph(model, form, max_depth, max_states or MOST_STATES, file, output)
    runs = [name for name in properties if name in run_properties_of(model)]
    states = [name for name in properties if name not in runs]
    names = chosen.select(model, states) if states or not runs else []
    files = export(model, to=form, properties=[*names, *runs], name=None if file is None else file.stem)
    written = [] if file is None else _written(file, files)
    _show(model, files, "\n".join(map(str, written)), file, output)
    return ExitCode.HOLDS


def _graph(model: Model, form: str, depth: int | None, states: int, file: Path | None, output: Output) -> int:
    with stop_on_interrupt() as stop, search_progress(output.quiet) as reporter:
        found = small_graph(model, depth=depth, states=states, reporter=reporter, stop=stop)
    if found.stopped_by is StopReason.INTERRUPT:
        emit_error(f"Stopped by Ctrl-C after {plural(len(found), 'state')}; nothing was written.")
        return ExitCode.INCOMPLETE
    files = {f"{model.name if file is None else file.stem}.{form}": GRAPHS[form](found)}
    if file is not None:
        _written(file, files)
    _show(model, files, _counted(found, file), file, output)
    return ExitCode.HOLDS


def _counted(found: StateGraph, file: Path | None) -> str:
    left = "" if found.stopped_by is None else f"; {plural(len(found) - found.expanded, 'state')} not expanded"
    counted = f"{file}: {plural(len(found), 'state')}, {plural(len(found.source), 'step')}{left}"
    return "\n".join([counted, *confined_lines(names_within(found.model))])


def _show(model: Model, files: dict[str, str], told: str, file: Path | None, output: Output) -> None:
    """Print the files as JSON, or what was written, or the main file if none was written."""
    if output.json:
        emit_data(
            json.dumps({"model": model.name, "bounds": model.identity, "files": files}, indent=2, ensure_ascii=False)
        )
    elif file is None:
        emit_data(next(iter(files.values())).rstrip("\n"))
    else:
        emit(told)


def _written(file: Path, files: dict[str, str]) -> list[Path]:
    """Write the main file to `file` and the others beside it, and return their paths."""
    paths = [file, *(file.with_name(name) for name in list(files)[1:])]
    for path, text in zip(paths, files.values(), strict=True):
        write_whole(path, text)
    return paths
