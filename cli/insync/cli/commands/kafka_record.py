"""`insync kafka record`: what a run of a cluster shows, in a file."""

from __future__ import annotations

from pathlib import Path

import click

from insync.cli.exit_codes import ExitCode
from insync.cli.options.cluster_choice import ClusterChoice, cluster_options
from insync.cli.options.output import Output, output_options
from insync.cli.show.kafka_run_report import describe_recorded, recorded_json
from insync.cli.show.progress import steps_of_work

__all__ = ["command"]


@click.command("record", short_help="Record what brokers do, for insync kafka validate.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--scenario", "name", metavar="NAME", required=True, help="What to do: see insync kafka scenario.")
@cluster_options()
@output_options(color=False)
def command(file: Path, name: str, choice: ClusterChoice, output: Output) -> int:
    """Run a cluster of Kafka, do to it what a scenario says, and write to FILE what was seen of it.

    That is: every fetch of a follower and its answer, what leaders ask of the controller, what the controller decides
    (its metadata log), which of it brokers get and act on, what operators do, and what producers are told.
    """
    from insync.conformance.live.operator import Operator
    from insync.conformance.live.runs.recorder import Recorder
    from insync.conformance.live.runs.run_events import write_run
    from insync.conformance.live.scenarios.known import scenario_for

    jars = choice.jars()
    scenario = scenario_for(name, jars.version)
    with steps_of_work(output.quiet) as steps:
        steps.begin(f"starting Kafka {jars.version}")
        with choice.start(jars, scenario.plan) as cluster:
            cluster.wait_for_brokers()
            steps.begin(f"the scenario {scenario.name}")
            operator = Operator(cluster)
            recorder = Recorder(operator)
            scenario.run(operator, lambda said: steps.begin(said))
            run = recorder.run(scenario.min_insync)
    write_run(run, file)
    output.show(lambda: describe_recorded(run, file), lambda: recorded_json(run, file))
    return ExitCode.HOLDS
