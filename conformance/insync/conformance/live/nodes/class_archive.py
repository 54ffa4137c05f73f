"""Archives of the classes that nodes load, which halve what a start takes: made by the first cluster of a release.

A JVM that finds its archive of another class path or another Java goes without. Source: JEP 350.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import tempfile
from pathlib import Path

from insync.conformance.jars.jar_set import JarSet
from insync.runtime.cache import cache_folder, find_kept, keep_folder
from insync.runtime.errors import UserError
from insync.runtime.java import Java

__all__ = ["ClassArchive"]

_PLACE, _FILE = "kafka/archives", "classes.jsa"


class ClassArchive:
    """The archive of the controllers or of the brokers of a release.

    Args:
        jars: the jars.
        java: the Java runtime that reads the archive.
        role: `controller` or `broker`.
    """

    def __init__(self, jars: JarSet, java: Java, role: str) -> None:
        said = "\0".join([java.shown, *map(str, jars.paths), *jars.digests])
        self._key = f"{hashlib.sha256(said.encode()).hexdigest()[:20]}-{role}"
        self._kept = find_kept(_PLACE, self._key)
        self._new: Path | None = None

    @property
    def is_there(self) -> bool:
        """Whether the archive has been made."""
        return self._kept is not None

    @property
    def options(self) -> list[str]:
        """The options of a JVM that loads its classes from the archive; none where there is no archive."""
        return [] if self._kept is None else [f"-XX:SharedArchiveFile={self._kept / _FILE}"]

    @property
    def making(self) -> list[str]:
        """The options of a JVM that writes the archive when it ends in order; none if it cannot be kept."""
        cache = cache_folder()
        if cache is None:
            return []
        if self._new is None:
            try:
                self._new = Path(tempfile.mkdtemp(dir=cache, prefix=".new-"))
            except OSError:
                return []
        return [f"-XX:ArchiveClassesAtExit={self._new / _FILE}"]

    def keep(self) -> None:
        """Keep the archive that the JVM has written, if it has written one."""
        if self._new is not None and (self._new / _FILE).is_file():
            with contextlib.suppress(OSError, UserError):
                self._kept = keep_folder(_PLACE, self._key, self._new)

    def discard(self) -> None:
        """Remove what was written and not kept."""
        if self._new is not None:
            shutil.rmtree(self._new, ignore_errors=True)
