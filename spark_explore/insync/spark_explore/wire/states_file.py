"""The format of files of states: the states of one partition in a level, or in several consecutive levels.

head     magic, words per state, first level, number of levels; then the number of states of each level
states   level after level, as rows of 64-bit words
sums     the CRC-32 of each block of states; a level begins a new block
digest   of the label, the head and the sums: see `insync.runtime.checksums`

All numbers are little-endian. The label identifies the file, so another file in its place is refused, too.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from insync.runtime.checksums import DIGEST_BYTES, Damaged, Label, digest
from insync.runtime.errors import InternalError

__all__ = ["CountedFiles", "OpenFile", "StatesFile", "StatesLabel", "StatesWriter", "open_states"]

_FORMAT = "insync-states/2"
_MAGIC = f"{_FORMAT}\n".encode()
_HEAD = struct.Struct("<16sQQQ")  # magic, words per state, first level, number of levels
_BLOCK_BYTES = 4 << 20


class OpenFile(Protocol):
    """An open file, with the interface of pyarrow."""

    def size(self) -> int:
        """Return the size in bytes."""

    def read_at(self, nbytes: int, offset: int) -> bytes:
        """Return `nbytes` bytes from an offset on, or fewer at the end of the file."""

    def close(self) -> None:
        """Close the file."""


@dataclass(frozen=True, slots=True)
class StatesLabel:
    """The label of a file of states.

    Attributes:
        run: the id of the run.
        partition: the partition of the states.
        first, last: the first and the last level.
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
        """Return the head of the file, given the number of states of each level."""
        levels = self.last - self.first + 1
        return _HEAD.pack(_MAGIC, self.words, self.first, levels) + struct.pack(f"<{levels}Q", *counts)


@dataclass(frozen=True, slots=True)
class CountedFiles:
    """The digests of the files of states that a manifest counts.

    Attributes:
        digests: for the first level of files, the concatenated digests of all partitions.
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
        label: of the file.
        counts: how many states each level has.

    Attributes:
        digest: of the file, when all parts have been made.
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
            InternalError: the number of states differs from `counts`.
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
    """A file of states, opened for reading.

    Attributes:
        label: of the file.
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
            Damaged: a piece has changed.
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
    """Open a file of states, and verify all but the states themselves, which are verified when they are read.

    Args:
        file: the file, which is closed if it is refused.
        label: the label that the file must have.
        expected: the digest that the file must have; None accepts any digest that fits its content.

    Raises:
        Damaged: the file has changed, or has another label or digest.
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
    """Return the size in bytes of each block of a level with `count` states."""
    row = 8 * words
    most = max(_BLOCK_BYTES // row, 1)
    full, rest = divmod(count, most)
    return [most * row] * full + [rest * row] * bool(rest)
