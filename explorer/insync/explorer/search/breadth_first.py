"""Level-synchronous breadth-first search over hash-partitioned states (Stern & Dill 1997).

The states of a level are expanded, and each successor is inserted into the partition that owns it. One worker owns a
partition, so nothing is locked. A level is the same set of states for any number of workers and partitions, and only
whole levels are counted, so counts, verdict and trace do not depend on these numbers either. In a large space codes
replace the states (collapse compression: Holzmann 1997).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from insync.explorer.progress import Phase, Progress, Pulse, Reporter, estimated_end, progress_of
from insync.explorer.search.explored import Explored, LevelSummary
from insync.machine.kernels import Kernels
from insync.machine.packed import PackedRows, Words
from insync.machine.stores.hash_table import TABLE_BYTES_OF_STATE, HashTableStore
from insync.machine.stores.store import InsertOutcome, StateStore
from insync.model.domains.layout import Schema
from insync.model.tracing.program import Program
from insync.runtime.errors import ModelError
from insync.runtime.watch import Stopped, StopReason, Watch
from insync.runtime.workers import Team

if TYPE_CHECKING:
    from insync.explorer.search.run_directory import RunDirectory

__all__ = ["MOST_WHOLE", "MOST_WHOLE_FOR_PAIRS", "BreadthFirstSearch", "Further", "breadth_first"]


MOST_WHOLE = 1 << 22
"""The most states that are kept whole; when a level ends with more, codes replace them if they may.

Up to here whole states are faster, and codes would save little memory.
"""

MOST_WHOLE_FOR_PAIRS = 1 << 24
"""The same for codes that number parts of a state in pairs, which take half as long again."""

ROUNDS = 1
"""The most rounds of pairing, see `digits_of`: in a space that needs more, codes become too wide in the end."""

_BUFFER_BYTES = 1 << 20
_BOTH_BYTES = 24  # of codes and their table for each state, while the states are kept too
_FEW = 1024  # states: so few are expanded faster by one thread than by two


@dataclass(frozen=True, slots=True)
class Further:
    """A second limit on states, for a search in which a property holds so far when the first limit is reached.

    Attributes:
        property: the place of the property; None if the search goes on in any case.
        states: the limit.
    """

    property: int | None
    states: int


@contextmanager
def breadth_first(
    program: Program,
    kernels: Kernels,
    watch: Watch,
    threads: int,
    keep_going: bool = False,
    reporter: Reporter | None = None,
    schema: Schema | None = None,
    initials: PackedRows | None = None,
) -> Iterator[BreadthFirstSearch]:
    """Yield a search, whose memory is released after the block, with as many partitions as threads.

    See `BreadthFirstSearch` for the arguments; without `initials` the search begins in those of the program.
    """
    initials = initials or PackedRows.of(program.initials.rows, program.schema.words)
    with Team(threads) as team:
        search = BreadthFirstSearch(kernels, watch, team, threads, initials, keep_going, reporter, schema)
        with closing(search):
            yield search


class BreadthFirstSearch:
    """One exhaustive search.

    Args:
        kernels: the compiled program and properties.
        watch: the limits of the search.
        team: the threads that work.
        partitions: the number of partitions.
        initials: the initial states, each once.
        keep_going: whether to continue after a violation.
        reporter: called with the progress of the search.
        schema: of the states, if earlier levels need not be kept: a large space is then kept as codes. Without it
            every state is kept whole.
        kept: where each complete level is written. A run that is there is resumed, with its number of partitions.
        further: a second limit on states.

    Attributes:
        space: what was found.
        predecessors: those that were looked for to trace violations, by state and level; their paths often meet.
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
        schema: Schema | None = None,
        kept: RunDirectory | None = None,
        further: Further | None = None,
    ) -> None:
        self.initials, self.kept = initials, kept
        self.kernels, self.watch, self.team = kernels, watch, team
        self.keep_going, self.reporter, self.schema = keep_going, reporter, schema
        self.partitions = partitions if kept is None else kept.partitions or partitions
        self._further = further
        self.predecessors: dict[tuple[Words, int], Words | None] = {}
        self._keep_levels = False
        self._again: BreadthFirstSearch | None = None
        self._lost: StopReason | None = None  # why not all states of a resumed run were read
        self._pulse = Pulse()
        self._rounds = list(range(ROUNDS + 1))  # of pairing: the numbers that are left to try
        self._begin(schema)

    def _begin(self, schema: Schema | None) -> None:
        """Begin with empty partitions; with a schema, codes may replace the states later."""
        self._to_code = schema if self._rounds else None
        count, most = self.partitions, self.watch.memory_bytes
        self._begin_with(HashTableStore(self.kernels.store(most, count)) for _ in range(count))

    def _begin_with(self, parts: Iterable[StateStore]) -> None:
        kernels, partitions = self.kernels, self.partitions
        self.space = Explored([0] * kernels.sizes.actions, partitions=list(parts))
        self._owning = kernels.ownership_by_all(partitions)
        known = self.initials.first(kernels.sizes.words)
        self.expanders = [kernels.expander(partitions, _BUFFER_BYTES, known) for _ in range(self.team.size)]
        self.checkers = [kernels.checker() for _ in range(self.team.size)]
        self._found, self._outside = [0] * self.team.size, [0] * self.team.size
        self._failed = InsertOutcome.DONE

    def run(self) -> Explored:
        """Search from the initial states until the space is complete or something ends the search.

        Raises:
            UserError: the limit on memory leaves no room for the first states.
            Stopped: not all states of a resumed run could be read.
        """
        self._search_all()
        if self._lost is not None:
            raise Stopped(self._lost)
        return self.space

    def _search_all(self) -> None:
        self._require_room()
        self._search()
        while self._failed is InsertOutcome.NO_CODES:  # then all begins again, without such codes
            self.space.release()
            self._begin(self.schema)
            self._require_room()
            self._search()

    def readable(self) -> Explored:
        """Return a space whose levels can be read up to those of violations; one with codes is searched once more.

        Raises:
            Stopped: that search was stopped, or ran out of memory.
        """
        if self.space.kept != "codes":
            return self.space
        if self._again is None:
            hits = [*self.space.violations.values(), *([self.space.refused] if self.space.refused else [])]
            self.space.release()
            watch = self.watch.untimed(max(1, max(hit.level for hit in hits) - 1))
            reporter = None if self.reporter is None else partial(_again, self.reporter)
            self._again = BreadthFirstSearch(
                self.kernels, watch, self.team, self.partitions, self.initials, True, reporter, self.schema
            )
            self._again._keep_levels = True
            stopped = self._again.run().stopped_by
            if stopped is not None and stopped is not StopReason.DEPTH:
                raise Stopped(stopped)
        return self._again.space

    def close(self) -> None:
        """Release all memory."""
        self.space.release()
        if self._again is not None:
            self._again.space.release()

    def _search(self) -> None:
        try:
            has_begun = self.kept is not None and self.kept.has_begun
            goes_on = self._take_up() if has_begun else self._add_initials()
            while goes_on:
                goes_on = self._next_level()
        finally:
            self._close_workers()

    def _close_workers(self) -> None:
        for expander in self.expanders:
            expander.close()
        for checker in self.checkers:
            checker.close()

    @property
    def _whole_bytes(self) -> int:
        """Bytes of memory for a state that is kept whole."""
        return self.kernels.sizes.row_bytes + TABLE_BYTES_OF_STATE

    def _require_room(self) -> None:
        """Refuse a limit within which the first batch of states could not be expanded and stored."""
        stores = sum(partition.page_bytes + partition.store.table_bytes for partition in self.space.whole)
        initial = 2 * self.initials.count * self._whole_bytes
        needed = stores + initial + sum(expander.batch_bytes for expander in self.expanders)
        threads, partitions = self.team.size, len(self.space.partitions)
        use = f"the first states with threads={threads} and partitions={partitions}"
        self.watch.require_room(needed, use)

    def _add_initials(self) -> bool:
        initials = self.kernels.representatives(self.initials)
        shares = self.kernels.shares(initials, len(self.space.partitions))

        def add(worker: int) -> None:
            for number in range(worker, len(shares), self.team.size):
                self._insert_into(number, shares[number].address, shares[number].count)
                self._look_at_unseen(number, worker)

        self.team.run(add, alone=self.initials.count < _FEW)
        self.watch.end_promises()
        self.space.stopped_by = self._out_of_memory()
        if self.space.stopped_by is not None:
            return False
        self._require_closed()
        return self._close_level()

    def _take_up(self) -> bool:
        """Read the levels of the run that is resumed; return whether the search goes on.

        If that is stopped, or memory is full, the space is that of the run as it was.
        """
        kept = self.kept
        assert kept is not None
        known, is_over = kept.space(self.watch.limits, self.keep_going)
        for level in range(1, len(known.levels) + 1):
            kept.insert_level(level, self.space.partitions, self.team, self._is_inserted)
            self.team.run(partial(self._settle, looking=False))
            self.watch.end_promises()
            stopped = self.watch.reason() or self._out_of_memory()
            if stopped is not None:
                self.space = replace(known, partitions=self.space.partitions, stopped_by=stopped)
                self._lost = stopped if self._failed is not InsertOutcome.NO_CODES else None  # then all begins again
                return False
            self.space.visited.append(kept.close_level(level, self.space.partitions))
            self._encode_if_large()
        self.space = replace(known, partitions=self.space.partitions)
        if not is_over:
            kept.go_over(self.space.partitions)
        return not is_over

    def _is_inserted(self, number: int, rows: int, count: int) -> bool:
        """Insert states of the run that is resumed; return whether to continue reading."""
        self._insert_into(number, rows, count)
        return self._failed is InsertOutcome.DONE and self.watch.reason() is None

    def _require_closed(self) -> None:
        """Raise ModelError unless the initial states are closed under permutations of symmetric members."""
        if self.kernels.sizes.symmetric and sum(self._found) != self.initials.count:
            message = (
                "A sort of this model is declared symmetric, but its initial states single a member out: with other "
                "members in each place they are not the same states. Take symmetric=True off the sort."
            )
            raise ModelError(message)

    def _next_level(self) -> bool:
        """Expand the last level and close the next; return whether the search goes on."""
        self._encode_if_large()
        while any(partition.pending for partition in self.space.partitions):
            self.space.stopped_by = self._round()
            if self.space.stopped_by is not None:
                return False
        if self.space.kept == "files":
            self.team.run(self._settle)
            self.space.stopped_by = self._out_of_memory()
            if self.space.stopped_by is not None:
                return False
        level = LevelSummary()
        for each in self.expanders:
            level.add_steps(each.take_steps(), each.take_refused(), each.take_stepless())
        return self.space.expand(level, self.keep_going) and self._close_level()

    def _close_level(self) -> bool:
        level = LevelSummary(sum(partition.close_level() for partition in self.space.partitions))
        for checker, states, outside in zip(self.checkers, self._found, self._outside, strict=True):
            level.add_states(0, states, outside, checker.take())
        self._found, self._outside = [0] * self.team.size, [0] * self.team.size
        goes_on = self.space.close(level, self.watch.limits, self.keep_going)
        if self.space.stopped_by is StopReason.STATES and self._goes_further():
            goes_on = self.space.goes_on(self.watch.limits, self.keep_going)
        if level.visited:
            self._expect()
            if self.kept is not None:
                self.kept.keep(self.space, self.team, self.watch.room)
        return goes_on

    def _goes_further(self) -> bool:
        """Put the second limit on states in the place of the first, if that is to be."""
        further, self._further = self._further, None
        if further is None or further.property in self.space.violations:
            return False
        self.watch.limits = replace(self.watch.limits, states=further.states)
        return True

    def _expect(self) -> None:
        """Pass an estimate of its final size to each partition, if the levels allow one."""
        end = estimated_end(self.space.visited, self.watch.allows)
        if end is not None:
            known = sum(self.space.visited)
            for partition in self.space.partitions:
                partition.expect(len(partition) * end.states // known)

    def _encode_if_large(self) -> None:
        visited = sum(self.space.visited)
        while self._to_code is not None and visited > (MOST_WHOLE_FOR_PAIRS if self._rounds[0] else MOST_WHOLE):
            self._encode(self._to_code)

    def _encode(self, schema: Schema) -> None:
        """Replace the states by codes, unless these are too wide or memory has no room for both."""
        from insync.explorer.search.encoding import all_coded, evenly_owned  # few spaces are so large

        self._to_code = None
        if not self.watch.may_use(_BOTH_BYTES * sum(self.space.visited)):
            self.watch.end_promises()
            return
        whole = self.space.whole
        share = 2 * self.watch.memory_bytes // self.partitions  # of address space: shares are never exactly equal
        # In a run directory a state belongs to the same partition from the first level on.
        owning = evenly_owned(self.kernels, schema, whole, self.team) if self.kept is None else None
        codes = all_coded(whole, schema, self._rounds.pop(0), self.team, share, self._keep_levels, owning)
        self.watch.end_promises()
        if codes is None:
            self._to_code = schema if self._rounds else None
            return
        for partition in codes:
            partition.store.stopped = lambda: self.watch.stopped
        self.space.partitions = list(codes)
        self._owning = owning or self._owning
        for expander in self.expanders if owning is not None else ():
            expander.own_by(self._owning)
        for each in whole:
            each.close()

    # ----------------------------------------------------------------------------------------------------- one round

    def _round(self) -> StopReason | None:
        """Expand until the buffers are full or the level is done, and insert the successors."""
        pending = sum(partition.pending for partition in self.space.partitions)
        self._report(pending)
        if (stopped := self.watch.reason()) is not None:
            return stopped
        widest = pending * self.kernels.sizes.actions * self.kernels.sizes.row_bytes
        if not self.watch.may_use(min(widest, sum(expander.untouched_bytes for expander in self.expanders))):
            return StopReason.MEMORY
        self.team.run(self._expand, alone=pending < _FEW)
        self.watch.end_promises()
        fresh = sum(expander.pending_bytes for expander in self.expanders)
        if not self.watch.may_use(fresh + sum(partition.page_bytes for partition in self.space.partitions)):
            return StopReason.MEMORY
        self.team.run(self._insert, alone=pending < _FEW)
        self.watch.end_promises()
        for expander in self.expanders:
            expander.clear()
        return self._out_of_memory()

    def _out_of_memory(self) -> StopReason | None:
        """Return a reason to stop if an insertion has failed; if codes ran out, the search then begins again."""
        return None if self._failed is InsertOutcome.DONE else self.watch.reason() or StopReason.MEMORY

    def _expand(self, worker: int) -> None:
        for partition in self.space.partitions[worker :: self.team.size]:
            if not partition.expand(self.expanders[worker]):
                return

    def _insert(self, worker: int) -> None:
        for number in range(worker, len(self.space.partitions), self.team.size):
            for expander in self.expanders:
                self._insert_into(number, *expander.candidates(number))
            self._look_at_unseen(number, worker)

    def _settle(self, worker: int, looking: bool = True) -> None:
        """Detect duplicates where insertion put that off, and check the states that are new."""
        for number in range(worker, len(self.space.partitions), self.team.size):
            outcome = self.space.partitions[number].detect_duplicates()
            if outcome is not InsertOutcome.DONE:
                self._failed = outcome
            elif looking:
                self._look_at_unseen(number, worker)

    def _insert_into(self, number: int, rows: int, count: int) -> None:
        """Insert states into a partition, and note a failure."""
        if count:
            outcome = self.space.partitions[number].insert(rows, count, self.watch.may_use)
            if outcome is not InsertOutcome.DONE:
                self._failed = outcome

    def _look_at_unseen(self, number: int, worker: int) -> None:
        """Check the new states of a partition; count the states they represent, and those outside the confinement."""
        partition, kernels, sizes = self.space.partitions[number], self.kernels, self.kernels.sizes
        if not (sizes.conditions or sizes.symmetric or sizes.confined):
            self._found[worker] += partition.skip_unseen()
            return
        for rows, count in partition.unseen():
            self.checkers[worker].check(rows, count)
            self._found[worker] += kernels.states_of(rows, count)
            self._outside[worker] += kernels.outside_of(rows, count)

    def _report(self, pending: int) -> None:
        if self.reporter is not None and self._pulse.due():
            self.reporter(self._progress(pending, self._pulse.rate(sum(map(len, self.space.partitions)))))

    def _progress(self, pending: int, rate: float) -> Progress:
        return progress_of(self.space, self.watch, self._whole_bytes, pending, rate)


def _again(reporter: Reporter, progress: Progress) -> None:
    """Report the progress of the search for a trace."""
    reporter(replace(progress, phase=Phase.TRACE))
