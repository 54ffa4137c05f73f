"""A file of states: those of one partition in a level, or in several that follow each other.

head     magic, words per state, first level, number of levels; then for each level how many states it has
states   level after level, as rows of 64-bit words
sums     of each block of states its CRC-32; a level begins a new block
digest   of the label, the head and the sums: see `insync.model.checksums`

All numbers are little-endian. The label says what the file is, so one that was put in its place is refused, too.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from insync.model.checksums import DIGEST_BYTES, Damaged, Label, digest
from insync.model.errors import InternalError

__all__ = ["CountedFiles", "OpenFile", "StatesFile", "StatesLabel", "StatesWriter", "open_states"]

_FORMAT = "insync-states/2"
_MAGIC = f"{_FORMAT}\n".encode()
_HEAD = struct.Struct("<16sQQQ")  # magic, words per state, first level, number of levels
_BLOCK_BYTES = 4 << 20


class OpenFile(Protocol):
    """What a file is read by, as pyarrow has it."""

    def size(self) -> int:
        """Return how many bytes it has."""

    def read_at(self, nbytes: int, offset: int) -> bytes:
        """Return so many bytes from some place on, fewer at the end."""

    def close(self) -> None:
        """Close it."""


@dataclass(frozen=True, slots=True)
class StatesLabel:
    """What a file of states is.

    Attributes:
        run: the id of the run.
        partition: the partition whose states these are.
        first, last: the levels.
        words: 64-bit words per state.
    """

    run: str
    partition: int
    first: int
    last: int
    words: int

    @property
    def name(self) -> str:
        """The name of the file in the run directory."""
        return f"states/p{self.partition:05}/{self.first:05}-{self.last:05}"

    @property
    def entries(self) -> Label:
        """The label that the digest covers."""
        return {
            "kind": "states of a partition",
            "format": _FORMAT,
            "run": self.run,
            "partition": self.partition,
            "first": self.first,
            "last": self.last,
            "words": self.words,
        }

    def head(self, counts: Sequence[int]) -> bytes:
        """Return the head of a file whose levels have these numbers of states."""
        levels = self.last - self.first + 1
        return _HEAD.pack(_MAGIC, self.words, self.first, levels) + struct.pack(f"<{levels}Q", *counts)


@dataclass(frozen=True, slots=True)
class CountedFiles:
    """The digests of the files of states that a manifest counts.

    Attributes:
        digests: by the first level of the files: the digests of all partitions, one after the other.
    """

    digests: Mapping[int, bytes]

    def digest_of(self, label: StatesLabel) -> bytes | None:
        """Return the digest of a file; None if the manifest does not count it."""
        every = self.digests.get(label.first)
        start = DIGEST_BYTES * label.partition
        return None if every is None else every[start : start + DIGEST_BYTES]


class StatesWriter:
    """Makes the parts of a file of states.

    Args:
        label: what the file is.
        counts: how many states each level has.

    Attributes:
        digest: of the file, when all parts are made.
    """

    def __init__(self, label: StatesLabel, counts: Sequence[int]) -> None:
        self.digest = b""
        self._label, self._head = label, label.head(counts)
        self._sizes = [size for count in counts for size in _block_sizes(count, label.words)]

    def parts(self, rows: Iterable[bytes | memoryview]) -> Iterator[bytes | memoryview]:
        """Yield the parts of the file.

        Args:
            rows: buffers of all states, level after level; each is passed on before the next is requested.

        Raises:
            InternalError: there are more or fewer states than the counts say.
        """
        yield self._head
        sums, sizes = list[int](), iter(self._sizes)
        left, running = next(sizes, 0), 0
        for part in rows:
            at, size = 0, len(part)
            while at < size and left:
                some = part[at : at + left]
                running = zlib.crc32(some, running)
                at, left = at + len(some), left - len(some)
                if not left:
                    sums.append(running)
                    left, running = next(sizes, 0), 0
            if at < size:
                raise self._not_as_many()
            yield part
        if left:
            raise self._not_as_many()
        tail = struct.pack(f"<{len(sums)}I", *sums)
        self.digest = digest(self._label.entries, self._head, tail)
        yield tail + self.digest

    def _not_as_many(self) -> InternalError:
        return InternalError(f"{self._label.name}: the states that are written are not as many as was said.")


@dataclass(frozen=True, slots=True)
class StatesFile:
    """The states of a partition in some levels.

    Attributes:
        label: what the file is.
        counts: how many states each level has.
        digest: of the file.
    """

    label: StatesLabel
    counts: tuple[int, ...]
    digest: bytes
    _start: int
    _sums: tuple[int, ...]
    _file: OpenFile

    def pieces(self, level: int) -> Iterator[bytes]:
        """Yield the states of a level in pieces of whole states.

        Raises:
            Damaged: a piece is not what was written.
        """
        words, before = self.label.words, self.counts[: level - self.label.first]
        at = self._start + 8 * words * sum(before)
        block = sum(len(_block_sizes(count, words)) for count in before)
        for number, size in enumerate(_block_sizes(self.counts[level - self.label.first], words), block):
            piece = self._file.read_at(size, at)
            if len(piece) != size or zlib.crc32(piece) != self._sums[number]:
                raise Damaged
            yield piece
            at += size

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def open_states(file: OpenFile, label: StatesLabel, expected: bytes | None) -> StatesFile:
    """Open a file of states, and check all of it but the states themselves, which are checked as they are read.

    Args:
        file: the file; it is closed where it is refused.
        label: what it has to be.
        expected: the digest that it has to have; None if any will do that fits its content.

    Raises:
        Damaged: it is something else.
    """
    try:
        return _checked(file, label, expected)
    except BaseException:
        file.close()
        raise


def _checked(file: OpenFile, label: StatesLabel, expected: bytes | None) -> StatesFile:
    levels, size = label.last - label.first + 1, file.size()
    start = _HEAD.size + 8 * levels
    if size < start + DIGEST_BYTES:
        raise Damaged
    head = file.read_at(start, 0)
    if len(head) != start:
        raise Damaged
    counts = struct.unpack(f"<{levels}Q", head[_HEAD.size :])
    row = 8 * label.words
    if head != label.head(counts) or row * sum(counts) > size:
        raise Damaged
    blocks = sum(len(_block_sizes(count, label.words)) for count in counts)
    end = start + row * sum(counts)
    if size != end + 4 * blocks + DIGEST_BYTES:
        raise Damaged
    tail = file.read_at(size - end, end)
    sums, found = tail[:-DIGEST_BYTES], tail[-DIGEST_BYTES:]
    if found != digest(label.entries, head, sums) or expected not in (None, found):
        raise Damaged
    return StatesFile(label, counts, found, start, struct.unpack(f"<{blocks}I", sums), file)


def _block_sizes(count: int, words: int) -> list[int]:
    """Return the size in bytes of each block of so many states."""
    row = 8 * words
    most = max(_BLOCK_BYTES // row, 1)
    full, rest = divmod(count, most)
    return [most * row] * full + [rest * row] * bool(rest)
