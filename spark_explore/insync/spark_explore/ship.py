"""The namespace as a zip for workers that lack it, and the version that a worker must have."""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
from functools import cache
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from insync.model.errors import UserError

__all__ = ["insync_version", "require_version", "write_namespace"]

_PORTIONS = ("model", "properties", "explorer", "spark_explore")  # what a worker may import; it has no command line
_STAMP = "VERSION"


@cache
def insync_version() -> str:
    """Return the version of the insync that runs here, installed or shipped."""
    try:
        shipped = pkgutil.get_data(__package__ or "", _STAMP)
    except OSError:
        shipped = None
    if shipped is not None:
        return shipped.decode()
    try:
        return importlib.metadata.version("insync")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def require_version(wanted: str) -> None:
    """Raise UserError unless this process runs the insync that the driver runs."""
    found = insync_version()
    if found != wanted:
        message = (
            f"The driver runs insync {wanted} and a worker runs insync {found} ({Path(__file__).parent}). "
            f"Install insync {wanted} on the workers, or none at all: it is then shipped to them."
        )
        raise UserError(message)


def write_namespace(path: Path) -> None:
    """Write a zip that makes `insync` importable when it is on `sys.path`.

    A namespace package is found in a zip only where its folders have entries of their own (CPython issue 59110).
    """
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.mkdir("insync")
        for portion in _PORTIONS:
            (root,) = importlib.import_module(f"insync.{portion}").__path__
            _add(archive, Path(root), f"insync/{portion}")
        archive.writestr(f"insync/spark_explore/{_STAMP}", insync_version())


def _add(archive: ZipFile, folder: Path, name: str) -> None:
    archive.mkdir(name)
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name != "__pycache__":
            _add(archive, path, f"{name}/{path.name}")
        elif path.is_file() and path.name != _STAMP:
            archive.write(path, f"{name}/{path.name}")
