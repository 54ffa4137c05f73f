"""Writes the lists of pinned jars: python -m insync.conformance.pinning 4.3.1 ...

Maven resolves what a release needs, the harness runs its self-check on all of it, and the jars from which the JVM has
loaded a class are pinned. Run it when a release is added to insync. It needs Java and Maven.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from insync.conformance.classes.harness import Harness
from insync.conformance.classes.self_check import self_check
from insync.conformance.jars.jar_set import JarSet, file_digest
from insync.conformance.jars.maven import copy_by_maven
from insync.conformance.jars.pinned import LISTS, PinnedJar, list_text

__all__ = ["KAFKA", "NOT_NEEDED", "jar_set", "loaded_from", "pin", "pinned_jar"]

KAFKA = "org.apache.kafka"
NOT_NEEDED = [(KAFKA, "kafka-tools-api")]  # 4.4.0 was published without it
_SOURCE = re.compile(r"source: file:(\S+\.jar)")


def pin(version: str) -> Path:
    """Write the list of the jars of a release, and return its file."""
    with tempfile.TemporaryDirectory(prefix="insync-pinning-") as name:
        repository = Path(name)
        wanted = [(KAFKA, artifact, version) for artifact in ("kafka_2.13", "kafka-metadata")]
        copy_by_maven(wanted, repository, without=NOT_NEEDED)
        loaded = _loaded(jar_set(version, repository.rglob("*.jar")), repository / "loaded.log")
        self_check_on = jar_set(version, loaded)
        with Harness(self_check_on) as harness:  # they are enough to compile as well
            self_check(harness)
        text = list_text(version, [pinned_jar(path.relative_to(repository), path) for path in loaded])
    LISTS.mkdir(exist_ok=True)
    (LISTS / f"{version}.json").write_text(text, encoding="utf-8")
    return LISTS / f"{version}.json"


def jar_set(version: str, paths: Iterable[Path]) -> JarSet:
    """Return jars as those of a release."""
    ordered = tuple(sorted(paths))
    return JarSet(version, ordered, tuple(file_digest(path) for path in ordered))


def _loaded(jars: JarSet, log: Path) -> list[Path]:
    """The jars from which a class is loaded in a self-check."""
    with Harness(jars, options=[f"-Xlog:class+load=info:file={log}"]) as harness:
        self_check(harness)
    return loaded_from(jars, [log.read_text(encoding="utf-8", errors="replace")])


def loaded_from(jars: JarSet, logs: Iterable[str]) -> list[Path]:
    """Return the jars from which JVMs say that they have loaded a class."""
    sources = {source for log in logs for source in _SOURCE.findall(log)}
    return [path for path in jars.paths if str(path) in sources]


def pinned_jar(place: Path, path: Path) -> PinnedJar:
    """Return a jar by its place in Maven's layout: group, artifact and version are its folders."""
    *group, artifact, version, _ = place.parts
    return PinnedJar(".".join(group), artifact, version, path.stat().st_size, file_digest(path))


if __name__ == "__main__":
    for given in sys.argv[1:]:
        pin(given)
