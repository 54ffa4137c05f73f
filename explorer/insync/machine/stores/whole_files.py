"""Files that are whole or not there, and flushed to the disk before another file counts them.

The content of a file is on the disk when the file has been flushed, and its name when the folder has been.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from insync.model.checksums import Damaged

__all__ = ["beside", "flush_file", "flush_folder", "new_file", "open_file", "write_all", "write_whole"]

_CANNOT_FLUSH = {errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF, errno.EACCES}
"""Of folders on file systems that have no such call, and of a folder that may be written and not read."""


def beside(path: Path) -> Path:
    """Return where a file is written until it is whole."""
    return path.with_name(f"{path.name}.part")


@contextmanager
def new_file(path: Path) -> Iterator[int]:
    """Yield the descriptor of a new, empty file; what stands there is removed, and a link not followed.

    Raises:
        OSError: it cannot be made.
    """
    with suppress(FileNotFoundError):
        path.unlink()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes | bytearray | memoryview) -> None:
    """Write all of a content.

    Raises:
        OSError: there is no room for it.
    """
    waiting = memoryview(content)
    while len(waiting):
        waiting = waiting[os.write(descriptor, waiting) :]


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, flush it, and give it its name; flush the folder before and after.

    Everything else that was written to the folder and flushed is on the disk before this file is there.

    Raises:
        OSError: it cannot be written; the file that was there before stays.
    """
    part = beside(path)
    try:
        with new_file(part) as descriptor:
            write_all(descriptor, content)
            os.fsync(descriptor)
        flush_folder(path.parent)
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink()
        raise
    flush_folder(path.parent)


def flush_file(path: Path) -> None:
    """Wait until the content of a file is on the disk.

    Raises:
        OSError: the disk cannot be written, or the file is not there.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where that is possible.

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
    """Return a descriptor to read a file from; a pipe is not waited for.

    Raises:
        Damaged: something else than a file is there.
        OSError: it cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Damaged
    return descriptor
