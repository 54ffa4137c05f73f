"""The run directory: files that are whole or absent, on this machine or on one of pyarrow's file systems.

manifest.json                 the identity of the search, and the figures of each level
lock, or driver.json          the driver that works on it
states/p00003/00017-00017     the states of one partition in a level, or in several consecutive levels

The directory has no code: executors get that from the driver.
"""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from insync.machine.stores.whole_files import flush_folder, new_file, open_file, write_all
from insync.runtime.checksums import Damaged
from insync.runtime.errors import UserError
from insync.spark_explore.wire.file_systems import cure_for, filesystem_of, full_name, reason_of, shown_name

if TYPE_CHECKING:
    from insync.spark_explore.wire.states_file import OpenFile

__all__ = ["RunFolder"]

_OBJECT_STORES = {"s3", "gcs", "abfs"}  # a file appears atomically when it is closed, and a rename is a copy
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
            return _LocalFile(Path(self._path(name)))
        if self._fs.type_name == "abfs" and not self.has(name):
            # Azure's library ends this process if it cannot sign in when a file is opened; `has` raises an error.
            raise FileNotFoundError(name)
        opened: OpenFile = self._fs.open_input_file(self._path(name))
        return opened

    def write(self, name: str, parts: bytes | Iterable[bytes | memoryview]) -> None:
        """Write a file from buffers, whole or not at all; an existing file is replaced.

        A buffer is written before the next one is requested.

        Raises:
            UserError: the file cannot be written.
        """
        path, parts = self._path(name), [parts] if isinstance(parts, bytes) else parts
        with self.writing(name):
            if self.is_local:
                self._write_here(Path(path), parts)
                return
            self._fs.create_dir(path.rsplit("/", 1)[0], recursive=True)
            if self._fs.type_name in _OBJECT_STORES:
                try:
                    self._put(path, parts)
                except BaseException:  # closing the stream has created a file with a part of the content
                    self._remove(path)
                    raise
                return
            beside = _beside(path)
            try:
                self._put(beside, parts)
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
            for path in (*self.path.glob(f"*{_PART}"), *self.path.glob(f"states/*/*{_PART}")):
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

    def _write_here(self, path: Path, parts: Iterable[bytes | memoryview]) -> None:
        _make_folder(path.parent, self.flushed)
        beside = Path(_beside(str(path)))
        try:
            with new_file(beside) as descriptor:
                for part in parts:
                    write_all(descriptor, part)
                if self.flushed:
                    os.fsync(descriptor)
            beside.replace(path)
        except BaseException:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            raise
        if self.flushed:
            flush_folder(path.parent)

    def _put(self, path: str, parts: Iterable[bytes | memoryview]) -> None:
        with self._fs.open_output_stream(path) as file:
            for part in parts:
                file.write(part)

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


class _LocalFile:
    """A file of this machine."""

    def __init__(self, path: Path) -> None:
        self._descriptor = open_file(path)

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def read_at(self, nbytes: int, offset: int) -> bytes:
        parts = [os.pread(self._descriptor, nbytes, offset)]
        while parts[-1] and (read := sum(map(len, parts))) < nbytes:
            parts.append(os.pread(self._descriptor, nbytes - read, offset + read))
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        os.close(self._descriptor)


def _make_folder(folder: Path, flushed: bool) -> None:
    """Create a folder and its parents, each flushed before the folders in it are created."""
    if folder.is_dir():
        return
    if folder.exists():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    _make_folder(folder.parent, flushed)
    folder.mkdir(exist_ok=True)
    if flushed:
        flush_folder(folder.parent)
