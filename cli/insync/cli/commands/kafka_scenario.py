"""`insync kafka scenario`: what an operator does, and which acknowledged records are lost by it."""

from __future__ import annotations

import time

import click

from insync.cli.brokers_record import Recorder
from insync.cli.exit_codes import ExitCode
from insync.cli.options.completing import complete_from
from insync.cli.options.kafka_choice import ClusterChoice, cluster_options
from insync.cli.options.output import Output, output_options
from insync.cli.show.kafka_cluster_report import ScenarioRun, describe_run, describe_runs, runs_json
from insync.cli.show.progress import Steps, steps_of_work
from insync.cli.show.terminal import emit
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios.known import SCENARIOS, scenario_for, scenario_named
from insync.conformance.live.scenarios.scenario import Scenario, outcome
from insync.model.errors import UserError

__all__ = ["command"]


@click.command("scenario", short_help="Lose records on a cluster, by what operators do.")
@click.argument("name", metavar="NAME", shell_complete=complete_from(lambda: SCENARIOS))
@cluster_options()
@click.option("--runs", metavar="N", type=click.IntRange(1, 1000), default=1, show_default=True, help="How often.")
@click.option("--record", is_flag=True, help="Write down what came of it, for `insync defects` to say.")
@output_options(color=False)
def command(name: str, choice: ClusterChoice, runs: int, record: bool, output: Output) -> int:
    """Run a cluster of Kafka, do to it what NAME says, and look which acknowledged records it has lost.

    \b
    n-01  an acknowledged record is on one broker alone, and the next election loses it: pauses (SIGSTOP, SIGCONT)
          and preferred-leader elections
    n-01-kill  the same, and that election comes as the leader is killed
    n-02  a replica that was removed leads with an empty log: reassignments, and brokers that stop and start in order
    n-02-kill  the same, and the replica that is left is killed
    n-04  a broker whose directory is gone leads with an empty log: brokers that stop and start in order, and log.dirs
    n-07  the one replica of a partition runs with its whole log, and is not elected: a reassignment, and kill -9
    n-10  a follower in the ISR keeps from consumers what is committed, until something else is written: pauses, and
          a leader that is killed and starts again
    n-11  a consumer reads on in a log that has lost what it has read, and is not told: unclean elections, a pause,
          and leaders that are killed
    n-12  a broker starts with a copy of its log that lacks a record, and leads: a throttled move between directories,
          a topic of many partitions, and brokers that stop and start in order

    In n-01 to n-07 and in n-12 records are written with acks=all and min.insync.replicas=2, and unclean elections are
    off; n-07, n-10 and n-11 look for what a consumer is not given. No log is touched.

    \b
    Exit codes:
      0  reproduced: a record was lost that had been acknowledged, or kept from a consumer
      1  not reproduced
      2  a mistake in the command, or something is missing: one sentence says which
    """  # noqa: D301 -- click wants the control character that keeps these lines as they are
    recorder = Recorder(scenario_named(name).defect, choice) if record else None
    jars = choice.jars()
    scenario = scenario_for(name, jars.version)
    made: list[ScenarioRun] = []
    with steps_of_work(output.quiet) as steps:
        while len(made) < runs:
            made += _in_one_cluster(scenario, jars, choice, runs - len(made), output, steps)
    if recorder is not None:
        recorder.write(scenario.name, [run.reproduced for run in made])
    output.show(lambda: describe_runs(scenario, jars.version, made), lambda: runs_json(scenario, jars.version, made))
    return ExitCode.HOLDS if any(run.reproduced for run in made) else ExitCode.VIOLATED


def _in_one_cluster(
    scenario: Scenario, jars: JarSet, choice: ClusterChoice, count: int, output: Output, steps: Steps
) -> list[ScenarioRun]:
    """Run it on a topic after the other, if it can be, up to one that fails: its cluster may be in any state."""
    made: list[ScenarioRun] = []
    steps.begin(f"starting Kafka {jars.version}")
    with choice.start(jars, scenario.plan) as cluster:
        cluster.wait_for_brokers()
        while len(made) < count and not (made and (made[-1].fault or not scenario.again)):
            made.append(_run(scenario, cluster, f"t{len(made)}", output, steps))
            if not output.json:
                emit(describe_run(made[-1]))
    return made


def _run(scenario: Scenario, cluster: LiveCluster, topic: str, output: Output, steps: Steps) -> ScenarioRun:
    began = time.monotonic()

    def tell(said: str) -> None:
        if not output.json:
            emit(f"{time.monotonic() - began:5.1f} s  {said}")

    steps.begin(f"the scenario {scenario.name}")
    operator = Operator(cluster, topic)
    try:
        written = scenario.run(operator, tell)
        return ScenarioRun(outcome(operator, written), None, time.monotonic() - began)
    except UserError as fault:
        return ScenarioRun(None, str(fault), time.monotonic() - began)
