"""Writes the lists of the jars that Kafka's unit tests need: python -m insync.conformance.unit_test_pinning 4.3.1 ...

Maven resolves them: the classes of the tests and their sources, what the server needs that neither the harness nor a
cluster loads, JUnit's console and Mockito. The tests of one class are run with them before they are pinned. Run
it when a release is added to insync. It needs Java and Maven.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from insync.conformance.jars.maven import copy_by_maven
from insync.conformance.jars.pinned import UNIT_TEST_LISTS, list_text, pinned_for_cluster, version_order
from insync.conformance.jars.store import stored_for_cluster
from insync.conformance.patches.junit_runs import run_classes
from insync.conformance.pinning import KAFKA, NOT_NEEDED, jar_set, pinned_jar
from insync.runtime.errors import UserError

__all__ = ["pin_unit_tests"]

_TRIED = "org.apache.kafka.controller.PartitionReassignmentReplicasTest"
_MODULES = ("clients", "metadata", "raft", "server", "server-common", "storage", "storage-api")
_COMMON = ("kafka-test-common-internal-api", "kafka-test-common-runtime", "kafka-test-common-util")
_CONSOLE = ("org.junit.platform", "junit-platform-console-standalone", "1.13.4")
_LIBRARIES = [("org.mockito", "mockito-junit-jupiter", "5.14.2"), ("org.hamcrest", "hamcrest", "2.2")]
_ALONE = [_CONSOLE, ("org.apache.directory.api", "api-util", "2.1.6")]
"""What is taken without what it needs: the console has all of it, and of the other one class is used."""
_IN_THE_CONSOLE = [("org.junit.jupiter", "*"), ("org.junit.platform", "*"), ("org.opentest4j", "*")]


def pin_unit_tests(version: str) -> Path:
    """Write the list of what the unit tests of a release need besides the jars of a cluster, and return its file."""
    cluster = stored_for_cluster(version)
    known = {(jar.group, jar.artifact) for jar in pinned_for_cluster(version).jars}
    with tempfile.TemporaryDirectory(prefix="insync-pinning-") as name:
        libraries, tests, sources = (Path(name) / part for part in ("libraries", "test", "test-sources"))
        server = (KAFKA, "kafka_2.13", version)
        copy_by_maven([server, *_LIBRARIES], libraries, without=[*NOT_NEEDED, *_IN_THE_CONSOLE])
        copy_by_maven(_ALONE, libraries, without=[("*", "*")])
        if version_order(version) >= version_order("4.1"):
            common = _COMMON if version_order(version) >= version_order("4.2") else _COMMON[:2]
            copy_by_maven([(KAFKA, one, version) for one in common], libraries, without=[("*", "*")])
        modules = [(KAFKA, one, version) for one in ("kafka_2.13", *(f"kafka-{module}" for module in _MODULES))]
        found = [pinned_jar(path.relative_to(libraries), path) for path in sorted(libraries.rglob("*.jar"))]
        jars = [jar for jar in found if (jar.group, jar.artifact) not in known]
        for folder in (tests, sources):
            copy_by_maven(modules, folder, without=[("*", "*")], classifier=folder.name)
            pinned_here = [pinned_jar(path.relative_to(folder), path) for path in sorted(folder.rglob("*.jar"))]
            jars += [replace(jar, classifier=folder.name) for jar in pinned_here]
        classes = [path for folder in (libraries, tests) for path in folder.rglob("*.jar")]
        run = run_classes([*cluster.paths, *jar_set(version, classes).paths], [_TRIED])
        if not run.passed or run.failed:
            message = f"{_TRIED} of Kafka {version} does not pass with the jars that were found: {run.failed}"
            raise UserError(message)
    UNIT_TEST_LISTS.mkdir(exist_ok=True)
    file = UNIT_TEST_LISTS / f"{version}.json"
    file.write_text(list_text(version, jars), encoding="utf-8")
    return file


if __name__ == "__main__":
    for given in sys.argv[1:]:
        pin_unit_tests(given)
