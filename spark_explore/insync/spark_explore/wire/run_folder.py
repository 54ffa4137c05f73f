"""The run directory: files that are whole or absent, on this machine or on one of pyarrow's file systems.

manifest.json                 the identity of the search, and the figures of each level
lock, or driver.json          the driver that works on it
states/, merged/              the states of the partitions: `run_states`

The directory has no code: executors get that from the driver.
"""

from __future__ import annotations

import errno
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

from insync.machine.stores.whole_files import LocalFile, OpenFile, flush_folder, new_file, write_all
from insync.runtime.checksums import Damaged
from insync.runtime.errors import UserError
from insync.spark_explore.wire.file_systems import cure_for, filesystem_of, full_name, reason_of, shown_name

__all__ = ["RunFolder"]

_OBJECT_STORES = {"s3", "gcs", "abfs"}  # a file appears atomically when it is closed, and a rename is a copy
_CHUNK_BYTES = 1 << 20  # of a file, uploaded at once
_SPOOLED_BYTES = 1 << 26  # of a file that is kept in memory until it is uploaded
_OLD = ".old"
_PART = ".part"


class RunFolder:
    """A run directory.

    Args:
        name: a local path, or a URI for pyarrow's file systems, such as s3://bucket/folder or hdfs://host/folder.
        flushed: whether local files are flushed to the disk; a directory that is removed with the session does not need
            that.

    Attributes:
        uri: the name for executors: a URI or an absolute path.
        shown: the name for messages.
        flushed: this argument.

    Raises:
        UserError: the name has no known file system, or that cannot be reached.
    """

    def __init__(self, name: str, flushed: bool = True) -> None:
        self.uri, self.flushed = full_name(name), flushed
        self.shown = shown_name(self.uri)
        self._fs, self._root = filesystem_of(self.uri)

    @property
    def is_local(self) -> bool:
        """Whether the directory is in a file system of this machine, mounted ones included."""
        return str(self._fs.type_name) == "local"

    @property
    def path(self) -> Path:
        """The path of a local run directory."""
        assert self.is_local
        return Path(self._root)

    def has(self, name: str) -> bool:
        """Return whether a file exists.

        Raises:
            UserError: the file system reports an error.
        """
        from pyarrow.fs import FileType

        with self.reading(name):
            return bool(self._fs.get_file_info(self._path(name)).type == FileType.File)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if it does not exist.

        Raises:
            UserError: the file cannot be read.
        """
        for each in (name, name + _OLD):
            with self.reading(name), suppress(FileNotFoundError, NotADirectoryError):
                file = self.open(each)
                try:
                    return file.read_at(file.size(), 0)
                finally:
                    file.close()
        return None

    def open(self, name: str) -> OpenFile:
        """Open a file for reading at any offset; see `reading` for the errors."""
        if self.is_local:
            return LocalFile(Path(self._path(name)))
        if self._fs.type_name == "abfs" and not self.has(name):
            # Azure's library ends this process if it cannot sign in when a file is opened; `has` raises an error.
            raise FileNotFoundError(name)
        opened: OpenFile = self._fs.open_input_file(self._path(name))
        return opened

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder; none if it does not exist.

        Raises:
            UserError: the file system reports an error.
        """
        from pyarrow.fs import FileSelector, FileType

        with self.reading(folder):
            found = self._fs.get_file_info(FileSelector(self._path(folder), allow_not_found=True))
            return [each.base_name for each in found if each.type == FileType.File]

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all; an existing file is replaced.

        Raises:
            UserError: the file cannot be written.
        """
        with self.creating(name) as write:
            write(content)

    @contextmanager
    def creating(self, name: str) -> Iterator[Callable[[bytes | bytearray], object]]:
        """Yield the function that appends bytes to a new file, which appears when the block ends without an error.

        An existing file is replaced. A store receives the whole file at once, as it would take a part of it for the
        whole if the process ended in between.

        Raises:
            UserError: the file cannot be written.
        """
        path = self._path(name)
        if self.is_local:
            with self._creating_here(Path(path), name) as write:
                yield write
            return
        with tempfile.SpooledTemporaryFile(_SPOOLED_BYTES) as file:
            yield partial(self._spool, file)
            file.seek(0)
            with self.writing(name):
                self._upload(path, file)

    def _spool(self, file: IO[bytes], content: bytes | bytearray) -> None:
        try:
            file.write(content)
        except OSError as error:
            message = (
                f"{tempfile.gettempdir()}: a file cannot be made ready for the run directory ({error.strerror}). "
                "Set TMPDIR to a folder with room."
            )
            raise UserError(message) from error

    def _upload(self, path: str, file: IO[bytes]) -> None:
        self._fs.create_dir(path.rsplit("/", 1)[0], recursive=True)
        if self._fs.type_name in _OBJECT_STORES:
            self._put(path, file)
            return
        beside = _beside(path)
        try:
            self._put(beside, file)
            self._rename(beside, path)
        except BaseException:
            self._remove(beside)
            raise

    def make(self) -> None:
        """Create the folder of a local run directory if necessary; stores create folders with their files.

        Raises:
            UserError: the folder cannot be created or written to.
        """
        if not self.is_local:
            return
        with self.writing():
            _make_folder(self.path, self.flushed)
            if not os.access(self.path, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    def remove_parts(self) -> None:
        """Remove unfinished files of a driver that died; on a store such files are not visible."""
        if self.is_local:
            for path in (*self.path.glob(f"*{_PART}"), *self.path.glob(f"*/*/*{_PART}")):
                with suppress(OSError):
                    path.unlink()

    def remove(self, name: str) -> None:
        """Remove a file, if it exists and can be removed."""
        self._remove(self._path(name))

    @contextmanager
    def reading(self, name: str) -> Iterator[None]:
        """Convert errors in the block to `UserError`: the file cannot be read, or has changed since it was written."""
        from pyarrow import ArrowException

        try:
            yield
        except (FileNotFoundError, UserError):
            raise
        except Damaged as error:
            message = (
                f"{self.shown}/{name}: this file is not what the run has written there. "
                "The run directory is damaged; search again in another --run-dir."
            )
            raise UserError(message) from error
        except (OSError, ArrowException) as error:
            cure = cure_for(self._fs.type_name, reading=True)
            message = f"{self.shown}/{name}: cannot be read ({reason_of(error)}). {cure}"
            raise UserError(message) from error

    @contextmanager
    def writing(self, name: str = "") -> Iterator[None]:
        """Convert errors of writing in the block to `UserError`."""
        from pyarrow import ArrowException

        try:
            yield
        except (OSError, ArrowException) as error:
            place, cure = f"{self.shown}/{name}".rstrip("/"), cure_for(self._fs.type_name)
            message = f"{place}: the run directory cannot be written ({reason_of(error)}). {cure}"
            raise UserError(message) from error

    @contextmanager
    def _creating_here(self, path: Path, name: str) -> Iterator[Callable[[bytes | bytearray], object]]:
        beside = Path(_beside(str(path)))
        with self.writing(name):
            _make_folder(path.parent, self.flushed)
            try:
                with new_file(beside) as descriptor:
                    yield partial(write_all, descriptor)
                    if self.flushed:
                        os.fsync(descriptor)
                beside.replace(path)
            except BaseException:
                with suppress(OSError):
                    beside.unlink(missing_ok=True)
                raise
            if self.flushed:
                flush_folder(path.parent)

    def _put(self, path: str, file: IO[bytes]) -> None:
        with self._fs.open_output_stream(path) as stream:
            while some := file.read(_CHUNK_BYTES):
                stream.write(some)

    def _rename(self, beside: str, path: str) -> None:
        try:
            self._fs.move(beside, path)
        except OSError:
            if not self.has(path.removeprefix(f"{self._root}/")):
                raise
            # Some file systems do not rename over an existing file. At any moment one of the two files exists.
            self._remove(path + _OLD)
            self._fs.move(path, path + _OLD)
            self._fs.move(beside, path)
            self._remove(path + _OLD)

    def _remove(self, path: str) -> None:
        with suppress(OSError):
            self._fs.delete_file(path)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"


def _beside(path: str) -> str:
    """Return the path under which a file is written until it is whole, different for each call."""
    return f"{path}.{uuid.uuid4().hex[:12]}{_PART}"


def _make_folder(folder: Path, flushed: bool) -> None:
    """Create a folder and its parents, each flushed before the folders in it are created."""
    if folder.is_dir():
        return
    if not folder.parent.is_dir():
        _make_folder(folder.parent, flushed)
    try:
        folder.mkdir()
    except FileExistsError:
        if folder.is_dir():  # another task has made it
            return
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
    if flushed:
        flush_folder(folder.parent)
