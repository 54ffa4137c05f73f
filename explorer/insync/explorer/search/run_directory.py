"""The run directory of a search on this machine: each complete level is written there, and the run can be resumed.

Names, formats and the manifest are those of a search on Spark: see `manifest`. So either engine goes on with a run.

A file is whole and flushed before the manifest counts it, and no counted file is written again. So a kill or a loss of
power leaves the manifest of a complete level, with all its files. A level that is complete soon after another is
counted together with later ones, as flushing takes long.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path

from insync.explorer.run_identity import Identity
from insync.explorer.run_lock import RunLock
from insync.explorer.search.explored import Explored
from insync.explorer.search.manifest import (
    Manifest,
    new_id,
    read_manifest,
    refuse_old_run,
    resumed,
    write_manifest,
)
from insync.explorer.search.run_levels import RunLevels, SpaceShape
from insync.machine.store_kernels import order_kernels
from insync.machine.stores.external import ExternalStore
from insync.machine.stores.row_encoding import FORMS
from insync.machine.stores.run_files import RunFiles, name_of
from insync.machine.stores.run_folder import RunFolder
from insync.machine.stores.store import StateStore
from insync.runtime.watch import Limits
from insync.runtime.workers import Team

__all__ = ["RunDirectory", "buffered_rows"]


MOST_ROWS = 1 << 22
"""The most states of a level that are sorted in memory; more are sorted by files."""

LEAST_ROWS = 1 << 12
"""The fewest states that are sorted in memory, however little of it there is."""

_BESIDE_ROWS = 1 << 22  # bytes of memory that writing takes beside the rows
_FEW = 1024  # states: so few are written faster by one thread than by two
_RARELY = 50  # the least pause between two counts, in multiples of the seconds that the last one took

Insert = Callable[[int, int, int], bool]
"""Inserts states into a partition, given (partition, address, count); False ends the reading."""


def buffered_rows(words: int, room: int) -> int:
    """Return how many states to sort in `room` bytes of memory, so that a quarter of them stays free."""
    left = max(0, room - _BESIDE_ROWS) * 3 // 4
    return max(LEAST_ROWS, min(MOST_ROWS, left // (2 * 8 * words + 1)))


class RunDirectory:
    """The run directory of one search, which is locked until `close`.

    Args:
        folder: its path.
        identity: of the search.
        shape: of its space.
        resume: whether to resume the run that is there; else a new one begins, and there must be none.

    Attributes:
        folder: the folder.
        manifest: what the manifest says, or will say.
        previous: partitions with sorted files of another encoding, while a search changes the encoding.
        warning: a sentence if the directory cannot be locked; else None.

    Raises:
        UserError: there is no run to resume, or one of another search; or there is one already, or it is in use.
    """

    def __init__(self, folder: Path, identity: Identity, shape: SpaceShape, resume: bool) -> None:
        self.folder = RunFolder(folder)
        self.previous: Sequence[StateStore] = ()
        self._words = shape.words
        self._counted = 0  # levels that the manifest counts
        self._counted_at, self._counting_seconds = -inf, 0.0
        if resume:
            read_manifest(self.folder)  # else this is some other folder, where no lock belongs
        else:
            refuse_old_run(self.folder)
            self.folder.make()
        self._lock = RunLock(folder)
        self.warning = self._lock.warning
        try:
            if resume:
                self.manifest = resumed(self.folder, identity, shape)
                self._counted = len(self.manifest.levels.levels)
                self.folder.remove_parts()
            else:
                refuse_old_run(self.folder)  # another search may have begun one meanwhile
                self.manifest = Manifest(identity, new_id(), new_id(), 1, 0, RunLevels(shape.actions))
        except BaseException:
            self._lock.release()
            raise

    @property
    def has_begun(self) -> bool:
        """Whether a level is complete."""
        return bool(self._levels.levels)

    @property
    def partitions(self) -> int:
        """The number of partitions; 0 before the first level is complete."""
        return self.manifest.partitions

    @property
    def files(self) -> RunFiles:
        """The files of states, for one thread."""
        return RunFiles(self.folder, self.manifest.run, order_kernels(self._words), self._levels.together)

    @property
    def known(self) -> Explored:
        """The counts and violations of all levels that were written."""
        return self._levels.space(Limits(), keep_going=True)[0]

    def space(self, limits: Limits, keep_going: bool) -> tuple[Explored, bool]:
        """Return what a search with some limits takes of the levels that were written, and whether it is over."""
        return self._levels.space(limits, keep_going)

    def close(self) -> None:
        """Write the manifest with all levels, and release the lock.

        Raises:
            UserError: the run directory cannot be written.
        """
        try:
            self._count()
        finally:
            self._lock.release()

    def keep(self, space: Explored, team: Team, room: int) -> None:
        """Write the last level, and the manifest if that is due.

        Args:
            space: the searched space.
            team: the threads that write.
            room: bytes of memory that writing may take.

        Raises:
            UserError: the run directory cannot be written.
        """
        number = len(space.levels)
        assert number == len(self._levels.levels) + 1, "a file that is counted would be written again"
        if space.kept == "files":
            self._publish(space.partitions)
            digests = {at: part.digest(number) for at, part in enumerate(_sorted(space.partitions))}
        else:
            digests = self._write(number, space.partitions, team, room)
        self.manifest = replace(self.manifest, partitions=len(space.partitions))
        for level, summary in enumerate(space.summaries[-2:], number - len(space.summaries[-2:]) + 1):
            files = digests if level == number else self._levels.levels[level].files
            self._levels.levels[level] = replace(summary, files=files)
        if time.monotonic() - self._counted_at >= _RARELY * self._counting_seconds:
            self._count()

    def go_over(self, partitions: Sequence[StateStore]) -> None:
        """If the levels are now in sorted files, write that into the manifest, and remove the files from before.

        Raises:
            UserError: the run directory cannot be written.
        """
        stores, encoding = _sorted(partitions), _encoding_of(partitions)
        if encoding is None or (self.manifest.on_disk and self._is_as_now(1, partitions)):
            return
        for number, level in self._levels.levels.items():
            self._levels.levels[number] = replace(level, files={at: s.digest(number) for at, s in enumerate(stores)})
        self._levels.together = 1
        self.manifest = replace(self.manifest, encoding=encoding, on_disk=True)
        self._counted, self._counted_at = 0, -inf
        self._count()
        for name in self._others(encoding):
            self.folder.remove(name)

    def insert_level(self, level: int, partitions: Sequence[StateStore], team: Team, insert: Insert) -> None:
        """Read a level into partitions whose current level is marked as expanded: insert it, or open its sorted files.

        Args:
            level: its number.
            partitions: where the states go.
            team: the threads that read.
            insert: inserts states.

        Raises:
            UserError: a file is missing or damaged.
        """
        for partition in partitions:
            partition.pass_over()
        counted = self._levels.counted_for(level)

        def read(worker: int) -> None:
            for number in range(worker, len(partitions), team.size):
                partition = partitions[number]
                if isinstance(partition, ExternalStore) and self._is_as_now(level, partitions):
                    partition.take_up(partial(insert, number, 0, 0), counted.digest_of(level, number))
                elif self.previous:
                    all(insert(number, *chunk.load()) for chunk in self.previous[number].chunks(level))
                else:
                    files = replace(self.files, counted=counted)
                    try:
                        all(insert(number, *states) for states in files.states(number, level))
                    finally:
                        files.close()

        team.run(read)

    def close_level(self, level: int, partitions: Sequence[StateStore]) -> int:
        """Close a level that was read, and return its number of states.

        Raises:
            UserError: that is not the number that was written.
        """
        count = sum(partition.skip_unseen() for partition in partitions)
        if count != self._levels.levels[level].visited:
            raise self.folder.damaged(self._name(level, 0))
        for partition in partitions:
            partition.close_level()
        if not self._is_as_now(level, partitions):
            self._publish(partitions)
        return count

    @property
    def _levels(self) -> RunLevels:
        return self.manifest.levels

    def _is_as_now(self, level: int, partitions: Sequence[StateStore]) -> bool:
        """Whether partitions in sorted files can take a level as it is."""
        alone = level > self._levels.together or self._levels.together == 1
        return alone and self.manifest.encoding == _encoding_of(partitions)

    def _write(self, level: int, partitions: Sequence[StateStore], team: Team, room: int) -> dict[int, bytes]:
        """Write a level from memory, and return the digests of its files."""
        numbers, most, files = range(len(partitions)), buffered_rows(self._words, room // team.size), self.files
        digests: dict[int, bytes] = {}

        def write(worker: int) -> None:
            for number in numbers[worker :: team.size]:
                rows = max(1, min(partitions[number].pending, most))
                digests[number] = files.write_sorted(number, level, partitions[number].current(), rows)

        team.run(write, alone=sum(partition.pending for partition in partitions) < _FEW)
        return digests

    def _publish(self, partitions: Sequence[StateStore]) -> None:
        """Give the sorted files of the last level their names."""
        with self.folder.writing():
            for partition in _sorted(partitions):
                partition.publish()

    def _count(self) -> None:
        """Flush the files that the manifest does not count yet, then write the manifest that counts them."""
        began, levels = time.monotonic(), len(self._levels.levels)
        if self._counted == levels:
            return
        fresh = range(self._counted + 1, levels + 1)
        self._counted = levels  # nothing is tried again: a second flush may pass over what the first one has lost
        self.folder.flush([self._name(level, number) for level in fresh for number in range(self.partitions)])
        write_manifest(self.folder, self.manifest)
        self._counted_at = time.monotonic()
        self._counting_seconds = self._counted_at - began

    def _name(self, level: int, partition: int) -> str:
        return name_of(self.manifest.encoding, partition, *self._levels.range_of(level))

    def _others(self, encoding: str) -> Iterator[str]:
        """Yield the names of files that hold the levels in other ways; states may need those that are merged."""
        kinds = [each.name for each in FORMS] if encoding == "states" else [each.name for each in FORMS] + ["merged"]
        for partition in range(self.partitions):
            for kind in kinds:
                folder = f"{kind}/p{partition:05}"
                for name in self.folder.names(folder):
                    first, _, last = name.partition("-")
                    if kind != encoding or first != last:
                        yield f"{folder}/{name}"


def _sorted(partitions: Sequence[StateStore]) -> list[ExternalStore]:
    return [partition for partition in partitions if isinstance(partition, ExternalStore)]


def _encoding_of(partitions: Sequence[StateStore]) -> str | None:
    """The encoding of partitions in sorted files; None for other partitions."""
    return next((each.form.name for each in _sorted(partitions)), None)
