"""A partition's store in memory that an executor's workers share."""

from __future__ import annotations

from insync.machine.emit.slots import BUCKET_BYTES, StoreField
from insync.machine.kernels import StoreKernels
from insync.machine.store import Store, table_bytes
from insync.spark_explore.executor.shared_memory import SharedBlock

__all__ = ["SharedStore"]

_FIRST_BUCKETS = 1 << 12


class SharedStore(Store):
    """A store in shared memory, which may hold states already.

    Args:
        kernels: the compiled functions for states of this size.
        states, table: its memory.
        buckets, count: how far the table has grown, and how many states there are; 0 for a new one.
    """

    def __init__(
        self, kernels: StoreKernels, states: SharedBlock, table: SharedBlock, buckets: int = 0, count: int = 0
    ) -> None:
        self.states, self.table = states, table
        self._stand_on(kernels, states, table, buckets or _FIRST_BUCKETS)
        self.restore(buckets or _FIRST_BUCKETS, count)

    def restore(self, buckets: int, count: int) -> None:
        """Say how far the table has grown and how many states there are, after another process changed the memory."""
        self._fields[StoreField.COUNT] = count
        self._use(buckets)

    @property
    def buckets(self) -> int:
        """How far the table has grown."""
        return self._buckets

    @property
    def used_bytes(self) -> int:
        """The memory that states and table take."""
        return len(self) * self.kernels.row_bytes + self._buckets * BUCKET_BYTES


def table_size(states_bytes: int, row_bytes: int) -> int:
    """Return how much address space the table of a store may come to take."""
    return table_bytes(states_bytes, row_bytes, _FIRST_BUCKETS)
