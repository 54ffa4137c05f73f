"""Sorted files with the form of their rows: blocks read as rows of now, and as states."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass

from insync.machine.stores.collapse import Layout
from insync.machine.stores.row_encoding import RowForm, layout_of
from insync.machine.stores.sorted_file import SortedFile, Unpacker
from insync.machine.stores.sorted_rows import BLOCK, OrderKernels, RowBuffer

__all__ = ["KnownRows", "RowReader", "strike_known"]


@dataclass(slots=True)
class KnownRows:
    """A file of rows.

    Attributes:
        file: the file.
        layout: that its rows were written in.
        index: that the first rows in its index are in by now.
    """

    file: SortedFile
    layout: Layout | None
    index: Layout | None

    @classmethod
    def of(cls, file: SortedFile) -> KnownRows:
        """Return a file with what it says of its rows."""
        layout = layout_of(file.said)
        return cls(file, layout, layout)

    def align_index(self, form: RowForm) -> None:
        """Make the first rows of its blocks what they are now."""
        if self.index is not form.layout:
            form.align(self.index, self.file.firsts, self.file.blocks)
            self.index = form.layout


class RowReader:
    """Reads blocks of files, one at a time.

    Args:
        form: what the rows are.
        kernels: the compiled functions for rows of this size.
        words: 64-bit words per packed state.
    """

    def __init__(self, form: RowForm, kernels: OrderKernels, words: int) -> None:
        self._form, self._unpacker = form, Unpacker(kernels)
        self._states = (ctypes.c_uint64 * (words * BLOCK))()
        self.rows = self._unpacker.rows

    def read(self, known: KnownRows, descriptor: int, number: int) -> int:
        """Read a block as rows of now, to `rows`; return how many it has.

        Raises:
            Damaged: it is not what was written.
            OSError: it cannot be read.
        """
        count = self._unpacker.read(known.file, descriptor, number)
        self._form.align(known.layout, self.rows, count)
        return count

    def states(self, known: KnownRows, descriptor: int, number: int) -> tuple[int, int]:
        """Read a block; return the address and the number of its states, which are there until another is read."""
        count = self.read(known, descriptor, number)
        return self._form.states(self.rows, count, ctypes.addressof(self._states)), count

    def all_states(self, known: KnownRows) -> Iterator[tuple[int, int]]:
        """Yield the addresses and numbers of the states of a file, block by block."""
        with known.file.opened() as descriptor:
            for number in range(known.file.blocks):
                yield self.states(known, descriptor, number)


def strike_known(buffer: RowBuffer, known: KnownRows, form: RowForm, reader: RowReader) -> None:
    """Take for known which of the rows of a buffer are in a file; blocks in whose range there are none are not read.

    Raises:
        Damaged: the file is not what was written.
        OSError: it cannot be read.
    """
    file = known.file
    if not file.blocks or not buffer.count:
        return
    known.align_index(form)
    start = max(0, buffer.blocks_before(file.firsts, file.blocks) - 1)
    at = buffer.place(file.first(start))
    with file.opened() as descriptor:
        for number in range(start, file.blocks):
            end = buffer.place(file.first(number + 1)) if number + 1 < file.blocks else buffer.count
            if end > at:
                count = reader.read(known, descriptor, number)
                buffer.strike(at, end, reader.rows, count)
            at = end
            if at == buffer.count:
                return
