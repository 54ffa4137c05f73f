"""The states of a run in its run directory: all files of states are written and read here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from insync.runtime.errors import UserError
from insync.spark_explore.wire.run_folder import RunFolder
from insync.spark_explore.wire.states_file import CountedFiles, StatesFile, StatesLabel, StatesWriter, open_states

__all__ = ["RunStates"]


@dataclass(slots=True)
class RunStates:
    """The states of a run.

    Attributes:
        folder: the run directory.
        run: the id of the run.
        words: 64-bit words per state.
        warm: the last of the levels that the driver wrote, in one file per partition.
        counted: the digests that the files must have, for those that the manifest counts.
    """

    folder: RunFolder
    run: str
    words: int
    warm: int
    counted: CountedFiles = field(default_factory=lambda: CountedFiles({}))

    def write(self, partition: int, counts: Sequence[int], rows: Iterable[bytes | memoryview], level: int = 1) -> bytes:
        """Write the states of a partition in a level, or in the first `warm` levels; return the digest of the file.

        Args:
            partition: the partition.
            counts: how many states each level has.
            rows: buffers of all states, level after level.
            level: the first level.

        Raises:
            UserError: the file cannot be written.
        """
        label = self._label(partition, level)
        writer = StatesWriter(label, counts)
        self.folder.write(label.name, writer.parts(rows))
        return writer.digest

    def has(self, partition: int, level: int) -> bool:
        """Return whether the states of a partition in a level were written.

        Raises:
            UserError: the file system reports an error.
        """
        return self.folder.has(self._label(partition, level).name)

    def digest_of(self, partition: int, level: int) -> bytes:
        """Return the digest of the file with the states of a partition in a level.

        Raises:
            UserError: the file is missing or damaged.
        """
        file = self._opened(self._label(partition, level))
        file.close()
        return file.digest

    def levels(self, partition: int, first: int, last: int) -> Iterator[Iterator[bytes]]:
        """Yield for each level from `first` to `last` the states of a partition, in pieces with verified checksums.

        Raises:
            UserError: a file is missing or damaged.
        """
        level = first
        while level <= last:
            label = self._label(partition, level)
            file = self._opened(label)
            try:
                while level <= min(last, label.last):
                    yield self._pieces(file, level)
                    level += 1
            finally:
                file.close()

    def pieces(self, partition: int, level: int) -> Iterator[bytes]:
        """Yield the states of a partition in a level, in pieces with verified checksums; see `levels`."""
        for pieces in self.levels(partition, level, level):
            yield from pieces

    def _pieces(self, file: StatesFile, level: int) -> Iterator[bytes]:
        with self.folder.reading(file.label.name):
            yield from file.pieces(level)

    def _label(self, partition: int, level: int) -> StatesLabel:
        first, last = (1, self.warm) if level <= self.warm else (level, level)
        return StatesLabel(self.run, partition, first, last, self.words)

    def _opened(self, label: StatesLabel) -> StatesFile:
        try:
            with self.folder.reading(label.name):
                return open_states(self.folder.open(label.name), label, self.counted.digest_of(label))
        except FileNotFoundError as error:
            message = (
                f"{self.folder.shown}/{label.name}: this file is missing. The run directory is not complete; "
                "search again in another --run-dir."
            )
            raise UserError(message) from error
