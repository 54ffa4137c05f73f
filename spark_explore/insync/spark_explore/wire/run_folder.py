"""The run directory: files that are whole or not there, on this machine or on one of pyarrow's file systems.

manifest.json                 what is searched, and what is known of each level
lock, or driver.json          the driver that works on it
states/p00003/00017-00017     the states of one partition in a level, or in several that follow each other

There is no code in it: executors get that from the driver.
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
from insync.model.checksums import Damaged
from insync.model.errors import UserError
from insync.spark_explore.wire.file_systems import cure_for, filesystem_of, full_name, reason_of, shown_name

if TYPE_CHECKING:
    from insync.spark_explore.wire.states_file import OpenFile

__all__ = ["RunFolder"]

_OBJECT_STORES = {"s3", "gcs", "abfs"}  # where a file appears at once, when it is closed, and a rename copies
_OLD = ".old"
_PART = ".part"


class RunFolder:
    """A run directory.

    Args:
        name: a local path, or a URI that pyarrow's file systems take, such as s3://bucket/folder or hdfs://host/folder.
        flushed: whether local files are on the disk when they are written, and not only in the memory of this machine;
            a directory that is removed with the session needs none of that.

    Attributes:
        uri: the name as it is passed on.
        shown: the name as it is shown.
        flushed: this argument.

    Raises:
        UserError: no file system is known for the name, or it cannot be reached.
    """

    def __init__(self, name: str, flushed: bool = True) -> None:
        self.uri, self.flushed = full_name(name), flushed
        self.shown = shown_name(self.uri)
        self._fs, self._root = filesystem_of(self.uri)

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine's own file system, or looks so."""
        return str(self._fs.type_name) == "local"

    @property
    def path(self) -> Path:
        """The folder of a local one."""
        assert self.is_local
        return Path(self._root)

    def has(self, name: str) -> bool:
        """Return whether a file is there.

        Raises:
            UserError: the file system does not say.
        """
        from pyarrow.fs import FileType

        with self.reading(name):
            return bool(self._fs.get_file_info(self._path(name)).type == FileType.File)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if it is not there.

        Raises:
            UserError: it cannot be read.
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
        """Open a file to be read from any place; see `reading` for its errors."""
        if self.is_local:
            return _LocalFile(Path(self._path(name)))
        if self._fs.type_name == "abfs" and not self.has(name):
            # Azure's library ends this process if it cannot sign in when a file is opened; here it says so.
            raise FileNotFoundError(name)
        opened: OpenFile = self._fs.open_input_file(self._path(name))
        return opened

    def write(self, name: str, parts: bytes | Iterable[bytes | memoryview]) -> None:
        """Write a file of some buffers, whole or not at all; what was there before is replaced.

        A buffer is written before the next is requested.

        Raises:
            UserError: it cannot be written.
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
                except BaseException:  # the stream is closed then, which makes a file of what it has by now
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
        """Make a local folder, if it is not there; on a store, folders come with their files.

        Raises:
            UserError: it cannot be made, or not be written to.
        """
        if not self.is_local:
            return
        with self.writing():
            _make_folder(self.path, self.flushed)
            if not os.access(self.path, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    def remove_parts(self) -> None:
        """Remove what was being written when a driver died; on a store that is not visible."""
        if self.is_local:
            for path in (*self.path.glob(f"*{_PART}"), *self.path.glob(f"states/*/*{_PART}")):
                with suppress(OSError):
                    path.unlink()

    def remove(self, name: str) -> None:
        """Remove a file, if it is there and that is possible."""
        self._remove(self._path(name))

    @contextmanager
    def reading(self, name: str) -> Iterator[None]:
        """Make a sentence of what goes wrong in the block: a file that cannot be read, or is not what was written."""
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
        """Make a sentence of what goes wrong in the block."""
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
            # Not every file system renames over a file. At any moment one of both is there.
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
    """Return where a file is written until it is whole: another place for each that writes it."""
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
    """Make a folder and those above it, each on the disk before what is in it."""
    if folder.is_dir():
        return
    if folder.exists():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    _make_folder(folder.parent, flushed)
    folder.mkdir(exist_ok=True)
    if flushed:
        flush_folder(folder.parent)
