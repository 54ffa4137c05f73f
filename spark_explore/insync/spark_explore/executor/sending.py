"""Packets of candidates for the partitions that own them (hash-partitioned search: Stern & Dill 1997).

Candidates are sent as whole states, or gathered as sorted, distinct codes. The more are gathered, the fewer duplicates
are sent, and the smaller are the differences between adjacent codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from insync.machine.expander import Expander
from insync.machine.kernels import order_kernels
from insync.machine.stores.compressed import CodeKernels
from insync.machine.stores.row_encoding import CodeRows, NoRows
from insync.machine.stores.sorted_rows import RowBuffer, RowScratch
from insync.spark_explore.wire.packets import Kind, PacketReader, PacketWriter

__all__ = ["LEAST_CODED", "CodeMemory", "GatheredCodes", "Packet", "Sending", "WholeStates"]

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
