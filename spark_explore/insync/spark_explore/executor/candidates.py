"""Delayed duplicate detection by a streaming merge (Stern & Dill 1998, Korf 2003).

The candidates of a partition are sorted, in files without names where they do not fit into memory, and merged with the
sorted files of the partition, which are read in order from the run directory. Nothing is kept for the next level.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from insync.machine.store_kernels import order_kernels
from insync.machine.stores.external_sort import ExternalSort, merged_rows
from insync.machine.stores.known_files import KnownFiles, Merging
from insync.machine.stores.row_encoding import StateRows
from insync.machine.stores.run_files import RunFiles, Span
from insync.machine.stores.sorted_rows import BLOCK, RowBuffer, RowScratch
from insync.runtime.checksums import Damaged
from insync.runtime.errors import UserError

__all__ = ["Candidates"]

_MOST_BUFFER = 1 << 26  # bytes of the buffer; sorting takes as much again
_LEAST_ROWS = 16 * BLOCK  # merging needs room for a block of each file
_SHARE = 8  # the buffer of a worker is this fraction of the memory of an executor


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
        self._readers = states.reader(), states.reader(), states.reader()
        self._sort = ExternalSort(self._buffer, folder, self._kernels, self._form, self._readers[0])

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

    def new(self, partition: int, spans: Sequence[Span]) -> Generator[tuple[int, int], None, Sequence[Span]]:
        """Yield (address, count) runs of the candidates that are in no file, in order. Each is valid until the next.

        Args:
            partition: the partition.
            spans: the files with all states of the partition, in the order of their levels.

        Returns:
            Files with the same states, which are so few that one more is not too many.

        Raises:
            UserError: a file is missing or damaged, or a merged one cannot be written.
        """
        opened, merging = partial(self._states.known, partition), partial(self._merging, partition)
        with closing(KnownFiles(spans, opened, merging, self._form, self._readers[0])) as known:
            known.open()
            for _ in self._ranges():
                known.strike(self._buffer)
                yield self._buffer.address, self._buffer.count
            self.clear()
            return known.finish()

    def _merging(self, partition: int, one: Span, other: Span) -> Merging[Span]:
        """Merge two files; see `KnownFiles`."""
        files = self._states.known(partition, one), self._states.known(partition, other)
        with self._states.merging(partition, one.first, other.last) as writer:
            for rows, count in merged_rows(files, self._kernels, self._form, self._readers[1:]):
                writer.append(rows, count)
                yield rows, count
        return Span(one.first, other.last, writer.count, writer.digest)

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
