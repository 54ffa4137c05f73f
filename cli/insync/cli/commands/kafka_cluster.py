"""`insync kafka cluster`: a cluster on this machine until Ctrl-C."""

from __future__ import annotations

import time

import click

from insync.cli.options.kafka import ClusterChoice, cluster_options
from insync.cli.options.output import Output, output_options
from insync.cli.progress import steps_of_work
from insync.cli.terminal import ExitCode
from insync.conformance.documents.cluster import cluster_json, describe_cluster

__all__ = ["command"]

_LOOK = 1.0


@click.command("cluster", short_help="Run a cluster on this machine until Ctrl-C.")
@cluster_options()
@click.option("--brokers", metavar="N", type=click.IntRange(1, 5), default=3, show_default=True, help="How many.")
@click.option("--elr", type=click.Choice(["on", "off"]), help="Eligible leader replicas; else as the release has it.")
@output_options(color=False)
def command(choice: ClusterChoice, brokers: int, elr: str | None, output: Output) -> int:
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
