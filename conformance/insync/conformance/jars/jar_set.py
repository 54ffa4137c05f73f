"""The jars of one release of Kafka on this machine, fetched by insync or put there by the user."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

__all__ = ["JarSet", "file_digest"]


@dataclass(frozen=True, slots=True)
class JarSet:
    """The jars of one release.

    Attributes:
        version: the release, such as `4.3.1`.
        paths: the jars, in the order of the class path.
        digests: the SHA-256 of each, in hexadecimal.
    """

    version: str
    paths: tuple[Path, ...]
    digests: tuple[str, ...]

    @property
    def of_kafka(self) -> list[Path]:
        """Those with classes of Kafka's own."""
        return [path for path in self.paths if path.name.startswith("kafka")]


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
