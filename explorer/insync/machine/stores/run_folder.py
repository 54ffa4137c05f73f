"""The folder of a run directory: files that are whole or absent, and the sentences about those that are not.

`RunFolder` is a folder of this machine. On Spark, a subclass has the same on an object store.
"""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ClassVar

from insync.machine.stores.whole_files import LocalFile, OpenFile, flush_file, flush_folder, new_file, write_all
from insync.runtime.checksums import Damaged
from insync.runtime.errors import UserError

__all__ = ["RunFolder"]

_PART = ".part"


class RunFolder:
    """A run directory in a file system of this machine, mounted ones included.

    Args:
        path: of the folder.
        flushed: whether files are flushed to the disk; a directory that is removed with the session does not need
            that.

    Attributes:
        uri: the name for executors: an absolute path, or a URI.
        shown: the name for messages.
        flushed: this argument.
    """

    is_local: ClassVar[bool] = True

    def __init__(self, path: Path | str, flushed: bool = True) -> None:
        self.path, self.flushed = Path(path), flushed
        self.uri = self.shown = str(path)

    def has(self, name: str) -> bool:
        """Return whether a file exists.

        Raises:
            UserError: the file system reports an error.
        """
        with self.reading(name):
            return self._has(name)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if it does not exist.

        Raises:
            UserError: the file cannot be read.
        """
        with self.reading(name), suppress(FileNotFoundError, NotADirectoryError):
            file = self.open(name)
            try:
                return file.read_at(file.size(), 0)
            finally:
                file.close()
        return None

    def open(self, name: str) -> OpenFile:
        """Open a file for reading at any offset; see `reading` for the errors."""
        return LocalFile(self.path / name)

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder; none if it does not exist.

        Raises:
            UserError: the file system reports an error.
        """
        with self.reading(folder), suppress(FileNotFoundError, NotADirectoryError):
            return [each.name for each in os.scandir(self.path / folder) if os.path.isfile(each)]  # links may be loops
        return []

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all; an existing file is replaced.

        Raises:
            UserError: the file cannot be written.
        """
        with self.creating(name) as write:
            write(content)

    @contextmanager
    def creating(self, name: str, flushed: bool = True) -> Iterator[Callable[[bytes | bytearray], object]]:
        """Yield the function that appends bytes to a new file, which appears when the block ends without an error.

        An existing file is replaced.

        Args:
            name: of the file.
            flushed: whether to flush it now, if this directory is flushed; else `flush` has to do so.

        Raises:
            UserError: the file cannot be written.
        """
        path = self.path / name
        beside = path.with_name(f"{path.name}.{uuid.uuid4().hex[:12]}{_PART}")
        with self.writing(name):
            self._make(path.parent)
            try:
                with new_file(beside) as descriptor:
                    yield lambda content: write_all(descriptor, content)
                    if self.flushed and flushed:
                        os.fsync(descriptor)
                beside.replace(path)
            except BaseException:
                with suppress(OSError):
                    beside.unlink(missing_ok=True)
                raise
            if self.flushed and flushed:
                flush_folder(path.parent)

    def flush(self, names: list[str]) -> None:
        """Wait until files that were written without flushing are on the disk, with their names.

        Raises:
            UserError: the disk cannot be written.
        """
        with self.writing():
            for name in names:
                flush_file(self.path / name)
            for folder in sorted({(self.path / name).parent for name in names}):
                flush_folder(folder)

    def make(self, folder: str = "") -> None:
        """Create this folder, or one in it, if necessary; object stores create folders with their files.

        Raises:
            UserError: the folder cannot be created or written to.
        """
        path = self.path / folder
        with self.writing(folder):
            self._make(path)
            if not os.access(path, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    def remove_parts(self) -> None:
        """Remove unfinished files of a search that died; on a store such files are not visible."""
        for path in (*self.path.glob(f"*{_PART}"), *self.path.glob(f"*/*/*{_PART}")):
            with suppress(OSError):
                path.unlink()

    def remove(self, name: str) -> None:
        """Remove a file, if it exists and can be removed."""
        with suppress(OSError):
            (self.path / name).unlink()

    @contextmanager
    def reading(self, name: str) -> Iterator[None]:
        """Convert errors in the block to `UserError`: a file is missing, cannot be read, or has changed."""
        try:
            yield
        except FileNotFoundError as error:
            message = (
                f"{self.shown}/{name}: this file is missing. The run directory is not complete; "
                "search again in another --run-dir."
            )
            raise UserError(message) from error
        except Damaged as error:
            raise self.damaged(name) from error
        except OSError as error:
            raise self._unreadable(name, error) from error

    @contextmanager
    def writing(self, name: str = "") -> Iterator[None]:
        """Convert errors of writing in the block to `UserError`."""
        try:
            yield
        except OSError as error:
            raise self._unwritable(name, error) from error

    def damaged(self, name: str) -> UserError:
        """Return the error for a file that has changed since it was written."""
        return UserError(
            f"{self.shown}/{name}: this file is not what the run has written there. "
            "The run directory is damaged; search again in another --run-dir."
        )

    def _unreadable(self, name: str, error: OSError) -> UserError:
        return UserError(
            f"{self.shown}/{name}: cannot be read ({_reason(error)}). Name a directory that --run-dir wrote, and that "
            "may be read here."
        )

    def _unwritable(self, name: str, error: OSError) -> UserError:
        place = f"{self.shown}/{name}".rstrip("/")
        return UserError(
            f"{place}: the run directory cannot be written ({_reason(error)}). Name one with room that may be written "
            "to; what is there by now stays, and --resume goes on with it."
        )

    def _has(self, name: str) -> bool:
        return (self.path / name).is_file()

    def _make(self, folder: Path) -> None:
        """Create a folder and its parents, each flushed before the folders in it are created."""
        if folder.is_dir():
            return
        if not folder.parent.is_dir():
            self._make(folder.parent)
        try:
            folder.mkdir()
        except FileExistsError:
            if folder.is_dir():  # another task has made it
                return
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
        if self.flushed:
            flush_folder(folder.parent)


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno is not None else str(error)
