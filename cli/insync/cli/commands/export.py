"""`insync export`: a model in another tool's language."""

from __future__ import annotations

import json
from pathlib import Path

import click

from insync.cli.options.model import ChosenModel, model_command, property_option, within_option
from insync.cli.options.output import Output, output_options
from insync.cli.options.task import OutputPath
from insync.cli.terminal import ExitCode, emit, emit_data
from insync.explorer.export import FORMATS, export
from insync.properties.registry import run_properties_of
from insync.runtime.files import check_writable, write_whole

__all__ = ["command"]


@model_command("export", "Write a model in another tool's language.")
@click.option(
    "--to",
    "form",
    type=click.Choice(list(FORMATS)),
    default=next(iter(FORMATS)),
    show_default=True,
    help="tla: a TLA+ module and its .cfg; tla-unrolled: the same with an operator for each bound action; dot: the "
    "graph of a small space.",
)
@property_option("Export this property; may be repeated; `none` exports none [default: those marked *].")
@within_option()
@click.option(
    "-o",
    "--output",
    "file",
    type=OutputPath(),
    metavar="FILE",
    help="Write to FILE, and what belongs to it beside it [default: the main file on standard output].",
)
@output_options(color=False, quiet=False)
def command(
    chosen: ChosenModel,
    form: str,
    properties: tuple[str, ...],
    within: tuple[str, ...],
    file: Path | None,
    output: Output,
) -> int:
    """Say what MODEL says, under its bounds, in a language that another tool reads."""
    model = chosen.build(within)
    if file is not None:
        check_writable(file)
    runs = [name for name in properties if name in run_properties_of(model)]
    states = [name for name in properties if name not in runs]
    names = chosen.select(model, states) if states or not runs else []
    files = export(model, to=form, properties=[*names, *runs], name=None if file is None else file.stem)
    written = [] if file is None else _written(file, files)
    if output.json:
        emit_data(
            json.dumps({"model": model.name, "bounds": model.identity, "files": files}, indent=2, ensure_ascii=False)
        )
    elif file is None:
        emit_data(next(iter(files.values())).rstrip("\n"))
    else:
        emit("\n".join(map(str, written)))
    return ExitCode.HOLDS


def _written(file: Path, files: dict[str, str]) -> list[Path]:
    """Write the main file to `file` and the others beside it, and return their paths."""
    paths = [file, *(file.with_name(name) for name in list(files)[1:])]
    for path, text in zip(paths, files.values(), strict=True):
        write_whole(path, text)
    return paths
