"""`insync kafka`: the group of commands that run Kafka itself, its `versions` and `fetch`."""

from __future__ import annotations

import importlib
from pathlib import Path

import click

from insync.cli.completion import complete_from
from insync.cli.options.kafka import known_releases
from insync.cli.options.output import Output, output_options
from insync.cli.options.values import GivenPath
from insync.cli.terminal import ExitCode
from insync.conformance.documents.jars import describe_fetched, describe_versions, fetched_json, versions_json

__all__ = ["kafka_command"]


_VERBS = {
    "replay": "Take the steps of a trace on Kafka's classes, and compare.",
    "bisect": "Find the releases that do what a trace says, and where that changes.",
    "claims": "List what changed between releases, and whether it was seen on both sides.",
    "conform": "Walk the model and Kafka's classes side by side, and compare.",
    "cluster": "Run a cluster on this machine until Ctrl-C.",
    "scenario": "Lose records on a cluster, by what operators do.",
    "patch": "Put a fix into Kafka's classes, and try a defect without it and with it.",
    "record": "Record what brokers do, for insync kafka validate.",
    "validate": "Say whether a recorded run is a behaviour of the model.",
}
"""The commands in other files, each imported when it runs."""

_MODULES = {
    "kafka_cluster": ("cluster", "record", "scenario", "validate"),
    "kafka_conform": ("conform",),
    "kafka_replay": ("bisect", "claims", "patch", "replay"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}
assert set(_MODULE_OF) == set(_VERBS)


class _KafkaVerbs(click.Group):
    """The commands of this file, and those in other files."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *_VERBS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return super().get_command(ctx, cmd_name)
        module = importlib.import_module(f"insync.cli.commands.{_MODULE_OF[cmd_name]}")
        verb: click.Command = getattr(module, f"{cmd_name}_command")
        return verb

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, verb.short_help or "") for name, verb in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl([*rows, *_VERBS.items()])


@click.group("kafka", cls=_KafkaVerbs, short_help="Compare the model with the classes of Kafka 3.7 and later.")
def kafka_command() -> None:
    """Take the steps of the model `cluster` on Kafka's own classes, and compare what they do.

    It needs a JDK 17 or newer, and the jars of a release, which `insync kafka fetch` gets once.
    """


@kafka_command.command("versions", short_help="List the releases of Kafka that insync can fetch.")
@output_options(color=False, quiet=False)
def list_versions(output: Output) -> int:
    """List the releases of Kafka whose jars insync can fetch, and which of them are here already."""
    from insync.conformance.jars.pinned import pinned, pinned_versions
    from insync.conformance.jars.store import is_stored

    releases = [(release, is_stored(release)) for release in map(pinned, pinned_versions())]
    output.show(lambda: describe_versions(releases), lambda: versions_json(releases))
    return ExitCode.HOLDS


@kafka_command.command("fetch", short_help="Fetch the jars of a release, once.")
@click.argument("version", metavar="VERSION", shell_complete=complete_from(known_releases))
@click.option(
    "--repository",
    metavar="DIR",
    type=GivenPath(exists=True, file_okay=False),
    help="Take the jars from DIR, a folder in Maven's layout, in place of Maven.",
)
@click.option("--cluster", is_flag=True, help="Also fetch what whole brokers need, for insync kafka cluster.")
@click.option(
    "--quorum", is_flag=True, help="Also fetch what drives Kafka's quorum, for insync kafka conform --quorum."
)
@click.option("--unit-tests", is_flag=True, help="Also fetch what Kafka's own unit tests need, for insync kafka patch.")
@output_options(color=False, quiet=False)
def fetch_version(
    version: str, repository: Path | None, cluster: bool, quorum: bool, unit_tests: bool, output: Output
) -> int:
    """Fetch the jars of Kafka VERSION by Maven, with your own Maven settings, into insync's cache.

    Only what the harness loads is fetched, about 25 MiB, and each jar must have the SHA-256 that insync has on record.
    The cache is INSYNC_CACHE_DIR, or insync in your cache folder.
    """
    from insync.conformance.jars.pinned import pinned, pinned_for_cluster, pinned_for_quorum, pinned_for_unit_tests
    from insync.conformance.jars.store import fetch

    more = ((cluster, pinned_for_cluster), (quorum, pinned_for_quorum), (unit_tests, pinned_for_unit_tests))
    chosen = [known for given, known in more if given]
    if len(chosen) > 1:
        message = "Give one of --cluster, --quorum and --unit-tests at a time."
        raise click.UsageError(message)
    release = (chosen or [pinned])[0](version)
    fetched = fetch(release, repository)
    output.show(lambda: describe_fetched(release, fetched), lambda: fetched_json(release, fetched))
    return ExitCode.HOLDS
