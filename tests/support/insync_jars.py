"""A release of Kafka that is not there: two small jars, and a repository in Maven's layout that has them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from insync.conformance.jars.pinned import Pinned, PinnedJar

CONTENT = {"kafka_2.13": b"a server", "kafka-clients": b"what it is built on"}


def release() -> Pinned:
    """The release 9.9.9, whose jars are no archives."""
    return Pinned("9.9.9", tuple(_jar(artifact) for artifact in CONTENT))


def repository(folder: Path, **content: bytes) -> Path:
    """Make a repository that has the jars of the release, some of them with another content."""
    for jar in release().jars:
        place = folder / jar.place
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.get(jar.artifact, CONTENT[jar.artifact]))
    return folder


def _jar(artifact: str) -> PinnedJar:
    content = CONTENT[artifact]
    return PinnedJar("org.example", artifact, "9.9.9", len(content), hashlib.sha256(content).hexdigest())
