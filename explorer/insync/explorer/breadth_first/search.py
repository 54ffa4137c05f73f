"""Breadth-first search, level by level: expand, route by hash to the owning partition, insert.

Each partition is owned by one worker, so nothing is locked. A level is the same set of states for any number of workers
and partitions, and only whole levels are counted; so is everything that is concluded from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from insync.explorer.breadth_first.workers import Team
from insync.explorer.growth import estimated_end, last_growth
from insync.explorer.limits import StopReason, Watch
from insync.explorer.progress import Progress, Pulse, Reporter
from insync.machine.kernels import Kernels
from insync.machine.packed import Found, PackedRows, Stepless, Words
from insync.machine.store import Store
from insync.model.errors import ModelError

__all__ = ["BreadthFirstSearch", "Hit", "Partition", "Space"]

_BUFFER_BYTES = 1 << 20
_SLOT_BYTES = 16  # of the table, for a state
_FEW = 1024  # states that one thread expands faster than two can share


@dataclass(slots=True)
class Partition:
    """The states that one worker owns.

    Attributes:
        store: the states.
        starts: where each level begins in the store; the last one is being filled.
    """

    store: Store
    starts: list[int] = field(default_factory=lambda: [0])
    expanded: int = 0

    @property
    def pending(self) -> int:
        """How many states of the current level are not expanded yet."""
        return self.starts[-1] - self.expanded


@dataclass(frozen=True, slots=True)
class Hit:
    """The first level in which something was found, how often, and the least state there."""

    level: int
    count: int
    least: Words


@dataclass(slots=True)
class Space:
    """The part of the state space that was searched.

    Attributes:
        partitions: the states; with symmetry their representatives.
        levels: how many states each complete level has.
        steps: how many steps of each action were taken from the levels that were expanded.
        violations: for each property that fails, by its place in the order they were given, where it first does.
        refused: where a step's checks first fail.
        stopped_by: the bound that ended the search.
        expanded: how many levels were expanded as a whole.
        stepless: of each of these how many states have no step.
        visited: how many states of each complete level were visited: all, or their representatives.
    """

    partitions: list[Partition]
    steps: list[int]
    levels: list[int] = field(default_factory=list)
    violations: dict[int, Hit] = field(default_factory=dict)
    refused: Hit | None = None
    stopped_by: StopReason | None = None
    expanded: int = 0
    stepless: list[Stepless] = field(default_factory=list)
    visited: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.visited = self.visited or list(self.levels)

    def close(self) -> None:
        """Give all memory back."""
        for partition in self.partitions:
            partition.store.close()


class BreadthFirstSearch:
    """One exhaustive search.

    Args:
        kernels: the compiled program and properties.
        watch: says when to stop.
        team: the threads that work.
        partitions: how many parts the states are kept in.
        initials: the initial states, each once.
        keep_going: whether to go on after a violation.
        reporter: is told how far the search is.
    """

    def __init__(
        self,
        kernels: Kernels,
        watch: Watch,
        team: Team,
        partitions: int,
        initials: PackedRows,
        keep_going: bool = False,
        reporter: Reporter | None = None,
    ) -> None:
        self.initials = initials
        self.kernels, self.watch, self.team = kernels, watch, team
        self.keep_going, self.reporter = keep_going, reporter
        stores = [kernels.store(watch.memory_bytes, partitions) for _ in range(partitions)]
        self.space = Space([Partition(store) for store in stores], [0] * kernels.sizes.actions)
        known = initials.first(kernels.sizes.words)
        self.expanders = [kernels.expander(partitions, _BUFFER_BYTES, known) for _ in range(team.size)]
        self.checkers = [kernels.checker() for _ in range(team.size)]
        self._found = [0] * team.size
        self._pulse = Pulse()
        self._full = False

    def run(self) -> Space:
        """Search from the initial states until the space is complete or something ends it.

        Raises:
            UserError: the limit on the memory leaves no room for the first states.
        """
        try:
            self._require_room()
            self._add_initials()
            while self.space.stopped_by is None and self._goes_on() and self._next_level():
                pass
        finally:
            for expander in self.expanders:
                expander.close()
            for checker in self.checkers:
                checker.close()
        return self.space

    def _require_room(self) -> None:
        """Refuse a limit within which the first batch of states could not be expanded and stored."""
        stores = sum(partition.store.page_bytes + partition.store.table_bytes for partition in self.space.partitions)
        initial = 2 * self.initials.count * (self.kernels.sizes.row_bytes + _SLOT_BYTES)
        needed = stores + initial + sum(expander.batch_bytes for expander in self.expanders)
        threads, partitions = self.team.size, len(self.space.partitions)
        use = f"the first states with threads={threads} and partitions={partitions}"
        self.watch.require_room(needed, use)

    def _goes_on(self) -> bool:
        if not self.keep_going and (self.space.violations or self.space.refused):
            return False
        self.space.stopped_by = self.watch.after_level(len(self.space.levels), sum(self.space.levels))
        return self.space.stopped_by is None

    def _add_initials(self) -> None:
        initials = self.kernels.representatives(self.initials)
        shares = self.kernels.shares(initials, len(self.space.partitions))

        def add(worker: int) -> None:
            for number in range(worker, len(shares), self.team.size):
                store = self.space.partitions[number].store
                if not store.add(shares[number], self.watch.may_use):
                    self._full = True
                self.checkers[worker].check(store.address(0), len(store))
                self._found[worker] += self.kernels.states_of(store.address(0), len(store))

        self.team.run(add, alone=self.initials.count < _FEW)
        self.watch.settle()
        if self._full:
            self.space.stopped_by = StopReason.MEMORY
        else:
            self._require_closed()
            self._close_level()

    def _require_closed(self) -> None:
        """Refuse initial states of which some are permutations of others and some are not there."""
        if self.kernels.sizes.symmetric and sum(self._found) != self.initials.count:
            message = (
                "A sort of this model is declared symmetric, but its initial states single a member out: with other "
                "members in each place they are not the same states. Take symmetric=True off the sort."
            )
            raise ModelError(message)

    def _next_level(self) -> bool:
        """Expand the last level and close the next; return whether there is one.

        A level in which a refused step ends the search does not count as expanded: where its other steps lead is not
        looked at.
        """
        while any(partition.pending for partition in self.space.partitions):
            self.space.stopped_by = self._round()
            if self.space.stopped_by is not None:
                return False
        refused = _total([expander.take_refused() for expander in self.expanders])
        if refused.least is not None and self.space.refused is None:
            self.space.refused = Hit(len(self.space.levels), refused.count, refused.least)
            if not self.keep_going:
                return False
        for expander in self.expanders:
            self.space.steps = [a + b for a, b in zip(self.space.steps, expander.take_steps(), strict=True)]
        self.space.stepless.append(sum((each.take_stepless() for each in self.expanders), Stepless()))
        self.space.expanded = len(self.space.levels)
        return self._close_level()

    def _close_level(self) -> bool:
        size = 0
        for partition in self.space.partitions:
            size += len(partition.store) - partition.starts[-1]
            partition.starts.append(len(partition.store))
        if not size:
            return False
        self.space.levels.append(sum(self._found))
        self.space.visited.append(size)
        self._found = [0] * self.team.size
        by_property = zip(*[checker.take() for checker in self.checkers], strict=True)
        for number, found in enumerate(map(_total, by_property)):
            if found.least is not None and number not in self.space.violations:
                self.space.violations[number] = Hit(len(self.space.levels), found.count, found.least)
        return True

    # ----------------------------------------------------------------------------------------------------- one round

    def _round(self) -> StopReason | None:
        """Expand until the buffers are full or the level is done, and insert what came out."""
        pending = sum(partition.pending for partition in self.space.partitions)
        self._report(pending)
        stopped = self.watch.interrupted()
        if stopped is not None:
            return stopped
        widest = pending * self.kernels.sizes.actions * self.kernels.sizes.row_bytes
        if not self.watch.may_use(min(widest, sum(expander.untouched_bytes for expander in self.expanders))):
            return StopReason.MEMORY
        self.team.run(self._expand, alone=pending < _FEW)
        self.watch.settle()
        fresh = sum(expander.pending_bytes for expander in self.expanders)
        if not self.watch.may_use(fresh + sum(partition.store.page_bytes for partition in self.space.partitions)):
            return StopReason.MEMORY
        self.team.run(self._insert, alone=pending < _FEW)
        self.watch.settle()
        for expander in self.expanders:
            expander.clear()
        return StopReason.MEMORY if self._full else None

    def _expand(self, worker: int) -> None:
        expander = self.expanders[worker]
        for partition in self.space.partitions[worker :: self.team.size]:
            if partition.pending:
                done = expander.expand(partition.store.address(partition.expanded), partition.pending)
                partition.expanded += done
                if partition.pending:
                    return

    def _insert(self, worker: int) -> None:
        for number in range(worker, len(self.space.partitions), self.team.size):
            store = self.space.partitions[number].store
            before = len(store)
            for expander in self.expanders:
                address, count = expander.candidates(number)
                if count and not store.insert(address, count, self.watch.may_use):
                    self._full = True
            address, fresh = store.address(before), len(store) - before
            self.checkers[worker].check(address, fresh)
            self._found[worker] += self.kernels.states_of(address, fresh)

    def _report(self, pending: int) -> None:
        if self.reporter is None or not self._pulse.due():
            return
        distinct = sum(len(partition.store) for partition in self.space.partitions)
        rate = self._pulse.rate(distinct)
        levels, resident = self.space.visited, self.watch.resident
        end = estimated_end(levels, self.watch.reaches)
        to_come = 0 if end is None else max(0, end.states - distinct)
        self.reporter(
            Progress(
                level=len(self.space.levels),
                frontier=pending,
                distinct_states=distinct,
                states_per_second=rate,
                memory_bytes=resident,
                seconds=self.watch.seconds,
                growth=last_growth(levels),
                end=end,
                memory_at_end=resident + to_come * (self.kernels.sizes.row_bytes + _SLOT_BYTES),
                memory_limit=self.watch.memory_bytes,
            )
        )


def _total(parts: Sequence[Found]) -> Found:
    total = Found()
    for part in parts:
        total.add(part)
    return total
