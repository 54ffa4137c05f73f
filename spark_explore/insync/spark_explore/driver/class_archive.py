"""The Java classes of Spark, loaded and checked once for all runs: an archive that halves the start of the JVM.

It is a convenience, made by `insync spark prepare`; a JVM that it does not fit starts without it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
from pathlib import Path

from insync.machine.objects import cache_folder
from insync.spark_explore.driver.requirements import require_java, require_packages

__all__ = ["archive_options", "archive_path", "prepare"]


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


def prepare() -> Path:
    """Make the archive from the classes that a small search uses, and return where it is.

    Raises:
        UserError: Spark cannot run here.
    """
    from insync.model.catalogue import find_model
    from insync.spark_explore.driver.check import check
    from insync.spark_explore.driver.options import SparkOptions
    from insync.spark_explore.driver.session import open_session

    require_packages()
    path = archive_path(require_java())
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    beside.unlink(missing_ok=True)
    model = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
    with open_session(None, "local[2]", None, f' -XX:ArchiveClassesAtExit="{beside}"') as spark:
        check(model, options=SparkOptions(session=spark, partitions=2, warm_states=1))
    beside.replace(path)
    return path
