"""`insync replay`: a trace file, executed again by the evaluator."""

from __future__ import annotations

from pathlib import Path

import click

from insync.cli.completion import complete_traces
from insync.cli.options.named_models import kinds_of_files, model_option, naming_of
from insync.cli.options.output import Output, output_options, refuse_overwriting, sources_of
from insync.cli.options.task import ReadFile
from insync.cli.terminal import EPILOG, ExitCode, emit, emit_data
from insync.explorer import read_trace, replay
from insync.explorer.documents.traces import TraceDocument
from insync.explorer.export.tla.foreign_traces import foreign_trace, is_foreign, named_in_module
from insync.explorer.pictures.formats import FORMATS, drawn_as
from insync.explorer.replay import model_of_trace
from insync.explorer.traces.itf import itf_text
from insync.explorer.traces.trace_file import trace_text

__all__ = ["command"]


@click.command("replay", epilog=EPILOG, short_help="Execute a trace file again, and show or convert it.")
@click.argument("file", metavar="FILE", type=ReadFile(), shell_complete=complete_traces)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "itf", "json", *FORMATS]),
    default="text",
    show_default=True,
    help="text: the grid; itf: the Informal Trace Format of Apalache and Quint; json: insync's own; "
    + "; ".join(f"{name}: {one.meaning}" for name, one in FORMATS.items())
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
def command(file: Path, form: str, reference: str | None, module: Path | None, output: Output) -> int:
    """Execute the trace in FILE step by step with the evaluator, and print it.

    The replay fails, with exit code 2, when a step is not enabled, leads to another state than the file says, or when
    the property holds at the end. A trace names its model. One of your own is a Python file, which runs only if --model
    names it.

    FILE may also be what TLC's -dumpTrace json wrote, or a trace in ITF, of a module that `insync export` made.
    """
    if output.json and form != "text":
        message = f"--json and --format {form} both say what to print. Give one of them."
        raise click.UsageError(message)
    output.check_trace_path()
    foreign = is_foreign(file)
    given = [] if reference is None else [reference]
    if foreign:
        (kind,) = kinds_of_files([named_in_module(file, module)], given)
        claim = foreign_trace(file, module, model=kind)
    else:
        claim = read_trace(file)
        (kind,) = kinds_of_files([naming_of(claim, file)], given)
    refuse_overwriting(click.get_current_context(), sources_of(kind))
    model = model_of_trace(claim, str(file), model=kind)
    trace = replay(claim, model=model, place=str(file))
    if form in FORMATS:
        drawn = drawn_as(form, trace, model, file).rstrip("\n")
        (emit if FORMATS[form].read_by_people else emit_data)(drawn)
    elif form == "itf":
        emit_data(itf_text(trace, model.state).rstrip("\n"))
    elif form == "json":
        emit_data(trace_text(trace).rstrip("\n"))
    else:
        output.show_document(TraceDocument(trace, model.grid))
    output.write_page([(trace, model, file)], say=form == "text")
    return ExitCode.HOLDS
