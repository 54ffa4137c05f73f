"""The tables of an executor as sorted files on its local disk, for partitions that do not fit into its memory.

Like `tables`, they are a cache of the run directory. A level is a file, which gets its name when it is complete. So any
worker of the executor can continue where another one stopped.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from insync.machine.kernels import Kernels, order_kernels
from insync.machine.stores.external import SortedPartition
from insync.machine.stores.row_encoding import StateRows
from insync.machine.stores.sorted_file import FilePlace
from insync.machine.stores.sorted_rows import RowBuffer, RowScratch
from insync.runtime.errors import InternalError, UserError
from insync.spark_explore.executor.known_states import locked
from insync.spark_explore.wire.run_states import RunStates

__all__ = ["SortedTable", "SortedTables"]

_MOST_BUFFER = 1 << 26  # bytes of the buffer of candidates; sorting takes as much again
_LEAST_ROWS = 1 << 10
_SHARE = 8  # the buffer of a worker is this fraction of the memory for tables
_MOST_OPEN = 16  # partitions whose indexes a worker keeps


class _LocalDisk(FilePlace):
    def unwritable(self, error: OSError) -> UserError:
        message = (
            f"{self.folder}: an executor cannot write what does not fit into its memory ({error.strerror}). "
            "Name a disk with more room as spark.local.dir (or SPARK_LOCAL_DIRS)."
        )
        return UserError(message)

    def unreadable(self, path: Path, error: OSError) -> UserError:
        return UserError(f"{path}: an executor cannot read what it has written ({error.strerror}). Resume the run.")

    def damaged(self, path: Path) -> UserError:
        return UserError(f"{path}: this is not what an executor has written there. Resume the run.")


@dataclass(slots=True)
class SortedTable:
    """The states of one partition up to some level.

    Attributes:
        partition: the number of the partition.
        files: a sorted file for each level.
        counts: how many states each level has.
    """

    partition: int
    files: SortedPartition
    counts: list[int]

    @property
    def levels(self) -> int:
        """How many levels the table has."""
        return len(self.counts)

    def count(self, level: int) -> int:
        """Return how many states a level has."""
        return self.counts[level - 1]

    def known(self, level: int) -> int:
        """Return how many states there are up to a level."""
        return sum(self.counts[:level])

    def count_level(self) -> None:
        """Make the next level the last one."""
        self.files.skip_unseen()
        self.counts.append(self.files.close_level())

    def pieces(self, level: int) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the last level. A run is valid until the next one is requested."""
        if level != self.levels:
            message = f"Level {level} of partition {self.partition} was asked for, and level {self.levels} is the last."
            raise InternalError(message)
        return self.files.current()


class SortedTables:
    """The tables of one run on this executor, as one of its workers sees them; see `Tables`.

    Args:
        folder: the folder of the files.
        states: the states in the run directory.
        kernels: the compiled program.
        limit: the most bytes of tables, which bounds the buffer; None is a buffer of the largest useful size.

    Attributes:
        loaded: how many states this worker has read from the run directory.
    """

    def __init__(self, folder: Path, states: RunStates, kernels: Kernels, limit: int | None) -> None:
        self.folder, self.states, self.kernels = folder, states, kernels
        self.loaded = 0
        self._words = kernels.sizes.words
        self._order = order_kernels(self._words)
        size = _MOST_BUFFER if limit is None else min(_MOST_BUFFER, limit // _SHARE)
        capacity = max(_LEAST_ROWS, size // self._order.row_bytes)
        # One buffer suffices: a worker has one task at a time, and no candidates between tasks.
        self._buffer = RowBuffer(self._order, capacity, RowScratch(self._order.row_bytes, capacity))
        self._open: dict[int, SortedTable] = {}
        folder.mkdir(parents=True, exist_ok=True)

    @contextlib.contextmanager
    def table(self, partition: int) -> Iterator[SortedTable]:
        """Yield a partition's table, locked against other workers of this executor."""
        with locked(self.folder, partition):
            table = self._open.pop(partition, None) or self._opened(partition)
            try:
                self._catch_up(table)
                yield table
            except BaseException:
                table.files.forget()
                raise
            self._open[partition] = table
            if len(self._open) > _MOST_OPEN:
                del self._open[next(iter(self._open))]

    def insert(self, table: SortedTable, rows: int, count: int) -> None:
        """Add states to the candidates of the next level.

        Raises:
            UserError: there is no room for them on the disk.
        """
        table.files.insert(rows, count, lambda _: True)

    def close_level(self, table: SortedTable) -> None:
        """Make a level of the candidates that are new."""
        table.files.settle()
        table.count_level()

    def ordered(self, table: SortedTable, level: int) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the last level, which is sorted in its file; see `pieces`."""
        return table.pieces(level)

    def load(self, table: SortedTable, level: int) -> None:
        """Add the missing levels up to `level` from the run directory."""
        for pieces in self.states.levels(table.partition, table.levels + 1, level):
            self._load_level(table, pieces)

    def commit(self, table: SortedTable) -> None:
        """Rename the file of the last level to its final name, so that other workers can use it."""
        table.files.publish()

    def close(self) -> None:
        """Free the memory; the files stay for other workers."""
        self._open.clear()
        self._buffer.close()

    def _opened(self, partition: int) -> SortedTable:
        form = StateRows(self._words)
        place = _LocalDisk(self.folder, str(self.folder))  # the folder is named after the run
        files = SortedPartition(place, partition, form, self._order, self._buffer, self._words, lambda: False)
        return SortedTable(partition, files, [])

    def _catch_up(self, table: SortedTable) -> None:
        """Open the files of levels that other workers have added."""
        while table.files.has_next:
            table.files.take_up(None)
            table.count_level()

    def _load_level(self, table: SortedTable, pieces: Iterator[bytes]) -> None:
        row = self.kernels.sizes.row_bytes
        for piece in pieces:
            held = ctypes.create_string_buffer(piece, len(piece))
            self.insert(table, ctypes.addressof(held), len(piece) // row)
            self.loaded += len(piece) // row
        table.files.settle(strike=False)
        table.count_level()
        self.commit(table)
