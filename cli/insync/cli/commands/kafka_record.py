"""`insync kafka record`: a recorded run of a cluster, as a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from insync.cli.completion import complete_from
from insync.cli.options.kafka import ClusterChoice, cluster_options
from insync.cli.options.output import Output, output_options
from insync.cli.options.task import GivenPath, OutputPath, ReadFile
from insync.cli.progress import steps_of_work
from insync.cli.terminal import ExitCode
from insync.conformance.documents.runs import describe_recorded, recorded_json
from insync.runtime.files import check_writable

if TYPE_CHECKING:
    from insync.conformance.live.runs.run_events import BrokerRun

__all__ = ["command"]


def _scenarios() -> list[str]:
    from insync.conformance.live.scenarios.known import SCENARIOS

    return list(SCENARIOS)


@click.command("record", short_help="Record what brokers do, for insync kafka validate.")
@click.argument("file", metavar="FILE", type=OutputPath())
@click.option(
    "--scenario",
    "name",
    metavar="NAME",
    shell_complete=complete_from(_scenarios),
    help="What to do to a cluster: see insync kafka scenario.",
)
@click.option("--walk", "seed", metavar="SEED", type=int, help="Or do to it what this seed of a random walk says.")
@click.option(
    "--metadata-log",
    "folder",
    metavar="DIR",
    type=GivenPath(),
    help="Or read the metadata log of a cluster of yours: __cluster_metadata-0 of a controller, or a copy of it.",
)
@click.option("--topic", metavar="TOPIC", help="With --metadata-log: the topic.")
@click.option("--partition", metavar="N", type=click.IntRange(0), default=0, show_default=True, help="Its partition.")
@click.option(
    "--broker-log",
    "logs",
    metavar="LOG",
    type=ReadFile(),
    multiple=True,
    help="With --metadata-log: a state-change.log or server.log of a broker; may be repeated.",
)
@click.option(
    "--min-insync",
    metavar="N",
    type=click.IntRange(1),
    help="With --metadata-log: min.insync.replicas, where it is not a configuration of the topic.",
)
@cluster_options()
@output_options(color=False)
def command(
    file: Path,
    name: str | None,
    seed: int | None,
    folder: Path | None,
    topic: str | None,
    partition: int,
    logs: tuple[Path, ...],
    min_insync: int | None,
    choice: ClusterChoice,
    output: Output,
) -> int:
    """Write to FILE what brokers do: those of a cluster that is run for it, or of one that you run yourself.

    Of a cluster that is run here that is every fetch of a follower and its answer, what leaders ask of the controller,
    what the controller decides (its metadata log), which of it brokers get and act on, what operators do, and what
    producers are told. Of a cluster of yours it is what the controller has decided and, by the logs of its brokers,
    when each of them began to act on that and which ISR a leader has asked for.
    """
    if sum(given is not None for given in (name, seed, folder)) != 1:
        message = "Give one of --scenario NAME, --walk SEED and --metadata-log DIR."
        raise click.UsageError(message)
    if (folder is None) != (topic is None):
        message = "--metadata-log DIR and --topic TOPIC belong together."
        raise click.UsageError(message)
    if logs and folder is None:
        message = "--broker-log LOG belongs to --metadata-log DIR, which says what brokers act on."
        raise click.UsageError(message)
    if min_insync is not None and folder is None:
        message = "--min-insync belongs to --metadata-log DIR: a cluster that is run here has that of its scenario."
        raise click.UsageError(message)
    if choice.port is not None and folder is not None:
        message = "--port is about the ports of a cluster that is run here, and --metadata-log reads files."
        raise click.UsageError(message)
    from insync.conformance.live.runs.broker_logs import with_broker_logs
    from insync.conformance.live.runs.run_events import write_run

    check_writable(file)
    if folder is not None and topic is not None:
        run = _of_metadata(choice, folder, topic, partition, min_insync)
        run = with_broker_logs(run, f"{topic}-{partition}", logs)
    else:
        run = _of_cluster(choice, name, seed, output)
    write_run(run, file)
    output.show(lambda: describe_recorded(run, file), lambda: recorded_json(run, file))
    return ExitCode.HOLDS


def _of_metadata(choice: ClusterChoice, folder: Path, topic: str, partition: int, min_insync: int | None) -> BrokerRun:
    from insync.conformance.live.runs.metadata_run import run_of_metadata
    from insync.conformance.live.wire.message_schemas import MessageSchemas

    return run_of_metadata(MessageSchemas.of_jars(choice.jars()), folder, topic, partition, min_insync)


def _of_cluster(choice: ClusterChoice, name: str | None, seed: int | None, output: Output) -> BrokerRun:
    from insync.conformance.live.operator import Operator
    from insync.conformance.live.runs.recorder import Recorder
    from insync.conformance.live.scenarios.known import scenario_for, scenario_named
    from insync.conformance.live.scenarios.random_walk import random_walk

    if name is not None:
        scenario_named(name)  # an unknown name is reported before missing jars
    jars = choice.jars()
    scenario = random_walk(seed or 0) if name is None else scenario_for(name, jars.version)
    with steps_of_work(output.quiet) as steps:
        steps.begin(f"starting Kafka {jars.version}")
        with choice.start(jars, scenario.plan) as cluster:
            cluster.wait_for_brokers()
            operator = Operator(cluster)
            recorder = Recorder(operator)
            scenario.run(operator, steps.begin)
            steps.begin("reading the metadata log")
            return recorder.run(scenario.min_insync)
