"""Rows that came to be too many for a buffer: sorted files without a name, read again in order, range by range."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from insync.machine.stores.known_rows import KnownRows, RowReader
from insync.machine.stores.row_encoding import RowForm
from insync.machine.stores.sorted_file import SortedFile, SortedWriter
from insync.machine.stores.sorted_rows import BLOCK, OrderKernels, RowBuffer
from insync.model.checksums import Label

__all__ = ["Spills"]

_LABEL: Label = {"kind": "spill"}  # there is nothing else that one could be: they have no name

_MOST_FILES = 32  # that are read side by side; beyond, they are made one


class Spills:
    """What did not fit into a buffer.

    The files end with the process.

    Args:
        folder: where they are.
        kernels: the compiled functions for rows of this size.
        form: what the rows are.
        reader: reads them.
        capacity: of the buffer, in rows.

    Attributes:
        size: of the files, in bytes.
    """

    def __init__(self, folder: Path, kernels: OrderKernels, form: RowForm, reader: RowReader, capacity: int) -> None:
        self._folder, self._kernels, self._form, self._reader = folder, kernels, form, reader
        # A block of each file is in the buffer beside what is in range: all of them take half of it at the most.
        self._block = max(1, min(BLOCK, capacity // (2 * _MOST_FILES)))
        self._files: list[KnownRows] = []
        self._open = ExitStack()

    def __len__(self) -> int:
        return len(self._files)

    @property
    def size(self) -> int:
        """The bytes on disk."""
        return sum(known.file.size for known in self._files)

    def add(self, buffer: RowBuffer) -> None:
        """Write the rows of a buffer, which are in order, and clear it.

        Raises:
            OSError: there is no room for them.
        """
        if len(self._files) == _MOST_FILES:
            self._join(buffer)
        if buffer.count:
            self._write(iter([None]), buffer)
            buffer.clear()

    def ranges(self, buffer: RowBuffer) -> Iterator[None]:
        """Fill an empty buffer with one range of rows after the other, in order, each row once.

        Raises:
            Damaged: a file is not what was written.
            OSError: one cannot be read.
        """
        for known in self._files:
            known.align_index(self._form)
        places = [(0, 0)] * len(self._files)
        for cut in [*self._cuts(buffer.capacity), None]:
            buffer.clear()
            for number, known in enumerate(self._files):
                places[number] = self._load(known, places[number], cut, buffer)
            buffer.sort()
            yield
        buffer.clear()

    def clear(self) -> None:
        """Give the disk back."""
        self._open.close()
        self._open, self._files = ExitStack(), []

    def _write(self, ranges: Iterator[None], buffer: RowBuffer) -> None:
        made = tempfile.TemporaryFile(dir=self._folder, prefix="spilled-", buffering=0)  # noqa: SIM115  (closed in `clear`)
        file = self._open.enter_context(made)
        writer = SortedWriter(file.fileno(), self._kernels, self._block)
        for _ in ranges:
            writer.append(buffer.address, buffer.count)
        writer.finish(_LABEL, self._form.said())
        self._files.append(KnownRows.of(SortedFile(file.fileno(), self._kernels.words, _LABEL)))

    def _join(self, buffer: RowBuffer) -> None:
        """Make one file of all, with the rows of the buffer."""
        self._write(iter([None]), buffer)
        old = self._open.pop_all()
        with old:
            self._write(self.ranges(buffer), buffer)
        self._files = self._files[-1:]

    def _cuts(self, capacity: int) -> list[tuple[int, ...]]:
        """The rows at which ranges end and begin, so that each fits into a buffer."""
        blocks = [
            (known.file.first_row(number), known.file.block(number).rows)
            for known in self._files
            for number in range(known.file.blocks)
        ]
        cuts, held = [], 0
        for first, rows in sorted(blocks):
            if held + rows > capacity - len(self._files) * self._block:
                cuts.append(first)
                held = 0
            held += rows
        return cuts

    def _load(
        self, known: KnownRows, place: tuple[int, int], cut: tuple[int, ...] | None, buffer: RowBuffer
    ) -> tuple[int, int]:
        """Put the rows of a file before a cut into a buffer; return the block and its row where the next begin."""
        number, start = place
        row = (ctypes.c_uint64 * self._kernels.words)(*(cut or ()))
        with known.file.opened() as descriptor:
            while number < known.file.blocks and (cut is None or known.file.first_row(number) < cut):
                count = self._reader.read(known, descriptor, number)
                rows = self._reader.rows
                end = count if cut is None else self._kernels.place(rows, count, ctypes.addressof(row))
                buffer.extend(rows + start * self._kernels.row_bytes, end - start)
                if end < count:
                    return number, end
                number, start = number + 1, 0
        return number, start
