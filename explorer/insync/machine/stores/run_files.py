"""The states of a run in its run directory: sorted files.

states/p00003/00017-00017   the states of a partition in a level; the first file may have several, one after the other
codes/..., pairs/...        the same as codes, which a search beyond memory writes: see `row_encoding`
merged/p00003/00001-00016   the states of several levels, merged, as a level on Spark reads fewer files then

Each is a sorted file of `insync.machine.stores.sorted_file`, and the manifest has the digest of each file of a level.
A file that a task of Spark writes names the files that cover all levels before it, with their digests. It follows from
the states alone: a task that runs twice writes the same bytes. Adjacent files are merged when there are more than two
beyond the logarithm of the level, the pair with the fewest states first (log-structured merge: O'Neil et al. 1996). The
files of single levels stay, for traces and exports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from insync.machine.stores.external_sort import ExternalSort, KnownRows, RowReader
from insync.machine.stores.row_encoding import StateRows
from insync.machine.stores.run_folder import RunFolder
from insync.machine.stores.sorted_file import SORTED_FORMAT, SortedFile, SortedWriter
from insync.machine.stores.sorted_rows import OrderKernels, RowBuffer, RowScratch
from insync.machine.stores.whole_files import OpenFile
from insync.runtime.checksums import DIGEST_BYTES, Damaged, Label
from insync.runtime.errors import UserError

__all__ = ["CountedFiles", "RunFiles", "Span", "StatesReader", "name_of"]

_AHEAD_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class CountedFiles:
    """The digests of the files of states that a manifest counts.

    Attributes:
        digests: for the first level of files, the concatenated digests of all partitions.
    """

    digests: Mapping[int, bytes]

    def digest_of(self, level: int, partition: int) -> bytes | None:
        """Return the digest of the file that begins with a level; None if the manifest does not count it."""
        every, start = self.digests.get(level), DIGEST_BYTES * partition
        return None if every is None else every[start : start + DIGEST_BYTES]


@dataclass(frozen=True, slots=True)
class Span:
    """A sorted file with the states of a partition in some levels.

    Attributes:
        first, last: these levels. The file of a single level is that of its states, any other a merged one.
        count: how many states it has.
        digest: of the file.
    """

    first: int
    last: int
    count: int
    digest: bytes

    @property
    def folder(self) -> str:
        """The folder of such files."""
        return "states" if self.first == self.last else "merged"

    def entry(self) -> list[Any]:
        """Return the span as JSON values."""
        return [self.first, self.last, self.count, self.digest.hex()]

    @classmethod
    def of(cls, entry: list[Any]) -> Span:
        """Return the span that `entry` described."""
        first, last, count, digest = entry
        return cls(first, last, count, bytes.fromhex(digest))


class StatesReader:
    """A file with the states of a partition in a level, or in several levels, one after the other.

    Args:
        states: of the run.
        partition: of the file.
        level: one of its levels.

    Attributes:
        digest: of the file.
        count: how many states it has.

    Raises:
        UserError: the file is missing or damaged.
    """

    def __init__(self, states: RunFiles, partition: int, level: int) -> None:
        first, last = states.levels_with(level)
        self._states, self._name = states, name_of("states", partition, first, last)
        file = states.opened("states", partition, first, last, states.counted.digest_of(first, partition))
        self._rows = KnownRows.of(file, partial(states.folder.reading, self._name))
        self.digest, self.count = file.digest, file.count
        # For each level, states and blocks. A search on one machine writes one level, and names no other files.
        self._counts: list[list[int]] = file.said.get("levels", [[file.count, file.blocks]])
        self._named: list[list[Any]] | None = file.said.get("spans")
        self._partition, self._first, self._last = partition, first, last

    @property
    def names_others(self) -> bool:
        """Whether it names the files of the levels before it."""
        return self._named is not None

    @property
    def spans(self) -> list[Span]:
        """The sorted files that have all states up to the last level of this one."""
        file, alone = self, [self._span]
        while file._named is None and file._first > 1:
            file = self._states.level(self._partition, file._first - 1)
            alone.append(file._span)
        before = [Span.of(entry) for entry in file._named or ()]
        if before and before[-1].last == file._last:  # the merged levels of a file that has several
            alone.pop()
        return [*before, *reversed(alone)]

    @property
    def _span(self) -> Span:
        return Span(self._first, self._last, self.count, self.digest)

    def states(self, level: int) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the states of a level, in order, each valid until the next one is requested.

        Raises:
            UserError: the file is damaged.
        """
        before = sum(blocks for _, blocks in self._counts[: level - self._first])
        reader = self._states.reader()
        with self._rows.errors(), self._rows.file.opened() as opened:
            for number in range(before, before + self._counts[level - self._first][1]):
                yield reader.states(self._rows, opened, number)


@dataclass(slots=True)
class RunFiles:
    """The states of a run.

    Attributes:
        folder: the run directory.
        run: the id of the run.
        kernels: the compiled functions for rows that are states.
        together: the last of the levels that are in one file; 1 if each level has a file.
        counted: the digests that the files must have, for those that the manifest counts.
        read_bytes: how many bytes of files were read.
        written_bytes: how many bytes of files were written.
    """

    folder: RunFolder
    run: str
    kernels: OrderKernels
    together: int = 1
    counted: CountedFiles = field(default_factory=lambda: CountedFiles({}))
    read_bytes: int = 0
    written_bytes: int = 0
    _open: dict[str, _Reading] = field(default_factory=dict)

    @property
    def words(self) -> int:
        """64-bit words per state."""
        return self.kernels.words

    def levels_with(self, level: int) -> tuple[int, int]:
        """Return the first and the last level of the file with the states of a level."""
        return (1, self.together) if level <= self.together else (level, level)

    def has(self, partition: int, level: int) -> bool:
        """Return whether the states of a partition in a level were written.

        Raises:
            UserError: the file system reports an error.
        """
        return self.folder.has(name_of("states", partition, *self.levels_with(level)))

    def level(self, partition: int, level: int) -> StatesReader:
        """Return the file with the states of a partition in a level.

        Raises:
            UserError: the file is missing or damaged.
        """
        return StatesReader(self, partition, level)

    def levels_after(self, partition: int, level: int) -> list[int]:
        """Return the levels after a level that have a file of a partition.

        Raises:
            UserError: the file system reports an error.
        """
        firsts = (name.partition("-")[0] for name in self.folder.names(f"states/p{partition:05}"))
        return [int(first) for first in firsts if first.isdecimal() and int(first) > level]

    def is_of_task(self, partition: int, level: int) -> bool:
        """Return whether the file of a level is whole, and was written by a task of Spark, which names other files."""
        try:
            return self.level(partition, level).names_others
        except UserError:
            return False

    def states(self, partition: int, level: int) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the states of a partition in a level; see `StatesReader.states`."""
        yield from self.level(partition, level).states(level)

    def known(self, partition: int, span: Span) -> KnownRows:
        """Open one of the sorted files that a file of states names.

        Raises:
            UserError: the file is missing or damaged.
        """
        file = self.opened(span.folder, partition, span.first, span.last, span.digest)
        return KnownRows.of(file, partial(self.folder.reading, name_of(span.folder, partition, span.first, span.last)))

    def reader(self) -> RowReader:
        """Return a new reader of files."""
        return RowReader(StateRows(self.words), self.kernels, self.words)

    def writing_states(
        self, partition: int, level: int, spans: Sequence[Span] | None
    ) -> AbstractContextManager[StatesWriter]:
        """Write the states of a partition in a level, or in the levels up to `together`.

        The file appears after the block.

        Args:
            partition: the partition.
            level: the level.
            spans: the sorted files with all states of earlier levels; for several levels, those with all. None names
                none: they are the files of these levels.

        Raises:
            UserError: the file cannot be written.
        """
        return self._writing("states", partition, *self.levels_with(level), spans)

    def write_sorted(self, partition: int, level: int, states: Iterable[tuple[int, int]], most: int) -> bytes:
        """Write a level of a partition, and return the digest of the file, which is not flushed yet.

        Args:
            partition: the partition.
            level: the level.
            states: (address, count) runs of the states, in any order.
            most: the most states that are sorted in memory.

        Raises:
            UserError: the file cannot be written.
        """
        kernels = self.kernels
        buffer = RowBuffer(kernels, most, RowScratch(kernels.row_bytes, most))
        sort = ExternalSort(buffer, self.folder.path, kernels, StateRows(self.words), self.reader())
        name = name_of("states", partition, level, level)
        try:
            with self.folder.reading(name), self._writing("states", partition, level, level, None, False) as writer:
                for rows, count in states:
                    sort.insert(rows, count)
                for _ in sort.ranges():
                    writer.append(buffer.address, buffer.count)
        finally:
            sort.clear()
            buffer.close()
        return writer.digest

    def merging(self, partition: int, first: int, last: int) -> AbstractContextManager[StatesWriter]:
        """Write a merged file; see `writing_states`."""
        return self._writing("merged", partition, first, last, ())

    def remove_superseded(self, partition: int, spans: Sequence[Span]) -> None:
        """Remove the merged files that lie within one of `spans`, those of a level that the manifest counts.

        Others stay: a job that failed may have merged them for levels that it has written.
        """
        for name in self.folder.names(f"merged/p{partition:05}"):
            first, _, last = name.partition("-")
            within = last.isdecimal() and any(
                span.first <= int(first)
                and int(last) <= span.last
                and (span.first, span.last) != (int(first), int(last))
                for span in spans
            )
            if within:
                self.folder.remove(f"merged/p{partition:05}/{name}")

    def opened(
        self, kind: str, partition: int, first: int, last: int, digest: bytes | None, words: int | None = None
    ) -> SortedFile:
        """Open a sorted file, and verify its index, and its digest if one is given; see `close` and `label`."""
        name = name_of(kind, partition, first, last)
        with self.folder.reading(name):
            label = self.label(kind, partition, first, last, words)
            file = SortedFile(partial(self._shared, name), words or self.words, label)
            if digest not in (None, file.digest):
                raise Damaged
            return file

    @contextmanager
    def _writing(
        self, kind: str, partition: int, first: int, last: int, spans: Sequence[Span] | None, flushed: bool = True
    ) -> Iterator[StatesWriter]:
        with self.folder.creating(name_of(kind, partition, first, last), flushed) as write:

            def count(content: bytearray) -> None:
                self.written_bytes += len(content)
                write(content)

            writer = StatesWriter(SortedWriter(count, self.kernels), spans)
            yield writer
            writer.finish(self.label(kind, partition, first, last))

    def close(self) -> None:
        """Close all files."""
        while self._open:
            self._open.popitem()[1].file.close()

    def _shared(self, name: str) -> OpenFile:
        """Return a file that stays open until `close`: opening one takes long in a store."""
        if name not in self._open:
            self._open[name] = _Reading(self, self.folder.open(name), 0 if self.folder.is_local else _AHEAD_BYTES)
        return self._open[name]

    def label(self, kind: str, partition: int, first: int, last: int, words: int | None = None) -> Label:
        """Return the label of a file; `words` are those of a row, if it is no state."""
        return {
            "kind": f"{kind} of a partition",
            "format": SORTED_FORMAT,
            "run": self.run,
            "partition": partition,
            "first": first,
            "last": last,
            "words": words or self.words,
        }


class StatesWriter:
    """Writes a file of states, level after level.

    Args:
        writer: of the file.
        spans: the sorted files that it names, or None for none; see `RunFiles.writing_states`.

    Attributes:
        spans: this argument; others may be named until the end.
        count: how many states were written.
        digest: of the file, once it is complete.
    """

    def __init__(self, writer: SortedWriter, spans: Sequence[Span] | None) -> None:
        self._writer, self._levels, self.spans = writer, [[0, 0]], spans
        self.count, self.digest = 0, b""

    def append(self, rows: int, count: int) -> None:
        """Write states of the present level, sorted and greater than those before."""
        blocks = self._writer.blocks
        self._writer.append(rows, count)
        self._levels[-1][0] += count
        self._levels[-1][1] += self._writer.blocks - blocks
        self.count += count

    def next_level(self) -> None:
        """Begin another level."""
        self._levels.append([0, 0])

    def finish(self, label: Label) -> None:
        """Write the index."""
        spans = self.spans
        said = {} if spans is None else {"levels": self._levels, "spans": [span.entry() for span in spans]}
        self.digest = self._writer.finish(label, said)


class _Reading:
    """An open file with bytes read ahead, whose `close` does nothing; all bytes that are read are counted.

    Attributes:
        file: the file itself.
    """

    def __init__(self, states: RunFiles, file: OpenFile, ahead: int) -> None:
        self.file, self._states, self._ahead = file, states, ahead
        self._start, self._bytes = 0, b""

    def size(self) -> int:
        return self.file.size()

    def read_at(self, nbytes: int, offset: int) -> bytes:
        if not self._ahead:
            self._states.read_bytes += nbytes
            return self.file.read_at(nbytes, offset)
        at = offset - self._start
        if at < 0 or at + nbytes > len(self._bytes):
            # The end of a file is read first: with it comes what lies before it, of a small file everything.
            self._start = max(0, min(offset, self.size() - self._ahead))
            self._bytes = self.file.read_at(max(nbytes + offset - self._start, self._ahead), self._start)
            self._states.read_bytes += len(self._bytes)
            at = offset - self._start
        return self._bytes[at : at + nbytes]

    def close(self) -> None:
        pass


def name_of(kind: str, partition: int, first: int, last: int) -> str:
    """Return the name of a file in the run directory: of a level or of merged levels, in an encoding."""
    return f"{kind}/p{partition:05}/{first:05}-{last:05}"
