"""Which jars a release of Kafka needs here, each with its SHA-256: a file in `lists` for each release.

The lists are written by `insync.conformance.pinning`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from insync.runtime.errors import UserError

__all__ = [
    "CLUSTER_LISTS",
    "LISTS",
    "QUORUM_LISTS",
    "UNIT_TEST_LISTS",
    "Pinned",
    "PinnedJar",
    "cluster_versions",
    "list_text",
    "pinned",
    "pinned_for_cluster",
    "pinned_for_quorum",
    "pinned_for_unit_tests",
    "pinned_versions",
    "quorum_versions",
    "unit_test_versions",
    "version_order",
]

LISTS = Path(__file__).parent / "lists"
CLUSTER_LISTS = LISTS / "cluster"
"""What brokers that run by themselves need besides the jars of the harness."""
QUORUM_LISTS = LISTS / "quorum"
"""What the quorum needs besides them: jars of Kafka's own tests, which have a log, a clock and a network in memory."""

UNIT_TEST_LISTS = LISTS / "unit_tests"
"""What Kafka's own unit tests need besides what a cluster needs: their classes and sources, JUnit and Mockito."""


@dataclass(frozen=True, slots=True)
class PinnedJar:
    """A jar by its coordinates in a Maven repository, its size, and the SHA-256 of what must be in it.

    Its classifier is empty but for jars of tests.
    """

    group: str
    artifact: str
    version: str
    bytes: int
    sha256: str
    classifier: str = ""

    @property
    def file_name(self) -> str:
        """What it is called in a repository."""
        suffix = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{suffix}.jar"

    @property
    def place(self) -> Path:
        """Where it is in a repository of Maven's layout."""
        return Path(*self.group.split("."), self.artifact, self.version, self.file_name)


@dataclass(frozen=True, slots=True)
class Pinned:
    """The jars that a release needs."""

    version: str
    jars: tuple[PinnedJar, ...]

    @property
    def bytes(self) -> int:
        """The size of all of them."""
        return sum(jar.bytes for jar in self.jars)


def version_order(version: str) -> tuple[int, ...]:
    """Return what releases are ordered by: 4.10.0 comes after 4.9.0."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def pinned_versions() -> tuple[str, ...]:
    """Return the releases with a list, from the oldest."""
    return _versions_of(LISTS)


def pinned(version: str) -> Pinned:
    """Return the jars of a release.

    Raises:
        UserError: there is no list for it; the message names a near one.
    """
    if version not in pinned_versions():
        near = [known for known in pinned_versions() if version_order(known)[:2] == version_order(version)[:2]]
        known = ", ".join(near or pinned_versions())
        message = (
            f"Kafka {version!r} is not a release that insync can fetch. {'Near it' if near else 'Known'}: {known}."
        )
        raise UserError(message)
    return Pinned(version, _listed(LISTS / f"{version}.json"))


def cluster_versions() -> tuple[str, ...]:
    """Return the releases whose brokers can be run as a cluster, from the oldest."""
    return _versions_of(CLUSTER_LISTS)


def quorum_versions() -> tuple[str, ...]:
    """Return the releases whose quorum can be driven, from the oldest."""
    return _versions_of(QUORUM_LISTS)


@cache
def _versions_of(lists: Path) -> tuple[str, ...]:
    return tuple(sorted((path.stem for path in lists.glob("*.json")), key=version_order))


def pinned_for_cluster(version: str) -> Pinned:
    """Return the jars of a release with those that a cluster of it needs besides.

    Raises:
        UserError: there is no list for it.
    """
    return _with_more(version, CLUSTER_LISTS, "a cluster")


def pinned_for_quorum(version: str) -> Pinned:
    """Return the jars of a release with those that are needed to drive its quorum.

    Raises:
        UserError: there is no list for it.
    """
    return _with_more(version, QUORUM_LISTS, "the quorum")


def unit_test_versions() -> tuple[str, ...]:
    """Return the releases whose unit tests can be run, from the oldest."""
    return _versions_of(UNIT_TEST_LISTS)


def pinned_for_unit_tests(version: str) -> Pinned:
    """Return the jars of a release with those that its brokers and its unit tests need besides.

    Raises:
        UserError: there is no list for it.
    """
    more = _with_more(version, UNIT_TEST_LISTS, "a unit test").jars[len(pinned(version).jars) :]
    return Pinned(version, pinned_for_cluster(version).jars + more)


def _with_more(version: str, lists: Path, what: str) -> Pinned:
    release = pinned(version)
    if version not in _versions_of(lists):
        known = ", ".join(_versions_of(lists))
        message = f"insync has not pinned the jars that {what} of Kafka {version} needs. It has for: {known}."
        raise UserError(message)
    return Pinned(version, release.jars + _listed(lists / f"{version}.json"))


def _listed(file: Path) -> tuple[PinnedJar, ...]:
    entries = json.loads(file.read_text(encoding="utf-8"))
    return tuple(PinnedJar(**entry) for entry in entries["jars"])


def list_text(version: str, jars: Iterable[PinnedJar]) -> str:
    """Return the text of the file that lists the jars of a release, a jar a line."""
    ordered = sorted(jars, key=lambda jar: (jar.group, jar.artifact))
    lines = ",\n".join(f"    {json.dumps(_entry(jar))}" for jar in ordered)
    return f'{{\n  "kafka": {json.dumps(version)},\n  "jars": [\n{lines}\n  ]\n}}\n'


def _entry(jar: PinnedJar) -> dict[str, object]:
    return {name: value for name, value in asdict(jar).items() if name != "classifier" or value}
