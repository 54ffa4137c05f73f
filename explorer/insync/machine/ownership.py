"""Hash partitioning of states (Stern & Dill 1997) by some of their bits, which most steps do not change."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["Ownership"]

_CHUNK = 1 << 12


class Ownership:
    """The assignment of states to partitions by a hash of some of their bits.

    If most steps leave these bits unchanged, most successors belong to the partition of their state, and a state with
    several predecessors is more often sent only once.

    Args:
        select: the compiled function; see `emit.hash_table.store_module`.
        masks: the bits of each word that determine the partition.
        partitions: how many there are.

    Attributes:
        bits: the masks.
        masks: the address of the masks.
    """

    def __init__(self, select: Callable[..., int], masks: Sequence[int], partitions: int) -> None:
        self._select, self._words, self._partitions = select, len(masks), partitions
        self.bits = tuple(masks)
        self._masks = (ctypes.c_uint64 * len(masks))(*masks)
        self.masks = ctypes.addressof(self._masks)

    def owned(self, states: Iterable[tuple[int, int]], partition: int) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the states that a partition owns, in their order.

        A run is valid until the next one is requested.

        Args:
            states: (address, count) runs of states.
            partition: the partition.
        """
        room = (ctypes.c_uint64 * (self._words * _CHUNK))()
        owned = ctypes.addressof(room)
        for rows, count in states:
            for first in range(0, count, _CHUNK):
                here, some = rows + 8 * self._words * first, min(_CHUNK, count - first)
                yield owned, self._select(here, some, self.masks, self._partitions, partition, owned)
