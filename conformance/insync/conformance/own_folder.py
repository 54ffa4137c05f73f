"""A folder for the files of a process: in memory where there is a file system for that, and never left for long.

Its owner holds a lock on it as long as it lives. The next process that makes such a folder removes those without a
lock, which were left by processes that were killed together with their parents.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO

__all__ = ["own_folder"]

_MEMORY = Path("/dev/shm")  # noqa: S108 -- in memory, as a log is written at each step
_OWNER = "owner"


def own_folder(prefix: str) -> tuple[Path, IO[str]]:
    """Return a new folder, and the open file whose lock says that it is in use.

    Args:
        prefix: what its name begins with, and what those that are removed begin with.
    """
    base = _MEMORY if os.access(_MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    _sweep(base, prefix)
    folder = Path(tempfile.mkdtemp(dir=base, prefix=prefix))
    return folder, _locked(folder)


def _locked(folder: Path) -> IO[str]:
    file = (folder / _OWNER).open("w", encoding="utf-8")
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file


def _sweep(base: Path, prefix: str) -> None:
    for owner in base.glob(f"{prefix}*/{_OWNER}"):
        with contextlib.suppress(OSError), owner.open("r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(owner.parent, ignore_errors=True)
