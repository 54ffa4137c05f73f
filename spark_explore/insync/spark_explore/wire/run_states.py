"""The states of a run in its run directory: sorted files, which any executor reads in order and keeps nothing of.

states/p00003/00017-00017   the states of a partition in a level; the first file has several levels, one after the other
merged/p00003/00001-00016   the states of several levels, merged, as `known` needs fewer files then

Each is a sorted file of `insync.machine.stores.sorted_file`. A file of states names the merged files that cover all
levels before it, with their digests, and the manifest has its own digest. All follow from the states alone: a task that
runs twice writes the same bytes. Adjacent files are merged when there are more than two beyond the logarithm of the
level, the pair with the fewest states first (log-structured merge: O'Neil et al. 1996). The files of single levels
stay, for traces and exports.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from insync.machine.kernels import order_kernels
from insync.machine.stores.external_sort import KnownRows, RowReader
from insync.machine.stores.row_encoding import StateRows
from insync.machine.stores.sorted_file import SORTED_FORMAT, SortedFile, SortedWriter
from insync.machine.stores.whole_files import OpenFile
from insync.runtime.checksums import DIGEST_BYTES, Damaged, Label
from insync.runtime.errors import UserError
from insync.spark_explore.wire.run_folder import RunFolder

__all__ = ["CountedFiles", "LevelFile", "RunStates", "Span", "most_files"]

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


def most_files(level: int) -> int:
    """Return how many sorted files may have the states of a partition up to a level."""
    return level.bit_length() + 1


class LevelFile:
    """A file with the states of a partition in a level, or in several levels, one after the other.

    Args:
        states: of the run.
        partition: of the file.
        level: one of its levels.

    Attributes:
        digest: of the file.
        count: how many states it has.
        spans: the sorted files that have all states up to its last level.

    Raises:
        UserError: the file is missing or damaged.
    """

    def __init__(self, states: RunStates, partition: int, level: int) -> None:
        first, last = states.levels_with(level)
        self._states, self._name = states, _name("states", partition, first, last)
        file = states.opened("states", partition, first, last, states.counted.digest_of(first, partition))
        self._rows, self.digest, self.count = KnownRows.of(file), file.digest, file.count
        self._counts: list[list[int]] = file.said["levels"]  # of each level: states, blocks
        self.spans = [Span.of(entry) for entry in file.said["spans"]]
        if not self.spans or self.spans[-1].last < last:
            self.spans.append(Span(first, last, file.count, file.digest))
        self._first = first

    def states(self, level: int) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the states of a level, in order, each valid until the next one is requested.

        Raises:
            UserError: the file is damaged.
        """
        before = sum(blocks for _, blocks in self._counts[: level - self._first])
        reader = self._states.reader()
        with self._states.folder.reading(self._name), self._rows.file.opened() as opened:
            for number in range(before, before + self._counts[level - self._first][1]):
                yield reader.states(self._rows, opened, number)


@dataclass(slots=True)
class RunStates:
    """The states of a run.

    Attributes:
        folder: the run directory.
        run: the id of the run.
        words: 64-bit words per state.
        warm: the last of the levels that the driver wrote, in one file per partition.
        counted: the digests that the files must have, for those that the manifest counts.
        read_bytes: how many bytes of files were read.
    """

    folder: RunFolder
    run: str
    words: int
    warm: int
    counted: CountedFiles = field(default_factory=lambda: CountedFiles({}))
    read_bytes: int = 0
    _open: dict[str, _Reading] = field(default_factory=dict)

    def levels_with(self, level: int) -> tuple[int, int]:
        """Return the first and the last level of the file with the states of a level."""
        return (1, self.warm) if level <= self.warm else (level, level)

    def has(self, partition: int, level: int) -> bool:
        """Return whether the states of a partition in a level were written.

        Raises:
            UserError: the file system reports an error.
        """
        return self.folder.has(_name("states", partition, *self.levels_with(level)))

    def level(self, partition: int, level: int) -> LevelFile:
        """Return the file with the states of a partition in a level.

        Raises:
            UserError: the file is missing or damaged.
        """
        return LevelFile(self, partition, level)

    def states(self, partition: int, level: int) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the states of a partition in a level; see `LevelFile.states`."""
        yield from self.level(partition, level).states(level)

    def known(self, partition: int, span: Span) -> KnownRows:
        """Open one of the sorted files that a file of states names.

        Raises:
            UserError: the file is missing or damaged.
        """
        return KnownRows.of(self.opened(span.folder, partition, span.first, span.last, span.digest))

    def reading(self, partition: int, span: Span) -> AbstractContextManager[None]:
        """Convert errors of reading a sorted file in the block to `UserError`."""
        return self.folder.reading(_name(span.folder, partition, span.first, span.last))

    def reader(self) -> RowReader:
        """Return a new reader of files."""
        return RowReader(StateRows(self.words), order_kernels(self.words), self.words)

    def writing_states(self, partition: int, level: int, spans: Sequence[Span]) -> AbstractContextManager[StatesWriter]:
        """Write the states of a partition in a level, or in the levels up to `warm`; the file appears after the block.

        Args:
            partition: the partition.
            level: the level.
            spans: the sorted files with all states of earlier levels; for several levels, those with all.

        Raises:
            UserError: the file cannot be written.
        """
        return self._writing("states", partition, *self.levels_with(level), spans)

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

    def opened(self, kind: str, partition: int, first: int, last: int, digest: bytes | None) -> SortedFile:
        """Open a sorted file, and verify its index, and its digest if one is given; see `close`."""
        name = _name(kind, partition, first, last)
        try:
            with self.folder.reading(name):
                label = self._label(kind, partition, first, last)
                file = SortedFile(partial(self._shared, name), self.words, label)
                if digest not in (None, file.digest):
                    raise Damaged
                return file
        except FileNotFoundError as error:
            message = (
                f"{self.folder.shown}/{name}: this file is missing. The run directory is not complete; "
                "search again in another --run-dir."
            )
            raise UserError(message) from error

    @contextmanager
    def _writing(
        self, kind: str, partition: int, first: int, last: int, spans: Sequence[Span]
    ) -> Iterator[StatesWriter]:
        with self.folder.creating(_name(kind, partition, first, last)) as write:
            writer = StatesWriter(SortedWriter(write, order_kernels(self.words)))
            yield writer
            writer.finish(self._label(kind, partition, first, last), spans)

    def close(self) -> None:
        """Close all files."""
        while self._open:
            self._open.popitem()[1].file.close()

    def _shared(self, name: str) -> OpenFile:
        """Return a file that stays open until `close`: opening one takes long in a store."""
        if name not in self._open:
            self._open[name] = _Reading(self, self.folder.open(name), 0 if self.folder.is_local else _AHEAD_BYTES)
        return self._open[name]

    def _label(self, kind: str, partition: int, first: int, last: int) -> Label:
        return {
            "kind": f"{kind} of a partition",
            "format": SORTED_FORMAT,
            "run": self.run,
            "partition": partition,
            "first": first,
            "last": last,
            "words": self.words,
        }


class StatesWriter:
    """Writes a file of states, level after level.

    Args:
        writer: of the file.

    Attributes:
        count: how many states were written.
        digest: of the file, once it is complete.
    """

    def __init__(self, writer: SortedWriter) -> None:
        self._writer, self._levels = writer, [[0, 0]]
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

    def finish(self, label: Label, spans: Sequence[Span]) -> None:
        """Write the index."""
        said = {"levels": self._levels, "spans": [span.entry() for span in spans]}
        self.digest = self._writer.finish(label, said)


class _Reading:
    """An open file with bytes read ahead, whose `close` does nothing; all bytes that are read are counted.

    Attributes:
        file: the file itself.
    """

    def __init__(self, states: RunStates, file: OpenFile, ahead: int) -> None:
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


def _name(kind: str, partition: int, first: int, last: int) -> str:
    return f"{kind}/p{partition:05}/{first:05}-{last:05}"
