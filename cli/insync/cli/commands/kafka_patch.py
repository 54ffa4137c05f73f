"""`insync kafka patch`: a fix in Kafka's released classes, and the trace of a defect without it and with it."""

from __future__ import annotations

from pathlib import Path

import click

from insync.cli.completion import complete_defects, complete_from, complete_traces_and_defects
from insync.cli.options.kafka import known_releases
from insync.cli.options.named_models import kind_of_file, model_option
from insync.cli.options.output import Output, output_options
from insync.cli.options.task import GivenPath
from insync.cli.progress import steps_of_work
from insync.cli.terminal import ExitCode
from insync.conformance.documents.patch import TriedPatch, describe_patch, patch_json
from insync.conformance.documents.unit_tests import describe_unit_tests, unit_tests_json

__all__ = ["command"]


def _patches() -> tuple[str, ...]:
    from insync.conformance.patches.patched_jars import known_patches

    return known_patches()


@click.command("patch", short_help="Put a fix into Kafka's classes, and try a defect without it and with it.")
@click.argument("patch", metavar="PATCH", shell_complete=complete_from(_patches))
@click.option(
    "--kafka",
    "version",
    metavar="VERSION",
    required=True,
    shell_complete=complete_from(known_releases),
    help="The release, which must be fetched.",
)
@click.option(
    "--trace",
    "given",
    metavar="TRACE",
    shell_complete=complete_traces_and_defects,
    help="What is tried: a defect of the catalogue, or a trace file [default: PATCH, where it is a defect's].",
)
@click.option(
    "--fixes",
    metavar="DEFECT",
    shell_complete=complete_defects,
    help="The defect that PATCH fixes [default: PATCH, where it is a defect's].",
)
@click.option(
    "--cluster", is_flag=True, help="With what brokers need to run by themselves, for insync kafka scenario --libs."
)
@click.option(
    "--unit-tests",
    is_flag=True,
    help="Run Kafka's own test classes, with the failing tests of PATCH in them, without the fix and with it.",
)
@click.option(
    "--repository",
    metavar="DIR",
    type=GivenPath(exists=True, file_okay=False),
    help="Take the sources from DIR, a folder in Maven's layout, and not by Maven.",
)
@model_option("TRACE")
@output_options()
def command(
    patch: str,
    version: str,
    given: str | None,
    fixes: str | None,
    cluster: bool,
    unit_tests: bool,
    repository: Path | None,
    reference: str | None,
    output: Output,
) -> int:
    """Compile Kafka's released sources with PATCH in them, and take the steps of a trace without it and with it.

    PATCH is a defect of `insync defects` that insync has a patch for, or a file with a unified diff of your own, with
    paths as in Kafka's repository. The patched jars are kept, and `insync kafka replay TRACE --libs DIR` takes any
    trace on them. With the patch the steps are compared with the model in which the defect is fixed; where that cannot
    take them all, Kafka must not take them either.

    With --unit-tests the tests that insync adds to Kafka's own test classes must fail on the release and pass with the
    fix, and those that were there must pass as before. That needs insync kafka fetch VERSION --unit-tests.

    \b
    Exit codes:
      0  fixed: reproduced without the patch, and with it Kafka does as the model with the fix (or nothing was tried);
         with --unit-tests, the added tests are red and green and no other one breaks
      1  otherwise
      2  a mistake in the command or a file, or something is missing: one sentence says which
      3  not schedulable: a step cannot be brought about on Kafka's classes
    """  # noqa: D301 -- the control character makes click keep these lines as they are
    from insync.conformance.classes.harness import Harness
    from insync.conformance.given_trace import given_trace
    from insync.conformance.jars.distribution import distribution_jars
    from insync.conformance.jars.pinned import pinned
    from insync.conformance.jars.store import stored_for_cluster, stored_jars
    from insync.conformance.patches.fixed_trace import fixed_trace
    from insync.conformance.patches.patched_jars import patched_kafka, read_patch
    from insync.conformance.replay import replay_on_kafka
    from insync.kafka.defects import DEFECTS

    if unit_tests:
        return _run_unit_tests(patch, version, repository, output, tried=given is not None or cluster)
    read = read_patch(patch, version)
    named = patch.upper() if patch.upper() in DEFECTS else None
    given, fixes = given or named, fixes or named
    if (given is None) != (fixes is None):
        message = (
            "Give --trace TRACE and --fixes DEFECT together: what is tried, and which defect of the model is fixed."
        )
        raise click.UsageError(message)
    kind = None if given is None else kind_of_file(Path(given), reference)
    jars = stored_for_cluster(version) if cluster else stored_jars(pinned(version))
    with steps_of_work(output.quiet) as steps:
        steps.begin(f"compiling Kafka {version} with {read.name}")
        patched = patched_kafka(read, jars, repository)
        if given is None or fixes is None:
            output.show(lambda: describe_patch(patched, None, output.paint, output.width), lambda: patch_json(patched))
            return ExitCode.HOLDS
        steps.begin(f"finding the trace {given}")
        model, claim = given_trace(given, model=kind)
        fixed = fixed_trace(claim, model, fixes.upper())
        steps.begin(f"trying Kafka {version} as it was released")
        with Harness(jars) as harness:
            without = replay_on_kafka(claim, model, harness)
        steps.begin(f"trying Kafka {version} with {read.name}")
        with Harness(distribution_jars(patched.libs)) as harness:
            with_it = replay_on_kafka(fixed.trace, fixed.model, harness)
        all_with_it = None
        if fixed.impossible is not None:  # patched Kafka has not been tried with that step yet
            with Harness(distribution_jars(patched.libs)) as harness:
                all_with_it = replay_on_kafka(claim, model, harness)
    tried = TriedPatch(without, fixed, with_it, all_with_it)
    output.show(lambda: describe_patch(patched, tried, output.paint, output.width), lambda: patch_json(patched, tried))
    if not tried.is_schedulable:
        return ExitCode.INCOMPLETE
    return ExitCode.HOLDS if tried.is_fixed else ExitCode.VIOLATED


def _run_unit_tests(patch: str, version: str, repository: Path | None, output: Output, *, tried: bool) -> int:
    from insync.conformance.jars.store import stored_for_cluster, stored_for_unit_tests
    from insync.conformance.patches.unit_test_runs import read_unit_tests, run_unit_tests

    if tried:
        message = "--unit-tests takes neither --trace nor --cluster: it runs test classes, and no trace."
        raise click.UsageError(message)
    read_unit_tests(patch, version)
    jars = stored_for_unit_tests(version)
    with steps_of_work(output.quiet) as steps:
        steps.begin(f"running the tests of {patch.upper()} on Kafka {version}, without the fix and with it")
        came = run_unit_tests(patch, jars, stored_for_cluster(version), repository)
    output.show(lambda: describe_unit_tests(came, output.paint), lambda: unit_tests_json(came))
    return ExitCode.HOLDS if came.is_shown else ExitCode.VIOLATED
