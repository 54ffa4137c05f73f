"""Atomic file writes: a file is whole or absent, and is flushed to the disk before another file refers to it.

The content of a file is on the disk once the file is flushed, and its name once the folder is flushed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from insync.runtime.checksums import Damaged

__all__ = [
    "LocalFile",
    "OpenFile",
    "UnnamedFile",
    "beside",
    "flush_file",
    "flush_folder",
    "new_file",
    "open_file",
    "write_all",
]

_CANNOT_FLUSH = {errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF, errno.EACCES}
"""Errors of flushing a folder that are ignored: the file system has no such call, or the folder may not be read."""


def beside(path: Path) -> Path:
    """Return the path under which a file is written until it is whole."""
    return path.with_name(f"{path.name}.part")


@contextmanager
def new_file(path: Path) -> Iterator[int]:
    """Yield the descriptor of a new, empty file. An existing file is removed, and a link is not followed.

    Raises:
        OSError: the file cannot be created.
    """
    with suppress(FileNotFoundError):
        path.unlink()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes | bytearray | memoryview) -> None:
    """Write a content completely.

    Raises:
        OSError: the disk is full, or cannot be written.
    """
    waiting = memoryview(content)
    while len(waiting):
        waiting = waiting[os.write(descriptor, waiting) :]


def flush_file(path: Path) -> None:
    """Wait until the content of a file is on the disk.

    Raises:
        OSError: the disk cannot be written, or the file does not exist.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, if the file system allows that.

    Raises:
        OSError: the disk cannot be written.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT_FLUSH:
            raise


def open_file(path: Path) -> int:
    """Return a descriptor for reading a file, without waiting for the other end of a pipe.

    Raises:
        Damaged: the path is not a regular file.
        OSError: the file cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Damaged
    return descriptor


class OpenFile(Protocol):
    """An open file, with the interface of pyarrow."""

    def size(self) -> int:
        """Return the size in bytes."""

    def read_at(self, nbytes: int, offset: int) -> bytes:
        """Return `nbytes` bytes from an offset on, or fewer at the end of the file."""

    def close(self) -> None:
        """Close the file."""


class UnnamedFile:
    """A file without a name, which stays open.

    Args:
        descriptor: of the file.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def size(self) -> int:
        """Return the size in bytes."""
        return os.fstat(self._descriptor).st_size

    def read_at(self, nbytes: int, offset: int) -> bytes:
        """Return `nbytes` bytes from an offset on, or fewer at the end of the file."""
        parts = [os.pread(self._descriptor, nbytes, offset)]
        while parts[-1] and (read := sum(map(len, parts))) < nbytes:
            parts.append(os.pread(self._descriptor, nbytes - read, offset + read))
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        """Do nothing: the file would be lost."""


class LocalFile(UnnamedFile):
    """A file of this machine, open for reading.

    Args:
        path: of the file.

    Raises:
        Damaged: the path is not a regular file.
        OSError: the file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(open_file(path))

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
