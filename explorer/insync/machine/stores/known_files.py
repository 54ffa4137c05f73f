"""The sorted files with all states of a partition, few of them, whatever the number of levels.

When there are more than two beyond the logarithm of the levels, the two adjacent files with the fewest states are
merged (log-structured merge: O'Neil et al. 1996). Which files are merged follows from the numbers of their states
alone. The last two of a level are merged while the candidates are compared with them, so that each file is read once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from itertools import pairwise
from typing import Generic, Protocol, TypeVar

from insync.machine.stores.external_sort import KnownRows, RowReader, strike_known
from insync.machine.stores.row_encoding import RowForm
from insync.machine.stores.sorted_rows import RowBuffer

__all__ = ["KnownFiles", "LevelRange", "most_files"]

_NEWEST = 2  # files that contain most of the known candidates


class LevelRange(Protocol):
    """A sorted file with the states of a partition in adjacent levels."""

    @property
    def last(self) -> int:
        """The last of the levels."""

    @property
    def count(self) -> int:
        """How many states it has."""


File = TypeVar("File", bound=LevelRange)
Merging = Generator[tuple[int, int], None, File]
"""Merges two files: yields (address, count) runs of rows that it has written, and returns the file of both."""


def most_files(level: int) -> int:
    """Return how many sorted files may have the states of a partition up to a level."""
    return level.bit_length() + 1


class KnownFiles(Generic[File]):
    """The files with all states of a partition, for the search of candidates of the next level among them.

    Args:
        files: the files, in the order of their levels.
        rows_of: opens a file.
        merge: merges two adjacent files.
        form: the encoding of the rows.
        reader: reads blocks of files that are not merged.

    Attributes:
        files: the files with the same states; after `finish` one more is not too many.
    """

    def __init__(
        self,
        files: Sequence[File],
        rows_of: Callable[[File], KnownRows],
        merge: Callable[[File, File], Merging[File]],
        form: RowForm,
        reader: RowReader,
    ) -> None:
        self.files, self._form, self._reader = list(files), form, reader
        self._rows_of, self._merge = rows_of, merge
        self._merged: _Merged[File] | None = None
        self._at = 0  # of the two files that are merged, the number of the first
        self._rows: dict[int, KnownRows] = {}

    def open(self) -> None:
        """Open the files, after all merging that is due but the last.

        Raises:
            UserError, Damaged, OSError: see `strike`.
        """
        excess = len(self.files) + 1 - most_files(self.files[-1].last + 1) if self.files else 0
        for _ in range(excess):
            self.finish()
            sizes = [one.count + other.count for one, other in pairwise(self.files)]
            self._at = sizes.index(min(sizes))
            self._merged = _Merged(self._merge(*self.files[self._at : self._at + 2]))
        pair = () if self._merged is None else (self._at, self._at + 1)
        self._rows = {number: self._rows_of(file) for number, file in enumerate(self.files) if number not in pair}

    def strike(self, buffer: RowBuffer, look: Callable[[], None] | None = None) -> None:
        """Drop the rows of a sorted buffer that are in a file. The buffers of a level come in the order of their rows.

        Args:
            buffer: the buffer.
            look: called before each file; may raise an exception that ends the work.

        Raises:
            UserError, Damaged, OSError: a file cannot be read, or a merged one cannot be written.
        """
        buffer.begin_striking()
        for age, number in enumerate(reversed(range(len(self.files)))):
            if age == _NEWEST:
                buffer.drop_struck()
            if look is not None:
                look()
            if number in self._rows:
                strike_known(buffer, self._rows[number], self._form, self._reader)
            elif number == self._at and self._merged is not None:
                self._merged.strike(buffer)
        buffer.drop_struck()

    def finish(self) -> list[File]:
        """Finish merging, and return the files.

        Raises:
            UserError, Damaged, OSError: see `strike`.
        """
        if self._merged is not None:
            self.files[self._at : self._at + 2] = [self._merged.finish()]
            self._merged = None
        return self.files

    def close(self) -> None:
        """Abandon merging, unless the file of both is complete."""
        if self._merged is not None and self._merged.made is None:
            self._merged.close()
        else:
            self.finish()


class _Merged(Generic[File]):
    """Two files that are merged run by run.

    Attributes:
        made: the file of both, once it is complete.
    """

    def __init__(self, runs: Merging[File]) -> None:
        self._runs = runs
        self._run: tuple[int, int] | None = None  # may have rows for the next buffer too
        self.made: File | None = None

    def strike(self, buffer: RowBuffer) -> None:
        """Mark the rows of a sorted buffer that are in one of the files."""
        while buffer.count and self.made is None:
            if self._run is None and not self._advance():
                return
            assert self._run is not None
            address, count = self._run
            first, less = buffer.place(address), buffer.place_of_last(address, count)
            end = min(less + 1, buffer.count)
            if end > first:
                buffer.strike(first, end, address, count)
            if less == buffer.count:
                return
            self._run = None

    def finish(self) -> File:
        """Merge the other rows, and return the file."""
        while self.made is None:
            self._advance()
        return self.made

    def close(self) -> None:
        self._runs.close()

    def _advance(self) -> bool:
        """Take the next run; return whether there is one."""
        try:
            self._run = next(self._runs)
        except StopIteration as end:
            self._run, self.made = None, end.value
        return self._run is not None
