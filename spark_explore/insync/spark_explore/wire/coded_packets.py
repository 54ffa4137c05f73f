"""The candidates of a packet as codes, in order and packed, with what they mean: whoever reads one needs no other.

head         how many dictionaries there are, how many digits a code has
sizes        of each dictionary, then the bits of each digit
values       of each dictionary
codes        packed: `machine.emit.ordering`; a few bytes behind them are read with them, and mean nothing
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING

from insync.machine.kernels import order_kernels
from insync.machine.memory import Block
from insync.machine.stores.collapse import MOST_NUMBERS, Codec, Layout, dictionaries_of
from insync.machine.stores.compressed import CodeKernels
from insync.machine.stores.sorted_file import OrderKernels, RowBuffer, most_packed
from insync.model.errors import InternalError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PacketReader", "PacketWriter"]

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
