"""`insync kafka replay`, `bisect`, `claims` and `patch`: traces on Kafka's own classes."""

from __future__ import annotations

from pathlib import Path

import click

from insync.cli.completion import complete_defects, complete_from, complete_traces_and_defects
from insync.cli.options.kafka import ClusterChoice, KafkaChoice, OutcomeRecorder, cluster_options, known_releases
from insync.cli.options.named_models import kind_of_file, model_option
from insync.cli.options.output import Output, output_options
from insync.cli.options.values import GivenPath
from insync.cli.progress import steps_of_work
from insync.cli.terminal import ExitCode
from insync.conformance.documents.patch import TriedPatch, describe_patch, patch_json
from insync.conformance.documents.unit_tests import describe_unit_tests, unit_tests_json
from insync.model import Model
from insync.runtime.files import check_writable

__all__ = ["bisect_command", "claims_command", "patch_command", "replay_command"]


@click.command("replay", short_help="Take the steps of a trace on Kafka's classes, and compare.")
@click.argument("trace", metavar="[TRACE]", required=False, shell_complete=complete_traces_and_defects)
@cluster_options("The release, which must be fetched; for --on cluster with --cluster.")
@click.option(
    "--on",
    "where",
    type=click.Choice(["classes", "cluster"]),
    default="classes",
    show_default=True,
    help="Kafka's classes in one process, or a cluster whose frames are held and released; fetch --cluster before.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Take the traces of the whole catalogue, or of its entry TRACE, on VERSION or on all releases that are here.",
)
@click.option(
    "--record",
    is_flag=True,
    help="Record the result, which `insync defects` then shows: with --all, or of a defect with --on cluster.",
)
@model_option("TRACE")
@output_options()
def replay_command(
    trace: str | None,
    choice: ClusterChoice,
    where: str,
    everything: bool,
    record: bool,
    reference: str | None,
    output: Output,
) -> int:
    """Take each step of TRACE on Kafka's own classes, and compare every field that Kafka has with the model's.

    TRACE is a file that `insync check cluster --trace FILE` wrote, or the name of a defect of `insync defects`. Brokers
    and controller are Kafka's classes in one process of Java, without sockets; time, the wire and the moment at which
    metadata arrives are insync's. With --on cluster they are processes, in which a race inside a method cannot be
    brought about: of a defect the shortest trace without one is taken. See docs/guide/kafka.md.

    \b
    Exit codes:
      0  reproduced: Kafka did what the model says, up to the violation (or agrees, if the trace is of no violation);
         with --all: every release does what the model's rules of it say
      1  diverges: after some step a field differs
      2  a mistake in the command or a file, or something is missing: one sentence says which
      3  not schedulable: a step cannot be brought about on Kafka's classes
    """  # noqa: D301 -- the control character makes click keep these lines as they are
    if choice.port is not None and where != "cluster":
        message = "--port is about the ports of a cluster: give --on cluster with it."
        raise click.UsageError(message)
    if everything:
        if choice.libs is not None or where == "cluster":
            message = (
                "--all takes the catalogue on the classes of releases that are fetched: leave --libs and "
                "--on cluster out."
            )
            raise click.UsageError(message)
        return _replay_catalogue(trace, choice.kafka, record, output)
    if record and where != "cluster":
        message = "--record is about the catalogue: give --all with it, or --on cluster."
        raise click.UsageError(message)
    if trace is None:
        message = "Name a TRACE, a file or a defect of `insync defects`, or give --all."
        raise click.UsageError(message)
    kind = kind_of_file(Path(trace), reference)
    if where == "cluster":
        return _replay_on_cluster(trace, kind, choice, record, output)
    return _replay_one(trace, kind, KafkaChoice(choice.kafka, choice.libs), output)


def _replay_on_cluster(
    trace: str, kind: type[Model] | None, choice: ClusterChoice, record: bool, output: Output
) -> int:
    from insync.conformance.cluster_replay import plan_for, replay_on_cluster
    from insync.conformance.documents.replay import describe_replay, replay_json
    from insync.conformance.given_trace import given_trace
    from insync.conformance.live.operator import Operator

    recorder = OutcomeRecorder(trace, choice) if record else None
    jars = choice.jars()
    with steps_of_work(output.quiet) as steps:
        steps.begin(f"finding the trace {trace}")
        model, claim = given_trace(trace, races=False, model=kind)
        steps.begin(f"starting Kafka {jars.version}")
        with choice.start(jars, plan_for(model, jars.version)) as cluster:
            cluster.wait_for_brokers()
            steps.begin("taking the steps")
            replayed = replay_on_cluster(claim, model, Operator(cluster))
    if recorder is not None and replayed.reason is None:
        recorder.write("trace", [replayed.verdict.value == "reproduced"])
    output.show(lambda: describe_replay(replayed, model, output.paint, output.width), lambda: replay_json(replayed))
    return _EXIT_CODES[replayed.verdict.value]


def _replay_one(trace: str, kind: type[Model] | None, choice: KafkaChoice, output: Output) -> int:
    from insync.conformance.classes.compiled import NEEDED_BY
    from insync.conformance.classes.harness import Harness
    from insync.conformance.documents.replay import describe_replay, replay_json
    from insync.conformance.given_trace import given_trace
    from insync.conformance.replay import replay_on_kafka
    from insync.runtime.java import find_java

    jars = choice.jars()
    find_java(NEEDED_BY)  # a missing Java is reported before the search for the trace
    with steps_of_work(output.quiet) as steps:
        steps.begin(f"finding the trace {trace}")
        model, claim = given_trace(trace, model=kind)
        steps.begin(f"starting Kafka {jars.version}")
        with Harness(jars) as harness:
            steps.begin("taking the steps")
            replayed = replay_on_kafka(claim, model, harness)
    output.show(lambda: describe_replay(replayed, model, output.paint, output.width), lambda: replay_json(replayed))
    return _EXIT_CODES[replayed.verdict.value]


_EXIT_CODES = {
    "reproduced": ExitCode.HOLDS,
    "agrees": ExitCode.HOLDS,
    "diverges": ExitCode.VIOLATED,
    "not_schedulable": ExitCode.INCOMPLETE,
}


def _replay_catalogue(entry: str | None, version: str | None, record: bool, output: Output) -> int:
    """Replay the traces of the catalogue, or of one entry, on one release or on all, and record the results."""
    import datetime

    from insync.conformance.catalogue.catalogue_record import RECORD, RecordedEntry, read_record, write_record
    from insync.conformance.catalogue.catalogue_runs import entry_names, merged, run_entry
    from insync.conformance.classes.harness import Harness
    from insync.conformance.documents.catalogue import catalogue_runs_json, describe_catalogue_runs, is_as_listed
    from insync.conformance.jars.fetched import fetched_versions
    from insync.conformance.jars.pinned import pinned
    from insync.conformance.jars.store import stored_jars

    names = entry_names(entry)
    if record:
        check_writable(RECORD)
    versions = [version] if version is not None else fetched_versions()
    sets = [stored_jars(pinned(one)) for one in versions]
    record_now, today = read_record() if record else {}, datetime.datetime.now(datetime.UTC).date()
    found: dict[str, RecordedEntry] = {}
    with steps_of_work(output.quiet) as steps:
        for jars in sets:
            steps.begin(f"starting Kafka {jars.version}")
            runs = []
            with Harness(jars) as harness:
                for name in names:
                    steps.begin(f"Kafka {jars.version}: {name}")
                    runs.append((name, run_entry(name, harness)))
            found = merged(found, runs, today)
            if record:  # after each release, so that its results are kept if the next one fails
                record_now = merged(record_now, runs, today)
                write_record(record_now)
    file = RECORD if record else None
    output.show(lambda: describe_catalogue_runs(found, file), lambda: catalogue_runs_json(found, file))
    return ExitCode.HOLDS if is_as_listed(found) else ExitCode.VIOLATED


# --------------------------------------------------------------------------------------------------------------- bisect


@click.command("bisect", short_help="Find the releases that do what a trace says, and where that changes.")
@click.argument("trace", metavar="TRACE", shell_complete=complete_traces_and_defects)
@click.option("--fetch", is_flag=True, help="Fetch the releases that are not here yet; without it they are left out.")
@click.option(
    "--repository",
    metavar="DIR",
    type=GivenPath(exists=True, file_okay=False),
    help="With --fetch: take jars from DIR, a folder in Maven's layout, in place of Maven.",
)
@model_option("TRACE")
@output_options(color=False)
def bisect_command(trace: str, fetch: bool, repository: Path | None, reference: str | None, output: Output) -> int:
    """Take the steps of TRACE on every release of Kafka that is here, and say where it is reproduced.

    TRACE is a trace file, the name of a defect of `insync defects`, or a rule of `insync kafka claims`. A trace file is
    taken as it is. The catalogue's trace of a defect has the rules of 4.1; a release on which it stops short of its end
    gets the shortest trace under that release's own rules.

    \b
    Exit codes:
      0  every release that is here has answered
      2  a mistake in the command or a file, or something is missing: one sentence says which
      3  a release gave no answer: a step cannot be brought about on its classes
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


# --------------------------------------------------------------------------------------------------------------- claims


@click.command("claims", short_help="List what changed between releases, and whether it was seen on both sides.")
@output_options(color=False, quiet=False)
def claims_command(output: Output) -> int:
    """List each rule that differs between releases whose classes insync can run, with what these classes did.

    A rule is shown by a trace that only one of its values allows: a defect of `insync defects`, or a few steps for it.
    It is confirmed if the last release before the change and the first one with it differ in just that. All of it is on
    record; `insync kafka bisect NAME` runs it again.

    \b
    Exit codes:
      0  every change is confirmed
      3  one is not
    """  # noqa: D301 -- the control character makes click keep these lines as they are
    from insync.conformance.catalogue.catalogue_record import read_record
    from insync.conformance.catalogue.claim_evidence import evidence
    from insync.conformance.documents.claims import claims_json, describe_claims

    found = evidence(read_record())
    output.show(lambda: describe_claims(found), lambda: claims_json(found))
    return ExitCode.HOLDS if all(one.confirmed for one in found) else ExitCode.INCOMPLETE


# ---------------------------------------------------------------------------------------------------------------- patch


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
    help="Try this defect of the catalogue, or this trace file [default: the defect that PATCH is named after].",
)
@click.option(
    "--fixes",
    metavar="DEFECT",
    shell_complete=complete_defects,
    help="The defect that PATCH fixes [default: the one that it is named after].",
)
@click.option("--cluster", is_flag=True, help="Include what whole brokers need, for insync kafka scenario --libs.")
@click.option(
    "--unit-tests",
    is_flag=True,
    help="Run Kafka's own test classes, with the failing tests of PATCH in them, without the fix and with it.",
)
@click.option(
    "--repository",
    metavar="DIR",
    type=GivenPath(exists=True, file_okay=False),
    help="Take the sources from DIR, a folder in Maven's layout, in place of Maven.",
)
@model_option("TRACE")
@output_options()
def patch_command(
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
        message = "--unit-tests runs test classes and no trace: leave --trace and --cluster out."
        raise click.UsageError(message)
    read_unit_tests(patch, version)
    jars = stored_for_unit_tests(version)
    with steps_of_work(output.quiet) as steps:
        steps.begin(f"running the tests of {patch.upper()} on Kafka {version}, without the fix and with it")
        came = run_unit_tests(patch, jars, stored_for_cluster(version), repository)
    output.show(lambda: describe_unit_tests(came, output.paint), lambda: unit_tests_json(came))
    return ExitCode.HOLDS if came.is_shown else ExitCode.VIOLATED
