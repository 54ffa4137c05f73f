"""Writes the lists of the jars that the quorum needs: python -m insync.conformance.quorum_pinning 4.3.1 ...

They are those of Kafka's own tests, fetched by Maven, and a quorum elects and commits with them before they are pinned.
A developer runs it to add a release to insync. It needs Java and Maven.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from insync.conformance.jars.maven import copy_by_maven
from insync.conformance.jars.pinned import QUORUM_LISTS, list_text, pinned
from insync.conformance.jars.store import stored_jars
from insync.conformance.pinning import KAFKA, jar_set, pinned_jar
from insync.conformance.quorum.quorum_harness import QuorumHarness
from insync.conformance.quorum.quorum_self_check import quorum_self_check

__all__ = ["pin_quorum"]

_TESTS = "test"


def pin_quorum(version: str) -> Path:
    """Write the list of what the quorum of a release needs besides the harness's jars, and return its file."""
    release = stored_jars(pinned(version))
    with tempfile.TemporaryDirectory(prefix="insync-pinning-") as name:
        repository = Path(name)
        wanted = [(KAFKA, artifact, version) for artifact in ("kafka-clients", "kafka-raft")]
        copy_by_maven(wanted, repository, without=[("*", "*")], classifier=_TESTS)
        found = sorted(repository.rglob("*.jar"))
        with QuorumHarness(jar_set(version, [*release.paths, *found])) as harness:
            quorum_self_check(harness)
        jars = [replace(pinned_jar(path.relative_to(repository), path), classifier=_TESTS) for path in found]
    QUORUM_LISTS.mkdir(exist_ok=True)
    file = QUORUM_LISTS / f"{version}.json"
    file.write_text(list_text(version, jars), encoding="utf-8")
    return file


if __name__ == "__main__":
    for given in sys.argv[1:]:
        pin_quorum(given)
