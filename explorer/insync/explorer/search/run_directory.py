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
from insync.explorer.search.explored import Space, SpaceShape, space_entries, space_of
from insync.explorer.search.partitions import Partition
from insync.explorer.search.workers import Team
from insync.machine.kernels import order_kernels
from insync.machine.ownership import Ownership
from insync.machine.stores.external import SortedPartition
from insync.machine.stores.row_encoding import FORMS
from insync.machine.stores.sorted_file import FilePlace, SortedFile, SortedWriter, Unpacker
from insync.machine.stores.sorted_rows import RowBuffer, RowScratch
from insync.machine.stores.whole_files import beside, flush_file, flush_folder, new_file, open_file, write_whole
from insync.model.checksums import DIGEST_BYTES, Damaged, Label, json_with_digest, require_digest
from insync.model.errors import UserError

__all__ = ["MANIFEST", "LevelRows", "LevelsManifest", "RunLevels", "buffered_rows", "write_level_rows"]


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


# The names of the files of a run directory, and what is said where one cannot be written, or is damaged.


IN_MEMORY = "level"
"""What stands in the place of a form in the name of a file of states that a partition had in memory."""


class RunFolder(FilePlace):
    """A run directory.

    Args:
        folder: which.
        run: the random name of its run.
    """

    def level_path(self, level: int, partition: int) -> Path:
        """Return where the states of a level are that a partition had in memory."""
        return self.sorted_path(IN_MEMORY, level, partition)

    def other_levels(self, form: str) -> Iterator[Path]:
        """Yield the files of levels that are not sorted rows of one form, whole or not."""
        for kind in (IN_MEMORY, *(each.name for each in FORMS)):
            if kind != form:
                yield from self.folder.glob(f"{kind}-[0-9]*")

    def damaged(self, path: Path) -> UserError:
        """Return what is said of a file that is not what was written."""
        return UserError(f"{path}: this is not the level that was written. Search again in another --run-dir.")

    def unwritable(self, error: OSError) -> UserError:
        """Return what is said of a folder that cannot be written."""
        return unwritable(self.folder, error)

    def unreadable(self, path: Path, error: OSError) -> UserError:
        """Return what is said of a file that cannot be read."""
        return UserError(f"{path}: cannot be read ({error.strerror}). The run directory is not complete; search again.")


def unwritable(folder: Path, error: OSError) -> UserError:
    """Return what is said of a run directory that cannot be written, and of the file if one stands in the way."""
    place = error.filename2 or error.filename or folder
    return UserError(
        f"{place}: the run directory cannot be written ({error.strerror}). Name one with room; what it has "
        "by now stays, and --resume goes on with it."
    )


# A level of a partition that is in memory, as a file of its states: written when it is complete, read again.
#
# The states are in order, so that each takes few bytes. A level that is larger than what is sorted at once is several
# such rows of states, one after the other: nothing is looked for in it, so one order of all would cost and gain
# nothing.


MOST_ROWS = 1 << 20
"""How many rows are sorted at once at the most."""

LEAST_ROWS = 1 << 12
"""How many rows are sorted at once at the least, however little memory there is."""


_BESIDE_ROWS = 1 << 22
"""How many bytes are taken beside the rows while they are written."""


def buffered_rows(words: int, room: int) -> int:
    """Return how many rows to sort at once within so many bytes of memory, of which a quarter is left for the rest."""
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
    """Write states in order, as many at once as are sorted, each in the bytes of its difference to the one before.

    Args:
        path: of the file, which is complete when this returns.
        label: which file it is.
        owned_by: which bits of a state say which partition owns it; a mask for each word.
        states: addresses and numbers of the states, for a while each.
        count: how many there are.
        most: how many are sorted at once; see `buffered_rows`.

    Returns:
        The digest of the file.

    Raises:
        OSError: there is no room for them.
    """
    kernels = order_kernels(len(owned_by))
    capacity = max(1, min(count, most))
    buffer = RowBuffer(kernels, capacity, RowScratch(kernels.row_bytes, capacity))
    try:
        with new_file(path) as descriptor:
            writer = SortedWriter(descriptor, kernels)
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
    """Write the rows of a buffer in order, and clear it."""
    buffer.sort()
    writer.append(buffer.address, buffer.count)
    buffer.clear()


class LevelRows:
    """A file that `write_level_rows` wrote.

    Args:
        path: where it is.
        words: 64-bit words per packed state.
        label: which file it has to be.

    Attributes:
        owned_by: which bits of a state said which partition owns it, when it was written.
        digest: of the file.

    Raises:
        Damaged: it is something else.
        OSError: it cannot be read.
    """

    def __init__(self, path: Path, words: int, label: Label) -> None:
        self._kernels = order_kernels(words)
        self._file = SortedFile(path, words, label)
        self.owned_by: list[int] = self._file.said["owned_by"]
        self.digest = self._file.digest

    def states(self) -> Iterator[tuple[int, int]]:
        """Yield addresses and numbers of its states, for a while each.

        Raises:
            Damaged: it is not what was written.
            OSError: it cannot be read.
        """
        unpacker = Unpacker(self._kernels)
        with self._file.opened() as descriptor:
            for number in range(self._file.blocks):
                yield unpacker.rows, unpacker.read(self._file, descriptor, number)


# The manifest of a run directory of the local engine: what is searched, what is known of its levels, and their files.
#
# It is one JSON object with a digest of itself, and it has the digest of each file that it counts. What it says of
# levels is examined as well, so that nothing but a manifest is taken for one, whoever made its digest.


MANIFEST = "manifest.json"

_FORMAT = "insync-levels/4"
_OF_SPARK = "insync-run/"
_CHANGED = "this is not the manifest that was written. Search again in another --run-dir."
_LABEL = {"kind": "manifest", "format": _FORMAT}


@dataclass(frozen=True, slots=True)
class LevelsManifest:
    """What a manifest says.

    Attributes:
        identity: what is searched.
        run: a random name of the run, which its files carry.
        form: what the rows of its sorted files are; None where levels are as they were in memory.
        space: what was found, without its states.
        digests: of the file of each partition, level by level.
    """

    identity: Identity
    run: str
    form: str | None
    space: Space
    digests: Sequence[Sequence[bytes]]

    def write(self, folder: Path) -> None:
        """Write it in place of the one before, after all else that was written to the folder.

        Raises:
            OSError: it cannot be written.
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
            UserError: there is none, or it is not what was written, or of another format.
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
        """Return what is said of a manifest that was changed."""
        return UserError(f"{folder / MANIFEST}: {_CHANGED}")


def require_run(folder: Path) -> None:
    """Raise UserError if a folder has no manifest; whether it can be read is found out by reading it."""
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
    """Say of a manifest that was refused whether it is one of something else."""
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
    """Return what the entries of a manifest say; raise Damaged unless they fit together."""
    entries = as_dict(found)
    require(entries.get("format") == _FORMAT)
    identity, space = Identity.from_entries(entries), space_of(entries.get("space"))
    require(identity.symmetric or space.levels == space.visited)
    require(space.expanded == len(space.levels) - 1)  # the last one is expanded after it has been written
    digests = [[_digest(each) for each in as_text(level).split(" ")] for level in as_list(entries.get("files"))]
    require(len(digests) == len(space.levels) and len({len(level) for level in digests}) == 1)
    form = entries.get("sorted", "")
    require(form is None or form in [each.name for each in FORMS])
    return LevelsManifest(identity, as_text(entries.get("run")), form, space, digests)


def _digest(text: str) -> bytes:
    require(len(text) == 2 * DIGEST_BYTES and set(text) <= set("0123456789abcdef"))
    return bytes.fromhex(text)
