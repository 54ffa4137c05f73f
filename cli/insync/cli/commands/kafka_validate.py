"""`insync kafka validate`: trace validation, whether a recorded run is a run of the model."""

from __future__ import annotations

from pathlib import Path

import click

from insync.cli.completion import complete_defects
from insync.cli.options.output import Output, output_options
from insync.cli.options.task import Named, ReadFile
from insync.cli.progress import steps_of_work
from insync.cli.terminal import ExitCode
from insync.conformance.documents.runs import describe_inferred, describe_validation, inferred_json, validation_json
from insync.kafka.defects import DEFECTS
from insync.kafka.defects.named import no_such_defect
from insync.kafka.releases import Release, release_advice, release_of_series

__all__ = ["command"]


@click.command("validate", short_help="Say whether a recorded run is a behaviour of the model.")
@click.argument("file", metavar="RUN", type=ReadFile())
@click.option(
    "--release",
    type=Named([release.value for release in Release], release_advice, release_of_series),
    metavar="RELEASE",
    help="By the rules of this release, one of KRaft; else of the one that was recorded.",
)
@click.option(
    "--fixed",
    metavar="DEFECT",
    shell_complete=complete_defects,
    help="As if this defect of `insync defects` were fixed in the release, and nothing else.",
)
@click.option("--infer-release", "infer", is_flag=True, help="Try the rules of all releases of KRaft, from 3.3 on.")
@output_options()
def command(file: Path, release: str | None, fixed: str | None, infer: bool, output: Output) -> int:
    """Say whether RUN, a file of `insync kafka record`, is a behaviour of the model `cluster`.

    It is one if some steps of the model, in this order, show just what was seen; else the first event is told that no
    state of the model explains.

    \b
    Exit codes:
      0  the run is a behaviour of the model (with --infer-release: by the rules of some release)
      1  it is none
      2  a mistake in the command or a file: one sentence says which
    """  # noqa: D301 -- the control character makes click keep these lines as they are
    if infer and (release or fixed):
        message = "Give --infer-release by itself: it tries every release."
        raise click.UsageError(message)
    from insync.conformance.live.runs.run_events import read_run
    from insync.conformance.live.runs.run_model import run_model
    from insync.conformance.live.runs.run_release import release_of_run, releases_to_try
    from insync.conformance.live.runs.validation import validate

    if fixed is not None and fixed.upper() not in DEFECTS:
        raise no_such_defect(fixed, fallback=f"{fixed!r} is no defect of `insync defects`.")
    run = read_run(file)
    with steps_of_work(output.quiet) as steps:
        if infer:
            made = []
            for one in releases_to_try():
                steps.begin(f"trying the rules of {one.value}")
                made.append((one, validate(run, run_model(run, one))))
            steps.end()
            output.show(lambda: describe_inferred(run, made, output.paint), lambda: inferred_json(run, made))
            return ExitCode.HOLDS if any(result.explained for _, result in made) else ExitCode.VIOLATED
        steps.begin("looking for steps of the model")
        model = run_model(run, release_of_run(run, Release(release) if release else None), fixed and fixed.upper())
        result = validate(run, model)
    output.show(
        lambda: describe_validation(run, model, result, output.paint), lambda: validation_json(run, model, result)
    )
    return ExitCode.HOLDS if result.explained else ExitCode.VIOLATED
