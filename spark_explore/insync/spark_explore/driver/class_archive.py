"""The Java classes of Spark, loaded and checked once for all runs: an archive that halves the start of the JVM.

It is a convenience, which `prepare` makes; a JVM that it does not fit starts without it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
from pathlib import Path

from insync.machine.objects import cache_folder

__all__ = ["archive_options", "archive_path"]


def archive_path(java: str) -> Path:
    """Return where the archive for a Java runtime and the installed Spark is, if there is one.

    Args:
        java: what the runtime says of its version.
    """
    key = hashlib.sha256(java.encode()).hexdigest()[:16]
    return cache_folder() / f"spark-{importlib.metadata.version('pyspark')}-java-{key}.jsa"


def archive_options(java: str) -> str:
    """Return the options of the JVM that use the archive; none when there is none."""
    path = archive_path(java)
    return f' -XX:SharedArchiveFile="{path}"' if path.is_file() else ""
