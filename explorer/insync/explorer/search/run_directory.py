"""The run directory of a search on this machine: the files of its levels, with which it can be resumed.

manifest.json    the identity of the search, the counts of its levels, the digests of their files: `LevelsManifest`
level-00017-0003 level 17 of partition 3, written from memory: `write_level_rows`
codes-00017-0003 or pairs-00017-0003 or states-00017-0003
                 the same when memory was full: sorted rows in this form, see `insync.machine.stores.external`
lock             an empty file that is locked while a search uses the directory: `insync.explorer.run_lock`

A file is whole and flushed before the manifest counts it, and no counted file is written again. So a kill or a loss of
power leaves the manifest of a complete level, with all its files. A level that is complete soon after another is
counted together with later ones, as flushing takes long.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path

from insync.explorer.manifest_entries import as_dict, as_list, as_text, require
from insync.explorer.run_identity import Identity, require_same
from insync.explorer.run_lock import RunLock
from insync.explorer.search.explored import Explored
from insync.explorer.search.manifest_counts import SpaceShape, space_entries, space_of
from insync.explorer.search.partitions import Partition
from insync.machine.kernels import order_kernels
from insync.machine.ownership import Ownership
from insync.machine.stores.external import SortedPartition
from insync.machine.stores.row_encoding import FORMS
from insync.machine.stores.sorted_file import FilePlace, SortedFile, SortedWriter, Unpacker
from insync.machine.stores.sorted_rows import RowBuffer, RowScratch
from insync.machine.stores.whole_files import (
    beside,
    flush_file,
    flush_folder,
    new_file,
    open_file,
    write_all,
    write_whole,
)
from insync.runtime.checksums import DIGEST_BYTES, Damaged, Label, json_with_digest, require_digest
from insync.runtime.errors import UserError
from insync.runtime.workers import Team

__all__ = ["MANIFEST", "LevelRows", "LevelsManifest", "RunLevels", "buffered_rows", "write_level_rows"]


_FEW = 1024  # states: so few are written faster by one thread than by two
_RARELY = 50  # the least pause between two counts, in multiples of the seconds that the last one took

Insert = Callable[[int, int, int], bool]
"""Inserts states into a partition, given (partition, address, count); False ends the reading."""


class RunLevels:
    """The levels of one search in a folder, which is locked until `close`.

    Args:
        folder: the run directory.
        identity: of the search.
        shape: of its space.
        resume: whether to resume the run that is there; else a new one begins, and there must be none.

    Attributes:
        folder: this argument.
        place: the names of its files, and the messages about them.
        form: of the rows of its sorted files; None if it has none.
        previous: partitions with sorted files of another form, while a search changes the form.
        warning: a sentence if the directory cannot be locked; else None.

    Raises:
        UserError: there is no run to resume, or one of another search; or there is one already, or it is in use.
    """

    def __init__(self, folder: Path, identity: Identity, shape: SpaceShape, resume: bool) -> None:
        self.folder, self._identity = folder, identity
        self.form: str | None = None
        self.previous: Sequence[Partition] = ()
        self._known: Explored | None = None
        self._digests: Sequence[Sequence[bytes]] = ()  # of the files of all levels, level by level
        self._counted = 0  # levels that the manifest counts
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
    def known(self) -> Explored | None:
        """The counts and violations of the complete levels; None before the first one is complete."""
        return None if self._known is None else self._known.without_states()

    @property
    def partitions(self) -> int:
        """The number of partitions; 0 before the first level is complete."""
        return len(self._digests[0]) if self._digests else 0

    def close(self) -> None:
        """Write the manifest with all levels, and release the lock.

        Raises:
            UserError: the run directory cannot be written.
        """
        try:
            self._count()
        finally:
            self._lock.release()

    def keep(self, space: Explored, owning: Ownership, team: Team, room: int) -> None:
        """Write the last level, and the manifest if that is due.

        Args:
            space: the searched space.
            owning: decides which partition owns a state.
            team: the threads that write.
            room: bytes of memory that writing may take.

        Raises:
            UserError: the run directory cannot be written.
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

    def go_over(self, space: Explored) -> None:
        """If the levels are now in sorted files of another form, write that into the manifest and remove the old files.

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
        """Read a level into partitions whose current level is marked as expanded: insert it, or open its sorted files.

        Args:
            level: its number.
            partitions: where the states go.
            owning: decides which partition owns a state now; the owner may have changed since the level was written.
            team: the threads that read.
            insert: inserts states.

        Raises:
            UserError: a file is missing or damaged.
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
        """Close a level that was read, and return its number of states.

        Raises:
            UserError: that is not the number that was written.
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

    def _know(self, space: Explored, digests: Sequence[Sequence[bytes]]) -> None:
        """Note that the levels of a space are written; write the manifest if that is due."""
        self._known, self._digests = space.without_states(), digests
        if time.monotonic() - self._counted_at >= _RARELY * self._counting_seconds:
            self._count()

    def _count(self) -> None:
        """Flush the files that the manifest does not count yet, then write the manifest that counts them."""
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
        """Insert the states of a level that a partition owns now."""
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
        """Yield (address, count) runs of the states of a file, each valid until the next."""
        with self.place.reading(self.place.level_path(level, number)):
            yield from rows.states()


def _form_of(partitions: Sequence[Partition]) -> str | None:
    """The form of the rows of partitions in sorted files; None for other partitions."""
    return next((each.form.name for each in partitions if isinstance(each, SortedPartition)), None)


def _sorted_digests(space: Explored) -> Sequence[Sequence[bytes]]:
    """The digests of the sorted files of all levels."""
    parts = [partition for partition in space.partitions if isinstance(partition, SortedPartition)]
    return [[partition.digest(level) for partition in parts] for level in range(1, len(space.levels) + 1)]


def _require_no_run(folder: Path) -> None:
    if (folder / MANIFEST).exists():
        message = f"{folder}: there is a run in this directory already. Go on with it by --resume, or name another."
        raise UserError(message)


def _make(folder: Path) -> None:
    """Make a new run directory; one that is there must have no run."""
    try:
        _require_no_run(folder)
        new = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for each in new:
            flush_folder(each.parent)
    except OSError as error:
        raise unwritable(folder, error) from error


# ------------------------------------------------------------------------------------------------- files and messages


IN_MEMORY = "level"
"""Replaces the form in the names of files that were written from memory."""


class RunFolder(FilePlace):
    """A run directory.

    Args:
        folder: its path.
        run: the random name of its run.
    """

    def level_path(self, level: int, partition: int) -> Path:
        """Return the path of a level that was written from memory."""
        return self.sorted_path(IN_MEMORY, level, partition)

    def other_levels(self, form: str) -> Iterator[Path]:
        """Yield the files of levels, whole or not, that are not sorted rows of this form."""
        for kind in (IN_MEMORY, *(each.name for each in FORMS)):
            if kind != form:
                yield from self.folder.glob(f"{kind}-[0-9]*")

    def damaged(self, path: Path) -> UserError:
        """Return the error for a damaged file."""
        return UserError(f"{path}: this is not the level that was written. Search again in another --run-dir.")

    def unwritable(self, error: OSError) -> UserError:
        """Return the error for a directory that cannot be written."""
        return unwritable(self.folder, error)

    def unreadable(self, path: Path, error: OSError) -> UserError:
        """Return the error for a file that cannot be read."""
        return UserError(f"{path}: cannot be read ({error.strerror}). The run directory is not complete; search again.")


def unwritable(folder: Path, error: OSError) -> UserError:
    """Return the error for a run directory, or a file in it, that cannot be written."""
    place = error.filename2 or error.filename or folder
    return UserError(
        f"{place}: the run directory cannot be written ({error.strerror}). Name one with room; what it has "
        "by now stays, and --resume goes on with it."
    )


# ----------------------------------------------------------------------------------------- levels written from memory
#
# Sorted states take few bytes each. A large level is several sorted sequences, one after the other: as nothing is
# searched for in the file, sorting the whole level would gain nothing.


MOST_ROWS = 1 << 20
"""The most rows that are sorted at once."""

LEAST_ROWS = 1 << 12
"""The fewest rows that are sorted at once, however little memory there is."""


_BESIDE_ROWS = 1 << 22
"""Bytes of memory that writing takes beside the rows."""


def buffered_rows(words: int, room: int) -> int:
    """Return how many rows to sort at once within `room` bytes of memory, of which a quarter is left free."""
    left = max(0, room - _BESIDE_ROWS) * 3 // 4
    return max(LEAST_ROWS, min(MOST_ROWS, left // (2 * 8 * words + 1)))


def write_level_rows(
    path: Path,
    label: Label,
    owned_by: Sequence[int],
    states: Iterable[tuple[int, int]],
    count: int,
    most: int,
) -> bytes:
    """Write states in sorted sequences, each state as its difference to the one before.

    Args:
        path: of the file, which is complete when this returns.
        label: of the file.
        owned_by: the bits of a state that decide which partition owns it; a mask for each word.
        states: (address, count) runs of the states.
        count: the number of states.
        most: the most rows that are sorted at once; see `buffered_rows`.

    Returns:
        The digest of the file.

    Raises:
        OSError: the file cannot be written.
    """
    kernels = order_kernels(len(owned_by))
    capacity = max(1, min(count, most))
    buffer = RowBuffer(kernels, capacity, RowScratch(kernels.row_bytes, capacity))
    try:
        with new_file(path) as descriptor:
            writer = SortedWriter(partial(write_all, descriptor), kernels)
            for address, some in states:
                while some:
                    if not buffer.room:
                        _empty(buffer, writer)
                    fitting = min(some, buffer.room)
                    buffer.extend(address, fitting)
                    address, some = address + fitting * kernels.row_bytes, some - fitting
            _empty(buffer, writer)
            covering = writer.finish(label, {"owned_by": list(owned_by)})
    finally:
        buffer.close()
    return covering


def _empty(buffer: RowBuffer, writer: SortedWriter) -> None:
    """Sort the rows of a buffer, write them, and clear the buffer."""
    buffer.sort()
    writer.append(buffer.address, buffer.count)
    buffer.clear()


class LevelRows:
    """A file that `write_level_rows` wrote.

    Args:
        path: of the file.
        words: 64-bit words per packed state.
        label: that the file must have.

    Attributes:
        owned_by: the bits of a state that decided which partition owns it when the file was written.
        digest: of the file.

    Raises:
        Damaged: the file is damaged, or another one.
        OSError: the file cannot be read.
    """

    def __init__(self, path: Path, words: int, label: Label) -> None:
        self._kernels = order_kernels(words)
        self._file = SortedFile(path, words, label)
        self.owned_by: list[int] = self._file.said["owned_by"]
        self.digest = self._file.digest

    def states(self) -> Iterator[tuple[int, int]]:
        """Yield (address, count) runs of the states, each valid until the next.

        Raises:
            Damaged: the file is not what was written.
            OSError: the file cannot be read.
        """
        unpacker = Unpacker(self._kernels)
        with self._file.opened() as opened:
            for number in range(self._file.blocks):
                yield unpacker.rows, unpacker.read(self._file, opened, number)


# ------------------------------------------------------------------------------------------------------- the manifest
#
# The manifest is a JSON object with a digest of itself and of each file that it counts. Its entries are examined as
# well, as a valid digest does not make them a manifest.


MANIFEST = "manifest.json"

_FORMAT = "insync-levels/4"
_OF_SPARK = "insync-run/"
_CHANGED = "this is not the manifest that was written. Search again in another --run-dir."
_LABEL = {"kind": "manifest", "format": _FORMAT}


@dataclass(frozen=True, slots=True)
class LevelsManifest:
    """The contents of a manifest.

    Attributes:
        identity: of the search.
        run: the random name of the run, which the labels of its files contain.
        form: of the rows of its sorted files; None if the levels were written from memory.
        space: the counts and violations, without the states.
        digests: of the file of each partition, level by level.
    """

    identity: Identity
    run: str
    form: str | None
    space: Explored
    digests: Sequence[Sequence[bytes]]

    def write(self, folder: Path) -> None:
        """Replace the manifest of a folder, after all other files of the folder are written.

        Raises:
            OSError: the manifest cannot be written.
        """
        entries = {
            "format": _FORMAT,
            **self.identity.entries(),
            "run": self.run,
            "sorted": self.form,
            "space": space_entries(self.space),
            "files": [" ".join(found.hex() for found in level) for level in self.digests],
        }
        write_whole(folder / MANIFEST, json_with_digest(_LABEL, entries).encode())

    @classmethod
    def read(cls, folder: Path) -> LevelsManifest:
        """Read the manifest of a run directory.

        Raises:
            UserError: there is no manifest, or it is damaged, or of another format.
        """
        path = folder / MANIFEST
        try:
            text = _content(path).decode("utf-8", "surrogateescape")
            require_digest(_LABEL, text)
            return _read(json.loads(text))
        except FileNotFoundError as error:
            raise _no_run(folder) from error
        except OSError as error:
            message = f"{path}: cannot be read ({error.strerror}). Give a directory that --run-dir wrote."
            raise UserError(message) from error
        except (Damaged, ValueError, RecursionError) as error:
            message = f"{path}: {_what_it_is(path)}"
            raise UserError(message) from error

    @staticmethod
    def damaged(folder: Path) -> UserError:
        """Return the error for a manifest that was changed."""
        return UserError(f"{folder / MANIFEST}: {_CHANGED}")


def require_run(folder: Path) -> None:
    """Raise UserError if a folder has no manifest; whether the manifest can be read is left to `read`."""
    try:
        (folder / MANIFEST).stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _no_run(folder) from error
    except OSError:
        return


def _no_run(folder: Path) -> UserError:
    return UserError(f"{folder}: there is no {MANIFEST}, so this is no run directory. Give one of --run-dir.")


def _content(path: Path) -> bytes:
    with os.fdopen(open_file(path), "rb") as file:
        return file.read()


def _what_it_is(path: Path) -> str:
    """Return what a refused file is, in a sentence: a run on Spark, another format, or no manifest."""
    try:
        found = str(json.loads(_content(path))["format"])
    except (OSError, Damaged, ValueError, TypeError, KeyError, RecursionError):
        return "this is no manifest of a run. Search again in another --run-dir."
    if found.startswith(_OF_SPARK):
        return "this is a run on Spark; go on with it by --engine spark."
    if found != _FORMAT:
        return f"format is {found!r}, and this insync reads {_FORMAT!r}. Search again in another --run-dir."
    return _CHANGED


def _read(found: object) -> LevelsManifest:
    """Return the manifest with these entries; raise Damaged unless they fit together."""
    entries = as_dict(found)
    require(entries.get("format") == _FORMAT)
    identity, space = Identity.from_entries(entries), space_of(entries.get("space"))
    require(identity.symmetric or space.levels == space.visited)
    require(space.expanded == len(space.levels) - 1)  # a level is written before it is expanded
    digests = [[_digest(each) for each in as_text(level).split(" ")] for level in as_list(entries.get("files"))]
    require(len(digests) == len(space.levels) and len({len(level) for level in digests}) == 1)
    form = entries.get("sorted", "")
    require(form is None or form in [each.name for each in FORMS])
    return LevelsManifest(identity, as_text(entries.get("run")), form, space, digests)


def _digest(text: str) -> bytes:
    require(len(text) == 2 * DIGEST_BYTES and set(text) <= set("0123456789abcdef"))
    return bytes.fromhex(text)
