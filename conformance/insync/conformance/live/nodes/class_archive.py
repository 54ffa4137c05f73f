"""Archives of the classes that nodes load, which halve what a start takes: made by the first cluster of a release.

A JVM that finds its archive of another class path or another Java goes without. Source: JEP 350.
"""

from __future__ import annotations

import contextlib
import hashlib
import os

from insync.conformance.jars.jar_set import JarSet
from insync.explorer.java import Java
from insync.machine.objects import cache_folder

__all__ = ["ClassArchive"]


class ClassArchive:
    """The archive of the controllers or of the brokers of a release.

    Args:
        jars: the jars.
        java: who runs them.
        role: `controller` or `broker`.
    """

    def __init__(self, jars: JarSet, java: Java, role: str) -> None:
        said = "\0".join([java.shown, *map(str, jars.paths), *jars.digests])
        folder = cache_folder() / "kafka" / "archives"
        self._kept = folder / f"{hashlib.sha256(said.encode()).hexdigest()[:20]}-{role}.jsa"
        self._new = folder / f".new-{os.getpid()}-{role}"

    @property
    def is_there(self) -> bool:
        """Whether it has been made."""
        return self._kept.is_file()

    @property
    def options(self) -> list[str]:
        """The options of a JVM that takes its classes from there, where that can be."""
        return [f"-XX:SharedArchiveFile={self._kept}"] if self.is_there else []

    @property
    def making(self) -> list[str]:
        """The options of a JVM that writes the archive when it ends in order; none if it cannot be kept."""
        try:
            self._kept.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            return []
        return [f"-XX:ArchiveClassesAtExit={self._new}"]

    def keep(self) -> None:
        """Keep what that JVM has written, if it has written anything."""
        with contextlib.suppress(OSError):
            self._new.rename(self._kept)

    def discard(self) -> None:
        """Remove what was written and not kept."""
        with contextlib.suppress(OSError):
            self._new.unlink()
