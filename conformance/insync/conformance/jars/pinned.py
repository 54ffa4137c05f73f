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

from insync.model.errors import UserError

__all__ = [
    "CLUSTER_LISTS",
    "LISTS",
    "Pinned",
    "PinnedJar",
    "cluster_versions",
    "list_text",
    "pinned",
    "pinned_for_cluster",
    "pinned_versions",
    "version_order",
]

LISTS = Path(__file__).parent / "lists"
CLUSTER_LISTS = LISTS / "cluster"
"""What brokers that run by themselves need besides the jars of the harness."""


@dataclass(frozen=True, slots=True)
class PinnedJar:
    """A jar by its coordinates in a Maven repository, its size, and the SHA-256 of what must be in it."""

    group: str
    artifact: str
    version: str
    bytes: int
    sha256: str

    @property
    def file_name(self) -> str:
        """What it is called in a repository."""
        return f"{self.artifact}-{self.version}.jar"

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


@cache
def pinned_versions() -> tuple[str, ...]:
    """Return the releases with a list, from the oldest."""
    return tuple(sorted((path.stem for path in LISTS.glob("*.json")), key=version_order))


def pinned(version: str) -> Pinned:
    """Return the jars of a release.

    Raises:
        UserError: there is no list for it; the message names a near one.
    """
    if version not in pinned_versions():
        near = [known for known in pinned_versions() if version_order(known)[:2] == version_order(version)[:2]]
        known = ", ".join(near or pinned_versions())
        message = f"Kafka {version!r} is not a release that insync knows. {'Near it' if near else 'Known'}: {known}."
        raise UserError(message)
    return Pinned(version, _listed(LISTS / f"{version}.json"))


@cache
def cluster_versions() -> tuple[str, ...]:
    """Return the releases of which a cluster can be run, from the oldest."""
    return tuple(sorted((path.stem for path in CLUSTER_LISTS.glob("*.json")), key=version_order))


def pinned_for_cluster(version: str) -> Pinned:
    """Return the jars of a release with those that a cluster of it needs besides.

    Raises:
        UserError: there is no list for it.
    """
    release = pinned(version)
    if version not in cluster_versions():
        message = (
            f"insync has not pinned the jars that a cluster of Kafka {version} needs. "
            f"It has for: {', '.join(cluster_versions())}."
        )
        raise UserError(message)
    return Pinned(version, release.jars + _listed(CLUSTER_LISTS / f"{version}.json"))


def _listed(file: Path) -> tuple[PinnedJar, ...]:
    entries = json.loads(file.read_text(encoding="utf-8"))
    return tuple(PinnedJar(**entry) for entry in entries["jars"])


def list_text(version: str, jars: Iterable[PinnedJar]) -> str:
    """Return the text of the file that lists the jars of a release, a jar a line."""
    ordered = sorted(jars, key=lambda jar: (jar.group, jar.artifact))
    lines = ",\n".join(f"    {json.dumps(asdict(jar))}" for jar in ordered)
    return f'{{\n  "kafka": {json.dumps(version)},\n  "jars": [\n{lines}\n  ]\n}}\n'
