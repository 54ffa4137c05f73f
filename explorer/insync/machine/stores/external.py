"""The store of one partition on disk: a sorted file per level, with delayed duplicate detection.

Delayed duplicate detection is from Stern & Dill 1998 and Korf 2003. Candidates are rows in a buffer, which is spilled
to files when it is full. When a level has been expanded, the candidates are sorted and compared with the files of all
earlier levels, range by range. Those that are new become the file of the next level. Files are read in order, except
for blocks whose range contains no candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from insync.machine.expander import Expander
from insync.machine.stores.external_sort import ExternalSort, KnownRows, RowReader, strike_known
from insync.machine.stores.row_encoding import NoRows, RowForm
from insync.machine.stores.run_files import RunFiles, name_of
from insync.machine.stores.sorted_file import SortedFile, SortedWriter
from insync.machine.stores.sorted_rows import OrderKernels, RowBuffer
from insync.machine.stores.store import InsertOutcome
from insync.machine.stores.whole_files import beside, new_file, write_all
from insync.runtime.checksums import Label
from insync.runtime.memory import Permission

__all__ = ["ExternalStore"]

_NEWEST = 2  # levels that contain most of the known candidates


@dataclass(slots=True)
class _SortedLevel:
    name: str
    rows: KnownRows


class ExternalStore:
    """An exact set of states in sorted files, one per level.

    Args:
        files: of the run; the folder is one of this machine.
        number: of the partition.
        form: the encoding of the rows.
        kernels: the compiled functions for rows of this size.
        buffer: an empty buffer for candidates.
        words: 64-bit words per packed state.
        stopped: called repeatedly; if it returns True the work is abandoned.

    Attributes:
        form: this argument.
        pending: how many states of the current level are not expanded yet.
    """

    kept: ClassVar[str] = "files"
    page_bytes: ClassVar[int] = 0

    def __init__(
        self,
        files: RunFiles,
        number: int,
        form: RowForm,
        kernels: OrderKernels,
        buffer: RowBuffer,
        words: int,
        stopped: Callable[[], bool],
    ) -> None:
        self.form = form
        self.folder, self._files = files.folder, files
        self._number, self._kernels, self._words = number, kernels, words
        self._buffer, self._stopped = buffer, stopped
        self._ahead, self._other = (RowReader(form, kernels, words) for _ in range(2))
        self._sort = ExternalSort(buffer, files.folder.path, kernels, form, self._other)
        self._levels: list[_SortedLevel] = []
        self._fresh: _SortedLevel | None = None
        self._unseen = 0
        self._block = self._at = 0  # the position of the expansion in the current level: block, and state in it
        self._loaded: tuple[int, int] | None = None
        self.pending = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def used_bytes(self) -> int:
        """The memory of the states: 0, as the buffers have a fixed size."""
        return 0

    @property
    def disk_bytes(self) -> int:
        """The size of the files in bytes."""
        return self._sort.size + sum(level.rows.file.size for level in self._levels)

    def expand(self, expander: Expander) -> bool:
        """Expand pending states until none is left or a buffer is full; return whether none is left."""
        while self.pending:
            if self._loaded is None:
                level = self._levels[-1]
                with self.folder.reading(level.name), level.rows.file.opened() as opened:
                    self._loaded = self._ahead.states(level.rows, opened, self._block)
                self._at = 0
            rows, count = self._loaded
            done = expander.expand(rows + 8 * self._words * self._at, count - self._at)
            self._at, self.pending = self._at + done, self.pending - done
            if self._at < count:
                return False
            self._loaded, self._block = None, self._block + 1
        return True

    def insert(self, rows: int, count: int, may_use: Permission) -> InsertOutcome:
        """Add states to the candidates that `detect_duplicates` looks at."""
        if not may_use(0):
            return InsertOutcome.NO_MEMORY
        buffer, row_bytes = self._buffer, 8 * self._words
        while count:
            if not buffer.room:
                with self.folder.writing():
                    self._sort.make_room()
            done = self.form.make(rows, min(count, buffer.room), buffer.end)
            buffer.count += done
            rows, count = rows + done * row_bytes, count - done
            if not done:
                try:
                    before = self.form.widen(self._count)
                except NoRows:
                    return InsertOutcome.NO_CODES
                if before is not None:
                    self.form.align(before, buffer.address, buffer.count)
        return InsertOutcome.DONE

    def detect_duplicates(self) -> InsertOutcome:
        """Write the file of the next level: the candidates that are new."""
        number = len(self._levels) + 1
        if self._fresh is not None:  # its file exists: see `take_up`
            return InsertOutcome.DONE
        name = self._name(number)
        part = beside(self.folder.path / name)
        with self.folder.reading(name), self.folder.writing(name):
            self.folder.make(name.rpartition("/")[0])
            with new_file(part) as descriptor:
                writer = SortedWriter(partial(write_all, descriptor), self._kernels)
                for _ in self._sort.ranges():
                    if not self._has_struck():
                        return InsertOutcome.NO_MEMORY
                    writer.append(self._buffer.address, self._buffer.count)
                writer.finish(self._label(number), self.form.said(), self.form.values())
        self._sort.clear()
        self._fresh = self._opened(part, number)
        self._unseen = self._fresh.rows.file.count
        self._count += self._unseen
        return InsertOutcome.DONE

    def publish(self) -> None:
        """Rename the file of the current level to its final name.

        Raises:
            OSError: the file cannot be renamed.
        """
        level = self._levels[-1]
        path = self.folder.path / level.name
        beside(path).replace(path)
        level.rows.file.moved_to(path)

    def digest(self, level: int) -> bytes:
        """Return the digest of the file of a level, the first level being 1."""
        return self._levels[level - 1].rows.file.digest

    def take_up(self, goes_on: Callable[[], bool] | None, counted: bytes | None = None) -> None:
        """Use an existing file as the next level, in place of candidates.

        Args:
            goes_on: called before each block is verified; False ends that. None verifies the index only.
            counted: the digest that the file must have, if known.

        Raises:
            UserError: the file does not exist, or has changed.
        """
        number = len(self._levels) + 1
        level = self._opened(self.folder.path / self._name(number), number)
        file = level.rows.file
        if counted is not None and file.digest != counted:
            raise self.folder.damaged(level.name)
        if goes_on is not None:
            with self.folder.reading(level.name):
                file.verify(goes_on)
        self.form.take_up(file.said, file.values)
        file.forget_values()
        self._fresh, self._unseen, self._count = level, file.count, self._count + file.count

    def unseen(self) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the states of the next level, on the first call only.

        A run is valid until the next one is requested.
        """
        if self._fresh is not None and self.skip_unseen():
            with self.folder.reading(self._fresh.name):
                yield from self._other.all_states(self._fresh.rows)

    def skip_unseen(self) -> int:
        """Return how many states were added since the last call of this method or of `unseen`."""
        fresh, self._unseen = self._unseen, 0
        return fresh

    def close_level(self) -> int:
        """Make the next level the current one; return how many states it has."""
        if self._fresh is None:
            return 0
        self._levels.append(self._fresh)
        self._fresh, self._loaded, self._block, self._at = None, None, 0, 0
        self.pending = self._levels[-1].rows.file.count
        return self.pending

    def current(self) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the current level. A run is valid until the next one is requested."""
        return self._other.all_states(self._levels[-1].rows)

    def pass_over(self) -> None:
        """Treat the current level as expanded."""
        self.pending = 0

    def expect(self, states: int) -> None:
        """Ignore a forecast of the final number of states: files grow without preparation."""

    def chunks(self, level: int) -> Iterator[_ExternalChunk]:
        """Yield the blocks of a level, the first level being 1."""
        there = self._levels[level - 1]
        for number in range(there.rows.file.blocks):
            yield _ExternalChunk(self, there, number)

    def reader(self) -> RowReader:
        """Return a new reader for the files."""
        return RowReader(self.form, self._kernels, self._words)

    def only_read(self) -> None:
        """Free what is needed to add states; afterwards levels can only be read."""
        self._sort.clear()
        self._buffer.close()

    def close(self) -> None:
        """Free all memory, and remove incomplete files."""
        self.forget()
        self._buffer.close()
        self.form.close()

    def forget(self) -> None:
        """Remove all candidates and incomplete files."""
        self._sort.clear()
        self._buffer.clear()
        for level in (len(self._levels), len(self._levels) + 1):
            with suppress(OSError):
                beside(self.folder.path / self._name(level)).unlink()

    def _has_struck(self) -> bool:
        """Drop the known rows of the buffer; return False if the search was stopped."""
        self._buffer.begin_striking()
        for age, level in enumerate(reversed(self._levels)):
            if age == _NEWEST:
                self._buffer.drop_struck()
            if self._stopped():
                return False
            with self.folder.reading(level.name):
                strike_known(self._buffer, level.rows, self.form, self._other)
        self._buffer.drop_struck()
        return True

    def _name(self, level: int) -> str:
        return name_of(self.form.name, self._number, level, level)

    def _label(self, level: int) -> Label:
        return self._files.label(self.form.name, self._number, level, level, self._kernels.words)

    def _opened(self, path: Path, level: int) -> _SortedLevel:
        name = self._name(level)
        with self.folder.reading(name):
            file = SortedFile(path, self._kernels.words, self._label(level))
        return _SortedLevel(name, KnownRows.of(file))


@dataclass(slots=True)
class _ExternalChunk:
    """A block of a level; see `store.Chunk`."""

    partition: ExternalStore
    level: _SortedLevel
    number: int
    _reader: RowReader | None = None

    def load(self) -> tuple[int, int]:
        """Read the states of the block; return their address and count."""
        self._reader = self.partition.reader()
        with self.partition.folder.reading(self.level.name), self.level.rows.file.opened() as opened:
            return self._reader.states(self.level.rows, opened, self.number)
