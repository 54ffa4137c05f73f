"""Which partition owns a state, where a part of the state says it: a part that most steps leave as it is."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["Ownership"]

_CHUNK = 1 << 12


class Ownership:
    """States divided among partitions by some of their bits.

    Most successors of a state are then owned by the partition that owns it, and a state that several others lead to is
    more often sent once.

    Args:
        select: the compiled function; see `storing.store_module`.
        masks: which bits of each word count.
        partitions: how many there are.

    Attributes:
        bits: the masks.
        masks: their address.
    """

    def __init__(self, select: Callable[..., int], masks: Sequence[int], partitions: int) -> None:
        self._select, self._words, self._partitions = select, len(masks), partitions
        self.bits = tuple(masks)
        self._masks = (ctypes.c_uint64 * len(masks))(*masks)
        self.masks = ctypes.addressof(self._masks)

    def owned(self, states: Iterable[tuple[int, int]], partition: int) -> Iterator[tuple[int, int]]:
        """Yield addresses and numbers of those of some states that a partition owns, in their order, for a while each.

        Args:
            states: addresses and numbers of states.
            partition: the partition.
        """
        room = (ctypes.c_uint64 * (self._words * _CHUNK))()
        owned = ctypes.addressof(room)
        for rows, count in states:
            for first in range(0, count, _CHUNK):
                here, some = rows + 8 * self._words * first, min(_CHUNK, count - first)
                yield owned, self._select(here, some, self.masks, self._partitions, partition, owned)
