"""`insync report`: trace files as one page with pictures."""

from __future__ import annotations

from pathlib import Path

import click

from insync.cli.completion import complete_traces
from insync.cli.options.named_models import kinds_of_files, model_option, naming_of
from insync.cli.options.output import refuse_same, sources_of
from insync.cli.options.task import OutputPath, ReadFile
from insync.cli.terminal import EPILOG, ExitCode, emit
from insync.explorer import read_trace, replay
from insync.explorer.pictures.page import write_page
from insync.explorer.replay import model_of_trace
from insync.runtime.files import check_writable

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  insync check kip101 --trace out.json
  insync report out.json
  insync report out.json out.strong_isr.json -o both.html

"""


@click.command("report", epilog=EXAMPLES + EPILOG, short_help="Make a page of trace files, to step through and send.")
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
def command(files: tuple[Path, ...], page: Path | None, references: tuple[str, ...]) -> int:
    """Execute each TRACE again, and write one HTML page with a picture of each.

    The page needs nothing else, neither a network nor insync: it can be sent, printed and looked at on a phone. Each
    trace is a sequence diagram beside the state after the chosen step, with the reason pointing at what it talks of.
    """
    traces = [("a TRACE", file) for file in files]
    if page is not None:
        refuse_same([("--output", page)], traces)
    claims = [read_trace(file) for file in files]
    target = files[0].with_suffix(".html") if page is None else page
    refuse_same([("--output", target)], traces)
    check_writable(target)
    kinds = kinds_of_files([naming_of(claim, file) for claim, file in zip(claims, files, strict=True)], references)
    for kind in kinds:
        refuse_same([("--output", target)], sources_of(kind))
    shown = []
    for file, claim, kind in zip(files, claims, kinds, strict=True):
        model = model_of_trace(claim, str(file), model=kind)
        shown.append((replay(claim, model=model, place=str(file)), model, file))
    write_page(target, shown)
    emit(f"Page: {target}")
    return ExitCode.HOLDS
