"""The rows that Spark moves, few and large: packets of candidates for the partitions that own them, figures of tasks.

Hash-partitioned search (Stern & Dill 1997). Candidates are sent as whole states, or gathered as sorted, distinct codes.
The more are gathered, the fewer duplicates are sent, and the smaller are the differences between adjacent codes.
"""

from __future__ import annotations

import ctypes
import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Protocol

from insync.machine.expander import Expander
from insync.machine.packed import Found
from insync.machine.store_kernels import order_kernels
from insync.machine.stores.collapse import MOST_NUMBERS, Codec, Layout, dictionaries_of
from insync.machine.stores.compressed import CodeKernels
from insync.machine.stores.row_encoding import CodeRows, NoRows
from insync.machine.stores.sorted_rows import OrderKernels, RowBuffer, RowScratch, most_packed
from insync.runtime.checksums import DIGEST_BYTES
from insync.runtime.errors import InternalError
from insync.runtime.memory import Block

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "COLUMNS",
    "LEAST_CODED",
    "CodeMemory",
    "GatheredCodes",
    "Kind",
    "Packet",
    "PacketReader",
    "PacketWriter",
    "Row",
    "Sending",
    "WholeStates",
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
    """The kind of a row."""

    SEED = 0  # to a task: expand your partition of this level
    PACKET = 1  # candidates for this level, owned by the partition: `count` states in the block
    CLOSED = 2  # the level has `count` new states in this partition; the block has the digest of their file, how many
    # states they represent, how many of these are outside, and the violations
    EXPANDED = 3  # the level was expanded, with `count` known states up to it; the block has the steps taken, the steps
    # refused, and the number of states without a step
    FIGURES = 4  # times and sizes, for benchmarks
    FOUND = 5  # a result: one packed state
    WALKED = 6  # a result: that of some walks
    SEEN = 7  # a result: abstract states of some walks, `count` entries of `Sightings` in the block
    CODES = 8  # candidates as in PACKET, but as codes; see `PacketWriter`
    DECODED = 9  # the level has `count` states in this partition; the block is the digest of their file


@dataclass(frozen=True, slots=True)
class Row:
    """A row; its block is `size` bytes at `address`, in memory that `keep` keeps alive."""

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
    """Return the digest of the file, the number of states, how many of these are outside, and the violations."""
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
    """Return 128-bit numbers as bytes, such as the sizes of orbits added up."""
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


# ----------------------------------------------------------------------------------------------------- packets of codes

# A packet has the dictionaries of its codes, so it can be read without any other packet:
#
# head     how many dictionaries there are, how many digits a code has
# sizes    of each dictionary, then the bits of each digit
# values   of each dictionary
# codes    sorted and packed: `machine.emit.external_sort`; a word after them is read too, and ignored


_WORD = 8
_CHUNK = 1 << 16  # states that are decoded together


class PacketWriter:
    """Makes the blocks of packets, in its own memory: large Python objects would fragment the heap.

    Args:
        kernels: the compiled functions for rows of one word.
        made: the compiled functions for codes.
        capacity: the most codes of a packet.
    """

    def __init__(self, kernels: OrderKernels, made: CodeKernels, capacity: int) -> None:
        self._kernels = kernels
        dictionaries = dictionaries_of(made.digits)
        most_words = 2 + len(made.digits) + dictionaries * (1 + MOST_NUMBERS)
        self._memory = Block(_WORD * most_words + most_packed(kernels.words, capacity), huge=False)

    def block(self, codec: Codec, codes: RowBuffer) -> pa.Buffer:
        """Return the block of sorted codes. The block is valid until the next one is made."""
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
        """Free all memory."""
        self._memory.close()


class PacketReader:
    """Reads the blocks of packets.

    Args:
        kernels: the compiled functions for codes.
        capacity: the most codes of a packet.
    """

    def __init__(self, kernels: CodeKernels, capacity: int) -> None:
        self._kernels, self._order = kernels, order_kernels(1)
        self._codes = Block(_WORD * capacity)
        self._capacity = capacity
        self._states = Block(_WORD * kernels.words * _CHUNK)

    def states(self, address: int, count: int) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the states of a block. A run is valid until the next one is requested.

        Raises:
            InternalError: the block has too many codes, or codes of another model.
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
        """Free all memory."""
        self._codes.close()
        self._states.close()

    def _opened(self, address: int) -> tuple[Codec, int]:
        """Return the codec of the codes of a block, and the address of the packed codes."""
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


# Sending: what a task makes of the candidates in the buffers of its expander.


Packet = tuple[int, Kind, int, Any]
"""(receiving partition, kind, number of states, block)."""

LEAST_CODED = 1 << 15
"""The least states of a level that is sent as codes: with fewer, dictionaries would be a large share of the bytes."""

_GATHERED_BYTES = 1 << 25
_MOST_GATHERED = 1 << 20


class Sending(Protocol):
    """Makes packets of candidates."""

    def take(self, expander: Expander) -> Iterator[Packet]:
        """Take the states in the buffers, and yield full packets; afterwards the buffers may be cleared."""

    def rest(self) -> Iterator[Packet]:
        """Yield packets with the remaining states."""


class WholeStates:
    """Sends whole states, in the order in which they come.

    Args:
        row_bytes: bytes per state.
    """

    def __init__(self, row_bytes: int) -> None:
        self._row_bytes = row_bytes

    def take(self, expander: Expander) -> Iterator[Packet]:
        """Yield a packet for each buffer with states."""
        for partition in range(expander.partitions):
            start, count = expander.candidates(partition)
            if count:
                yield self.packet(partition, start, count)

    def packet(self, partition: int, rows: int, count: int) -> Packet:
        """Return a packet whose block is the memory of some states, without a copy."""
        import pyarrow as pa

        return partition, Kind.PACKET, count, pa.foreign_buffer(rows, count * self._row_bytes)

    def rest(self) -> Iterator[Packet]:
        """Yield nothing."""
        yield from ()


class CodeMemory:
    """The memory in which a worker gathers codes, and reads packets of codes.

    Args:
        kernels: the compiled functions for codes.
        partitions: how many there are.

    Attributes:
        buffers: one per partition.
        writer: makes blocks of the codes in a buffer.
        reader: reads such blocks.
    """

    def __init__(self, kernels: CodeKernels, partitions: int) -> None:
        order = order_kernels(CodeRows.words)
        capacity = min(_MOST_GATHERED, _GATHERED_BYTES // order.row_bytes // partitions)
        scratch = RowScratch(order.row_bytes, capacity)
        self.buffers = [RowBuffer(order, capacity, scratch) for _ in range(partitions)]
        self.writer = PacketWriter(order, kernels, capacity)
        self.reader = PacketReader(kernels, capacity)

    def close(self) -> None:
        """Free all memory."""
        for buffer in self.buffers:
            buffer.close()
        self.writer.close()
        self.reader.close()


class GatheredCodes:
    """Gathers candidates as codes until a buffer is full of distinct ones.

    When codes become too wide or save nothing, the states that follow are sent whole.

    Args:
        kernels: the compiled functions for codes.
        memory: the buffers, which are cleared.
    """

    def __init__(self, kernels: CodeKernels, memory: CodeMemory) -> None:
        self._codec = kernels.codec()
        self._form, self._memory = CodeRows(self._codec), memory
        self._whole, self._row_bytes = WholeStates(8 * kernels.words), 8 * kernels.words
        self._taken = 0
        self._ended = False  # whether states are sent whole from now on
        for buffer in memory.buffers:
            buffer.clear()

    def take(self, expander: Expander) -> Iterator[Packet]:
        """Take the states in the buffers, and yield full packets; afterwards the buffers may be cleared."""
        for partition in range(expander.partitions):
            rows, count = expander.candidates(partition)
            self._taken += count
            if count:
                yield from self._gather(partition, rows, count)

    def rest(self) -> Iterator[Packet]:
        """Yield packets with the remaining states, and free the dictionaries."""
        for partition, buffer in enumerate(self._memory.buffers):
            buffer.sort()
            if buffer.count:
                yield self._packet(partition)
        self._codec.close()

    def _gather(self, partition: int, rows: int, count: int) -> Iterator[Packet]:
        buffer = self._memory.buffers[partition]
        while count and not self._ended:
            if not buffer.room:
                buffer.sort()
                if buffer.room < buffer.capacity // 2:
                    yield self._packet(partition)
            done = self._form.make(rows, min(count, buffer.room), buffer.end)
            buffer.count += done
            rows, count = rows + done * self._row_bytes, count - done
            if not done:
                self._widen()
        if count:
            yield self._whole.packet(partition, rows, count)

    def _widen(self) -> None:
        """Widen codes for more values; if that is not possible, end them."""
        try:
            before = self._form.widen(self._taken)
        except NoRows:
            self._ended = True
            return
        if before is not None:
            for buffer in self._memory.buffers:
                self._form.align(before, buffer.address, buffer.count)

    def _packet(self, partition: int) -> Packet:
        buffer = self._memory.buffers[partition]
        count, block = buffer.count, self._memory.writer.block(self._codec, buffer)
        buffer.clear()
        return partition, Kind.CODES, count, block
