"""The format of sorted files: delta-packed blocks of rows, each with a checksum, and an index at the end.

head     the name of this format
blocks   sorted rows, packed: `machine.emit.external_sort`
index    a description as JSON; the words of each block's first row; the position, size, row count and checksum of each
         block; the values that were numbered for this file
tail     the position and size of the index, and the digest of index and label: see `runtime.checksums`

The label names the run, level and partition of the file. So a changed byte is noticed, and so is another file in the
place of this one.

Rows are whole states or codes. The numbers in a code refer to the values of this file and of the files of earlier
levels, in this order; the first value of a dictionary has the number 0.
"""

from __future__ import annotations

import ctypes
import json
import struct
import zlib
from array import array
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from insync.machine.stores.sorted_rows import BLOCK, OrderKernels, most_packed
from insync.machine.stores.whole_files import LocalFile, OpenFile, UnnamedFile
from insync.runtime.checksums import DIGEST_BYTES, Damaged, Label, digest

__all__ = ["SORTED_FORMAT", "SortedFile", "SortedWriter", "Unpacker"]


SORTED_FORMAT = "insync-sorted/2"

_MAGIC = f"{SORTED_FORMAT}\n".encode()
_TAIL = struct.Struct(f"<QQ{DIGEST_BYTES}s")  # of the index: position, size, digest
_ENTRY = 4  # words per block in the index: position, size, rows, checksum
_MOST_WRITTEN = 1 << 20  # bytes buffered before a write

Write = Callable[[bytearray], object]


class SortedWriter:
    """Writes a sorted file.

    Args:
        write: appends bytes to the file, which is empty.
        kernels: the compiled functions for rows of this size.
        block: rows per block, at most `BLOCK`, which is the default.

    Attributes:
        count: how many rows were written.
    """

    def __init__(self, write: Write, kernels: OrderKernels, block: int | None = None) -> None:
        self._write, self._kernels, self._block = write, kernels, block or BLOCK
        self._packed = (ctypes.c_char * most_packed(kernels.words, self._block))()
        self._firsts, self._entries = array("Q"), array("Q")
        self._waiting = bytearray(_MAGIC)
        self._size = len(_MAGIC)
        self.count = 0

    @property
    def blocks(self) -> int:
        """How many blocks were written; each call of `append` begins another one."""
        return len(self._entries) // _ENTRY

    def append(self, rows: int, count: int) -> None:
        """Write `count` sorted rows, all greater than the rows written before.

        Raises:
            OSError: the disk is full, or cannot be written.
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
            label: identifies the file.
            said: a description of the rows.
            values: the values that were numbered for this file, by dictionary.

        Raises:
            OSError: the disk is full, or cannot be written.
        """
        head = json.dumps(
            {**said, "rows": self.count, "blocks": self.blocks, "values": [len(each) // 8 for each in values]}
        )
        index = b"".join([head.encode(), b"\n", self._firsts.tobytes(), self._entries.tobytes(), *values])
        covering = digest(label, index)
        self._waiting += index + _TAIL.pack(self._size, len(index), covering)
        self._flush()
        return covering

    def _flush(self) -> None:
        self._write(self._waiting)
        self._waiting = bytearray()


@dataclass(frozen=True, slots=True)
class PackedBlock:
    place: int
    size: int
    rows: int
    checksum: int


class SortedFile:
    """A sorted file, opened for reading.

    Args:
        source: a path, the descriptor of a file without a name, or a function that opens the file.
        words: 64-bit words per row.
        label: the label that the file must have.

    Attributes:
        said: the description of the rows.
        digest: of the index; covers the whole file.
        count: how many rows the file has.
        size: of the file, in bytes.
        values: the values that were numbered for this file, by dictionary; empty after `forget_values`.

    Raises:
        Damaged: the index has changed, or the file has another label.
        OSError: the file cannot be read.
    """

    def __init__(self, source: Path | int | Callable[[], OpenFile], words: int, label: Label) -> None:
        self._open, self._words = _opener(source), words
        with self.opened() as file:
            self.size = file.size()
            place, size, self.digest = self._tail(file)
            index = file.read_at(size, place)
            head = file.read_at(len(_MAGIC), 0)
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
        """Free the memory of the values."""
        self.values = []

    def moved_to(self, path: Path) -> None:
        """Note that the file was moved to another path."""
        self._open = _opener(path)

    def opened(self) -> AbstractContextManager[OpenFile]:
        """Return a context manager that opens the file."""
        return closing(self._open())

    def block(self, number: int) -> PackedBlock:
        """Return the index entry of a block."""
        return PackedBlock(*self._entries[_ENTRY * number : _ENTRY * (number + 1)])

    @property
    def firsts(self) -> int:
        """The address of an array with the first row of each block."""
        return ctypes.addressof(self._firsts)

    def first(self, number: int) -> int:
        """Return the address of the first row of a block."""
        return self.firsts + 8 * self._words * number

    def first_row(self, number: int) -> tuple[int, ...]:
        """Return the first row of a block."""
        return tuple(self._firsts[self._words * number : self._words * (number + 1)])

    def verify(self, goes_on: Callable[[], bool]) -> None:
        """Compare every block with its checksum.

        Args:
            goes_on: called before each block; `verify` returns early when it returns False.

        Raises:
            Damaged: a block has changed.
            OSError: the file cannot be read.
        """
        with self.opened() as file:
            for number in range(self.blocks):
                if not goes_on():
                    return
                block = self.block(number)
                if zlib.crc32(file.read_at(block.size, block.place)) != block.checksum:
                    raise Damaged

    def _tail(self, file: OpenFile) -> tuple[int, int, bytes]:
        tail = file.read_at(_TAIL.size, max(0, self.size - _TAIL.size))
        if len(tail) != _TAIL.size:
            raise Damaged
        place, size, covering = _TAIL.unpack(tail)
        if place + size + _TAIL.size != self.size:
            raise Damaged
        return place, size, covering


def _opener(source: Path | int | Callable[[], OpenFile]) -> Callable[[], OpenFile]:
    if isinstance(source, Path):
        return partial(LocalFile, source)
    return partial(UnnamedFile, source) if isinstance(source, int) else source


class Unpacker:
    """Reads blocks into its own memory, and compares each with its checksum.

    Args:
        kernels: the compiled functions for rows of this size.

    Attributes:
        rows: the address of the rows of the last block.
    """

    def __init__(self, kernels: OrderKernels) -> None:
        self._kernels = kernels
        self._rows = (ctypes.c_uint64 * (kernels.words * BLOCK))()
        self._packed = (ctypes.c_char * most_packed(kernels.words, BLOCK))()
        self.rows = ctypes.addressof(self._rows)

    def read(self, file: SortedFile, opened: OpenFile, number: int) -> int:
        """Read a block of a file that is open; return how many rows it has.

        Raises:
            Damaged: the block has changed.
            OSError: the file cannot be read.
        """
        block = file.block(number)
        if block.rows > BLOCK or block.size > len(self._packed):
            raise Damaged
        packed = opened.read_at(block.size, block.place)
        if len(packed) != block.size or zlib.crc32(packed) != block.checksum:
            raise Damaged
        ctypes.memmove(self._packed, packed, block.size)
        self._kernels.unpack(ctypes.addressof(self._packed), block.rows, self.rows)
        return block.rows
