"""Taking random walks: the memory that a batch of them takes, and what is counted."""

from __future__ import annotations

import ctypes
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import reduce

from insync.machine.memory import Block, physical_memory
from insync.machine.packed import BATCH, COLUMN_BYTES, MASK_BYTES, PackedRows, Sizes
from insync.model.errors import InternalError, UserError

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


_ROUNDS = 128  # some milliseconds, of a large model a tenth of a second

NO_WALK = 2**64 - 1
"""The number of a walk that is none: of an idle place, and of the failing walk while there is none."""

SEEN_IN_A_ROUND = 2 * BATCH
"""The most abstract states that a round can see: those in which walks begin, and those that their steps lead to."""


class Strategy(StrEnum):
    """How walks choose among the enabled actions.

    `UNIFORM` draws from all actions with their parameters at once, so actions with many parameters come often. The
    others draw the action first and then its parameters. With `NAMES` all actions are equal; with `TASTES` each walk
    has weights of its own for them, 1 to 8. With `MIXED` every other walk has.
    """

    MIXED = "mixed"
    NAMES = "names"
    TASTES = "tastes"
    UNIFORM = "uniform"


TASTE_OF_ALL, TASTE_OF_HALF = 1, 2
_TASTES = {Strategy.TASTES: TASTE_OF_ALL, Strategy.MIXED: TASTE_OF_HALF}


class WalkField(IntEnum):
    """The 64-bit fields of the context that `walk` is given the address of."""

    SEED = 0
    NEXT = 1  # number of the next walk to begin
    END = 2  # number after the last walk
    DEPTH = 3  # most steps of a walk
    INITIALS = 4  # address of the initial states
    ROWS = 5  # scratch: the states of a batch
    COLUMNS = 6  # scratch: the same word by word
    MASKS = 7  # scratch: MASK_BYTES per action: where it is enabled
    CHOSEN = 8  # scratch: MASK_BYTES per action: where it is chosen
    VIOLATED = 9  # scratch: MASK_BYTES per property
    PLACES = 10  # scratch: one `PlaceField` record per place of the batch
    PATHS = 11  # scratch: DEPTH 32-bit action numbers per place of the batch
    STEPS = 12  # address of one counter per action: the steps taken
    LENGTHS = 13  # address of a number per walk, from FIRST on: its steps, once it has ended
    FAILED = 14  # address of a record: number of the failing walk, property, steps, start, DEPTH 32-bit action numbers
    STUCK = 15  # address of a counter: walks that ended in a state without a step
    FIRST = 16  # number of the first walk
    ROUNDS = 17  # most steps of a place before the kernel returns
    STARTS = 18  # how many initial states there are
    BY_NAME = 19  # whether an action is drawn first, and then its parameters
    TASTES = 20  # which walks have weights of their own for the actions: none, or one of the two constants below
    SIGHTINGS = 21  # address of a record of `SightField`, where abstract states are noted


class PlaceField(IntEnum):
    """The 64-bit fields of a place of the batch."""

    NUMBER = 0  # of the walk there, or NO_WALK
    RANDOM = 1  # the state of its generator
    TAKEN = 2  # its steps so far
    ENABLED = 3  # how many actions of the group that is drawn are enabled, then which of them is taken, from 1
    START = 4  # place of the initial state that it began in
    TASTE = 5  # what the weights of its groups of actions are made of; 0 if they are all 1
    LAST = 6  # the group that was looked at last
    WEIGHT = 7  # the sum of the weights of those with an enabled action, then how much of it to pass over
    GROUP = 8  # the one that is drawn; 0 before that


@dataclass(frozen=True, slots=True)
class FailedWalk:
    """A walk that ends in a state that violates a property, or with a step that leaves a field's domain.

    Attributes:
        number: of the walk.
        property: its place among the properties; their number for a step that is refused.
        actions: the steps from the initial state; the refused one, if there is one, is the last.
        start: the place of the initial state among those of the program.
    """

    number: int
    property: int
    actions: tuple[int, ...]
    start: int = 0


@dataclass(frozen=True, slots=True)
class Walked:
    """What came of some walks.

    Attributes:
        steps: how many steps of each action were taken.
        lengths: how many walks took so many steps, for each number of steps that some took.
        stuck: how many ended in a state without a step.
        failed: the failing walk with the smallest number.
    """

    steps: tuple[int, ...]
    lengths: Mapping[int, int]
    stuck: int
    failed: FailedWalk | None


def merged(parts: Sequence[Walked]) -> Walked:
    """Return the sum of what came of walks that follow each other; those after the first failure do not count.

    Args:
        parts: at least one, in order.
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
    """Return what came of no walk at all, in a program of so many actions."""
    return Walked((0,) * actions, {}, 0, None)


class Walker:
    """Takes random walks.

    Args:
        sizes: of the program.
        walk: its kernel; see `walking.walk_module`.
        initials: the packed initial states.
        seed: of the random numbers.
        depth: most steps of a walk.
        strategy: how walks choose.
        sightings: where a kernel with an abstraction notes what it sees.
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
        """How many steps were taken since the last call of `walk`, or in it so far."""
        return sum(self._steps)

    @property
    def seen(self) -> bytes:
        """The abstract states that the walks of the last call of `walk` saw; see `Sightings.entries`."""
        return b"" if self._sightings is None else self._sightings.entries

    def walk(self, first: int, end: int, stopped: Callable[[], object] = lambda: None) -> Walked:
        """Take the walks of these numbers, and return what came of them.

        Args:
            first: the number of the first walk.
            end: the number after the last.
            stopped: asked again and again whether to stop; the walks that are under way then end where they are.
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
        # All places are idle: every number in them is NO_WALK, all bits set.
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
        """Note how many steps the walks took that are under way."""
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
        """Give all memory back."""
        self._scratch.close()
        if self._sightings is not None:
            self._sightings.close()


# The abstract states that walks saw: an exact set, with the number of the first walk that saw each.


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
