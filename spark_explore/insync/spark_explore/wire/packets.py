"""The rows that Spark moves, few and large: a block of packed states each, or what a task has to say of its level."""

from __future__ import annotations

import ctypes
import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from insync.machine.kernels import order_kernels
from insync.machine.memory import Block
from insync.machine.packed import Found
from insync.machine.stores.collapse import MOST_NUMBERS, Codec, Layout, dictionaries_of
from insync.machine.stores.compressed import CodeKernels
from insync.machine.stores.sorted_rows import OrderKernels, RowBuffer, most_packed
from insync.model.checksums import DIGEST_BYTES
from insync.model.errors import InternalError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "COLUMNS",
    "Kind",
    "PacketReader",
    "PacketWriter",
    "Row",
    "closed_block",
    "expanded_block",
    "figures_block",
    "read_closed",
    "read_expanded",
    "rows_of",
    "to_batch",
]


COLUMNS = "partition int, kind int, level int, count bigint, block binary"


class Kind(IntEnum):
    """What a row is."""

    SEED = 0  # expand your part of this level
    PACKET = 1  # candidates for this level, owned by the partition: `count` states in the block
    CLOSED = 2  # the level has `count` new states in this partition, in a file with the digest that begins the block;
    # how many they stand for, the violations among them
    EXPANDED = 3  # the level was expanded, `count` states being known up to it: the steps taken, those refused, and
    # the states without one
    FIGURES = 4  # times and sizes, for the benchmarks
    FOUND = 5  # an answer: one packed state
    WALKED = 6  # an answer: what some walks did
    SEEN = 7  # an answer: abstract states that they saw, `count` entries of sightings in the block
    CODES = 8  # candidates as in PACKET, as codes; see `coded_packets`


@dataclass(frozen=True, slots=True)
class Row:
    """A row; `address` and `size` say where its block lies, in memory that `keep` keeps alive."""

    partition: int
    kind: Kind
    level: int
    count: int
    address: int
    size: int
    keep: object

    @property
    def block(self) -> bytes:
        """A copy of the block."""
        return ctypes.string_at(self.address, self.size)


def rows_of(batch: pa.RecordBatch) -> Iterator[Row]:
    """Yield the rows of a batch; their blocks are not copied."""
    partitions, kinds, levels, counts = (batch.column(number).to_pylist() for number in range(4))
    blocks = batch.column(4)
    for number in range(batch.num_rows):
        buffer = blocks[number].as_buffer()
        kind = Kind(kinds[number])
        address = buffer.address if buffer.size else 0
        yield Row(partitions[number], kind, levels[number], counts[number], address, buffer.size, buffer)


def to_batch(rows: Sequence[tuple[int, Kind, int, int, object]]) -> pa.RecordBatch:
    """Return a batch of rows (partition, kind, level, count, block); a block is bytes or an Arrow buffer."""
    import pyarrow as pa

    columns = list(zip(*rows, strict=True))
    blocks = pa.array([memoryview(block) for block in columns[4]], type=pa.binary())
    kinds = (pa.int32(), pa.int32(), pa.int32(), pa.int64())
    arrays = [pa.array(map(int, column), type=kind) for column, kind in zip(columns[:4], kinds, strict=True)]
    return pa.RecordBatch.from_arrays([*arrays, blocks], names=["partition", "kind", "level", "count", "block"])


def closed_block(digest: bytes, states: int, outside: int, violations: Sequence[Found], words: int) -> bytes:
    """Return the block of a CLOSED row."""
    return digest + _wide([states, outside]) + _records(violations, words)


def expanded_block(steps: Sequence[int], refused: Found, stepless: int, words: int) -> bytes:
    """Return the block of an EXPANDED row."""
    return _wide(steps) + _records([refused], words) + _wide([stepless])


def read_closed(block: bytes, words: int) -> tuple[bytes, int, int, list[Found]]:
    """Return the digest of the file, how many states the new ones stand for, how many are outside, and violations."""
    numbers = array("Q", block[DIGEST_BYTES:])
    states, outside = _read_wide(numbers[:4])
    return block[:DIGEST_BYTES], states, outside, _read_records(numbers[4:], words)


def read_expanded(block: bytes, actions: int, words: int) -> tuple[list[int], Found, int]:
    """Return the steps of each action, the refused steps, and how many states have no step."""
    numbers = array("Q", block)
    (refused,) = _read_records(numbers[2 * actions : -2], words)
    (stepless,) = _read_wide(numbers[-2:])
    return _read_wide(numbers[: 2 * actions]), refused, stepless


def figures_block(figures: Mapping[str, float]) -> bytes:
    """Return the block of a FIGURES row."""
    return json.dumps(figures).encode()


def _wide(numbers: Sequence[int]) -> bytes:
    """Return numbers that may be larger than a word, such as those of states that representatives stand for."""
    return array("Q", [part for number in numbers for part in (number & 2**64 - 1, number >> 64)]).tobytes()


def _read_wide(numbers: array[int]) -> list[int]:
    return [low | high << 64 for low, high in zip(numbers[::2], numbers[1::2], strict=True)]


def _records(found: Sequence[Found], words: int) -> bytes:
    numbers = array("Q")
    for record in found:
        numbers.append(record.count)
        numbers.extend(record.least or (0,) * words)
    return numbers.tobytes()


def _read_records(numbers: array[int], words: int) -> list[Found]:
    size = 1 + words
    starts = range(0, len(numbers), size)
    return [Found(numbers[s], tuple(numbers[s + 1 : s + size]) if numbers[s] else None) for s in starts]


# The candidates of a packet as codes, in order and packed, with what they mean: whoever reads one needs no other.
#
# head how many dictionaries there are, how many digits a code has sizes of each dictionary, then the bits of each
# digit values of each dictionary codes packed: `machine.emit.ordering`; a few bytes behind them are read with them,
# and mean nothing


_WORD = 8
_CHUNK = 1 << 16  # states that are decoded together


class PacketWriter:
    """Makes the blocks of packets, in memory of its own: a large object of Python's would leave holes behind.

    Args:
        kernels: the compiled functions of rows of one word.
        made: what codes are made with.
        capacity: how many codes a packet has at most.
    """

    def __init__(self, kernels: OrderKernels, made: CodeKernels, capacity: int) -> None:
        self._kernels = kernels
        dictionaries = dictionaries_of(made.digits)
        most_words = 2 + len(made.digits) + dictionaries * (1 + MOST_NUMBERS)
        self._memory = Block(_WORD * most_words + most_packed(kernels.words, capacity), huge=False)

    def block(self, codec: Codec, codes: RowBuffer) -> pa.Buffer:
        """Return the block of some codes, which are in order; it is there until another is made."""
        import pyarrow as pa

        counts, widths = codec.counts, codec.layout.widths
        head = array("Q", [len(counts), len(widths), *counts, *widths]).tobytes()
        at = self._memory.address
        for part in (head, *(codec.values(shape, 0) for shape in range(len(counts)))):
            ctypes.memmove(at, part, len(part))
            at += len(part)
        at += self._kernels.pack(codes.address, codes.count, at) + _WORD
        return pa.foreign_buffer(self._memory.address, at - self._memory.address)

    def close(self) -> None:
        """Give all memory back."""
        self._memory.close()


class PacketReader:
    """Reads the blocks of packets.

    Args:
        kernels: what codes are made with.
        capacity: how many codes a packet has at most.
    """

    def __init__(self, kernels: CodeKernels, capacity: int) -> None:
        self._kernels, self._order = kernels, order_kernels(1)
        self._codes = Block(_WORD * capacity)
        self._capacity = capacity
        self._states = Block(_WORD * kernels.words * _CHUNK)

    def states(self, address: int, count: int) -> Iterator[tuple[int, int]]:
        """Yield addresses and numbers of the states of a block in memory, for a while each.

        Raises:
            InternalError: it is something else.
        """
        codec, packed = self._opened(address)
        try:
            if count > self._capacity:
                message = f"A packet has {count} codes, of {self._capacity} at most."
                raise InternalError(message)
            self._order.unpack(packed, count, self._codes.address)
            for start in range(0, count, _CHUNK):
                some = min(_CHUNK, count - start)
                codec.decode(self._codes.address + _WORD * start, some, self._states.address)
                yield self._states.address, some
        finally:
            codec.close()

    def close(self) -> None:
        """Give all memory back."""
        self._codes.close()
        self._states.close()

    def _opened(self, address: int) -> tuple[Codec, int]:
        """Return what the codes of a block mean, and where they are."""
        dictionaries, digits = _words(address, 2)
        if digits != len(self._kernels.digits):
            message = (
                f"A packet has codes of {digits} digits, and codes of this model have {len(self._kernels.digits)}."
            )
            raise InternalError(message)
        numbers = _words(address + 2 * _WORD, dictionaries + digits)
        at, values = address + _WORD * (2 + len(numbers)), []
        for size in numbers[:dictionaries]:
            values.append(ctypes.string_at(at, _WORD * size))
            at += _WORD * size
        codec = self._kernels.codec()
        codec.take_up(values, Layout(numbers[dictionaries:]))
        return codec, at


def _words(address: int, count: int) -> array[int]:
    return array("Q", ctypes.string_at(address, _WORD * count))
