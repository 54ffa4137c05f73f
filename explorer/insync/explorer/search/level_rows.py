"""A level of a partition that is in memory, as a file of its states: written when it is complete, read again.

The states are in order, so that each takes few bytes. A level that is larger than what is sorted at once is several
such rows of states, one after the other: nothing is looked for in it, so one order of all would cost and gain nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from insync.machine.kernels import order_kernels
from insync.machine.stores.sorted_file import RowBuffer, RowScratch, SortedFile, SortedWriter, Unpacker
from insync.machine.stores.whole_files import new_file
from insync.model.checksums import Label

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
    path: Path,
    label: Label,
    owned_by: Sequence[int],
    states: Iterable[tuple[int, int]],
    count: int,
    most: int,
) -> bytes:
    """Write states in order, as many at once as are sorted, each in the bytes of its difference to the one before.

    Args:
        path: of the file, which is complete when this returns.
        label: which file it is.
        owned_by: which bits of a state say which partition owns it; a mask for each word.
        states: addresses and numbers of the states, for a while each.
        count: how many there are.
        most: how many are sorted at once; see `buffered_rows`.

    Returns:
        The digest of the file.

    Raises:
        OSError: there is no room for them.
    """
    kernels = order_kernels(len(owned_by))
    capacity = max(1, min(count, most))
    buffer = RowBuffer(kernels, capacity, RowScratch(kernels.row_bytes, capacity))
    try:
        with new_file(path) as descriptor:
            writer = SortedWriter(descriptor, kernels)
            for address, some in states:
                while some:
                    if not buffer.room:
                        _empty(buffer, writer)
                    fitting = min(some, buffer.room)
                    buffer.extend(address, fitting)
                    address, some = address + fitting * kernels.row_bytes, some - fitting
            _empty(buffer, writer)
            covering = writer.finish(label, {"owned_by": list(owned_by)})
    finally:
        buffer.close()
    return covering


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
        label: which file it has to be.

    Attributes:
        owned_by: which bits of a state said which partition owns it, when it was written.
        digest: of the file.

    Raises:
        Damaged: it is something else.
        OSError: it cannot be read.
    """

    def __init__(self, path: Path, words: int, label: Label) -> None:
        self._kernels = order_kernels(words)
        self._file = SortedFile(path, words, label)
        self.owned_by: list[int] = self._file.said["owned_by"]
        self.digest = self._file.digest

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
