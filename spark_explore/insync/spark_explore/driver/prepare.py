"""`prepare`: make Spark start faster on this machine, by an archive of the classes that a small search loads."""

from __future__ import annotations

from pathlib import Path

from insync.model.catalogue import find_model
from insync.spark_explore.driver.check import SparkOptions, check
from insync.spark_explore.driver.class_archive import kept_archive
from insync.spark_explore.driver.requirements import require_java, require_packages
from insync.spark_explore.driver.session import open_session

__all__ = ["prepare"]


def prepare() -> Path:
    """Make the archive of Java classes, if there is none, by a small search; return its path.

    Raises:
        UserError: Spark cannot run here, or there is no cache.
    """
    require_packages()
    return kept_archive(require_java(), _make)


def _make(archive: Path) -> None:
    model = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
    with open_session(None, "local[2]", None, f' -XX:ArchiveClassesAtExit="{archive}"') as spark:
        check(model, options=SparkOptions(session=spark, partitions=2, warm_states=1))
