"""The run directory of a search on this machine: each complete level in a file, so that it can go on after a kill.

manifest.json    what is searched, and what is known of its levels; it is written after the level that it counts
level-00017-0003 the states of a level that one partition had in memory: see `level_rows`
codes-00017-0003 or states-00017-0003
                 in place of that where the memory was too small: the sorted rows of one partition, see `sorted_file`

A file is whole or not there, and its blocks have checksums, as they are read long after they were written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from insync.explorer.breadth_first.level_rows import LevelRows, buffered_rows, write_level_rows
from insync.explorer.breadth_first.partitions import Partition
from insync.explorer.breadth_first.run_folder import RunFolder
from insync.explorer.breadth_first.space import Space
from insync.explorer.breadth_first.space_entries import space_entries, space_of
from insync.explorer.breadth_first.workers import Team
from insync.explorer.run_identity import Identity, require_same
from insync.machine.on_disk.sorted_partition import SortedPartition
from insync.machine.ownership import Ownership
from insync.model.errors import UserError

__all__ = ["RunLevels"]

_MANIFEST = "manifest.json"
_FORMAT = "insync-levels/4"
_OF_SPARK = "insync-run/"
_FEW = 1024  # states that one thread writes faster than two can share

Insert = Callable[[int, int, int], bool]
"""Inserts states into a partition, given its number, their address and how many they are; False ends the reading."""


class RunLevels:
    """The levels of one search in a folder.

    Args:
        folder: the run directory.
        identity: what is searched.
        resume: whether to go on with the run that is there; else a new one begins, and there must be none.

    Attributes:
        folder: this argument.
        place: the same, as that of files.
        known: what the run that goes on has found, without its states; None of one that begins.
        partitions: how many parts its states are in; 0 of one that begins.
        form: what the rows of its sorted files are; None where it has none.
        previous: partitions with sorted files of another form, where a search goes over from that.

    Raises:
        UserError: there is no run to go on with, or one of something else, or there is one already.
    """

    def __init__(self, folder: Path, identity: Identity, resume: bool) -> None:
        self.folder, self.place, self._identity = folder, RunFolder(folder), identity
        self.known: Space | None = None
        self.partitions = 0
        self.form: str | None = None
        self.previous: Sequence[Partition] = ()
        if resume:
            self.know()
            return
        if (folder / _MANIFEST).exists():
            message = f"{folder}: there is a run in this directory already. Go on with it by --resume, or name another."
            raise UserError(message)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self.place.unwritable(error) from error

    def know(self) -> None:
        """Read what the run has found by now.

        Raises:
            UserError: there is no run, or one of something else.
        """
        entries = self._read_manifest()
        require_same(str(self.folder), Identity.from_entries(entries), self._identity)
        self.known, self.partitions = space_of(entries["space"]), entries["partitions"]
        self.form = entries["sorted"]

    def keep(self, space: Space, owning: Ownership, team: Team, room: int) -> None:
        """Write the last level, and then that it is complete.

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
            self._say(space)
            return
        level, words = len(space.levels), len(owning.bits)
        paths = [self.place.level_path(level, number) for number in range(len(space.partitions))]
        parts = [path.with_name(f"{path.name}.part") for path in paths]
        most = buffered_rows(words, room // team.size)

        def write(worker: int) -> None:
            for number in range(worker, len(parts), team.size):
                partition = space.partitions[number]
                said = {"level": level, "partition": number, "words": words, "owned_by": owning.bits}
                write_level_rows(parts[number], said, partition.current(), partition.pending, words, most)

        try:
            team.run(write, alone=sum(partition.pending for partition in space.partitions) < _FEW)
            for path, part in zip(paths, parts, strict=True):
                part.replace(path)
            self._write_manifest(space)
        except OSError as error:
            for part in parts:
                with suppress(OSError):
                    part.unlink(missing_ok=True)
            raise self.place.unwritable(error) from error

    def go_over(self, space: Space) -> None:
        """Say that all levels are in the files that the partitions have now, if these are others, and remove those.

        Raises:
            UserError: the run directory cannot be written.
        """
        form = _form_of(space.partitions)
        if form is None or form == self.form:
            return
        self.form = form
        self._say(space)
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
                    partition.take_up(partial(insert, number, 0, 0))
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
        if self.known is None or self.known.visited[level - 1] != count:
            raise self.place.damaged(self.place.level_path(level, 0))
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

    def _say(self, space: Space) -> None:
        with self.place.writing():
            self._write_manifest(space)

    def _read(self, level: int, number: int, owning: Ownership, insert: Insert) -> None:
        """Have those states of a level inserted that a partition has now."""
        here = self._opened(level, number, owning)
        if here.said["owned_by"] == list(owning.bits):
            all(insert(number, *states) for states in self._states(level, number, here))
            return
        for other in range(self.partitions):
            every = self._states(level, other, self._opened(level, other, owning))
            if not all(insert(number, *states) for states in owning.owned(every, number)):
                return

    def _opened(self, level: int, number: int, owning: Ownership) -> LevelRows:
        path, words = self.place.level_path(level, number), len(owning.bits)
        with self.place.reading(path):
            rows = LevelRows(path, words)
            rows.require(level, number, words)
            return rows

    def _states(self, level: int, number: int, rows: LevelRows) -> Iterator[tuple[int, int]]:
        """Yield addresses and numbers of the states of a file, for a while each."""
        with self.place.reading(self.place.level_path(level, number)):
            yield from rows.states()

    def _write_manifest(self, space: Space) -> None:
        entries = {
            "format": _FORMAT,
            **self._identity.entries(),
            "partitions": len(space.partitions),
            "sorted": self.form,
            "space": space_entries(space),
        }
        path = self.folder / _MANIFEST
        beside = path.with_suffix(".part")
        try:
            beside.write_text(json.dumps(entries, indent=1), encoding="utf-8")
            beside.replace(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise

    def _read_manifest(self) -> dict[str, Any]:
        path = self.folder / _MANIFEST
        try:
            entries: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            found = str(entries["format"])
        except FileNotFoundError as error:
            message = f"{self.folder}: there is no {_MANIFEST}, so this is no run directory. Give one of --run-dir."
            raise UserError(message) from error
        except OSError as error:
            message = f"{path}: cannot be read ({error.strerror}). Give a directory that --run-dir wrote."
            raise UserError(message) from error
        except (ValueError, TypeError, KeyError) as error:
            message = f"{path}: this is no manifest of a run. Search again in another --run-dir."
            raise UserError(message) from error
        if found.startswith(_OF_SPARK):
            message = f"{path}: this is a run on Spark; go on with it by --engine spark."
            raise UserError(message)
        if found != _FORMAT:
            message = f"{path}: format is {found!r}, and this insync reads {_FORMAT!r}. Search again."
            raise UserError(message)
        return entries


def _form_of(partitions: Sequence[Partition]) -> str | None:
    """What the rows of the sorted files are that partitions keep their states in; None if they do not."""
    return next((each.form.name for each in partitions if isinstance(each, SortedPartition)), None)
