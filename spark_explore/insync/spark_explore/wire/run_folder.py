"""The folder of a run directory by its name: a path of this machine, or a URI for one of pyarrow's file systems."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar

from insync.machine.stores.run_folder import RunFolder
from insync.machine.stores.whole_files import OpenFile
from insync.runtime.errors import UserError
from insync.spark_explore.wire.file_systems import cure_for, filesystem_of, full_name, reason_of, shown_name

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

__all__ = ["StoreFolder", "run_folder"]

_OBJECT_STORES = {"s3", "gcs", "abfs"}  # a file appears atomically when it is closed, and a rename is a copy
_CHUNK_BYTES = 1 << 20  # of a file, uploaded at once
_SPOOLED_BYTES = 1 << 26  # of a file that is kept in memory until it is uploaded
_OLD = ".old"


def run_folder(name: str, flushed: bool = True) -> RunFolder:
    """Return the folder of a run directory.

    Args:
        name: a local path, or a URI for pyarrow's file systems, such as s3://bucket/folder or hdfs://host/folder.
        flushed: see `RunFolder`.

    Raises:
        UserError: the name has no known file system, or that cannot be reached.
    """
    uri = full_name(name)
    return RunFolder(uri, flushed) if uri.startswith("/") else StoreFolder(uri, *filesystem_of(uri))


class StoreFolder(RunFolder):
    """A run directory on an object store, or on another file system that pyarrow reaches.

    Args:
        uri: its name.
        files: the file system.
        root: the path in it.
    """

    is_local: ClassVar[bool] = False

    def __init__(self, uri: str, files: FileSystem, root: str) -> None:
        super().__init__(Path(root))
        self.uri, self.shown = uri, shown_name(uri)
        self._fs, self._root = files, root

    def open(self, name: str) -> OpenFile:
        if self._fs.type_name == "abfs" and not self.has(name):
            # Azure's library ends this process if it cannot sign in when a file is opened; `has` raises an error.
            raise FileNotFoundError(name)
        opened: OpenFile = self._fs.open_input_file(self._path(name))
        return opened

    def read(self, name: str) -> bytes | None:
        found = super().read(name)
        return super().read(name + _OLD) if found is None and self._fs.type_name not in _OBJECT_STORES else found

    def names(self, folder: str) -> list[str]:
        from pyarrow.fs import FileSelector, FileType

        with self.reading(folder):
            found = self._fs.get_file_info(FileSelector(self._path(folder), allow_not_found=True))
            return [each.base_name for each in found if each.type == FileType.File]

    @contextmanager
    def creating(self, name: str, flushed: bool = True) -> Iterator[Callable[[bytes | bytearray], object]]:
        """See `RunFolder`. The store receives the file in one piece.

        It would take a part of a file for the whole if the process ended in between.
        """
        with tempfile.SpooledTemporaryFile(_SPOOLED_BYTES) as file:
            yield partial(self._spool, file)
            file.seek(0)
            with self.writing(name):
                self._upload(self._path(name), file)

    def make(self, folder: str = "") -> None:
        """Do nothing: a store has no folders, and others are created with their files."""

    def remove_parts(self) -> None:
        """Do nothing: unfinished files are not visible."""

    def remove(self, name: str) -> None:
        self._remove(self._path(name))

    @contextmanager
    def reading(self, name: str) -> Iterator[None]:
        from pyarrow import ArrowException

        with super().reading(name):
            try:
                yield
            except ArrowException as error:
                raise self._unreadable(name, error) from error

    @contextmanager
    def writing(self, name: str = "") -> Iterator[None]:
        from pyarrow import ArrowException

        with super().writing(name):
            try:
                yield
            except ArrowException as error:
                raise self._unwritable(name, error) from error

    def _unreadable(self, name: str, error: Exception) -> UserError:
        cure = cure_for(self._fs.type_name)
        return UserError(f"{self.shown}/{name}: cannot be read ({reason_of(error)}). {cure}")

    def _unwritable(self, name: str, error: Exception) -> UserError:
        place, cure = f"{self.shown}/{name}".rstrip("/"), cure_for(self._fs.type_name)
        return UserError(f"{place}: the run directory cannot be written ({reason_of(error)}). {cure}")

    def _has(self, name: str) -> bool:
        from pyarrow.fs import FileType

        return bool(self._fs.get_file_info(self._path(name)).type == FileType.File)

    def _spool(self, file: IO[bytes], content: bytes | bytearray) -> None:
        try:
            file.write(content)
        except OSError as error:
            message = (
                f"{tempfile.gettempdir()}: a file cannot be made ready for the run directory ({reason_of(error)}). "
                "Set TMPDIR to a folder with room."
            )
            raise UserError(message) from error

    def _upload(self, path: str, file: IO[bytes]) -> None:
        if self._fs.type_name in _OBJECT_STORES:  # there are no folders
            self._put(path, file)
            return
        self._fs.create_dir(path.rsplit("/", 1)[0], recursive=True)
        beside = f"{path}.{uuid.uuid4().hex[:12]}.part"
        try:
            self._put(beside, file)
            self._rename(beside, path)
        except BaseException:
            self._remove(beside)
            raise

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
