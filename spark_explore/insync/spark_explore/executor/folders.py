"""The folders of this machine that a run uses beside its run directory: Spark removes them."""

from __future__ import annotations

from pathlib import Path

__all__ = ["executor_folder", "spark_folder"]


def spark_folder() -> Path:
    """Return the folder for files of this driver or executor that Spark removes when it ends."""
    from pyspark import SparkFiles

    return Path(SparkFiles.getRootDirectory())


def executor_folder(run: str) -> Path:
    """Return where this executor keeps notes of a run: a folder that Spark removes when the executor ends."""
    return spark_folder() / f"insync-{run}"
