"""Random walks: the context of the kernel `walk`, the results of walks, and the abstract states that they saw."""

from __future__ import annotations

import ctypes
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import reduce
from typing import TYPE_CHECKING

from insync.machine.packed import BATCH, COLUMN_BYTES, MASK_BYTES, PackedRows, Sizes
from insync.runtime.errors import InternalError, UserError
from insync.runtime.memory import Block, physical_memory

if TYPE_CHECKING:
    from insync.machine.kernels import Kernels

__all__ = [
    "NO_WALK",
    "SEEN_IN_A_ROUND",
    "TASTE_OF_ALL",
    "TASTE_OF_HALF",
    "FailedWalk",
    "PlaceField",
    "SightField",
    "SightKernels",
    "Sightings",
    "Strategy",
    "WalkField",
    "Walked",
    "Walker",
    "merged",
    "nothing_walked",
]


_ROUNDS = 128  # take some milliseconds, or a tenth of a second for a large model

NO_WALK = 2**64 - 1
"""In place of the number of a walk: the place is idle, or no walk has failed."""

SEEN_IN_A_ROUND = 2 * BATCH
"""The most abstract states that a round can add: the starts of walks, and the states after their steps."""


class Strategy(StrEnum):
    """How walks choose among the enabled actions.

    `UNIFORM` draws from all bound actions, so actions with many parameters are frequent. The others draw the action
    first and then its parameters. With `NAMES` all actions have equal weights. With `TASTES` each walk has its own
    weights for them, from 1 to 8; with `MIXED` every other walk has.
    """

    MIXED = "mixed"
    NAMES = "names"
    TASTES = "tastes"
    UNIFORM = "uniform"


TASTE_OF_ALL, TASTE_OF_HALF = 1, 2
_TASTES = {Strategy.TASTES: TASTE_OF_ALL, Strategy.MIXED: TASTE_OF_HALF}


class WalkField(IntEnum):
    """The 64-bit fields of the context of `walk`."""

    SEED = 0
    NEXT = 1  # number of the next walk to begin
    END = 2  # number after the last walk
    DEPTH = 3  # most steps of a walk
    INITIALS = 4  # address of the initial states
    ROWS = 5  # scratch: the states of a batch
    COLUMNS = 6  # scratch: the same, word by word
    MASKS = 7  # scratch: MASK_BYTES per action: in which states it is enabled
    CHOSEN = 8  # scratch: MASK_BYTES per action: in which states it is chosen
    VIOLATED = 9  # scratch: MASK_BYTES per property
    PLACES = 10  # scratch: one `PlaceField` record per place of the batch
    PATHS = 11  # scratch: DEPTH 32-bit action numbers per place of the batch
    STEPS = 12  # address of one counter of steps per action
    LENGTHS = 13  # address of a number per walk, from FIRST on: its steps, when it has ended
    FAILED = 14  # address of a record: number of the failing walk, property, steps, start, DEPTH 32-bit action numbers
    STUCK = 15  # address of a counter: walks that ended in a state without a step
    FIRST = 16  # number of the first walk
    ROUNDS = 17  # most steps of a place before the kernel returns
    STARTS = 18  # how many initial states there are
    BY_NAME = 19  # whether an action is drawn first, and then its parameters
    TASTES = 20  # which walks have their own weights for actions: 0 for none, TASTE_OF_ALL or TASTE_OF_HALF
    SIGHTINGS = 21  # address of a record of `SightField` for abstract states


class PlaceField(IntEnum):
    """The 64-bit fields of a place of the batch."""

    NUMBER = 0  # of its walk, or NO_WALK
    RANDOM = 1  # the state of its random generator
    TAKEN = 2  # steps so far
    ENABLED = 3  # how many actions of the drawn group are enabled, then which of them is taken, from 1
    START = 4  # index of the initial state of the walk
    TASTE = 5  # the seed of the weights of groups; 0 if all are 1
    LAST = 6  # the group of the last enabled action
    WEIGHT = 7  # the sum of the weights of groups with an enabled action, then how much of it to pass over
    GROUP = 8  # the drawn group; 0 before the draw


@dataclass(frozen=True, slots=True)
class FailedWalk:
    """A walk that ends in a state that violates a property, or with a step that leaves a field's domain.

    Attributes:
        number: of the walk.
        property: the index of the property; for a refused step the number of properties.
        actions: the steps from the initial state; a refused step is the last.
        start: the index of the initial state.
    """

    number: int
    property: int
    actions: tuple[int, ...]
    start: int = 0


@dataclass(frozen=True, slots=True)
class Walked:
    """The result of some walks.

    Attributes:
        steps: how many steps of each action were taken.
        lengths: how many walks have each length in steps.
        stuck: how many walks ended in a state without a step.
        failed: the failing walk with the smallest number.
    """

    steps: tuple[int, ...]
    lengths: Mapping[int, int]
    stuck: int
    failed: FailedWalk | None


def merged(parts: Sequence[Walked]) -> Walked:
    """Return the sum of the results of consecutive walks, without those after the first failure.

    Args:
        parts: at least one result, in the order of walks.
    """
    counted: list[Walked] = []
    for part in parts:
        counted.append(part)
        if part.failed is not None:
            break
    steps = tuple(map(sum, zip(*(part.steps for part in counted), strict=True)))
    lengths = reduce(Counter.__add__, (Counter(part.lengths) for part in counted))
    return Walked(steps, lengths, sum(part.stuck for part in counted), counted[-1].failed)


def nothing_walked(actions: int) -> Walked:
    """Return the result of no walks, for a program with `actions` actions."""
    return Walked((0,) * actions, {}, 0, None)


class Walker:
    """Takes random walks.

    Args:
        sizes: of the program.
        walk: its kernel; see `emit.walking.walk_module`.
        initials: the packed initial states.
        seed: of the random numbers.
        depth: most steps of a walk.
        strategy: how walks choose.
        sightings: the set for abstract states, with a kernel that records them.
    """

    def __init__(
        self,
        sizes: Sizes,
        walk: Callable[[int], int],
        initials: PackedRows,
        seed: int,
        depth: int,
        strategy: Strategy = Strategy.MIXED,
        sightings: Sightings | None = None,
    ) -> None:
        self._sizes, self._walk, self._depth, self._sightings = sizes, walk, depth, sightings
        self._initials = initials
        self._steps = (ctypes.c_uint64 * sizes.actions)()
        self._lengths = (ctypes.c_uint64 * 0)()
        self._failed = (ctypes.c_uint64 * (4 + (depth + 1) // 2))()
        self._stuck = (ctypes.c_uint64 * 1)()
        self._context = (ctypes.c_uint64 * len(WalkField))()
        scratch = {
            WalkField.ROWS: sizes.row_bytes * BATCH,
            WalkField.COLUMNS: COLUMN_BYTES * sizes.words,
            WalkField.MASKS: MASK_BYTES * sizes.actions,
            WalkField.CHOSEN: MASK_BYTES * sizes.actions,
            WalkField.VIOLATED: MASK_BYTES * sizes.conditions,
            WalkField.PLACES: 8 * len(PlaceField) * BATCH,
            WalkField.PATHS: 4 * depth * BATCH,
        }
        self._scratch = Block(sum(scratch.values()))
        address = self._scratch.address
        for part, size in scratch.items():
            self._context[part] = address
            address += size
        self._fill(seed, strategy)

    @classmethod
    def of(
        cls, kernels: Kernels, initials: PackedRows, seed: int, depth: int, strategy: Strategy = Strategy.MIXED
    ) -> Walker:
        """Return a walker of a compiled program. Needs the part WALK, and with an abstraction also SIGHT."""
        sightings = Sightings.of(kernels) if kernels.sizes.abstract_words else None
        return cls(kernels.sizes, kernels.function("walk"), initials, seed, depth, strategy, sightings)

    def _fill(self, seed: int, strategy: Strategy) -> None:
        fields = self._context
        fields[WalkField.BY_NAME] = strategy is not Strategy.UNIFORM
        fields[WalkField.TASTES] = _TASTES.get(strategy, 0)
        fields[WalkField.SEED] = seed % 2**64
        fields[WalkField.DEPTH] = self._depth
        fields[WalkField.INITIALS] = self._initials.address
        fields[WalkField.STARTS] = self._initials.count
        fields[WalkField.STEPS] = ctypes.addressof(self._steps)
        fields[WalkField.FAILED] = ctypes.addressof(self._failed)
        fields[WalkField.STUCK] = ctypes.addressof(self._stuck)
        fields[WalkField.ROUNDS] = _ROUNDS
        if self._sightings is not None:
            fields[WalkField.SIGHTINGS] = self._sightings.address

    @property
    def steps(self) -> int:
        """How many steps the last call of `walk` took, or has taken so far."""
        return sum(self._steps)

    @property
    def seen(self) -> bytes:
        """The abstract states that the last call of `walk` saw; see `Sightings.entries`."""
        return b"" if self._sightings is None else self._sightings.entries

    def walk(self, first: int, end: int, stopped: Callable[[], object] = lambda: None) -> Walked:
        """Take the walks with numbers from `first` to before `end`, and return their result.

        Args:
            first: the number of the first walk.
            end: the number after the last walk.
            stopped: called repeatedly; when its result is true, unfinished walks end where they are.
        """
        self._begin(first, end)
        while self._walk(ctypes.addressof(self._context)):
            if stopped():
                self._leave_off()
                break
            self._make_room()
        lengths = Counter(self._lengths[: self._context[WalkField.NEXT] - first])
        return Walked(tuple(self._steps[: self._sizes.actions]), lengths, self._stuck[0], self._failure())

    def _begin(self, first: int, end: int) -> None:
        if len(self._lengths) < end - first:
            self._lengths = (ctypes.c_uint64 * (end - first))()
            self._context[WalkField.LENGTHS] = ctypes.addressof(self._lengths)
        for counters in (self._steps, self._failed, self._stuck):
            ctypes.memset(ctypes.addressof(counters), 0, ctypes.sizeof(counters))
        self._failed[0] = NO_WALK
        # All bits set is NO_WALK: all places are idle.
        ctypes.memset(self._context[WalkField.PLACES], 0xFF, 8 * len(PlaceField) * BATCH)
        self._context[WalkField.NEXT], self._context[WalkField.END] = first, end
        self._context[WalkField.FIRST] = first
        if self._sightings is not None:
            self._sightings.clear()
        self._make_room()

    def _make_room(self) -> None:
        if self._sightings is not None:
            self._sightings.make_room(SEEN_IN_A_ROUND)

    def _leave_off(self) -> None:
        """Record the lengths of unfinished walks."""
        fields, first = len(PlaceField), self._context[WalkField.FIRST]
        places = (ctypes.c_uint64 * (fields * BATCH)).from_address(self._context[WalkField.PLACES])
        for place in range(0, fields * BATCH, fields):
            if (number := places[place + PlaceField.NUMBER]) != NO_WALK:
                self._lengths[number - first] = places[place + PlaceField.TAKEN]

    def _failure(self) -> FailedWalk | None:
        number, prop, count, start = self._failed[:4]
        if number == NO_WALK:
            return None
        path = (ctypes.c_uint32 * count).from_address(ctypes.addressof(self._failed) + 32)
        return FailedWalk(number, prop, tuple(path), start)

    def close(self) -> None:
        """Free all memory."""
        self._scratch.close()
        if self._sightings is not None:
            self._sightings.close()


# ------------------------------------------------------------------------------------------------------ abstract states

_FIRST_SLOTS = 1 << 12
_MOST_ENTRIES = 1 << 39  # a slot has 40 bits for 1 + the index of an entry
_FEW_ENTRIES = 1 << 16  # with address space for fewer, `Sightings` gives up


class SightField(IntEnum):
    """The 64-bit fields of a set of abstract states, as the kernels see them."""

    ENTRIES = 0  # address of the entries: the words of an abstract state, and the number of a walk
    COUNT = 1  # how many entries there are
    LIMIT = 2  # how many there may be before the slots must grow
    SLOTS = 3  # address of the slots
    MASK = 4  # how many slots there are, a power of 2, minus 1


@dataclass(frozen=True, slots=True)
class SightKernels:
    """The compiled functions over abstract states; see `emit.hash_table.sightings_module`."""

    absorb: Callable[[int, int, int, int, int], int]
    spread: Callable[[int], int]


class Sightings:
    """The exact set of abstract states that walks saw, each with the number of the first walk that saw it.

    A set belongs to one thread at a time. Entries never move: address space is reserved for all that fit into the
    memory of this machine, or for fewer if the system refuses that. Memory is used as entries come.

    Args:
        words: 64-bit words per abstract state.
        kernels: the compiled functions for abstract states of this size.

    Attributes:
        address: of the fields for the kernels.
        entry_bytes: bytes per entry: an abstract state and the number of a walk.
    """

    def __init__(self, words: int, kernels: SightKernels) -> None:
        self._kernels, self.entry_bytes = kernels, 8 * (words + 1)
        self._most = min(physical_memory() // self.entry_bytes, _MOST_ENTRIES)
        self._fields = (ctypes.c_uint64 * len(SightField))()
        self.address = ctypes.addressof(self._fields)
        self._entries = self._reserve()
        self._fields[SightField.ENTRIES] = self._entries.address
        self._slots = self._use(_FIRST_SLOTS)

    @classmethod
    def of(cls, kernels: Kernels) -> Sightings:
        """Return an empty set for a program with an abstraction. Needs the part SIGHT."""
        return cls(kernels.sizes.abstract_words, SightKernels(kernels.function("absorb"), kernels.function("spread")))

    def __len__(self) -> int:
        return int(self._fields[SightField.COUNT])

    @property
    def entries(self) -> bytes:
        """A copy of all entries, in the order of insertion."""
        return self._entries.read(0, len(self) * self.entry_bytes)

    def clear(self) -> None:
        """Remove all entries."""
        if len(self):
            self._fields[SightField.COUNT] = 0
            ctypes.memset(self._slots.address, 0, 8 * (self._fields[SightField.MASK] + 1))

    def make_room(self, more: int) -> None:
        """Make room for `more` entries.

        Raises:
            UserError: they do not fit into memory.
        """
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
        """Add the entries of consecutive walks, and return how many are new, for each walk.

        Args:
            entries: the entries of another set.
            first: the number of the first walk.
            walks: how many walks there are.
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
                self._most //= 16  # leave address space for others

    def _use(self, slots: int) -> Block:
        made = Block(8 * slots)
        self._fields[SightField.SLOTS] = made.address
        self._fields[SightField.MASK] = slots - 1
        self._fields[SightField.LIMIT] = slots // 2
        return made

    def close(self) -> None:
        """Free all memory."""
        self._entries.close()
        self._slots.close()
