"""The store of one partition on disk: a sorted file per level, with delayed duplicate detection.

Delayed duplicate detection is from Stern & Dill 1998 and Korf 2003. Candidates are rows in a buffer, which is spilled
to files when it is full. When a level has been expanded, the candidates are sorted and compared with the files of all
earlier levels, range by range. Those that are new become the file of the next level. Files are read in order, except
for blocks whose range contains no candidate. So that few files are compared, those of small levels are merged into
files without names (`known_files`). The file of each level stays, for traces and for a run that is resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from insync.machine.expander import Expander
from insync.machine.stores.external_sort import ExternalSort, KnownRows, RowReader, UnnamedRows, merged_rows
from insync.machine.stores.known_files import KnownFiles, Merging
from insync.machine.stores.row_encoding import NoRows, RowForm
from insync.machine.stores.run_files import RunFiles, name_of
from insync.machine.stores.sorted_file import SortedFile, SortedWriter
from insync.machine.stores.sorted_rows import OrderKernels, RowBuffer
from insync.machine.stores.store import InsertOutcome
from insync.machine.stores.whole_files import beside, new_file, write_all
from insync.runtime.checksums import Label
from insync.runtime.memory import Permission

__all__ = ["ExternalStore"]


@dataclass(frozen=True, slots=True)
class _Known:
    """A file with the states of some levels: that of a level, or an unnamed one of several."""

    first: int
    last: int
    rows: KnownRows
    unnamed: UnnamedRows | None = None

    @property
    def count(self) -> int:
        return self.rows.file.count

    def close(self) -> None:
        """Remove the file if it has no name."""
        if self.unnamed is not None:
            self.unnamed.close()


class _Stopped(Exception):
    """The search for duplicates was stopped."""


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
        self._levels: list[_Known] = []
        self._known: list[_Known] = []  # files with all levels, `_fresh` included: few, unless the run was resumed
        self._fresh: _Known | None = None
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
        merged = (file.rows.file.size for file in self._known if file.unnamed is not None)
        return self._sort.size + sum(merged) + sum(level.rows.file.size for level in self._levels)

    def expand(self, expander: Expander) -> bool:
        """Expand pending states until none is left or a buffer is full; return whether none is left."""
        while self.pending:
            if self._loaded is None:
                rows = self._levels[-1].rows
                with rows.errors(), rows.file.opened() as opened:
                    self._loaded = self._ahead.states(rows, opened, self._block)
                self._at = 0
            address, count = self._loaded
            done = expander.expand(address + 8 * self._words * self._at, count - self._at)
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
        """Write the file of the next level, the candidates that are new, unless it exists (see `take_up`)."""
        if self._fresh is None:
            number = len(self._levels) + 1
            part = beside(self.folder.path / self._name(number))
            try:
                self._write_new(number, part)
            except _Stopped:
                return InsertOutcome.NO_MEMORY
            self._sort.clear()
            self._fresh = self._opened(part, number)
            self._unseen = self._fresh.count
            self._count += self._unseen
        self._known.append(self._fresh)
        return InsertOutcome.DONE

    def _write_new(self, number: int, part: Path) -> None:
        """Write the candidates that are new as level `number`."""
        name = self._name(number)
        with self.folder.reading(name), self.folder.writing(name):
            self.folder.make(name.rpartition("/")[0])
            known = KnownFiles(self._known, lambda file: file.rows, self._merging, self.form, self._other)
            try:
                known.open()
                with new_file(part) as descriptor:
                    writer = SortedWriter(partial(write_all, descriptor), self._kernels)
                    for _ in self._sort.ranges():
                        known.strike(self._buffer, self._look)
                        writer.append(self._buffer.address, self._buffer.count)
                    writer.finish(self._label(number), self.form.said(), self.form.values())
                known.finish()
            finally:
                known.close()
                self._known = known.files

    def _merging(self, one: _Known, other: _Known) -> Merging[_Known]:
        """Merge two files into one without a name; see `KnownFiles`."""
        merged = UnnamedRows(self.folder.path, self._kernels, self.form)
        with merged.removed_on_error():
            readers = self._ahead, RowReader(self.form, self._kernels, self._words)
            for rows, count in merged_rows((one.rows, other.rows), self._kernels, self.form, readers):
                self._look()
                merged.append(rows, count)
                yield rows, count
            merged.finish()
        for file in (one, other):
            file.close()
        return _Known(one.first, other.last, merged.rows, merged)

    def _look(self) -> None:
        if self._stopped():
            raise _Stopped

    def publish(self) -> None:
        """Rename the file of the current level to its final name.

        Raises:
            OSError: the file cannot be renamed.
        """
        level = self._levels[-1]
        path = self.folder.path / self._name(level.last)
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
        name = self._name(number)
        level = self._opened(self.folder.path / name, number)
        file = level.rows.file
        if counted is not None and file.digest != counted:
            raise self.folder.damaged(name)
        if goes_on is not None:
            with level.rows.errors():
                file.verify(goes_on)
        self.form.take_up(file.said, file.values)
        file.forget_values()
        self._fresh, self._unseen, self._count = level, file.count, self._count + file.count

    def unseen(self) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the states of the next level, on the first call only.

        A run is valid until the next one is requested.
        """
        if self._fresh is not None and self.skip_unseen():
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
        self.pending = self._levels[-1].count
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
        rows = self._levels[level - 1].rows
        for number in range(rows.file.blocks):
            yield _ExternalChunk(self, rows, number)

    def reader(self) -> RowReader:
        """Return a new reader for the files."""
        return RowReader(self.form, self._kernels, self._words)

    def only_read(self) -> None:
        """Free what is needed to add states; afterwards levels can only be read."""
        self._sort.clear()
        self._forget_merged()
        self._buffer.close()

    def close(self) -> None:
        """Free all memory, and remove incomplete files."""
        self._sort.clear()
        self._forget_merged()
        self._buffer.close()
        self.form.close()
        for level in (len(self._levels), len(self._levels) + 1):
            with suppress(OSError):
                beside(self.folder.path / self._name(level)).unlink()

    def _forget_merged(self) -> None:
        """Remove the merged files; afterwards no level can be added."""
        for file in self._known:
            file.close()
        self._known = []

    def _name(self, level: int) -> str:
        return name_of(self.form.name, self._number, level, level)

    def _label(self, level: int) -> Label:
        return self._files.label(self.form.name, self._number, level, level, self._kernels.words)

    def _opened(self, path: Path, level: int) -> _Known:
        errors = partial(self.folder.reading, self._name(level))
        with errors():
            return _Known(level, level, KnownRows.of(SortedFile(path, self._kernels.words, self._label(level)), errors))


@dataclass(slots=True)
class _ExternalChunk:
    """A block of a level; see `store.Chunk`."""

    partition: ExternalStore
    rows: KnownRows
    number: int
    _reader: RowReader | None = None

    def load(self) -> tuple[int, int]:
        """Read the states of the block; return their address and count."""
        self._reader = self.partition.reader()
        with self.rows.errors(), self.rows.file.opened() as opened:
            return self._reader.states(self.rows, opened, self.number)
