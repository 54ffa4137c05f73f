"""A level of a partition that is in memory, as a file of its states: written when it is complete, read again.

The states are in order, so that each takes few bytes. A level that is larger than what is sorted at once is several
such rows of states, one after the other: nothing is looked for in it, so one order of all would cost and gain nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from insync.machine.code_kernels import order_kernels
from insync.machine.on_disk.sorted_file import Damaged, SortedFile, SortedWriter, Unpacker
from insync.machine.sorted_rows import RowBuffer, RowScratch

__all__ = ["LevelRows", "buffered_rows", "write_level_rows"]

MOST_ROWS = 1 << 20
"""How many rows are sorted at once at the most."""

LEAST_ROWS = 1 << 12
"""How many rows are sorted at once at the least, however little memory there is."""


_BESIDE_ROWS = 1 << 22
"""How many bytes are taken beside the rows while they are written."""


def buffered_rows(words: int, room: int) -> int:
    """Return how many rows to sort at once within so many bytes of memory, of which a quarter is left for the rest."""
    left = max(0, room - _BESIDE_ROWS) * 3 // 4
    return max(LEAST_ROWS, min(MOST_ROWS, left // (2 * 8 * words + 1)))


def write_level_rows(
    path: Path, said: dict[str, Any], states: Iterable[tuple[int, int]], count: int, words: int, most: int
) -> None:
    """Write states in order, as many at once as are sorted, each in the bytes of its difference to the one before.

    Args:
        path: of the file, which is complete when this returns.
        said: what the file is to say of itself.
        states: addresses and numbers of the states, for a while each.
        count: how many there are.
        words: 64-bit words per packed state.
        most: how many are sorted at once; see `buffered_rows`.

    Raises:
        OSError: there is no room for them.
    """
    kernels = order_kernels(words)
    capacity = max(1, min(count, most))
    buffer = RowBuffer(kernels, capacity, RowScratch(kernels.row_bytes, capacity))
    try:
        with path.open("wb", buffering=0) as file:
            writer = SortedWriter(file.fileno(), kernels)
            for address, some in states:
                while some:
                    if not buffer.room:
                        _empty(buffer, writer)
                    fitting = min(some, buffer.room)
                    buffer.extend(address, fitting)
                    address, some = address + fitting * kernels.row_bytes, some - fitting
            _empty(buffer, writer)
            writer.finish(said)
    finally:
        buffer.close()


def _empty(buffer: RowBuffer, writer: SortedWriter) -> None:
    """Write the rows of a buffer in order, and clear it."""
    buffer.sort()
    writer.append(buffer.address, buffer.count)
    buffer.clear()


class LevelRows:
    """A file that `write_level_rows` wrote.

    Args:
        path: where it is.
        words: 64-bit words per packed state.

    Attributes:
        said: what it says of itself.

    Raises:
        Damaged: it is something else.
        OSError: it cannot be read.
    """

    def __init__(self, path: Path, words: int) -> None:
        self._kernels = order_kernels(words)
        self._file = SortedFile(path, words)
        self.said = self._file.said

    def states(self) -> Iterator[tuple[int, int]]:
        """Yield addresses and numbers of its states, for a while each.

        Raises:
            Damaged: it is not what was written.
            OSError: it cannot be read.
        """
        unpacker = Unpacker(self._kernels)
        with self._file.opened() as descriptor:
            for number in range(self._file.blocks):
                yield unpacker.rows, unpacker.read(self._file, descriptor, number)

    def require(self, level: int, partition: int, words: int) -> None:
        """Refuse another file than that of a level and a partition.

        Raises:
            Damaged: it is another.
        """
        if [self.said.get(name) for name in ("level", "partition", "words")] != [level, partition, words]:
            raise Damaged
