"""The run directory of a search on this machine: each complete level in a file, so that it can go on after a kill.

manifest.json    what is searched, and what is known of its levels; it is written after the level that it counts
level-00017      the states of a level, partition by partition
codes-00017-0003 or states-00017-0003
                 in place of that where the memory was too small: the sorted rows of one partition, see `sorted_file`

A file is whole or not there. The states of a partition have a checksum, as they are read long after they were written.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from insync.explorer.breadth_first.partitions import Partition
from insync.explorer.breadth_first.run_folder import RunFolder
from insync.explorer.breadth_first.space import Space
from insync.explorer.breadth_first.space_entries import space_entries, space_of
from insync.explorer.breadth_first.workers import Team
from insync.explorer.run_identity import Identity, require_same
from insync.machine.on_disk.sorted_partition import SortedPartition
from insync.model.errors import UserError

__all__ = ["RunLevels"]

_MANIFEST = "manifest.json"
_FORMAT = "insync-levels/2"
_OF_SPARK = "insync-run/"
_MAGIC = b"insync-level/1\n\0"
_HEAD = struct.Struct("<16sQQQ")  # magic, words per state, level, number of partitions
_ENTRY = struct.Struct("<QQ")  # of each partition: states, checksum
_PIECE = 1 << 20  # bytes read at once

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

    def keep(self, space: Space, words: int, team: Team) -> None:
        """Write the last level, of so many words a state, and then that it is complete.

        Raises:
            UserError: there is no room for it.
        """
        level, partitions = len(space.levels), space.partitions
        if space.kept == "files":
            self._publish(space.partitions)
            self._say(space)
            return
        path = self.place.level_path(level)
        beside = path.with_suffix(".part")
        try:
            with beside.open("wb") as file:
                _write(file.fileno(), level, partitions, words, team)
            beside.replace(path)
            self._write_manifest(space)
        except OSError as error:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
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

    def insert_level(self, level: int, partitions: Sequence[Partition], words: int, team: Team, insert: Insert) -> None:
        """Have the states of a level inserted, the level before being expanded; or its sorted files taken up.

        Raises:
            UserError: the file is not there or not what was written.
        """
        for partition in partitions:
            partition.pass_over()

        def read(worker: int) -> None:
            for number in range(worker, len(partitions), team.size):
                partition = partitions[number]
                if self.form is None:
                    self._read(level, number, words, insert)
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
            raise self.place.damaged(self.place.level_path(level))
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

    def _read(self, level: int, number: int, words: int, insert: Insert) -> None:
        path = self.place.level_path(level)
        with self.place.reading(path), path.open("rb") as file:
            entries = self._entries(path, file.read(_HEAD.size + self.partitions * _ENTRY.size), level, words)
            count, checksum = entries[number]
            file.seek(8 * words * sum(before for before, _ in entries[:number]), os.SEEK_CUR)
            rows, found, at_once = (ctypes.c_char * _PIECE)(), 0, _PIECE // (8 * words)
            for start in range(0, count, at_once):
                size = 8 * words * min(at_once, count - start)
                if file.readinto(memoryview(rows)[:size]) != size:
                    raise self.place.damaged(path)
                found = zlib.crc32(memoryview(rows)[:size], found)
                if not insert(number, ctypes.addressof(rows), size // (8 * words)):
                    return
        if found != checksum:
            raise self.place.damaged(path)

    def _entries(self, path: Path, head: bytes, level: int, words: int) -> list[tuple[int, int]]:
        """Return the number of states and the checksum of each partition."""
        if len(head) != _HEAD.size + self.partitions * _ENTRY.size:
            raise self.place.damaged(path)
        if _HEAD.unpack_from(head) != (_MAGIC, words, level, self.partitions):
            raise self.place.damaged(path)
        return [_ENTRY.unpack_from(head, _HEAD.size + number * _ENTRY.size) for number in range(self.partitions)]

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


def _write(file: int, level: int, partitions: Sequence[Partition], words: int, team: Team) -> None:
    """Write the current level of all partitions, each by the thread that owns it."""
    counts = [partition.pending for partition in partitions]
    body = _HEAD.size + len(partitions) * _ENTRY.size
    starts = [body + 8 * words * sum(counts[:number]) for number in range(len(counts))]
    checksums = [0] * len(counts)

    def write(worker: int) -> None:
        for number in range(worker, len(partitions), team.size):
            place = starts[number]
            for rows, count in partitions[number].current():
                states = memoryview((ctypes.c_char * (8 * words * count)).from_address(rows))
                checksums[number] = zlib.crc32(states, checksums[number])
                while len(states):
                    done = os.pwrite(file, states, place)
                    states, place = states[done:], place + done

    team.run(write)
    entries = b"".join(_ENTRY.pack(*entry) for entry in zip(counts, checksums, strict=True))
    os.pwrite(file, _HEAD.pack(_MAGIC, words, level, len(partitions)) + entries, 0)
