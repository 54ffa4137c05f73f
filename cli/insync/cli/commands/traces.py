"""`insync replay`, `report`, `explore` and `export`: files of traces, and a model made into something to look at."""

from __future__ import annotations

import json
import math
import webbrowser
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from insync import explorer
from insync.cli.completion import complete_properties, complete_traces
from insync.cli.options.model import ChosenModel, model_command, property_option, within_option
from insync.cli.options.named_models import kinds_of_files, model_option, naming_of
from insync.cli.options.output import Output, output_options, refuse_overwriting, refuse_same, sources_of
from insync.cli.options.task import limit_options
from insync.cli.options.values import OutputPath, ReadFile, Whole
from insync.cli.progress import search_progress, stop_on_interrupt
from insync.cli.terminal import EPILOG, ExitCode, emit, emit_data, emit_error, exit_code_for
from insync.explorer import Limits, StopReason
from insync.explorer.documents.text import confined_lines, plural
from insync.explorer.export import FORMATS
from insync.explorer.export.formats import GRAPHS, MOST_STATES, small_graph
from insync.explorer.pictures.formats import FORMATS as PICTURES
from insync.model import Model
from insync.properties.invariants import names_within
from insync.properties.registry import run_properties_of
from insync.runtime.errors import UserError
from insync.runtime.files import check_writable, write_whole

if TYPE_CHECKING:
    from insync.explorer.documents.json_types.models import ExportObject

__all__ = ["explore_command", "export_command", "replay_command", "report_command"]


@click.command("replay", epilog=EPILOG, short_help="Execute a trace file again, and show or convert it.")
@click.argument("file", metavar="FILE", type=ReadFile(), shell_complete=complete_traces)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "itf", "json", *PICTURES]),
    default="text",
    show_default=True,
    help="text: the grid; itf: the Informal Trace Format of Apalache and Quint; json: insync's own; "
    + "; ".join(f"{name}: {one.meaning}" for name, one in PICTURES.items())
    + ".",
)
@model_option("FILE")
@click.option(
    "--module",
    metavar="MODULE",
    type=ReadFile(),
    help="The module that `insync export` wrote, where FILE is a trace that another checker found in it [default: the "
    "one beside FILE].",
)
@output_options(html=True, quiet=False)
def replay_command(file: Path, form: str, reference: str | None, module: Path | None, output: Output) -> int:
    """Execute the trace in FILE step by step with the evaluator, and print it.

    The replay fails, with exit code 2, when a step is not enabled, leads to another state than the file says, or when
    the property holds at the end. A trace names its model. One of your own is a Python file, which runs only if --model
    names it.

    FILE may also be what TLC's -dumpTrace json wrote, or a trace in ITF, of a module that `insync export` made.
    """
    if output.json and form != "text":
        message = f"--json and --format {form} both say what to print. Give one of them."
        raise click.UsageError(message)
    from insync.explorer.documents.traces import TraceDocument
    from insync.explorer.export.tla.foreign_traces import foreign_trace, is_foreign, named_in_module
    from insync.explorer.pictures.formats import drawn_as
    from insync.explorer.replay import model_of_trace
    from insync.explorer.traces.itf import itf_text
    from insync.explorer.traces.trace_file import trace_text

    output.check_trace_path()
    foreign = is_foreign(file)
    given = [] if reference is None else [reference]
    if foreign:
        (kind,) = kinds_of_files([named_in_module(file, module)], given)
        claim = foreign_trace(file, module, model=kind)
    else:
        claim = explorer.read_trace(file)
        (kind,) = kinds_of_files([naming_of(claim, file)], given)
    refuse_overwriting(click.get_current_context(), sources_of(kind))
    model = model_of_trace(claim, str(file), model=kind)
    trace = explorer.replay(claim, model=model, place=str(file))
    if form in PICTURES:
        drawn = drawn_as(form, trace, model, file).rstrip("\n")
        (emit if PICTURES[form].read_by_people else emit_data)(drawn)
    elif form == "itf":
        emit_data(itf_text(trace, model.state).rstrip("\n"))
    elif form == "json":
        emit_data(trace_text(trace).rstrip("\n"))
    else:
        output.show_document(TraceDocument(trace, model.grid))
    output.write_page([(trace, model, file)], say=form == "text")
    return ExitCode.HOLDS


# --------------------------------------------------------------------------------------------------------------- report


REPORTS = """\b
Examples:
  insync check kip101 --trace out.json
  insync report out.json
  insync report out.json out.strong_isr.json -o both.html

"""


@click.command("report", epilog=REPORTS + EPILOG, short_help="Make a page of trace files, to step through and send.")
@click.argument(
    "files",
    metavar="TRACE...",
    nargs=-1,
    required=True,
    type=ReadFile(),
    shell_complete=complete_traces,
)
@click.option(
    "-o",
    "--output",
    "page",
    type=OutputPath(),
    metavar="FILE",
    help="Write the page to FILE [default: the name of the first TRACE, with .html].",
)
@model_option("a TRACE", several=True)
def report_command(files: tuple[Path, ...], page: Path | None, references: tuple[str, ...]) -> int:
    """Execute each TRACE again, and write one HTML page with a picture of each.

    The page needs nothing else, neither a network nor insync: it can be sent, printed and looked at on a phone. Each
    trace is a sequence diagram beside the state after the chosen step, with the reason pointing at what it names.
    """
    from insync.explorer.pictures.page import write_page
    from insync.explorer.replay import model_of_trace

    traces = [("a TRACE", file) for file in files]
    if page is not None:
        refuse_same([("--output", page)], traces)
    claims = [explorer.read_trace(file) for file in files]
    target = files[0].with_suffix(".html") if page is None else page
    refuse_same([("--output", target)], traces)
    check_writable(target)
    kinds = kinds_of_files([naming_of(claim, file) for claim, file in zip(claims, files, strict=True)], references)
    for kind in kinds:
        refuse_same([("--output", target)], sources_of(kind))
    shown = []
    for file, claim, kind in zip(files, claims, kinds, strict=True):
        model = model_of_trace(claim, str(file), model=kind)
        shown.append((explorer.replay(claim, model=model, place=str(file)), model, file))
    write_page(target, shown)
    emit(f"Page: {target}")
    return ExitCode.HOLDS


# -------------------------------------------------------------------------------------------------------------- explore


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
def explore_command(
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

    It shows a state, the verdict of each property there, and every step. Take one, go back, branch off, walk at random,
    or search on from here for a state in which a condition holds. Of a step that is not enabled it shows the condition
    of its guard that is false, and the values in it. The page is served on 127.0.0.1 alone, until Ctrl-C.
    """
    from insync.cli.exploring import ExplorationText, Prompt
    from insync.explorer.exploring.session import FIND_LIMITS

    if text and (port is not None or opens):
        message = "--text explores in the terminal, and --port and --open are about the page. Leave one of them out."
        raise click.UsageError(message)
    if file is not None:
        chosen = _as_in_trace(chosen, file)
    model = chosen.build(within)
    names = chosen.select(model, properties) if properties else None
    try:
        with stop_on_interrupt() as stop, search_progress(output.quiet) as reporter:
            made = explorer.explore(
                model,
                properties=names,
                trace=file,
                address=address,
                violation=violation,
                limits=limits,
                reporter=reporter,
                stop=stop,
            )
    except explorer.NoViolation as none:
        emit(none.args[0])
        return exit_code_for(none.verdict)
    seconds = FIND_LIMITS.seconds if limits.seconds is None else limits.seconds
    if text:
        finds = replace(FIND_LIMITS, seconds=seconds)
        Prompt(made, ExplorationText(made, output.paint, output.width), finds, output.quiet).run()
    else:
        _serve(made, port or 0, math.ceil(seconds or 0), opens)
    return ExitCode.HOLDS


def _serve(made: explorer.Exploration, port: int, seconds: int, opens: bool) -> None:
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
    from insync.explorer.explore import refuse_trace_of_another

    context = click.get_current_context()
    claim = explorer.read_trace(file)
    refuse_trace_of_another(claim, chosen.kind, str(file))
    known = {name: value for name, value in claim.bounds.items() if name in chosen.chosen}
    for name, value in known.items():
        given = context.get_parameter_source(f"bound_{name}") is ParameterSource.COMMANDLINE
        if given and chosen.chosen[name] != value:
            message = f"{file} was made with {name} {value}, and {chosen.chosen[name]} is given. Leave that out."
            raise UserError(message)
    return ChosenModel(chosen.kind, {**chosen.chosen, **known})


# --------------------------------------------------------------------------------------------------------------- export


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
def export_command(
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
    files = explorer.export(model, to=form, properties=[*names, *runs], name=None if file is None else file.stem)
    written = [] if file is None else _write_files(file, files)
    _show_files(model, files, "\n".join(map(str, written)), file, output)
    return ExitCode.HOLDS


def _graph(model: Model, form: str, depth: int | None, states: int, file: Path | None, output: Output) -> int:
    with stop_on_interrupt() as stop, search_progress(output.quiet) as reporter:
        found = small_graph(model, depth=depth, states=states, reporter=reporter, stop=stop)
    if found.stopped_by is StopReason.INTERRUPT:
        emit_error(f"Stopped by Ctrl-C after {plural(len(found), 'state')}; nothing was written.")
        return ExitCode.INCOMPLETE
    files = {f"{model.name if file is None else file.stem}.{form}": GRAPHS[form](found)}
    if file is not None:
        _write_files(file, files)
    _show_files(model, files, _counted(found, file), file, output)
    return ExitCode.HOLDS


def _counted(found: explorer.StateGraph, file: Path | None) -> str:
    left = "" if found.stopped_by is None else f"; {plural(len(found) - found.expanded, 'state')} not expanded"
    counted = f"{file}: {plural(len(found), 'state')}, {plural(len(found.source), 'step')}{left}"
    return "\n".join([counted, *confined_lines(names_within(found.model))])


def _show_files(model: Model, files: dict[str, str], told: str, file: Path | None, output: Output) -> None:
    """Print the files as JSON, or what was written, or the main file if none was written."""
    if output.json:
        made: ExportObject = {"model": model.name, "bounds": model.identity, "files": files}
        emit_data(json.dumps(made, indent=2, ensure_ascii=False))
    elif file is None:
        emit_data(next(iter(files.values())).rstrip("\n"))
    else:
        emit(told)


def _write_files(file: Path, files: dict[str, str]) -> list[Path]:
    """Write the main file to `file` and the others beside it, and return their paths."""
    paths = [file, *(file.with_name(name) for name in list(files)[1:])]
    for path, text in zip(paths, files.values(), strict=True):
        write_whole(path, text)
    return paths
