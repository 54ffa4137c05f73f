"""The levels of a partition as codes in an unnamed file, from which `trace_back` reads them."""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

from insync.machine.stores.collapse import Codec, Layout
from insync.runtime.errors import UserError

__all__ = ["LevelFile", "LevelPart"]

_MOST = 1 << 24  # bytes written at once


@dataclass(frozen=True, slots=True)
class _Level:
    """The place of a level in the file, and the layout that its codes had when they were written."""

    start: int
    count: int
    layout: Layout


@dataclass(slots=True)
class LevelPart:
    """Some states of a level; see `store.Chunk`."""

    file: LevelFile
    place: int
    count: int
    layout: Layout
    _rows: ctypes.Array[ctypes.c_uint64] | None = None

    def load(self) -> tuple[int, int]:
        """Read the states into memory; return their address and count."""
        self._rows = (ctypes.c_uint64 * (self.file.words * self.count))()
        self.file.read(self, ctypes.addressof(self._rows))
        return ctypes.addressof(self._rows), self.count


class LevelFile:
    """The codes of levels, one after the other, in an unnamed file that ends with the process.

    Args:
        codec: decodes the states.

    Attributes:
        words: 64-bit words per packed state.
    """

    def __init__(self, codec: Codec) -> None:
        self._codec, self.words = codec, codec.words
        self._file = tempfile.TemporaryFile(prefix="insync-levels-")  # noqa: SIM115  (closed with this)
        self._levels: list[_Level] = []
        self._size = 0

    def append(self, codes: int, count: int) -> None:
        """Write the codes of the next level.

        Raises:
            UserError: the disk has no room.
        """
        self._levels.append(_Level(self._size, count, self._codec.layout))
        size = 8 * count
        try:
            for start in range(0, size, _MOST):
                self._file.write(ctypes.string_at(codes + start, min(_MOST, size - start)))
            self._file.flush()
        except OSError as error:
            message = (
                f"The levels in which a trace is looked for cannot be written to {tempfile.gettempdir()} "
                f"({error.strerror}): they take {(self._size + size) >> 20} MiB so far; "
                f"set TMPDIR to a folder with more room, or leave the property out."
            )
            raise UserError(message) from error
        self._size += size

    def chunks(self, level: int, most: int) -> Iterator[LevelPart]:
        """Yield parts of at most `most` states that cover a level; the level of the initial states is 1."""
        there = self._levels[level - 1]
        for start in range(0, there.count, most):
            yield LevelPart(self, there.start + 8 * start, min(most, there.count - start), there.layout)

    def read(self, part: LevelPart, rows: int) -> None:
        """Decode the states of a part to the address `rows`; any thread may call this."""
        codes = os.pread(self._file.fileno(), 8 * part.count, part.place)
        memory = (ctypes.c_uint64 * part.count).from_buffer_copy(codes)
        self._codec.decode(ctypes.addressof(memory), part.count, rows, part.layout)

    def close(self) -> None:
        """Release the space on the disk."""
        self._file.close()
