"""External merge sort (Knuth, vol. 3), and the search of a sorted buffer for rows that files already have.

A buffer that is full is sorted and spilled to a file without a name. The files are read back range by range, where each
range fits into the buffer.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from insync.machine.stores.collapse import Layout
from insync.machine.stores.row_encoding import RowForm, layout_of
from insync.machine.stores.sorted_file import SortedFile, SortedWriter, Unpacker
from insync.machine.stores.sorted_rows import BLOCK, OrderKernels, RowBuffer
from insync.machine.stores.whole_files import OpenFile, write_all
from insync.runtime.checksums import Label

__all__ = [
    "ExternalSort",
    "KnownRows",
    "RowReader",
    "UnnamedRows",
    "merged_rows",
    "strike_known",
]


_LABEL: Label = {"kind": "spill"}  # files without names cannot be confused

_MOST_FILES = 32  # read side by side; more are merged into one


class ExternalSort:
    """Sorts rows: in a buffer, and in files without names where they do not fit, which disappear with the process.

    Args:
        buffer: an empty buffer, to which rows may be appended whenever it has room.
        folder: where the files are.
        kernels: the compiled functions for rows of this size.
        form: the encoding of the rows.
        reader: reads blocks of the files.
    """

    def __init__(
        self, buffer: RowBuffer, folder: Path, kernels: OrderKernels, form: RowForm, reader: RowReader
    ) -> None:
        self._buffer = buffer
        self._folder, self._kernels, self._form, self._reader = folder, kernels, form, reader
        # A range may include a partial block of each file: together these take at most half of the buffer.
        self._block = max(1, min(BLOCK, buffer.capacity // (2 * _MOST_FILES)))
        self._files: list[UnnamedRows] = []

    @property
    def size(self) -> int:
        """The bytes on disk."""
        return sum(file.rows.file.size for file in self._files)

    def insert(self, rows: int, count: int) -> None:
        """Append `count` rows.

        Raises:
            OSError: the disk is full, or cannot be written.
        """
        while count:
            if not self._buffer.room:
                self.make_room()
            some = min(count, self._buffer.room)
            self._buffer.extend(rows, some)
            rows, count = rows + some * self._kernels.row_bytes, count - some

    def make_room(self) -> None:
        """Drop duplicates from the buffer; if at least half of it is distinct, write it to a file and clear it.

        Raises:
            OSError: the disk is full, or cannot be written.
        """
        self._buffer.sort()
        if self._buffer.room < self._buffer.capacity // 2:
            self._spill()

    def ranges(self) -> Iterator[None]:
        """Yield whenever the buffer holds the next range of the rows, sorted and without duplicates.

        Raises:
            Damaged: a file has changed.
            OSError: a file cannot be written or read.
        """
        self._buffer.sort()
        if not self._files:
            yield
            return
        self._spill()
        yield from self._merged()

    def clear(self) -> None:
        """Remove all rows and files."""
        self._buffer.clear()
        while self._files:
            self._files.pop().close()

    def _merged(self) -> Iterator[None]:
        files = [file.rows for file in self._files]
        return _merged_ranges(files, self._block, self._buffer, self._kernels, self._form, self._reader)

    def _spill(self) -> None:
        if len(self._files) == _MOST_FILES:
            self._join()
        if self._buffer.count:
            self._write(iter([None]))
            self._buffer.clear()

    def _write(self, ranges: Iterator[None]) -> None:
        file = UnnamedRows(self._folder, self._kernels, self._form, self._block)
        with file.removed_on_error():
            for _ in ranges:
                file.append(self._buffer.address, self._buffer.count)
            file.finish()
        self._files.append(file)

    def _join(self) -> None:
        """Merge all files and the rows of the buffer into one file."""
        self._write(iter([None]))
        old = list(self._files)
        self._write(self._merged())
        for file in old:
            file.close()
        del self._files[: len(old)]


class UnnamedRows:
    """A sorted file without a name, which disappears when it is closed, or with the process.

    Args:
        folder: where it is.
        kernels: the compiled functions for rows of this size.
        form: the encoding of the rows.
        block: rows per block; see `SortedWriter`.

    Attributes:
        rows: the rows, once all are written.

    Raises:
        OSError: the disk cannot be written.
    """

    rows: KnownRows

    def __init__(self, folder: Path, kernels: OrderKernels, form: RowForm, block: int | None = None) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, prefix="sorted-", buffering=0)  # noqa: SIM115  (see `close`)
        self._writer = SortedWriter(partial(write_all, self._file.fileno()), kernels, block)
        self._words, self._form = kernels.words, form

    @contextmanager
    def removed_on_error(self) -> Iterator[None]:
        """Remove the file if the block ends by an exception."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def append(self, rows: int, count: int) -> None:
        """Write sorted rows, all greater than the rows written before.

        Raises:
            OSError: the disk is full, or cannot be written.
        """
        self._writer.append(rows, count)

    def finish(self) -> None:
        """Write the index, and open the file for reading.

        Raises:
            OSError: the disk is full, or cannot be written.
        """
        self._writer.finish(_LABEL, self._form.said())
        self.rows = KnownRows.of(SortedFile(self._file.fileno(), self._words, _LABEL))

    def close(self) -> None:
        """Remove the file."""
        self._file.close()


# -------------------------------------------------------------------------------------------------------- rows of files


@dataclass(slots=True)
class KnownRows:
    """A sorted file with the layout of its rows.

    Attributes:
        file: the file.
        layout: the layout in which the rows were written.
        index: the layout of the first rows in the index, which are converted in memory.
        errors: returns a context manager that converts errors of reading the file, such as `RunFolder.reading`.
    """

    file: SortedFile
    layout: Layout | None
    index: Layout | None
    errors: Callable[[], AbstractContextManager[None]]

    @classmethod
    def of(cls, file: SortedFile, errors: Callable[[], AbstractContextManager[None]] = nullcontext) -> KnownRows:
        """Return a file with the layout that its description names."""
        layout = layout_of(file.said)
        return cls(file, layout, layout, errors)

    def align_index(self, form: RowForm) -> None:
        """Convert the first rows of the blocks to the current layout."""
        if self.index is not form.layout:
            form.align(self.index, self.file.firsts, self.file.blocks)
            self.index = form.layout


class RowReader:
    """Reads blocks of files, as rows or as states, one at a time.

    Args:
        form: the encoding of the rows.
        kernels: the compiled functions for rows of this size.
        words: 64-bit words per packed state.

    Attributes:
        rows: the address of the rows of the last block.
    """

    def __init__(self, form: RowForm, kernels: OrderKernels, words: int) -> None:
        self._form, self._unpacker = form, Unpacker(kernels)
        self._states = (ctypes.c_uint64 * (words * BLOCK))()
        self.rows = self._unpacker.rows

    def read(self, known: KnownRows, opened: OpenFile, number: int) -> int:
        """Read a block into `rows`, converted to the current layout; return how many rows it has.

        Raises:
            Damaged: the block has changed.
            OSError: the file cannot be read.
        """
        count = self._unpacker.read(known.file, opened, number)
        self._form.align(known.layout, self.rows, count)
        return count

    def states(self, known: KnownRows, opened: OpenFile, number: int) -> tuple[int, int]:
        """Read a block; return address and count of its states, which are valid until the next block is read."""
        count = self.read(known, opened, number)
        return self._form.states(self.rows, count, ctypes.addressof(self._states)), count

    def all_states(self, known: KnownRows) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the states of a file. A run is valid until the next one is requested."""
        with known.errors(), known.file.opened() as opened:
            for number in range(known.file.blocks):
                yield self.states(known, opened, number)


def strike_known(buffer: RowBuffer, known: KnownRows, form: RowForm, reader: RowReader) -> None:
    """Mark the rows of a sorted buffer that are in a file. Blocks whose range contains no row are not read.

    Raises:
        Damaged: the file has changed.
        OSError: the file cannot be read.
    """
    file = known.file
    if not file.blocks or not buffer.count:
        return
    known.align_index(form)
    start = max(0, buffer.blocks_before(file.firsts, file.blocks) - 1)
    at = buffer.place(file.first(start))
    with known.errors(), file.opened() as opened:
        for number in range(start, file.blocks):
            end = buffer.place(file.first(number + 1)) if number + 1 < file.blocks else buffer.count
            if end > at:
                count = reader.read(known, opened, number)
                buffer.strike(at, end, reader.rows, count)
            at = end
            if at == buffer.count:
                return


def merged_rows(
    files: tuple[KnownRows, KnownRows], kernels: OrderKernels, form: RowForm, readers: tuple[RowReader, RowReader]
) -> Iterator[tuple[int, int]]:
    """Yield (address, count) runs of the rows of two files, in order, each valid until the next one is requested.

    Each run but the last is whole blocks.

    Args:
        files: the files, which have no row in common.
        kernels: the compiled functions for rows of this size.
        form: the encoding of the rows.
        readers: read blocks of the files, one of each.

    Raises:
        Damaged: a file has changed.
        OSError: a file cannot be read.
    """
    one, other = (_Side(known, reader, kernels) for known, reader in zip(files, readers, strict=True))
    memory = (ctypes.c_uint64 * (kernels.words * 3 * BLOCK))()
    start, held = ctypes.addressof(memory), 0
    while one.fill() | other.fill():
        ours, theirs = one.left, other.left
        if ours and theirs:
            theirs = kernels.place(other.address, theirs, one.last)
            if theirs == other.left:
                ours = kernels.place(one.address, ours, other.last)
        end = start + held * kernels.row_bytes
        held += kernels.merge(one.take(ours), ours, other.take(theirs), theirs, end)
        whole = held - held % BLOCK
        if whole:
            yield start, whole
            held -= whole
            ctypes.memmove(start, start + whole * kernels.row_bytes, held * kernels.row_bytes)
    yield start, held


class _Side:
    """The position in one of two files that are merged: the rows of a block that were not taken.

    Attributes:
        left: how many there are.
    """

    def __init__(self, known: KnownRows, reader: RowReader, kernels: OrderKernels) -> None:
        self._known, self._reader, self._row_bytes = known, reader, kernels.row_bytes
        self._block = self._at = self.left = 0

    @property
    def address(self) -> int:
        """The address of the first row."""
        return self._reader.rows + self._at * self._row_bytes

    @property
    def last(self) -> int:
        """The address of the last row."""
        return self.address + (self.left - 1) * self._row_bytes

    def fill(self) -> bool:
        """Read the next block if no row is left; return whether one is left then."""
        file = self._known.file
        while not self.left and self._block < file.blocks:
            with self._known.errors(), file.opened() as opened:
                self.left, self._at = self._reader.read(self._known, opened, self._block), 0
            self._block += 1
        return self.left > 0

    def take(self, count: int) -> int:
        """Take some rows, and return the address of the first."""
        address = self.address
        self._at, self.left = self._at + count, self.left - count
        return address


def _merged_ranges(
    files: Sequence[KnownRows], block: int, buffer: RowBuffer, kernels: OrderKernels, form: RowForm, reader: RowReader
) -> Iterator[None]:
    """Merge sorted files: fill an empty buffer with one range after the other, each sorted and without duplicates.

    Args:
        files: the files; each may have a partial block in a range, so the buffer must hold more than a block of each.
        block: the most rows of a block.
        buffer: the buffer, which is cleared afterwards.
        kernels: the compiled functions for rows of this size.
        form: the encoding of the rows.
        reader: reads blocks of the files.

    Raises:
        Damaged: a file has changed.
        OSError: a file cannot be read.
    """
    for known in files:
        known.align_index(form)
    places = [(0, 0)] * len(files)
    for cut in [*_cuts(files, buffer.capacity - len(files) * block), None]:
        buffer.clear()
        ends: list[int] = []
        row = (ctypes.c_uint64 * kernels.words)(*(cut or ()))
        for number, known in enumerate(files):
            block_number, start = places[number]
            with known.errors(), known.file.opened() as opened:
                while block_number < known.file.blocks and (cut is None or known.file.first_row(block_number) < cut):
                    count = reader.read(known, opened, block_number)
                    end = count if cut is None else kernels.place(reader.rows, count, ctypes.addressof(row))
                    buffer.extend(reader.rows + start * kernels.row_bytes, end - start)
                    if end < count:
                        start = end
                        break
                    block_number, start = block_number + 1, 0
            places[number] = block_number, start
            ends.append(buffer.count)
        buffer.merge(ends)
        yield
    buffer.clear()


def _cuts(files: Sequence[KnownRows], room: int) -> list[tuple[int, ...]]:
    """Return the rows at which ranges begin, chosen so that whole blocks of a range have at most `room` rows."""
    blocks = [
        (known.file.first_row(number), known.file.block(number).rows)
        for known in files
        for number in range(known.file.blocks)
    ]
    cuts, held = [], 0
    for first, rows in sorted(blocks):
        if held + rows > room:
            cuts.append(first)
            held = 0
        held += rows
    return cuts
