"""Breadth-first search that goes on with sorted files in its run directory when the memory is full."""

from __future__ import annotations

from dataclasses import replace

from insync.explorer.limits import StopReason, Watch
from insync.explorer.progress import Phase, Progress, Reporter
from insync.explorer.search.beyond_memory import disk_need, foretold_bytes, forms_for, least_room, sorted_partitions
from insync.explorer.search.breadth_first import BreadthFirstSearch
from insync.explorer.search.explored import Space
from insync.explorer.search.run_directory import RunLevels
from insync.explorer.search.workers import Team
from insync.machine.kernels import Kernels
from insync.machine.packed import PackedRows
from insync.machine.stores.compressed import InsertOutcome
from insync.machine.stores.external import SortedPartition
from insync.model.domains.layout import Schema

__all__ = ["DiskSearch"]


class DiskSearch(BreadthFirstSearch):
    """One exhaustive search that keeps its levels; see `BreadthFirstSearch`.

    When the memory is full, what is complete is taken up as sorted files, and the level that was being expanded is
    expanded again. A run that has come so far goes on so, whatever memory there is by then.
    """

    def __init__(
        self,
        kernels: Kernels,
        watch: Watch,
        team: Team,
        partitions: int,
        initials: PackedRows,
        keep_going: bool,
        reporter: Reporter | None,
        schema: Schema,
        kept: RunLevels,
    ) -> None:
        super().__init__(kernels, watch, team, partitions, initials, keep_going, reporter, schema, kept)
        self._levels, self._schema = kept, schema

    def _search_all(self) -> None:
        if self._levels.form is not None:
            beside = sum(each.untouched_bytes for each in self.expanders)
            self._close_workers()
            counts = (self.partitions, self.team.size)
            use = f"sorted files with threads={self.team.size} and partitions={self.partitions}"
            self.watch.require_room(beside + least_room(self._levels.form, self._schema, counts), use)
        else:
            super()._search_all()
            if self.space.stopped_by is not StopReason.MEMORY or not self.space.levels:
                return
        self._go_on_disk()

    def _go_on_disk(self) -> None:
        kept, begins = self._levels, self._levels.form is None
        progress = super()._progress(0, 0.0)
        self.space.close()  # before anything is compiled
        forms = forms_for(self._schema)
        name = kept.form or forms[0]
        if begins:
            self._tell(name, progress)
        self._search_with(name)
        for wider in forms[forms.index(name) + 1 :]:
            if self._failed is InsertOutcome.NO_CODES:
                self._go_over_to(wider)

    def _go_over_to(self, name: str) -> None:
        """Make rows of another form of those that are codes, which became too wide."""
        kept, before = self._levels, self.space
        for partition in before.partitions:
            assert isinstance(partition, SortedPartition)
            partition.only_read()
        kept.previous = before.partitions if kept.form is not None else ()
        self._tell(name, super()._progress(0, 0.0))
        self._search_with(name)
        before.close()

    def _tell(self, name: str, progress: Progress) -> None:
        """Say about what it will take to go on with sorted files of one form."""
        if self.reporter is not None:
            each = foretold_bytes(name, self.kernels.sizes.words)
            need = disk_need(self._levels.folder, each, self._known().visited, progress)
            self.reporter(replace(progress, phase=Phase.DISK, disk=need))

    def _progress(self, pending: int, rate: float) -> Progress:
        """Return where it is; on disk also about what it takes there."""
        progress, levels = super()._progress(pending, rate), self.space.visited
        size = sum(each.disk_bytes for each in self.space.partitions if isinstance(each, SortedPartition))
        if not size or not levels:
            return progress
        need = disk_need(self._levels.folder, size / sum(levels), levels, progress, slower=1.0)
        return replace(progress, disk=need)

    def _known(self) -> Space:
        """Return what is complete, without its states."""
        known = self._levels.known
        assert known is not None, "a level is complete"
        return known

    def _search_with(self, name: str) -> None:
        """Search with sorted files of one form; where there is no room for their buffers, it ends at once."""
        self._lost = self._to_code = None
        self._begin_with(())
        room = self.watch.room - sum(each.untouched_bytes for each in self.expanders)
        counts = (self.partitions, self.team.size)
        made = sorted_partitions(self._levels.place, name, self._schema, counts, room, self._is_stopped)
        if made is None:
            self._close_workers()
            self._lost = StopReason.MEMORY
            self.space = replace(self._known(), stopped_by=self._lost)
            return
        self.space.partitions = list(made)
        self._search()

    def _is_stopped(self) -> bool:
        return self.watch.interrupted() is not None
