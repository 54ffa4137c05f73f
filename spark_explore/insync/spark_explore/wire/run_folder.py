"""The run directory: files that are whole or not there, in a folder that pyarrow's filesystems reach.

manifest.json                 what is searched, and what is known of each level
recipe.json.z                 the machine code as LLVM IR, for the workers
states/p00003/00017-00017     the states of one partition in a level, or in several that follow each other
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from insync.model.errors import InternalError, UserError

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow.fs import FileSystem

__all__ = ["RunFolder", "StatesFile"]

_OBJECT_STORES = {"s3", "gcs", "abfs"}  # where a file appears at once, when it is closed, and a rename copies
_OLD = ".old"
_MAGIC = b"insync-states/1\n"
_HEAD = struct.Struct("<16sQQQ")  # magic, words per state, first level, number of levels; then a count per level
_PIECE_BYTES = 4 << 20


class RunFolder:
    """A run directory.

    Args:
        uri: a local path, or a URI that pyarrow's filesystems take, such as s3://bucket/folder or hdfs://host/folder.

    Raises:
        UserError: no filesystem is known for the URI.
    """

    def __init__(self, uri: str) -> None:
        from pyarrow import ArrowException
        from pyarrow.fs import FileSystem

        self.uri = uri if "://" in uri else str(Path(uri).resolve())
        try:
            found: tuple[FileSystem, str] = FileSystem.from_uri(self.uri)
        except (ArrowException, OSError, ValueError) as error:
            message = f"{uri}: no filesystem for this run directory ({error}). Give a path or a URI that pyarrow knows."
            raise UserError(message) from error
        self._fs, self._root = found

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine's own filesystem, by its URI."""
        return str(self._fs.type_name) == "local"

    def has(self, name: str) -> bool:
        """Return whether a file is there."""
        from pyarrow.fs import FileType

        return bool(self._fs.get_file_info(self._path(name)).type == FileType.File)

    def read(self, name: str) -> bytes:
        """Return the content of a file; raises FileNotFoundError."""
        path = self._path(name)
        try:
            return self._content(path)
        except FileNotFoundError:
            return self._content(path + _OLD)

    def write(self, name: str, parts: bytes | Iterable[object]) -> None:
        """Write a file of some buffers, whole or not at all; what was there before is replaced.

        A buffer is written before the next is asked for.

        Raises:
            UserError: it cannot be written.
        """
        path, parts = self._path(name), [parts] if isinstance(parts, bytes) else parts
        try:
            self._fs.create_dir(path.rsplit("/", 1)[0], recursive=True)
            if self._fs.type_name in _OBJECT_STORES:
                self._put(path, parts)
                return
            beside = f"{path}.{uuid.uuid4().hex[:12]}.part"
            try:
                self._put(beside, parts)
                self._rename(beside, path)
            except BaseException:
                self._remove(beside)
                raise
        except OSError as error:
            message = (
                f"{self.uri}: the run directory cannot be written ({error}). "
                "Name one with room, that all executors may write to."
            )
            raise UserError(message) from error

    # ------------------------------------------------------------------------------------------------------- states

    def write_states(
        self, partition: int, first: int, counts: Sequence[int], words: int, rows: bytes | Iterable[object]
    ) -> None:
        """Write the states of a partition in `len(counts)` levels from `first` on.

        Args:
            partition: whose they are.
            first: the first level.
            counts: how many states each level has.
            words: 64-bit words per state.
            rows: a buffer of all of them, level after level; or several.
        """
        head = _HEAD.pack(_MAGIC, words, first, len(counts)) + struct.pack(f"<{len(counts)}Q", *counts)
        self.write(
            _states_name(partition, first, first + len(counts) - 1),
            chain([head], [rows] if isinstance(rows, bytes) else rows),
        )

    def has_states(self, partition: int, level: int) -> bool:
        """Return whether the states of a partition in one level were written."""
        return self.has(_states_name(partition, level, level))

    def open_states(self, partition: int, first: int, last: int) -> StatesFile:
        """Open what `write_states` wrote.

        Raises:
            UserError: the file is not there, or is damaged.
        """
        name = _states_name(partition, first, last)
        try:
            return _open_states(f"{self.uri}/{name}", self._fs.open_input_file(self._path(name)))
        except OSError as error:
            message = f"{self.uri}/{name}: cannot be read ({error}). The run directory is not complete; search again."
            raise UserError(message) from error

    def _put(self, path: str, parts: Iterable[object]) -> None:
        with self._fs.open_output_stream(path) as file:
            for part in parts:
                file.write(part)

    def _rename(self, beside: str, path: str) -> None:
        try:
            self._fs.move(beside, path)
        except OSError:
            if not self.has(path.removeprefix(f"{self._root}/")):
                raise
            # Not every filesystem renames over a file. At any moment one of both is there.
            self._remove(path + _OLD)
            self._fs.move(path, path + _OLD)
            self._fs.move(beside, path)
            self._remove(path + _OLD)

    def _content(self, path: str) -> bytes:
        with self._fs.open_input_stream(path) as file:
            content: bytes = file.read()
        return content

    def _remove(self, path: str) -> None:
        try:
            self._fs.delete_file(path)
        except OSError:
            return

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"


def _states_name(partition: int, first: int, last: int) -> str:
    return f"states/p{partition:05}/{first:05}-{last:05}"


@dataclass(frozen=True, slots=True)
class StatesFile:
    """The states of a partition in some levels.

    Attributes:
        words: 64-bit words per state.
        first: the first level in it.
        counts: how many states each level has.
    """

    words: int
    first: int
    counts: tuple[int, ...]
    _start: int
    _file: NativeFile

    def pieces(self, level: int) -> Iterator[bytes]:
        """Yield the states of a level in pieces of whole states."""
        row = 8 * self.words
        at = self._start + row * sum(self.counts[: level - self.first])
        left = row * self.counts[level - self.first]
        while left:
            size = min(left, _PIECE_BYTES // row * row)
            piece: bytes = self._file.read_at(size, at)
            if len(piece) != size:
                message = f"A file of states in the run directory is cut off at {at + len(piece)}."
                raise InternalError(message)
            yield piece
            at, left = at + size, left - size

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _open_states(name: str, file: NativeFile) -> StatesFile:
    head = file.read_at(min(_HEAD.size, file.size()), 0)
    if len(head) == _HEAD.size and head.startswith(_MAGIC):
        _, words, first, levels = _HEAD.unpack(head)
        start = _HEAD.size + 8 * levels
        counts = struct.unpack(f"<{levels}Q", file.read_at(8 * levels, _HEAD.size)) if start <= file.size() else None
        if counts is not None and file.size() == start + 8 * words * sum(counts):
            return StatesFile(words, first, counts, start, file)
    file.close()
    message = f"{name}: this is not a whole file of states. The run directory is damaged; search again."
    raise UserError(message)
