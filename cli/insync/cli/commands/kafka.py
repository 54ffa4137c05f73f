"""`insync kafka`: what Kafka's own classes do with the steps of the model."""

from __future__ import annotations

from pathlib import Path

import click

from insync.cli.exit_codes import ExitCode
from insync.cli.options.output import Output, output_options
from insync.cli.show.kafka_report import describe_fetched, describe_versions, fetched_json, versions_json
from insync.cli.show.progress import steps_of_work

__all__ = ["command"]


@click.group("kafka", short_help="Ask Kafka's own classes, of releases from 3.9 on, what they do.")
def command() -> None:
    """Take the steps of the model `cluster` on Kafka's own classes, and compare what they do.

    It needs a JDK 17 or newer, and the jars of a release, which `insync kafka fetch` gets once.
    """


@command.command("versions", short_help="List the releases of Kafka that insync knows.")
@output_options(color=False, quiet=False)
def list_versions(output: Output) -> int:
    """List the releases of Kafka whose jars insync can fetch, and which of them are here already."""
    from insync.conformance.jars.pinned import pinned, pinned_versions
    from insync.conformance.jars.store import is_stored

    releases = [(release, is_stored(release)) for release in map(pinned, pinned_versions())]
    output.show(lambda: describe_versions(releases), lambda: versions_json(releases))
    return ExitCode.HOLDS


@command.command("fetch", short_help="Fetch the jars of a release, once.")
@click.argument("version", metavar="VERSION")
@click.option(
    "--repository",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Take the jars from DIR, a folder in Maven's layout, and not by Maven.",
)
@output_options(color=False, quiet=False)
def fetch_version(version: str, repository: Path | None, output: Output) -> int:
    """Fetch the jars of Kafka VERSION by Maven, with your own Maven settings, into insync's cache.

    Only what the harness loads is fetched, about 25 MiB, and each jar must have the SHA-256 that insync has on record.
    The cache is INSYNC_CACHE_DIR, or insync in your cache folder.
    """
    from insync.conformance.jars.pinned import pinned
    from insync.conformance.jars.store import fetch

    release = pinned(version)
    fetched = fetch(release, repository)
    output.show(lambda: describe_fetched(release, fetched), lambda: fetched_json(release, fetched))
    return ExitCode.HOLDS


@command.command("replay", short_help="Take the steps of a trace on Kafka's classes, and compare.")
@click.argument("trace", metavar="TRACE")
@click.option("--kafka", "version", metavar="VERSION", help="The release, which must be fetched.")
@click.option(
    "--libs",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Take the jars in DIR, the folder libs of a Kafka distribution, as they are; in place of --kafka.",
)
@output_options()
def replay_trace(trace: str, version: str | None, libs: Path | None, output: Output) -> int:
    """Take each step of TRACE on Kafka's own classes, and compare every field that Kafka has with the model's.

    TRACE is a file that `insync check cluster --trace FILE` wrote, or the name of a defect of `insync defects`. Brokers
    and controller are Kafka's classes in one process of Java, without sockets; time, the wire and the moment at which
    metadata arrives are insync's. See docs/guide/kafka.md.

    \b
    Exit codes:
      0  reproduced: Kafka did what the model says, up to the violation (or agrees, if the trace is of no violation)
      1  diverges: after some step a field differs
      2  a mistake in the command or a file, or something is missing: one sentence says which
      3  not schedulable: a step cannot be brought about on Kafka's classes
    """  # noqa: D301 -- click wants the control character that keeps these lines as they are
    if (version is None) == (libs is None):
        message = "Give --kafka VERSION, a release of `insync kafka versions`, or --libs DIR of a distribution."
        raise click.UsageError(message)
    from insync.cli.show.kafka_replay_report import describe_replay, replay_json
    from insync.conformance.classes.harness import Harness
    from insync.conformance.given_trace import given_trace
    from insync.conformance.jars.distribution import distribution_jars
    from insync.conformance.jars.pinned import pinned
    from insync.conformance.jars.store import stored_jars
    from insync.conformance.replay import replay_on_kafka

    jars = stored_jars(pinned(version)) if version is not None else distribution_jars(libs or Path())
    with steps_of_work(output.quiet) as steps:
        steps.begin(f"finding the trace {trace}")
        model, claim = given_trace(trace)
        steps.begin(f"starting Kafka {jars.version}")
        with Harness(jars) as harness:
            replayed = replay_on_kafka(claim, model, harness)
    output.show(lambda: describe_replay(replayed, model, output.paint, output.width), lambda: replay_json(replayed))
    return _EXIT_CODES[replayed.verdict.value]


_EXIT_CODES = {
    "reproduced": ExitCode.HOLDS,
    "agrees": ExitCode.HOLDS,
    "diverges": ExitCode.VIOLATED,
    "not_schedulable": ExitCode.INCOMPLETE,
}
