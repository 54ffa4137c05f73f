"""A file of rows in order: packed in blocks, each with a checksum, and an index of them at the end.

head     the name of this format
blocks   rows in order, packed: `machine.emit.ordering`
index    as JSON what is said of the whole, then the words of every block's first row, then of every block its place,
         its size, its rows and its checksum, then the values that were numbered for this file
tail     where the index is, its size, and the digest of index and label: see `model.checksums`

The label says which file it is: of which run, level and partition. So no byte can change, and no other file take the
place of this one, without being noticed.

The rows are whole states, or codes. What a code means is said by the values of this file and of those of the levels
before, in this order; the first value of a dictionary has the number 0.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import zlib
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from insync.machine.stores.sorted_rows import BLOCK, OrderKernels, most_packed
from insync.machine.stores.whole_files import open_file, write_all
from insync.model.checksums import DIGEST_BYTES, Damaged, Label, digest
from insync.model.errors import UserError

__all__ = ["FilePlace", "SortedFile", "SortedWriter", "Unpacker"]


SORTED_FORMAT = "insync-sorted/2"

_MAGIC = f"{SORTED_FORMAT}\n".encode()
_TAIL = struct.Struct(f"<QQ{DIGEST_BYTES}s")  # of the index: place, size, digest
_ENTRY = 4  # words of a block in the index: place, size, rows, checksum
_MOST_WRITTEN = 1 << 20  # bytes gathered before they are written


class SortedWriter:
    """Writes rows in order.

    Args:
        descriptor: of an empty file.
        kernels: the compiled functions for rows of this size.
        block: how many rows are packed together; None is as many as there may be.

    Attributes:
        count: how many rows were written.
    """

    def __init__(self, descriptor: int, kernels: OrderKernels, block: int | None = None) -> None:
        self._descriptor, self._kernels, self._block = descriptor, kernels, block or BLOCK
        self._packed = (ctypes.c_char * most_packed(kernels.words, self._block))()
        self._firsts, self._entries = array("Q"), array("Q")
        self._waiting = bytearray(_MAGIC)
        self._size = len(_MAGIC)
        self.count = 0

    def append(self, rows: int, count: int) -> None:
        """Write rows, which come after those that were written.

        Raises:
            OSError: there is no room for them.
        """
        row_bytes = self._kernels.row_bytes
        for start in range(0, count, self._block):
            here, some = rows + start * row_bytes, min(self._block, count - start)
            size = self._kernels.pack(here, some, ctypes.addressof(self._packed))
            block = memoryview(self._packed)[:size]
            self._firsts.frombytes(ctypes.string_at(here, row_bytes))
            self._entries.extend((self._size, size, some, zlib.crc32(block)))
            self._waiting += block
            self._size += size
            if len(self._waiting) >= _MOST_WRITTEN:
                self._flush()
        self.count += count

    def finish(self, label: Label, said: dict[str, Any], values: Sequence[bytes] = ()) -> bytes:
        """Write the index, and return its digest, which covers the whole file.

        Args:
            label: which file it is.
            said: what is said of the whole.
            values: those that were numbered, by dictionary.

        Raises:
            OSError: there is no room for it.
        """
        blocks = len(self._entries) // _ENTRY
        head = json.dumps({**said, "rows": self.count, "blocks": blocks, "values": [len(each) // 8 for each in values]})
        index = b"".join([head.encode(), b"\n", self._firsts.tobytes(), self._entries.tobytes(), *values])
        covering = digest(label, index)
        self._waiting += index + _TAIL.pack(self._size, len(index), covering)
        self._flush()
        return covering

    def _flush(self) -> None:
        write_all(self._descriptor, self._waiting)
        self._waiting = bytearray()


@dataclass(frozen=True, slots=True)
class PackedBlock:
    place: int
    size: int
    rows: int
    checksum: int


class SortedFile:
    """A file that `SortedWriter` wrote.

    Args:
        source: its path, or the descriptor of one without a name.
        words: of a row.
        label: which file it has to be.

    Attributes:
        said: what was said of the whole.
        digest: of its index, which covers the whole file.
        count: how many rows there are.
        size: of the file, in bytes.
        values: those that were numbered for it, by dictionary; nothing after `forget_values`.

    Raises:
        Damaged: its index is not what was written, or it is another file.
        OSError: it cannot be read.
    """

    def __init__(self, source: Path | int, words: int, label: Label) -> None:
        self._source, self._words = source, words
        with self.opened() as descriptor:
            self.size = os.fstat(descriptor).st_size
            place, size, self.digest = self._tail(descriptor)
            index = os.pread(descriptor, size, place)
            head = os.pread(descriptor, len(_MAGIC), 0)
        if head != _MAGIC or digest(label, index) != self.digest:
            raise Damaged
        head, _, rest = index.partition(b"\n")
        self.said: dict[str, Any] = json.loads(head)
        self.count, self.blocks = int(self.said["rows"]), int(self.said["blocks"])
        numbers = array("Q", rest)
        firsts, entries = self.blocks * words, self.blocks * (words + _ENTRY)
        if len(numbers) != entries + sum(self.said["values"]):
            raise Damaged
        self._firsts = (ctypes.c_uint64 * max(1, firsts)).from_buffer_copy(numbers[:firsts] or array("Q", [0]))
        self._entries = numbers[firsts:entries]
        self.values: list[bytes] = []
        for some in self.said["values"]:
            self.values.append(numbers[entries : entries + some].tobytes())
            entries += some

    def forget_values(self) -> None:
        """Give back the memory of the values."""
        self.values = []

    def moved_to(self, path: Path) -> None:
        """Take note that the file has another path now."""
        self._source = path

    def opened(self) -> _Opened:
        """Return a context that gives a descriptor to read from."""
        return _Opened(self._source)

    def block(self, number: int) -> PackedBlock:
        """Return what the index says of a block."""
        return PackedBlock(*self._entries[_ENTRY * number : _ENTRY * (number + 1)])

    @property
    def firsts(self) -> int:
        """The address of the first rows of all blocks, one after the other."""
        return ctypes.addressof(self._firsts)

    def first(self, number: int) -> int:
        """Return the address of the first row of a block."""
        return self.firsts + 8 * self._words * number

    def first_row(self, number: int) -> tuple[int, ...]:
        """Return the first row of a block."""
        return tuple(self._firsts[self._words * number : self._words * (number + 1)])

    def verify(self, goes_on: Callable[[], bool]) -> None:
        """Read all blocks, and see that they are what was written.

        Args:
            goes_on: asked before each block whether to go on.

        Raises:
            Damaged: it is not.
            OSError: it cannot be read.
        """
        with self.opened() as descriptor:
            for number in range(self.blocks):
                if not goes_on():
                    return
                block = self.block(number)
                if zlib.crc32(os.pread(descriptor, block.size, block.place)) != block.checksum:
                    raise Damaged

    def _tail(self, descriptor: int) -> tuple[int, int, bytes]:
        tail = os.pread(descriptor, _TAIL.size, max(0, self.size - _TAIL.size))
        if len(tail) != _TAIL.size:
            raise Damaged
        place, size, covering = _TAIL.unpack(tail)
        if place + size + _TAIL.size != self.size:
            raise Damaged
        return place, size, covering


class _Opened:
    """The descriptor of a file, for a while; that of a file without a name stays open."""

    def __init__(self, source: Path | int) -> None:
        self._source = source
        self._descriptor = -1

    def __enter__(self) -> int:
        self._descriptor = self._source if isinstance(self._source, int) else open_file(self._source)
        return self._descriptor

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not isinstance(self._source, int):
            os.close(self._descriptor)


class Unpacker:
    """Reads blocks into memory of its own, and sees each time that they are what was written.

    Args:
        kernels: the compiled functions for rows of this size.

    Attributes:
        rows: the address of the rows that were read last.
    """

    def __init__(self, kernels: OrderKernels) -> None:
        self._kernels = kernels
        self._rows = (ctypes.c_uint64 * (kernels.words * BLOCK))()
        self._packed = (ctypes.c_char * most_packed(kernels.words, BLOCK))()
        self.rows = ctypes.addressof(self._rows)

    def read(self, file: SortedFile, descriptor: int, number: int) -> int:
        """Read a block; return how many rows it has.

        Raises:
            Damaged: it is not what was written.
            OSError: it cannot be read.
        """
        block = file.block(number)
        if block.rows > BLOCK or block.size > len(self._packed):
            raise Damaged
        packed = memoryview(self._packed)[: block.size]
        if os.preadv(descriptor, [packed], block.place) != block.size or zlib.crc32(packed) != block.checksum:
            raise Damaged
        self._kernels.unpack(ctypes.addressof(self._packed), block.rows, self.rows)
        return block.rows


# A folder of sorted files, and what its owner says where one cannot be written, or is damaged.


class FilePlace(ABC):
    """Where sorted files are.

    Args:
        folder: which.
        run: the identity of the run that they belong to.
    """

    def __init__(self, folder: Path, run: str) -> None:
        self.folder, self.run = folder, run

    @abstractmethod
    def unwritable(self, error: OSError) -> UserError:
        """Return what is said of a folder that cannot be written."""

    @abstractmethod
    def unreadable(self, path: Path, error: OSError) -> UserError:
        """Return what is said of a file that cannot be read."""

    @abstractmethod
    def damaged(self, path: Path) -> UserError:
        """Return what is said of a file that is not what was written."""

    def sorted_path(self, form: str, level: int, partition: int) -> Path:
        """Return where the sorted rows of a level are, of one partition and in one form."""
        return self.folder / f"{form}-{level:05}-{partition:04}"

    def label(self, form: str, level: int, partition: int, words: int) -> Label:
        """Return what says which file one of sorted rows is; `words` is the size of a row."""
        return {
            "kind": "sorted rows",
            "format": SORTED_FORMAT,
            "run": self.run,
            "form": form,
            "level": level,
            "partition": partition,
            "words": words,
        }

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write files of the folder within the block.

        Raises:
            UserError: there is no room for them.
        """
        try:
            yield
        except OSError as error:
            raise self.unwritable(error) from error

    @contextmanager
    def reading(self, path: Path) -> Iterator[None]:
        """Read a file within the block.

        Raises:
            UserError: it cannot be read, or is not what was written.
        """
        try:
            yield
        except OSError as error:
            raise self.unreadable(path, error) from error
        except Damaged as error:
            raise self.damaged(path) from error
