"""Writes the lists of the jars that a cluster needs: python -m insync.conformance.cluster_pinning 4.3.1 ...

Maven resolves what a release needs, with the binding of its logging. A cluster of that release runs the scenarios.
Then the jars are pinned from which a node has loaded a class and which the harness lacks. Run it when a release is
added to insync. It needs Java and Maven.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from insync.conformance.jars.maven import copy_by_maven
from insync.conformance.jars.pinned import CLUSTER_LISTS, list_text, pinned
from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.nodes.node_files import ClusterPlan
from insync.conformance.live.operator import Operator
from insync.conformance.pinning import KAFKA, NOT_NEEDED, jar_set, loaded_from, pinned_jar

__all__ = ["logging_binding", "pin_cluster"]


def pin_cluster(version: str) -> Path:
    """Write the list of what a cluster of a release needs besides the harness's jars, and return its file."""
    release = pinned(version)
    with tempfile.TemporaryDirectory(prefix="insync-pinning-") as name:
        repository = Path(name)
        wanted = [(KAFKA, artifact, version) for artifact in ("kafka_2.13", "kafka-metadata")]
        copy_by_maven([*wanted, logging_binding(version)], repository, without=NOT_NEEDED)
        jars = jar_set(version, repository.rglob("*.jar"))
        log = f"-Xlog:class+load=info:file={repository}/loaded-%p.log"
        with LiveCluster(jars, ClusterPlan(session=20000), options=[log]) as cluster:
            _try_all(Operator(cluster))
        logs = [file.read_text(encoding="utf-8", errors="replace") for file in repository.glob("loaded-*.log")]
        known = {(jar.group, jar.artifact) for jar in release.jars}
        found = [pinned_jar(path.relative_to(repository), path) for path in loaded_from(jars, logs)]
        text = list_text(version, [jar for jar in found if (jar.group, jar.artifact) not in known])
    CLUSTER_LISTS.mkdir(exist_ok=True)
    (CLUSTER_LISTS / f"{version}.json").write_text(text, encoding="utf-8")
    return CLUSTER_LISTS / f"{version}.json"


def logging_binding(version: str) -> tuple[str, str, str]:
    """Return what binds SLF4J to the log4j of a release, which Kafka's own dependencies leave out, for Maven.

    It is that of log4j 2, in its own version, where the jars of the release have log4j 2 (from 4.1 on), and else that
    of reload4j, which took the place of log4j 1.
    """
    log4j = next((jar.version for jar in pinned(version).jars if jar.artifact == "log4j-core"), None)
    if log4j is None:
        return "org.slf4j", "slf4j-reload4j", "1.7.36"
    return "org.apache.logging.log4j", "log4j-slf4j-impl", log4j


def _try_all(operator: Operator) -> None:
    """Do what scenarios and replays do."""
    cluster = operator.cluster
    cluster.wait_for_brokers()
    operator.create([1, 2, 3], min_insync=1)
    operator.produce(1, "r0")
    operator.prefer(2)
    operator.kill(2)
    cluster.until(lambda: operator.now.leader not in (-1, 2), "that another broker leads")
    operator.start(2)
    cluster.until(lambda: 2 in operator.now.isr, "that broker 2 is back")
    operator.stop(3)
    operator.start(3)
    cluster.wait_for_brokers()
    operator.reassign([1, 2])
    cluster.until(lambda: set(operator.now.replicas) == {1, 2}, "the reassignment")
    operator.readable(operator.now.leader)


if __name__ == "__main__":
    for given in sys.argv[1:]:
        pin_cluster(given)
