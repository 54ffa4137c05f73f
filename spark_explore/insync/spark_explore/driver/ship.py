"""The namespace `insync` as a zip, for workers where it is not installed."""

from __future__ import annotations

import importlib
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from insync.spark_explore.wire.code_bundle import STAMP, insync_version

__all__ = ["write_namespace"]

_PACKAGES = ("runtime", "model", "kafka", "properties", "proofs", "machine", "explorer", "spark_explore")
"""The packages that a worker may import: all but those of the command line."""


def write_namespace(path: Path) -> None:
    """Write a zip that makes `insync` importable when it is on `sys.path`.

    A namespace package is found in a zip only if its folders have their own entries (CPython issue 59110).
    """
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.mkdir("insync")
        for package in _PACKAGES:
            (root,) = importlib.import_module(f"insync.{package}").__path__
            _add(archive, Path(root), f"insync/{package}")
        archive.writestr(f"insync/spark_explore/wire/{STAMP}", insync_version())


def _add(archive: ZipFile, folder: Path, name: str) -> None:
    archive.mkdir(name)
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name != "__pycache__":
            _add(archive, path, f"{name}/{path.name}")
        elif path.is_file() and path.name != STAMP:
            archive.write(path, f"{name}/{path.name}")
