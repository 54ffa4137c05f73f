"""The run directory of a search on this machine: each complete level in a file, so that it can go on after a kill.

manifest.json    what is searched, what is known of its levels, and the digests of their files: see `levels_manifest`
level-00017-0003 the states of a level that one partition had in memory: see `level_rows`
codes-00017-0003 or pairs-00017-0003 or states-00017-0003
                 in place of that where the memory was too small: the sorted rows of one partition, see `sorted_file`
lock             an empty file that is locked while a search uses the directory: see `run_lock`

A file is whole and flushed before the manifest counts it, and is not written again while one does. So a kill or a loss
of power leaves the manifest of a complete level, with all of its files. A level that is complete soon after another is
counted with later ones, so that little time is spent on waiting for the disk.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from math import inf
from pathlib import Path

from insync.explorer.run_identity import Identity, require_same
from insync.explorer.run_lock import RunLock
from insync.explorer.search.explored import Space, SpaceShape
from insync.explorer.search.level_rows import LevelRows, buffered_rows, write_level_rows
from insync.explorer.search.levels_manifest import MANIFEST, LevelsManifest, require_run
from insync.explorer.search.partitions import Partition
from insync.explorer.search.run_folder import IN_MEMORY, RunFolder, unwritable
from insync.explorer.search.workers import Team
from insync.machine.ownership import Ownership
from insync.machine.stores.external import SortedPartition
from insync.machine.stores.whole_files import beside, flush_file, flush_folder
from insync.model.checksums import Damaged, Label
from insync.model.errors import UserError

__all__ = ["RunLevels"]

_FEW = 1024  # states that one thread writes faster than two can share
_RARELY = 50  # times the seconds that it takes to have levels counted pass between two such times, at least

Insert = Callable[[int, int, int], bool]
"""Inserts states into a partition, given its number, their address and how many they are; False ends the reading."""


class RunLevels:
    """The levels of one search in a folder, which is locked until `close`.

    Args:
        folder: the run directory.
        identity: what is searched.
        shape: of what is searched.
        resume: whether to go on with the run that is there; else a new one begins, and there must be none.

    Attributes:
        folder: this argument.
        place: the same, as that of files.
        form: what the rows of its sorted files are; None where it has none.
        previous: partitions with sorted files of another form, where a search goes over from that.
        warning: a sentence if the directory cannot be locked; else None.

    Raises:
        UserError: there is no run to go on with, or one of something else, or there is one already, or it is in use.
    """

    def __init__(self, folder: Path, identity: Identity, shape: SpaceShape, resume: bool) -> None:
        self.folder, self._identity = folder, identity
        self.form: str | None = None
        self.previous: Sequence[Partition] = ()
        self._known: Space | None = None
        self._digests: Sequence[Sequence[bytes]] = ()  # of the files of all levels, level by level
        self._counted = 0  # how many levels the manifest counts
        self._counted_at, self._counting_seconds = -inf, 0.0
        if resume:
            require_run(folder)  # else this is some other folder, where no lock belongs
        else:
            _make(folder)
        self._lock = RunLock(folder)
        self.warning = self._lock.warning
        try:
            self.place = RunFolder(folder, self._resumed(shape) if resume else self._begun())
        except BaseException:
            self._lock.release()
            raise

    def _begun(self) -> str:
        _require_no_run(self.folder)
        return uuid.uuid4().hex

    def _resumed(self, shape: SpaceShape) -> str:
        found = LevelsManifest.read(self.folder)
        require_same(str(self.folder), found.identity, self._identity)
        if not shape.fits(found.space):
            raise LevelsManifest.damaged(self.folder)
        self._known, self._digests, self.form = found.space, found.digests, found.form
        self._counted = len(found.digests)
        return found.run

    @property
    def known(self) -> Space | None:
        """What is in complete levels, without its states; None before the first one is complete."""
        return None if self._known is None else self._known.without_states()

    @property
    def partitions(self) -> int:
        """How many parts the states are in; 0 before the first level is complete."""
        return len(self._digests[0]) if self._digests else 0

    def close(self) -> None:
        """Have all levels counted, and let others use the run directory.

        Raises:
            UserError: the run directory cannot be written.
        """
        try:
            self._count()
        finally:
            self._lock.release()

    def keep(self, space: Space, owning: Ownership, team: Team, room: int) -> None:
        """Write the last level, and have it counted if that is due.

        Args:
            space: what was found.
            owning: says which partition has a state.
            team: the threads that write.
            room: bytes of memory that may be taken for it.

        Raises:
            UserError: there is no room for it.
        """
        if space.kept == "files":
            self._publish(space.partitions)
            self._know(space, _sorted_digests(space))
            return
        level, words = len(space.levels), len(owning.bits)
        assert level == len(self._digests) + 1, "a file that is counted would be written again"
        numbers = range(len(space.partitions))
        paths = [self.place.level_path(level, number) for number in numbers]
        most, digests = buffered_rows(words, room // team.size), [b""] * len(numbers)

        def write(worker: int) -> None:
            for number in numbers[worker :: team.size]:
                partition, label = space.partitions[number], self._label(level, number, words)
                here = (partition.current(), partition.pending)
                digests[number] = write_level_rows(beside(paths[number]), label, owning.bits, *here, most)

        try:
            team.run(write, alone=sum(partition.pending for partition in space.partitions) < _FEW)
            for path in paths:
                beside(path).replace(path)
        except OSError as error:
            for path in paths:
                with suppress(OSError):
                    beside(path).unlink()
            raise self.place.unwritable(error) from error
        self._know(space, [*self._digests, digests])

    def go_over(self, space: Space) -> None:
        """Say that all levels are in the files that the partitions have now, if these are others, and remove those.

        Raises:
            UserError: the run directory cannot be written.
        """
        form = _form_of(space.partitions)
        if form is None or form == self.form:
            return
        self.form, self._counted, self._counted_at = form, 0, -inf
        self._know(space, _sorted_digests(space))
        with self.place.writing():
            for path in self.place.other_levels(self.form):
                path.unlink(missing_ok=True)

    def insert_level(
        self, level: int, partitions: Sequence[Partition], owning: Ownership, team: Team, insert: Insert
    ) -> None:
        """Have the states of a level inserted, the level before being expanded; or its sorted files taken up.

        Args:
            level: which.
            partitions: what is to have them.
            owning: says which partition has a state now; it may have been another when the level was written.
            team: the threads that read.
            insert: inserts states.

        Raises:
            UserError: the file is not there or not what was written.
        """
        for partition in partitions:
            partition.pass_over()

        def read(worker: int) -> None:
            for number in range(worker, len(partitions), team.size):
                partition = partitions[number]
                if self.form is None:
                    self._read(level, number, owning, insert)
                elif isinstance(partition, SortedPartition) and partition.form.name == self.form:
                    partition.take_up(partial(insert, number, 0, 0), self._digests[level - 1][number])
                else:
                    chunks = self.previous[number].chunks(level)
                    all(insert(number, *chunk.load()) for chunk in chunks)

        team.run(read)

    def close_level(self, level: int, partitions: Sequence[Partition]) -> int:
        """Close a level that was read, and return how many states it has.

        Raises:
            UserError: they are not as many as were written.
        """
        count = sum(partition.skip_unseen() for partition in partitions)
        if self._known is None or self._known.visited[level - 1] != count:
            raise self.place.damaged(self.place.sorted_path(self.form or IN_MEMORY, level, 0))
        for partition in partitions:
            partition.close_level()
        if _form_of(partitions) != self.form:
            self._publish(partitions)
        return count

    def _publish(self, partitions: Sequence[Partition]) -> None:
        """Give the sorted files of the last level their names."""
        with self.place.writing():
            for partition in partitions:
                assert isinstance(partition, SortedPartition)
                partition.publish()

    def _know(self, space: Space, digests: Sequence[Sequence[bytes]]) -> None:
        """Take note that the levels of a space are written, and have them counted if that is due."""
        self._known, self._digests = space.without_states(), digests
        if time.monotonic() - self._counted_at >= _RARELY * self._counting_seconds:
            self._count()

    def _count(self) -> None:
        """Flush the files that are written and not counted, and then write the manifest that counts them."""
        if self._known is None or self._counted == len(self._digests):
            return
        began, levels = time.monotonic(), len(self._digests)
        try:
            for level in range(self._counted + 1, levels + 1):
                for number in range(self.partitions):
                    flush_file(self.place.sorted_path(self.form or IN_MEMORY, level, number))
            found = LevelsManifest(self._identity, self.place.run, self.form, self._known, self._digests)
            found.write(self.folder)
        except OSError as error:
            self._counted = levels  # not tried again: a second flush may pass over what the first one has lost
            raise self.place.unwritable(error) from error
        self._counted, self._counted_at = levels, time.monotonic()
        self._counting_seconds = self._counted_at - began

    def _label(self, level: int, number: int, words: int) -> Label:
        return self.place.label(IN_MEMORY, level, number, words)

    def _read(self, level: int, number: int, owning: Ownership, insert: Insert) -> None:
        """Have those states of a level inserted that a partition has now."""
        here = self._opened(level, number, owning)
        if here.owned_by == list(owning.bits):
            all(insert(number, *states) for states in self._states(level, number, here))
            return
        for other in range(self.partitions):
            every = self._states(level, other, self._opened(level, other, owning))
            if not all(insert(number, *states) for states in owning.owned(every, number)):
                return

    def _opened(self, level: int, number: int, owning: Ownership) -> LevelRows:
        path, words = self.place.level_path(level, number), len(owning.bits)
        with self.place.reading(path):
            rows = LevelRows(path, words, self._label(level, number, words))
            if rows.digest != self._digests[level - 1][number]:
                raise Damaged
            return rows

    def _states(self, level: int, number: int, rows: LevelRows) -> Iterator[tuple[int, int]]:
        """Yield addresses and numbers of the states of a file, for a while each."""
        with self.place.reading(self.place.level_path(level, number)):
            yield from rows.states()


def _form_of(partitions: Sequence[Partition]) -> str | None:
    """What the rows of the sorted files are that partitions keep their states in; None if they do not."""
    return next((each.form.name for each in partitions if isinstance(each, SortedPartition)), None)


def _sorted_digests(space: Space) -> Sequence[Sequence[bytes]]:
    """The digests of the sorted files of all levels."""
    parts = [partition for partition in space.partitions if isinstance(partition, SortedPartition)]
    return [[partition.digest(level) for partition in parts] for level in range(1, len(space.levels) + 1)]


def _require_no_run(folder: Path) -> None:
    if (folder / MANIFEST).exists():
        message = f"{folder}: there is a run in this directory already. Go on with it by --resume, or name another."
        raise UserError(message)


def _make(folder: Path) -> None:
    """Make a new run directory, unless it is there without a run."""
    try:
        _require_no_run(folder)
        new = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for each in new:
            flush_folder(each.parent)
    except OSError as error:
        raise unwritable(folder, error) from error
