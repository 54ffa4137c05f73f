"""`insync kafka replay`: the steps of a trace on Kafka's own classes, or on a cluster."""

from __future__ import annotations

from pathlib import Path

import click

from insync.cli.completion import complete_traces_and_defects
from insync.cli.options.kafka import ClusterChoice, KafkaChoice, cluster_options
from insync.cli.options.named_models import kind_of_file, model_option
from insync.cli.options.output import Output, output_options
from insync.cli.progress import steps_of_work
from insync.cli.terminal import ExitCode
from insync.model import Model
from insync.runtime.files import check_writable

__all__ = ["command"]


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
    help="Write down what came of it, for `insync defects` to say: with --all, or of a defect with --on cluster.",
)
@model_option("TRACE")
@output_options()
def command(
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
    metadata arrives are insync's. With --on cluster they are processes, where nobody can bring about a race inside a
    method: of a defect the shortest trace without one is taken. See docs/guide/kafka.md.

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
    from insync.cli.brokers_record import Recorder
    from insync.conformance.cluster_replay import plan_for, replay_on_cluster
    from insync.conformance.documents.replay import describe_replay, replay_json
    from insync.conformance.given_trace import given_trace
    from insync.conformance.live.operator import Operator

    recorder = Recorder(trace, choice) if record else None
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
