"""The abstract states that walks saw: an exact set, with the number of the first walk that saw each."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from insync.machine.memory import Block, physical_memory
from insync.model.errors import InternalError, UserError

__all__ = ["SightField", "SightKernels", "Sightings"]

_FIRST_SLOTS = 1 << 12
_MOST_ENTRIES = 1 << 39  # a slot has 40 bits for a place
_FEW_ENTRIES = 1 << 16  # with address space for fewer it is not worth beginning


class SightField(IntEnum):
    """The 64-bit fields that the kernels are given the address of."""

    ENTRIES = 0  # address of the entries: the words of an abstract state, and the number of a walk
    COUNT = 1  # how many there are
    LIMIT = 2  # how many there may be before the slots must grow
    SLOTS = 3  # address of the slots
    MASK = 4  # their number, a power of two, less one


@dataclass(frozen=True, slots=True)
class SightKernels:
    """The compiled functions over sightings; see `sighting.sightings_module`."""

    absorb: Callable[[int, int, int, int, int], int]
    spread: Callable[[int], int]


class Sightings:
    """The abstract states that some walks saw, whole, so that no two of them are taken for one.

    They belong to one thread at a time. Entries never move; address space for as many is reserved as this machine has
    memory for, or the system gives, and only what they take is used.

    Args:
        words: 64-bit words per abstract state.
        kernels: the compiled functions for abstract states of this size.

    Attributes:
        address: what the kernels are given.
        entry_bytes: of the words of an abstract state and the number of a walk.
    """

    def __init__(self, words: int, kernels: SightKernels) -> None:
        self._kernels, self.entry_bytes = kernels, 8 * (words + 1)
        self._most = min(physical_memory() // self.entry_bytes, _MOST_ENTRIES)
        self._fields = (ctypes.c_uint64 * len(SightField))()
        self.address = ctypes.addressof(self._fields)
        self._entries = self._reserve()
        self._fields[SightField.ENTRIES] = self._entries.address
        self._slots = self._use(_FIRST_SLOTS)

    def __len__(self) -> int:
        return int(self._fields[SightField.COUNT])

    @property
    def entries(self) -> bytes:
        """A copy of all entries, in the order in which they came."""
        return self._entries.read(0, len(self) * self.entry_bytes)

    def clear(self) -> None:
        """Begin anew."""
        if len(self):
            self._fields[SightField.COUNT] = 0
            ctypes.memset(self._slots.address, 0, 8 * (self._fields[SightField.MASK] + 1))

    def make_room(self, more: int) -> None:
        """See to it that so many more entries have room."""
        needed = len(self) + more
        if needed <= self._fields[SightField.LIMIT]:
            return
        if needed > self._most:
            message = (
                f"There is memory for {self._most} abstract states, and the walks see more; take fewer walks, or name "
                f"less in the model's method `abstraction`."
            )
            raise UserError(message)
        slots = self._fields[SightField.MASK] + 1
        while needed > slots // 2:
            slots *= 2
        self._slots.close()
        self._slots = self._use(slots)
        self._kernels.spread(self.address)

    def absorb(self, entries: bytes, first: int, walks: int) -> array[int]:
        """Enter the entries of some walks, and return how many of them are new, for each of these walks.

        Args:
            entries: what other sightings have.
            first: the number of the first of the walks.
            walks: how many there are.
        """
        count, new = len(entries) // self.entry_bytes, array("Q", bytes(8 * walks))
        self.make_room(count)
        given, counters = ctypes.create_string_buffer(entries, len(entries) or 1), new.buffer_info()[0]
        if self._kernels.absorb(self.address, ctypes.addressof(given), count, counters, first) != count:
            message = f"{count} abstract states were to have room, and have none."
            raise InternalError(message)
        return new

    def _reserve(self) -> Block:
        while True:
            try:
                return Block(self._most * self.entry_bytes, huge=False)
            except UserError:
                if self._most < _FEW_ENTRIES:
                    raise
                self._most //= 16  # others are to be given some, too

    def _use(self, slots: int) -> Block:
        made = Block(8 * slots)
        self._fields[SightField.SLOTS] = made.address
        self._fields[SightField.MASK] = slots - 1
        self._fields[SightField.LIMIT] = slots // 2
        return made

    def close(self) -> None:
        """Give all memory back."""
        self._entries.close()
        self._slots.close()
