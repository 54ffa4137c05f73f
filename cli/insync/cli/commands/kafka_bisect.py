"""`insync kafka bisect`: the releases of Kafka that reproduce a trace."""

from __future__ import annotations

from pathlib import Path

import click

from insync.cli.completion import complete_traces_and_defects
from insync.cli.options.named_models import kind_of_file, model_option
from insync.cli.options.output import Output, output_options
from insync.cli.options.task import GivenPath
from insync.cli.progress import steps_of_work
from insync.cli.terminal import ExitCode

__all__ = ["command"]


@click.command("bisect", short_help="Find the releases that do what a trace says, and where that changes.")
@click.argument("trace", metavar="TRACE", shell_complete=complete_traces_and_defects)
@click.option("--fetch", is_flag=True, help="Fetch the releases that are not here yet; without it they are left out.")
@click.option(
    "--repository",
    metavar="DIR",
    type=GivenPath(exists=True, file_okay=False),
    help="With --fetch: take jars from DIR, a folder in Maven's layout, and not by Maven.",
)
@model_option("TRACE")
@output_options(color=False)
def command(trace: str, fetch: bool, repository: Path | None, reference: str | None, output: Output) -> int:
    """Take the steps of TRACE on every release of Kafka that is here, and say where it is reproduced.

    TRACE is a trace file, the name of a defect of `insync defects`, or a rule of `insync kafka claims`. A trace file is
    taken as it is. Of a defect each release gets the shortest trace under its own rules where that of the catalogue,
    which has the rules of 4.1, is not taken to its end.

    \b
    Exit codes:
      0  every release that is here has answered
      2  a mistake in the command or a file, or something is missing: one sentence says which
      3  a release could not be asked: a step cannot be brought about on its classes
    """  # noqa: D301 -- the control character makes click keep these lines as they are
    if repository is not None and not fetch:
        message = "--repository says where --fetch takes jars from: give --fetch with it."
        raise click.UsageError(message)
    from insync.conformance.catalogue.bisection import Bisection, bisect
    from insync.conformance.classes.harness import Harness
    from insync.conformance.documents.bisect import bisection_json, describe_bisection
    from insync.conformance.jars.fetched import fetched_versions, had_versions
    from insync.conformance.jars.pinned import pinned, pinned_versions
    from insync.conformance.jars.store import stored_jars

    kind, runs = kind_of_file(Path(trace), reference), []
    with steps_of_work(output.quiet) as steps:
        steps.begin("fetching jars" if fetch else f"finding the trace {trace}")
        versions = had_versions(repository) if fetch else fetched_versions()
        for run in bisect(trace, versions, lambda version: Harness(stored_jars(pinned(version))), model=kind):
            runs.append(run)
            steps.begin(f"{len(runs)} of {len(versions)} releases, after {run.kafka}")
    found = Bisection(trace, tuple(runs))
    left = [version for version in pinned_versions() if version not in versions]
    output.show(lambda: describe_bisection(found, left), lambda: bisection_json(found, left))
    asked = all(run.verdict != "not_schedulable" for run in runs)
    return ExitCode.HOLDS if asked else ExitCode.INCOMPLETE
