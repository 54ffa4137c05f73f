"""A file of rows in order: packed in blocks, each with a checksum, and an index of them at the end.

head     what the file is
blocks   rows in order, packed: `machine.emit.ordering`
index    as JSON what is said of the whole, then the words of every block's first row, then of every block its place,
         its size, its rows and its checksum, then the values that were numbered for this file
tail     where the index is, its size and its checksum

The rows are whole states, or codes. What a code means is said by the values of this file and of those of the levels
before, in this order; the first value of a dictionary has the number 0.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import zlib
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from insync.machine.sorted_rows import BLOCK, OrderKernels, most_packed

__all__ = ["Damaged", "SortedFile", "SortedWriter", "Unpacker"]

_MAGIC = b"insync-sorted/1\n"
_TAIL = struct.Struct("<QQQ")  # of the index: place, size, checksum
_ENTRY = 4  # words of a block in the index: place, size, rows, checksum
_MOST_WRITTEN = 1 << 20  # bytes gathered before they are written


class Damaged(Exception):
    """A file is not what was written."""


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

    def finish(self, said: dict[str, Any], values: Sequence[bytes] = ()) -> int:
        """Write the index, and return the size of the file.

        Args:
            said: what is said of the whole.
            values: those that were numbered, by dictionary.

        Raises:
            OSError: there is no room for it.
        """
        blocks = len(self._entries) // _ENTRY
        head = json.dumps({**said, "rows": self.count, "blocks": blocks, "values": [len(each) // 8 for each in values]})
        index = b"".join([head.encode(), b"\n", self._firsts.tobytes(), self._entries.tobytes(), *values])
        self._waiting += index + _TAIL.pack(self._size, len(index), zlib.crc32(index))
        self._flush()
        return self._size + len(index) + _TAIL.size

    def _flush(self) -> None:
        waiting = memoryview(self._waiting)
        while len(waiting):
            waiting = waiting[os.write(self._descriptor, waiting) :]
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

    Attributes:
        said: what was said of the whole.
        count: how many rows there are.
        size: of the file, in bytes.
        values: those that were numbered for it, by dictionary; nothing after `forget_values`.

    Raises:
        Damaged: it is something else.
        OSError: it cannot be read.
    """

    def __init__(self, source: Path | int, words: int) -> None:
        self._source, self._words = source, words
        with self.opened() as descriptor:
            self.size = os.fstat(descriptor).st_size
            place, size, checksum = self._tail(descriptor)
            index = os.pread(descriptor, size, place)
        if len(index) != size or zlib.crc32(index) != checksum:
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
        """Read the whole file, and see that it is what was written.

        Args:
            goes_on: asked before each block whether to go on.

        Raises:
            Damaged: it is not.
            OSError: it cannot be read.
        """
        with self.opened() as descriptor:
            if os.pread(descriptor, len(_MAGIC), 0) != _MAGIC:
                raise Damaged
            for number in range(self.blocks):
                if not goes_on():
                    return
                block = self.block(number)
                if zlib.crc32(os.pread(descriptor, block.size, block.place)) != block.checksum:
                    raise Damaged

    def _tail(self, descriptor: int) -> tuple[int, int, int]:
        if self.size < len(_MAGIC) + _TAIL.size:
            raise Damaged
        place, size, checksum = _TAIL.unpack(os.pread(descriptor, _TAIL.size, self.size - _TAIL.size))
        if place + size + _TAIL.size != self.size:
            raise Damaged
        return place, size, checksum


class _Opened:
    """The descriptor of a file, for a while; that of a file without a name stays open."""

    def __init__(self, source: Path | int) -> None:
        self._source = source
        self._descriptor = -1

    def __enter__(self) -> int:
        self._descriptor = self._source if isinstance(self._source, int) else os.open(self._source, os.O_RDONLY)
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
