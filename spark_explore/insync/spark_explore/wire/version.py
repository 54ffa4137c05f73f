"""The version of insync that runs here, which must be the same in the driver and in its workers."""

from __future__ import annotations

import importlib.metadata
import pkgutil
from functools import cache
from pathlib import Path

from insync.model.errors import UserError

__all__ = ["STAMP", "insync_version", "require_version"]

STAMP = "VERSION"
"""The file beside this module that says which version a shipped insync is."""


@cache
def insync_version() -> str:
    """Return the version of the insync that runs here, installed or shipped."""
    try:
        shipped = pkgutil.get_data(__package__ or "", STAMP)
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
