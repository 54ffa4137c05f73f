"""Delayed duplicate detection by a streaming merge (Stern & Dill 1998, Korf 2003).

The candidates of a partition are sorted, in files without names where they do not fit into memory, and merged with the
sorted files of the partition, which are read in order from the run directory. Nothing is kept for the next level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from insync.machine.kernels import order_kernels
from insync.machine.stores.external_sort import ExternalSort, merged_ranges, strike_known
from insync.machine.stores.row_encoding import StateRows
from insync.machine.stores.run_files import RunFiles, Span, most_files
from insync.machine.stores.sorted_rows import BLOCK, RowBuffer, RowScratch
from insync.runtime.checksums import Damaged
from insync.runtime.errors import UserError

__all__ = ["Candidates"]

_MOST_BUFFER = 1 << 26  # bytes of the buffer; sorting takes as much again
_LEAST_ROWS = 16 * BLOCK  # merging needs room for a block of each file
_SHARE = 8  # the buffer of a worker is this fraction of the memory of an executor
_NEWEST = 2  # files that contain most of the known candidates


class Candidates:
    """The candidates of one partition in one level, and the new states among them; for one partition after the other.

    Args:
        states: the states in the run directory.
        folder: a folder on the disk of this executor.
        limit: the most bytes of memory for an executor; None is a buffer of the largest useful size.
    """

    def __init__(self, states: RunFiles, folder: Path, limit: int | None) -> None:
        self._states, self._folder = states, folder
        self._form, self._kernels = StateRows(states.words), order_kernels(states.words)
        size = _MOST_BUFFER if limit is None else min(_MOST_BUFFER, limit // _SHARE)
        capacity = max(_LEAST_ROWS, size // self._kernels.row_bytes)
        self._buffer = RowBuffer(self._kernels, capacity, RowScratch(self._kernels.row_bytes, capacity))
        self._reader = states.reader()
        self._sort = ExternalSort(self._buffer, folder, self._kernels, self._form, self._reader)

    def clear(self) -> None:
        """Remove all candidates."""
        self._sort.clear()

    def insert(self, rows: int, count: int) -> None:
        """Add candidates.

        Raises:
            UserError: there is no room for them on the disk.
        """
        with self._spilling():
            self._sort.insert(rows, count)

    def new(self, partition: int, spans: Sequence[Span]) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the candidates that are in no file, in order. Each is valid until the next.

        Args:
            partition: the partition.
            spans: the files with all states of the partition, in the order of their levels.

        Raises:
            UserError: a file is missing or damaged.
        """
        files = [(span, self._states.known(partition, span)) for span in reversed(spans)]
        for _ in self._ranges():
            self._buffer.begin_striking()
            for age, (span, known) in enumerate(files):
                if age == _NEWEST:
                    self._buffer.drop_struck()
                with self._states.reading(partition, span):
                    strike_known(self._buffer, known, self._form, self._reader)
            self._buffer.drop_struck()
            yield self._buffer.address, self._buffer.count
        self.clear()

    def compacted(self, partition: int, spans: Sequence[Span]) -> Sequence[Span]:
        """Merge adjacent files until one more would not be too many; return the files with the same states.

        There must be no candidates. Which files are merged follows from the numbers of their states alone.

        Raises:
            UserError: a file is missing or damaged, or cannot be written.
        """
        while len(spans) >= most_files(spans[-1].last + 1):
            spans = self._merged(partition, spans)
        return spans

    def _merged(self, partition: int, spans: Sequence[Span]) -> Sequence[Span]:
        """Merge the two adjacent files that have the fewest states."""
        at = min(range(len(spans) - 1), key=lambda at: (spans[at].count + spans[at + 1].count, at))
        pair = spans[at : at + 2]
        first, last = pair[0].first, pair[1].last
        files = [self._states.known(partition, span) for span in pair]
        with self._states.merging(partition, first, last) as writer, self._states.reading(partition, pair[0]):
            for _ in merged_ranges(files, BLOCK, self._buffer, self._kernels, self._form, self._reader):
                writer.append(self._buffer.address, self._buffer.count)
        return [*spans[:at], Span(first, last, writer.count, writer.digest), *spans[at + 2 :]]

    def close(self) -> None:
        """Free all memory."""
        self.clear()
        self._buffer.close()

    def _ranges(self) -> Iterator[None]:
        """Yield whenever the buffer holds the next range of the sorted candidates."""
        with self._spilling():
            yield from self._sort.ranges()

    @contextmanager
    def _spilling(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            message = (
                f"{self._folder}: an executor cannot write what does not fit into its memory ({error.strerror}). "
                "Name a disk with more room as spark.local.dir (or SPARK_LOCAL_DIRS)."
            )
            raise UserError(message) from error
        except Damaged as error:
            message = f"{self._folder}: a disk of an executor does not return what was written to it. Resume the run."
            raise UserError(message) from error
