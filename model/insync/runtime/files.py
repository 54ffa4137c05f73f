"""Whole-file writes: a file is complete or not there at all, and a path that cannot be written is found early."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from pathlib import Path

from insync.runtime.errors import UserError

__all__ = ["check_writable", "is_special", "write_whole"]

_DESCRIPTOR = re.compile(r"(/dev|/proc/\d+(/task/\d+)?)/fd/\d+")


def check_writable(path: Path) -> None:
    """Raise UserError unless a file can be written at `path`; what is there stays as it is.

    Called before a long search, so that its result is not lost. Devices and pipes are opened by `write_whole` alone.
    """
    try:
        if is_special(path):
            return
        if _is_descriptor(path):
            message = f"{path}: this is a file that is open already, which a new one would replace. Name a file."
            raise UserError(message)
        if path.is_dir():
            message = f"{path}: this is a directory, and a file is to be written there. Name a file in it."
            raise UserError(message)
        handle, name = _open_beside(path)
        os.close(handle)
        os.unlink(name)
    except OSError as error:
        raise _cannot_write(path, error) from error


def write_whole(path: Path, text: str) -> None:
    """Write `text` to `path` in UTF-8, so that a reader sees the old file or the whole new one.

    The text goes to a temporary file in the same directory, is flushed to disk, and replaces `path` in one step. If
    that fails, the temporary file is removed, and the UserError has the path and the reason.
    """
    encoded = text.encode("utf-8", "backslashreplace")  # for invalid file names; in JSON this is the escape
    try:
        if is_special(path):
            path.write_bytes(encoded)
        else:
            _replace(path, encoded)
    except OSError as error:
        raise _cannot_write(path, error) from error


def _replace(path: Path, encoded: bytes) -> None:
    target = Path(os.path.realpath(path))  # a link is kept, and its target replaced
    handle, name = _open_beside(target)
    try:
        with open(handle, "wb") as file:
            file.write(encoded)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode_for(target))
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _open_beside(path: Path) -> tuple[int, str]:
    return tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".part", dir=Path(os.path.realpath(path)).parent)


def _mode_for(path: Path) -> int:
    """The permissions of a new version of `path`: those it has, or else those of a new file under the umask."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def is_special(path: Path) -> bool:
    """Return whether `path` is a device or a pipe, which is written to and not replaced."""
    try:
        return path.exists() and not path.is_file() and not path.is_dir()
    except (OSError, ValueError):  # a name that no file can have: opening it raises
        return False


def _is_descriptor(path: Path) -> bool:
    """Whether a path is that of an open file, such as /dev/stdout, which links to /proc/self/fd/1."""
    for _ in range(8):  # a link to a link, and so on
        place = os.path.join(os.path.realpath(path.parent), path.name)
        if _DESCRIPTOR.fullmatch(place):
            return True
        if not path.is_symlink():
            return False
        path = path.parent / os.readlink(path)
    return False


def _cannot_write(path: Path, error: OSError) -> UserError:
    reason = error.strerror or str(error)
    if isinstance(error, FileNotFoundError):
        parent = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
        there = parent.is_dir()  # as in /proc, which takes no new files
        reason = f"{'no file can be made in ' if there else ''}the directory {str(parent)!r}"
        reason += "" if there else " does not exist"
    return UserError(
        f"{path}: cannot be written ({reason}). Nothing was left there; "
        "name a file in a directory with room that you may write to."
    )
