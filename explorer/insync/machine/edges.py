"""Listing steps: each with the state and the action that it is a step of, for graphs of states, and for walks."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from insync.machine.memory import Block
from insync.machine.packed import BATCH, COLUMN_BYTES, MASK_BYTES, Found, PackedRows, Records, Sizes, Words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ACTION_BITS", "EdgeField", "Edges", "EdgesOfBatch"]

ACTION_BITS = 32
"""The low bits of the last word of an edge, which have the number of its action."""


class EdgeField(IntEnum):
    """The 64-bit fields of the context that `edges` is given the address of."""

    ROWS = 0  # address of the first state
    COUNT = 1  # how many states, at most a batch
    CURSOR = 2  # where the next edge goes; there must be room for every action of every state
    STEPS = 3  # address of one counter per action: the steps taken
    REFUSED = 4  # address of a record (count, least state): steps whose checks fail
    COLUMNS = 5  # address of scratch memory for one batch
    MASKS = 6  # address of scratch memory: MASK_BYTES per action


@dataclass(frozen=True, slots=True)
class EdgesOfBatch:
    """The steps of the states of a batch, in the order of the actions, and of the states within one action.

    Attributes:
        source: for each step the place in the batch of the state that it leaves.
        action: the number of its action.
        target: the packed state that it leads to, one row each.
    """

    source: NDArray[np.int64]
    action: NDArray[np.int64]
    target: NDArray[np.uint64]


class Edges:
    """Lists the steps of states.

    Args:
        sizes: of the program.
        edges: its kernel; see `edging.edges_module`.
    """

    def __init__(self, sizes: Sizes, edges: Callable[[int], int]) -> None:
        self._sizes, self._edges = sizes, edges
        self._steps = (ctypes.c_uint64 * sizes.actions)()
        self._refused = Records(1, sizes.words)
        self._out = Block(BATCH * sizes.actions * (sizes.row_bytes + 8))
        self._scratch = Block(COLUMN_BYTES * sizes.words + MASK_BYTES * sizes.actions)
        self._context = (ctypes.c_uint64 * len(EdgeField))()
        self._context[EdgeField.STEPS] = ctypes.addressof(self._steps)
        self._context[EdgeField.REFUSED] = self._refused.address
        self._context[EdgeField.COLUMNS] = self._scratch.address
        self._context[EdgeField.MASKS] = self._scratch.address + COLUMN_BYTES * sizes.words

    def of(self, rows: NDArray[np.uint64]) -> EdgesOfBatch:
        """Return the steps of some states, at most a batch; those whose checks fail are left out. Needs numpy."""
        import numpy as np

        assert len(rows) <= BATCH
        words = self._sizes.words
        states = np.ascontiguousarray(rows)
        table = np.frombuffer(self._listed(states.ctypes.data, len(states)), dtype=np.uint64).reshape(-1, words + 1)
        origin = table[:, words].astype(np.int64)
        return EdgesOfBatch(origin >> ACTION_BITS, origin & (1 << ACTION_BITS) - 1, table[:, :words])

    def of_one(self, state: Words) -> dict[int, Words]:
        """Return where each action leads from a state, by number and in order; those whose checks fail are left out."""
        row, size = PackedRows([state]), self._sizes.words + 1
        table = array("Q", self._listed(row.address, 1))
        return {
            table[end - 1] & (1 << ACTION_BITS) - 1: tuple(table[end - size : end - 1])
            for end in range(size, len(table) + 1, size)
        }

    def _listed(self, rows: int, count: int) -> bytes:
        """Return the rows of the steps of some states at an address: where each leads, then its state and action."""
        self._context[EdgeField.ROWS] = rows
        self._context[EdgeField.COUNT] = count
        self._context[EdgeField.CURSOR] = self._out.address
        self._edges(ctypes.addressof(self._context))
        return self._out.read(0, self._context[EdgeField.CURSOR] - self._out.address)

    def take_refused(self) -> Found:
        """Return the states with a step whose checks fail (counted once per step), since the last call."""
        return self._refused.take()[0]

    def close(self) -> None:
        """Give all memory back."""
        self._out.close()
        self._scratch.close()
