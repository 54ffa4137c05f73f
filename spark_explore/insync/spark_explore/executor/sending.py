"""Candidates on their way to the partitions that own them: as they are, or gathered as codes, each once.

A state that many steps lead to is a candidate many times. The more are gathered before they are sent, the fewer are
sent twice, and the closer to each other are codes in order, so that their differences take few bytes.
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
"""The partition that it is for, its kind, how many states it has, and its block."""

LEAST_CODED = 1 << 15
"""With fewer states in a level, what their values mean would be much of what is sent."""

_GATHERED_BYTES = 1 << 25
_MOST_GATHERED = 1 << 20


class Sending(Protocol):
    """Makes packets of candidates."""

    def take(self, expander: Expander) -> Iterator[Packet]:
        """Take what is in the buffers, which may be cleared afterwards, and yield the packets that are full."""

    def rest(self) -> Iterator[Packet]:
        """Yield packets of what is left."""


class WholeStates:
    """Sends the states as they come.

    Args:
        row_bytes: of a state.
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
        """Return a packet whose block is the memory that some states are in."""
        import pyarrow as pa

        return partition, Kind.PACKET, count, pa.foreign_buffer(rows, count * self._row_bytes)

    def rest(self) -> Iterator[Packet]:
        """Yield nothing."""
        yield from ()


class CodeMemory:
    """The memory in which a worker gathers codes, and reads them.

    Args:
        kernels: what codes are made with.
        partitions: how many there are.

    Attributes:
        buffers: one for each.
        writer: makes blocks of what is in them.
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
        """Give it back."""
        for buffer in self.buffers:
            buffer.close()
        self.writer.close()
        self.reader.close()


class GatheredCodes:
    """Gathers candidates as codes until there are as many different ones as a buffer has room for.

    Where there can be no codes, because they would be too wide or save nothing, what follows is sent as it comes.

    Args:
        kernels: what codes are made with.
        memory: in which they are gathered; what is there is forgotten.
    """

    def __init__(self, kernels: CodeKernels, memory: CodeMemory) -> None:
        self._codec = kernels.codec()
        self._form, self._memory = CodeRows(self._codec), memory
        self._whole, self._row_bytes = WholeStates(8 * kernels.words), 8 * kernels.words
        self._taken = 0
        self._ended = False  # there are no codes any more
        for buffer in memory.buffers:
            buffer.clear()

    def take(self, expander: Expander) -> Iterator[Packet]:
        """Take what is in the buffers, which may be cleared afterwards, and yield the packets that are full."""
        for partition in range(expander.partitions):
            rows, count = expander.candidates(partition)
            self._taken += count
            if count:
                yield from self._gather(partition, rows, count)

    def rest(self) -> Iterator[Packet]:
        """Yield packets of what is left, and give the dictionaries back."""
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
        """Have codes with room for more values, if there can be any."""
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
