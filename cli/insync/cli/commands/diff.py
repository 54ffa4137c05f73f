"""`insync diff`: a comparison of two models, of one under two choices, or of two trace files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click

from insync.cli.interrupt import stop_on_interrupt
from insync.cli.options.model import ChosenPair, property_option, two_models_command
from insync.cli.options.named_models import kinds_of_files, model_option, naming_of
from insync.cli.options.output import (
    Output,
    beside,
    output_options,
    refuse_overwriting,
    say_not_written,
    sources_of,
    traces_written,
)
from insync.cli.options.task import Engine, OutputPath, limit_options, thread_options
from insync.cli.progress import search_progress
from insync.cli.terminal import ExitCode
from insync.explorer import Limits, diff, diff_traces, read_trace, replay
from insync.explorer.documents.diff import DiffDocument, TraceDifferenceDocument
from insync.explorer.replay import model_of_trace
from insync.explorer.traces.trace import Trace
from insync.model import Model
from insync.runtime.errors import UserError

__all__ = ["command"]


@two_models_command("diff", "Compare two models, releases or settings, or two traces.")
@property_option("Compare this property; may be repeated; `none` compares none [default: those marked * of each].")
@click.option(
    "--trace",
    type=OutputPath(),
    metavar="FILE",
    help="Write the trace that only A allows to FILE, and the one that only B allows beside it, as FILE with .other "
    "in its name.",
)
@model_option("a trace", several=True)
@limit_options(
    depth="Compare the first N levels; the initial state is level 1.",
    states="Stop each search once N distinct states were found.",
    seconds="Stop after S seconds, tracing and compilation included.",
    memory="Keep the process within SIZE, such as 300M or 2G, or stop.",
)
@thread_options
@output_options(html=True)
def command(
    chosen: ChosenPair,
    properties: tuple[str, ...],
    trace: Path | None,
    references: tuple[str, ...],
    limits: Limits,
    engine: Engine,
    output: Output,
) -> int:
    """Say how A and B differ: in their properties, in the states that they reach and the steps that they take.

    A and B are models, or B is left out and a bound or setting is given twice, first that of A and then that of B:
    `insync diff cluster --release 3.9 --release 4.1`. What is given once is of both. The shortest trace that one allows
    and the other does not is executed by the evaluator and shown with what the other does in place of its last step.
    Two trace files are compared step by step.

    The exit code is 0 if they take the same steps and have the same verdicts, 1 if they differ, and 3 if a limit left
    that open.
    """
    files = (None, None) if trace is None else (trace, beside(trace, "other"))
    replace(output, trace=trace).check_trace_path()
    if chosen.files:
        return _of_traces(chosen, references, output)
    if references:
        message = "--model is about trace files, and models are compared. Leave it out, or name two trace files."
        raise click.UsageError(message)
    models = chosen.build()
    with stop_on_interrupt() as stop, search_progress(output.quiet) as reporter:
        result = diff(
            *models,
            properties=_names(properties),
            limits=limits,
            threads=engine.threads,
            reporter=reporter,
            stop=stop,
        )
    for one, path in zip(result.only, files, strict=True):
        if one is None and path is not None and (path == trace or path.is_file()):
            say_not_written(path, "there is no trace")
    with ExitStack() as written:
        there = [
            None if one is None else written.enter_context(traces_written(path, [one.trace], model))[0]
            for one, path, model in zip(result.only, files, models, strict=True)
        ]
        output.show_document(DiffDocument(result, models, there))
    pairs = zip(result.only, models, there, strict=True)
    output.write_page([(one.trace, model, file) for one, model, file in pairs if one is not None])
    return {True: ExitCode.HOLDS, False: ExitCode.VIOLATED, None: ExitCode.INCOMPLETE}[result.same]


def _names(given: tuple[str, ...]) -> list[str] | None:
    if "none" in given and len(given) > 1:
        message = "--property none compares no property, and others are named as well. Leave one of them out."
        raise UserError(message)
    return [] if given == ("none",) else list(given) or None


def _of_traces(chosen: ChosenPair, references: Sequence[str], output: Output) -> int:
    claims = [(read_trace(file), file) for file in chosen.files]
    kinds = kinds_of_files([naming_of(claim, file) for claim, file in claims], references)
    for kind in kinds:
        refuse_overwriting(click.get_current_context(), sources_of(kind))
    pairs = [_executed(claim, file, kind) for (claim, file), kind in zip(claims, kinds, strict=True)]
    found = diff_traces(*(trace for trace, _ in pairs))
    output.show_document(TraceDifferenceDocument(found, [model for _, model in pairs], chosen.files))
    output.write_page([(*pair, file) for pair, file in zip(pairs, chosen.files, strict=True)])
    return ExitCode.HOLDS if found.same else ExitCode.VIOLATED


def _executed(claim: Trace, file: Path, kind: type[Model]) -> tuple[Trace, Model]:
    """Return the trace of a file, executed again so that its steps have labels, and its model."""
    model = model_of_trace(claim, str(file), model=kind)
    return replay(claim, model=model, place=str(file)), model
