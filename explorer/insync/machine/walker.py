"""One worker's side of a simulation: the memory that a batch of random walks takes, and what is counted."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from insync.machine.emit.masks import COLUMN_BYTES, MASK_BYTES
from insync.machine.emit.rows import BATCH
from insync.machine.emit.walking import NO_WALK, PlaceField, WalkField
from insync.machine.kernels import WalkKernel
from insync.machine.memory import Block

__all__ = ["FailedWalk", "Walked", "Walker"]


@dataclass(frozen=True, slots=True)
class FailedWalk:
    """A walk that ends in a state that violates a property, or with a step that leaves a field's domain.

    Attributes:
        number: of the walk.
        property: its place among the properties; their number for a step that is refused.
        actions: the steps from the initial state; the refused one, if there is one, is the last.
    """

    number: int
    property: int
    actions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Walked:
    """What came of some walks.

    Attributes:
        steps: how many steps of each action were taken.
        lengths: how many walks took 0, 1, 2, .. steps.
        stuck: how many ended in a state without a step.
        failed: the failing walk with the smallest number.
    """

    steps: tuple[int, ...]
    lengths: tuple[int, ...]
    stuck: int
    failed: FailedWalk | None


class Walker:
    """Takes random walks.

    Args:
        kernel: the compiled program and properties.
        initial: the packed initial state.
        seed: of the random numbers.
        depth: most steps of a walk.
    """

    def __init__(self, kernel: WalkKernel, initial: tuple[int, ...], seed: int, depth: int) -> None:
        self._kernel, self._depth = kernel, depth
        self._initial = (ctypes.c_uint64 * kernel.words)(*initial)
        self._steps = (ctypes.c_uint64 * max(kernel.actions, 1))()
        self._lengths = (ctypes.c_uint64 * (depth + 1))()
        self._failed = (ctypes.c_uint64 * (3 + (depth + 1) // 2))()
        self._stuck = (ctypes.c_uint64 * 1)()
        self._context = (ctypes.c_uint64 * len(WalkField))()
        sizes = {
            WalkField.ROWS: 8 * kernel.words * BATCH,
            WalkField.COLUMNS: COLUMN_BYTES * kernel.words,
            WalkField.MASKS: MASK_BYTES * kernel.actions,
            WalkField.CHOSEN: MASK_BYTES * kernel.actions,
            WalkField.VIOLATED: MASK_BYTES * kernel.properties,
            WalkField.PLACES: 8 * len(PlaceField) * BATCH,
            WalkField.PATHS: 4 * depth * BATCH,
        }
        self._scratch = Block(sum(sizes.values()))
        address = self._scratch.address
        for scratch, size in sizes.items():
            self._context[scratch] = address
            address += size
        self._fill(seed)

    def _fill(self, seed: int) -> None:
        fields = self._context
        fields[WalkField.SEED] = seed % 2**64
        fields[WalkField.DEPTH] = self._depth
        fields[WalkField.INITIAL] = ctypes.addressof(self._initial)
        fields[WalkField.STEPS] = ctypes.addressof(self._steps)
        fields[WalkField.LENGTHS] = ctypes.addressof(self._lengths)
        fields[WalkField.FAILED] = ctypes.addressof(self._failed)
        fields[WalkField.STUCK] = ctypes.addressof(self._stuck)

    def walk(self, first: int, end: int) -> Walked:
        """Take the walks of these numbers, and return what came of them."""
        for counters in (self._steps, self._lengths, self._failed, self._stuck):
            ctypes.memset(ctypes.addressof(counters), 0, ctypes.sizeof(counters))
        self._failed[0] = NO_WALK
        # All places are idle: every number in them is NO_WALK, all bits set.
        ctypes.memset(self._context[WalkField.PLACES], 0xFF, 8 * len(PlaceField) * BATCH)
        self._context[WalkField.NEXT], self._context[WalkField.END] = first, end
        self._kernel.walk(ctypes.addressof(self._context))
        return Walked(tuple(self._steps[: self._kernel.actions]), tuple(self._lengths), self._stuck[0], self._failure())

    def _failure(self) -> FailedWalk | None:
        number, prop, count = self._failed[:3]
        if number == NO_WALK:
            return None
        path = (ctypes.c_uint32 * count).from_address(ctypes.addressof(self._failed) + 24)
        return FailedWalk(number, prop, tuple(path))

    def close(self) -> None:
        """Give all memory back."""
        self._scratch.close()
