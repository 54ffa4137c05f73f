"""What an executor knows, as sorted files on its local disk: for partitions that do not fit into its memory.

They are a cache of what the run directory says, as `tables` is in memory. A level is a file, which has its name when it
is whole, so that any worker of this executor goes on where another was.
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
from insync.model.errors import InternalError, UserError
from insync.spark_explore.executor.known_states import locked
from insync.spark_explore.wire.run_states import RunStates

__all__ = ["SortedTable", "SortedTables"]

_MOST_BUFFER = 1 << 26  # bytes of the rows that wait; as much again is taken to sort them
_LEAST_ROWS = 1 << 10
_SHARE = 8  # of the memory that tables may take, one part in so many is a worker's buffer
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
        partition: its number.
        files: a sorted file for each level.
        counts: how many states each level has.
    """

    partition: int
    files: SortedPartition
    counts: list[int]

    @property
    def levels(self) -> int:
        """How many levels are in it."""
        return len(self.counts)

    def count(self, level: int) -> int:
        """Return how many states a level has."""
        return self.counts[level - 1]

    def known(self, level: int) -> int:
        """Return how many states it has up to a level."""
        return sum(self.counts[:level])

    def count_level(self) -> None:
        """Make the next level the last one."""
        self.files.skip_unseen()
        self.counts.append(self.files.close_level())

    def pieces(self, level: int) -> Iterator[tuple[int, int]]:
        """Yield the address and the number of states of the last level, which are there until more are asked for."""
        if level != self.levels:
            message = f"Level {level} of partition {self.partition} was asked for, and level {self.levels} is the last."
            raise InternalError(message)
        return self.files.current()


class SortedTables:
    """The tables of one run on this executor, as one of its workers sees them; see `Tables`.

    Args:
        folder: where the files are.
        states: the states in the run directory.
        kernels: the compiled program.
        limit: bytes that tables may take; None is as much as is of use.

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
        # A worker has one task at a time, and between tasks nothing waits.
        self._buffer = RowBuffer(self._order, capacity, RowScratch(self._order.row_bytes, capacity))
        self._open: dict[int, SortedTable] = {}
        folder.mkdir(parents=True, exist_ok=True)

    @contextlib.contextmanager
    def table(self, partition: int) -> Iterator[SortedTable]:
        """Yield a partition's table, locked against every other worker of this executor."""
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
        """Add those of some states that are new.

        Raises:
            UserError: there is no room for them on the disk.
        """
        table.files.insert(rows, count, lambda _: True)

    def close_level(self, table: SortedTable) -> None:
        """Say that what was inserted since the last call is a whole level."""
        table.files.settle()
        table.count_level()

    def ordered(self, table: SortedTable, level: int) -> Iterator[tuple[int, int]]:
        """Yield the address and the number of the states of the last level in order, as they lie in its file."""
        return table.pieces(level)

    def load(self, table: SortedTable, level: int) -> None:
        """Add the levels that are missing up to some level from the run directory."""
        for pieces in self.states.levels(table.partition, table.levels + 1, level):
            self._load_level(table, pieces)

    def commit(self, table: SortedTable) -> None:
        """Let other workers use the table as it is now."""
        table.files.publish()

    def close(self) -> None:
        """Give the memory back; the files are there for others."""
        self._open.clear()
        self._buffer.close()

    def _opened(self, partition: int) -> SortedTable:
        form = StateRows(self._words)
        place = _LocalDisk(self.folder, str(self.folder))  # which is named after the run
        files = SortedPartition(place, partition, form, self._order, self._buffer, self._words, lambda: False)
        return SortedTable(partition, files, [])

    def _catch_up(self, table: SortedTable) -> None:
        """Take in the levels that other workers have added."""
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
