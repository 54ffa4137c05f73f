"""`insync kafka cluster`, `scenario`, `record` and `validate`: running brokers, and what was recorded of them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from insync.cli.completion import complete_defects, complete_from
from insync.cli.options.kafka import ClusterChoice, OutcomeRecorder, cluster_options
from insync.cli.options.output import Output, output_options
from insync.cli.options.values import GivenPath, Named, OutputPath, ReadFile
from insync.cli.progress import Steps, steps_of_work
from insync.cli.terminal import ExitCode, emit
from insync.conformance.documents.cluster import (
    ScenarioRun,
    cluster_json,
    describe_cluster,
    describe_run,
    describe_runs,
    runs_json,
)
from insync.conformance.documents.runs import (
    describe_inferred,
    describe_recorded,
    describe_validation,
    inferred_json,
    recorded_json,
    validation_json,
)
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
from insync.kafka.defects import DEFECTS
from insync.kafka.defects.named import no_such_defect
from insync.kafka.releases import Release, release_advice, release_of_series
from insync.runtime.errors import UserError
from insync.runtime.files import check_writable

if TYPE_CHECKING:
    from insync.conformance.live.runs.run_events import BrokerRun

__all__ = ["cluster_command", "record_command", "scenario_command", "validate_command"]


_LOOK = 1.0


@click.command("cluster", short_help="Run a cluster on this machine until Ctrl-C.")
@cluster_options()
@click.option("--brokers", metavar="N", type=click.IntRange(1, 5), default=3, show_default=True, help="How many.")
@click.option("--elr", type=click.Choice(["on", "off"]), help="Eligible leader replicas; else as the release has it.")
@output_options(color=False)
def cluster_command(choice: ClusterChoice, brokers: int, elr: str | None, output: Output) -> int:
    """Run a controller and brokers of Kafka until Ctrl-C, each a process, on the loopback address alone.

    All of it ends with this command, also when that is killed, and nothing is left on disk. Each broker takes about
    150 MB of memory. What goes from broker to broker, and to the controller, goes through insync.
    """
    from insync.conformance.live.nodes.node_files import ClusterPlan

    plan = ClusterPlan(brokers=brokers, elr=None if elr is None else elr == "on")
    jars = choice.jars()
    with steps_of_work(output.quiet) as steps:
        steps.begin(f"starting Kafka {jars.version}")
        with choice.start(jars, plan) as cluster:
            try:
                cluster.wait_for_brokers()
                steps.end()
                output.show(lambda: describe_cluster(cluster), lambda: cluster_json(cluster))
                while True:
                    cluster.look_after_nodes()
                    time.sleep(_LOOK)
            except KeyboardInterrupt:
                return ExitCode.HOLDS


# ------------------------------------------------------------------------------------------------------------- scenario


@click.command("scenario", short_help="Lose records on a cluster by what operators do to it.")
@click.argument("name", metavar="NAME", shell_complete=complete_from(lambda: [*SCENARIOS, *QUORUM_SCENARIOS]))
@cluster_options()
@click.option("--runs", metavar="N", type=click.IntRange(1, 1000), default=1, show_default=True, help="How often.")
@click.option("--record", is_flag=True, help="Record the result, which `insync defects` then shows.")
@output_options(color=False)
def scenario_command(name: str, choice: ClusterChoice, runs: int, record: bool, output: Output) -> int:
    """Run a cluster of Kafka, carry out the scenario NAME, and report which acknowledged records it has lost.

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
    n-11  a consumer reads on without an error in a log that has lost what it has read: unclean elections, a pause,
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
    off. r-70 writes with acks=1, and one record with acks=all. n-07, n-10, n-11, n-13, n-14 and n-19 look for what a
    consumer is not given, n-09 for the replicas that were requested. No log is changed by hand; a directory is made to
    fail by renaming its folder. The scenarios q-6 to q-18 run three controllers without brokers.

    \b
    Exit codes:
      0  reproduced: a record was lost that had been acknowledged, or kept from a consumer; a reassignment went wrong; a
         controller has ended, or two lead one epoch
      1  not reproduced
      2  a mistake in the command, or something is missing: one sentence says which
    """  # noqa: D301 -- the control character makes click keep these lines as they are
    require_known(name)
    recorder = OutcomeRecorder(scenario_named(name).defect, choice) if record else None
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


# --------------------------------------------------------------------------------------------------------------- record


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
    help="Carry out this scenario of insync kafka scenario.",
)
@click.option("--walk", "seed", metavar="SEED", type=int, help="Or carry out the random walk with this seed.")
@click.option(
    "--metadata-log",
    "folder",
    metavar="DIR",
    type=GivenPath(),
    help="Or read the metadata log of your own cluster: __cluster_metadata-0 of a controller, or a copy of it.",
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
    "--min-insync-replicas",
    metavar="N",
    type=click.IntRange(1),
    help="With --metadata-log: min.insync.replicas, where it is not a configuration of the topic.",
)
@cluster_options()
@output_options(color=False)
def record_command(
    file: Path,
    name: str | None,
    seed: int | None,
    folder: Path | None,
    topic: str | None,
    partition: int,
    logs: tuple[Path, ...],
    min_insync_replicas: int | None,
    choice: ClusterChoice,
    output: Output,
) -> int:
    """Write to FILE what the brokers of a cluster do. The cluster runs here for this purpose, or it is your own.

    Of a cluster that runs here FILE has every fetch of a follower with its response, the requests of leaders to the
    controller, and the controller's decisions (its metadata log). It also has the metadata that each broker receives
    and applies, the operators' actions, and the responses to producers. Of your own cluster it has the controller's
    decisions. The brokers' logs add when each broker applied them, and which ISR a leader requested.
    """
    if sum(given is not None for given in (name, seed, folder)) != 1:
        message = "Give one of --scenario NAME, --walk SEED and --metadata-log DIR."
        raise click.UsageError(message)
    if (folder is None) != (topic is None):
        message = "--metadata-log DIR and --topic TOPIC belong together: give both, or neither."
        raise click.UsageError(message)
    if logs and folder is None:
        message = "--broker-log LOG belongs to --metadata-log DIR: give both, or leave --broker-log out."
        raise click.UsageError(message)
    if min_insync_replicas is not None and folder is None:
        message = "--min-insync-replicas belongs to --metadata-log DIR, as a scenario has its own: leave it out."
        raise click.UsageError(message)
    if choice.port is not None and folder is not None:
        message = "--port is about a cluster that runs here, and --metadata-log reads files: leave one of them out."
        raise click.UsageError(message)
    from insync.conformance.live.runs.broker_logs import with_broker_logs
    from insync.conformance.live.runs.run_events import write_run

    check_writable(file)
    if folder is not None and topic is not None:
        run = _of_metadata(choice, folder, topic, partition, min_insync_replicas)
        run = with_broker_logs(run, f"{topic}-{partition}", logs)
    else:
        run = _of_cluster(choice, name, seed, output)
    write_run(run, file)
    output.show(lambda: describe_recorded(run, file), lambda: recorded_json(run, file))
    return ExitCode.HOLDS


def _of_metadata(
    choice: ClusterChoice, folder: Path, topic: str, partition: int, min_insync_replicas: int | None
) -> BrokerRun:
    from insync.conformance.live.runs.metadata_run import run_of_metadata
    from insync.conformance.live.wire.message_schemas import MessageSchemas

    return run_of_metadata(MessageSchemas.of_jars(choice.jars()), folder, topic, partition, min_insync_replicas)


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


# ------------------------------------------------------------------------------------------------------------- validate


@click.command("validate", short_help="Say whether a recorded run is a behaviour of the model.")
@click.argument("file", metavar="RUN", type=ReadFile())
@click.option(
    "--release",
    type=Named([release.value for release in Release], release_advice, release_of_series),
    metavar="RELEASE",
    help="Judge by the rules of this release, one with KRaft [default: the release that was recorded].",
)
@click.option(
    "--fixed",
    metavar="DEFECT",
    shell_complete=complete_defects,
    help="Judge as if this one defect of `insync defects` were fixed in the release.",
)
@click.option("--infer-release", "infer", is_flag=True, help="Try the rules of all releases of KRaft, from 3.3 on.")
@output_options()
def validate_command(file: Path, release: str | None, fixed: str | None, infer: bool, output: Output) -> int:
    """Say whether RUN, a file of `insync kafka record`, is a behaviour of the model `cluster`.

    It is one if a sequence of the model's steps explains every recorded event, in their order. If none does, the first
    event that no state of the model explains is shown.

    \b
    Exit codes:
      0  the run is a behaviour of the model (with --infer-release: by the rules of some release)
      1  it is none
      2  a mistake in the command or a file: one sentence says which
    """  # noqa: D301 -- the control character makes click keep these lines as they are
    if infer and (release or fixed):
        message = "Give --infer-release by itself: it tries every release."
        raise click.UsageError(message)
    from insync.conformance.live.runs.run_events import read_run
    from insync.conformance.live.runs.run_model import run_model
    from insync.conformance.live.runs.run_release import release_of_run, releases_to_try
    from insync.conformance.live.runs.validation import validate

    if fixed is not None and fixed.upper() not in DEFECTS:
        raise no_such_defect(fixed, fallback=f"{fixed!r} is no defect of `insync defects`.")
    run = read_run(file)
    with steps_of_work(output.quiet) as steps:
        if infer:
            made = []
            for one in releases_to_try():
                steps.begin(f"trying the rules of {one.value}")
                made.append((one, validate(run, run_model(run, one))))
            steps.end()
            output.show(lambda: describe_inferred(run, made, output.paint), lambda: inferred_json(run, made))
            return ExitCode.HOLDS if any(result.explained for _, result in made) else ExitCode.VIOLATED
        steps.begin("looking for steps of the model")
        model = run_model(run, release_of_run(run, Release(release) if release else None), fixed and fixed.upper())
        result = validate(run, model)
    output.show(
        lambda: describe_validation(run, model, result, output.paint), lambda: validation_json(run, model, result)
    )
    return ExitCode.HOLDS if result.explained else ExitCode.VIOLATED
