"""The class data sharing archive of Spark's Java classes, which halves the time in which the JVM starts.

`prepare` makes it. It is optional: a JVM that it does not fit starts without it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Callable
from pathlib import Path

from insync.runtime.cache import find_kept, kept_folder

__all__ = ["archive_options", "kept_archive"]

_PLACE, _FILE = "spark", "classes.jsa"


def kept_archive(java: str, make: Callable[[Path], None]) -> Path:
    """Return the archive for a Java runtime and the installed Spark; if it is missing, make it first.

    Args:
        java: the version text of the runtime.
        make: writes the archive to a path.

    Raises:
        UserError: there is no cache, or it has no room.
    """
    return (
        kept_folder(_PLACE, _key(java), lambda folder: make(folder / _FILE), "the archive of Spark's classes") / _FILE
    )


def archive_options(java: str) -> str:
    """Return the options of a JVM that uses the archive; an empty text if there is no archive."""
    kept = find_kept(_PLACE, _key(java))
    return "" if kept is None else f' -XX:SharedArchiveFile="{kept / _FILE}"'


def _key(java: str) -> str:
    return f"{importlib.metadata.version('pyspark')}-java-{hashlib.sha256(java.encode()).hexdigest()[:16]}"
