"""`insync kafka scenario`: a script of an operator's actions on a cluster, and the defect that it shows."""

from __future__ import annotations

import time

import click

from insync.cli.brokers_record import Recorder
from insync.cli.completion import complete_from
from insync.cli.options.kafka import ClusterChoice, cluster_options
from insync.cli.options.output import Output, output_options
from insync.cli.progress import Steps, steps_of_work
from insync.cli.terminal import ExitCode, emit
from insync.conformance.documents.cluster import ScenarioRun, describe_run, describe_runs, runs_json
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.operator import Operator
from insync.conformance.live.scenarios.known import (
    QUORUM_SCENARIOS,
    SCENARIOS,
    any_scenario,
    require_known,
    scenario_named,
)
from insync.conformance.live.scenarios.quorum_scenario import QuorumScenario
from insync.conformance.live.scenarios.scenario import Scenario, outcome
from insync.runtime.errors import UserError

__all__ = ["command"]


@click.command("scenario", short_help="Lose records on a cluster, by what operators do.")
@click.argument("name", metavar="NAME", shell_complete=complete_from(lambda: [*SCENARIOS, *QUORUM_SCENARIOS]))
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
    n-05  a replica that was removed and is assigned again leads with an empty log, by the replicas of partition 0:
          reassignments of partition 1, a broker that stops and starts in order, and kill -9
    n-06  a leader commits without a member of the ISR, which is elected when the leader is killed: a proxy that holds
          metadata and one request for seconds, pauses, and kill -9
    n-07  the one replica of a partition runs with its whole log, and is not elected: a reassignment, and kill -9
    n-09  a reassignment that puts back the replicas of one in progress never ends: two reassignments, and a pause
    n-09-removed  the second of two reassignments ends without a replica that it requests: the same
    n-10  a follower in the ISR keeps from consumers what is committed, until something else is written: pauses, and
          a leader that is killed and starts again
    n-11  a consumer reads on in a log that has lost what it has read, and is not told: unclean elections, a pause,
          and leaders that are killed
    n-12  a broker starts with a copy of its log that lacks a record, and leads: a throttled move between directories,
          a topic of many partitions, and brokers that stop and start in order
    n-13  a broker leads a log whose directory has failed, and nobody else is elected: a throttled move between
          directories, a proxy that holds a response and metadata, a directory that fails
    n-14  a replica whose directory has failed joins the ISR, and the leader that comes back is not elected: a broker
          that stops and starts, a proxy that holds one request, a directory that fails, and kill -9
    n-19  the directory that a log is moved to fails, and nobody leads though the log is there: a throttled move, and
          that directory fails before the move is done
    r-70  a leader that was removed, and catches up by a snapshot of the metadata, acknowledges writes: a pause of a
          minute, a reassignment, and a metadata log that is kept short

    \b
    q-6   a controller that follows and has stood for election in the same epoch ends when it is started again:
          messages between controllers that are held
    q-7   a controller that leads ends when one that it has removed from the voters answers it: a pause
    q-17  a controller that has stood for election in its epoch and was removed from the voters cannot be started:
          messages that are held, the removal of a voter, and kill -9
    q-18  two controllers lead one epoch: the same, and the other one is the only voter

    In n-01 to n-07 and in n-12 records are written with acks=all and min.insync.replicas=2, and unclean elections are
    off; r-70 writes with acks=1, and one record with acks=all; n-07, n-10, n-11, n-13, n-14 and n-19 look for what a
    consumer is not given, n-09 for the replicas that were requested. No log is touched; a directory fails as its folder
    is renamed. Those with q are of three controllers without brokers.

    \b
    Exit codes:
      0  reproduced: a record was lost that had been acknowledged, or kept from a consumer; a reassignment went wrong; a
         controller has ended, or two lead one epoch
      1  not reproduced
      2  a mistake in the command, or something is missing: one sentence says which
    """  # noqa: D301 -- the control character makes click keep these lines as they are
    require_known(name)
    recorder = Recorder(scenario_named(name).defect, choice) if record else None
    jars = choice.jars()
    scenario = any_scenario(name, jars.version)
    made: list[ScenarioRun] = []
    with steps_of_work(output.quiet) as steps:
        while len(made) < runs:
            if isinstance(scenario, QuorumScenario):
                made.append(_of_controllers(scenario, jars, choice, output, steps))
            else:
                made += _in_one_cluster(scenario, jars, choice, runs - len(made), output, steps)
    if recorder is not None:
        recorder.write(scenario.name, [run.reproduced for run in made])
    output.show(lambda: describe_runs(scenario, jars.version, made), lambda: runs_json(scenario, jars.version, made))
    return ExitCode.HOLDS if any(run.reproduced for run in made) else ExitCode.VIOLATED


def _in_one_cluster(
    scenario: Scenario, jars: JarSet, choice: ClusterChoice, count: int, output: Output, steps: Steps
) -> list[ScenarioRun]:
    """Run a scenario on one topic after the other, if it can be repeated, up to a run that fails.

    After a failure the cluster may be in any state.
    """
    made: list[ScenarioRun] = []
    steps.begin(f"starting Kafka {jars.version}")
    with choice.start(jars, scenario.plan) as cluster:
        cluster.wait_for_brokers()
        while len(made) < count and not (made and (made[-1].fault or not scenario.again)):
            made.append(_run(scenario, cluster, f"t{len(made)}", output, steps))
            if not output.json:
                emit(describe_run(made[-1]))
    return made


def _of_controllers(
    scenario: QuorumScenario, jars: JarSet, choice: ClusterChoice, output: Output, steps: Steps
) -> ScenarioRun:
    """Run a scenario of controllers on a new quorum."""
    tell = _Telling(output)
    steps.begin(f"the scenario {scenario.name}")
    with choice.quorum(jars, scenario.plan) as quorum:
        try:
            made = ScenarioRun(scenario.run(quorum, tell), None, tell.seconds)
        except UserError as fault:
            made = ScenarioRun(None, str(fault), tell.seconds)
    if not output.json:
        emit(describe_run(made))
    return made


class _Telling:
    """Prints each event of a scenario with its time, unless the report is JSON."""

    def __init__(self, output: Output) -> None:
        self._json, self._began = output.json, time.monotonic()

    @property
    def seconds(self) -> float:
        """The time since the beginning."""
        return time.monotonic() - self._began

    def __call__(self, said: str) -> None:
        if not self._json:
            emit(f"{self.seconds:5.1f} s  {said}")


def _run(scenario: Scenario, cluster: LiveCluster, topic: str, output: Output, steps: Steps) -> ScenarioRun:
    tell = _Telling(output)
    steps.begin(f"the scenario {scenario.name}")
    operator = Operator(cluster, topic, scenario.partition)
    try:
        written = scenario.run(operator, tell)
        return ScenarioRun(outcome(operator, written), None, tell.seconds)
    except UserError as fault:
        return ScenarioRun(None, str(fault), tell.seconds)
