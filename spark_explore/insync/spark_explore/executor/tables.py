"""The tables of an executor: a cache of the run directory in memory that all its Python workers map.

Spark gives a task to any worker, so a table is shared memory. A small file, the note, has its location and its levels.
The note is removed before a table is changed, and written again afterwards. So if a worker dies in between there is no
note, and the table is rebuilt from the run directory.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from insync.machine.kernels import Kernels, order_kernels
from insync.machine.stores.hash_table import Store, table_bytes
from insync.machine.stores.sorted_rows import RowBuffer, RowScratch
from insync.runtime.checksums import Damaged, Label, json_with_digest, require_digest
from insync.runtime.memory import physical_memory
from insync.spark_explore.executor.known_states import locked
from insync.spark_explore.executor.shared_memory import Gone, SharedBlock, can_be_anonymous, give_back
from insync.spark_explore.wire.run_states import RunStates

__all__ = ["Table", "TableFull", "Tables", "leave_tables", "release_tables"]

_NEVER = 1 << 62
_FIRST_BUCKETS = 1 << 12


class TableFull(Exception):
    """A partition does not fit into the memory for tables."""


@dataclass(slots=True)
class Table:
    """The states of one partition up to some level.

    Attributes:
        partition: the number of the partition.
        states, slots: the memory of the store.
        store: the states, level after level.
        ends: for each level, how many states there are up to its end.
    """

    partition: int
    states: SharedBlock
    slots: SharedBlock
    store: Store
    ends: list[int] = field(default_factory=list)

    @property
    def levels(self) -> int:
        """How many levels the table has."""
        return len(self.ends)

    def pieces(self, level: int) -> Iterator[tuple[int, int]]:
        """Yield (address, count) of the states of a level."""
        start = self.ends[level - 2] if level > 1 else 0
        yield self.store.address(start), self.ends[level - 1] - start

    def count(self, level: int) -> int:
        """Return how many states a level has."""
        return self.ends[level - 1] - (self.ends[level - 2] if level > 1 else 0)

    def known(self, level: int) -> int:
        """Return how many states there are up to a level."""
        return self.ends[level - 1]

    def close(self) -> None:
        """Unmap the memory."""
        self.store.close()


class Tables:
    """The tables of one run on this executor, as one of its workers sees them.

    Args:
        folder: the folder for notes, and for the tables if they are on disk.
        states: the states in the run directory.
        kernels: the compiled program.
        limit: the most bytes of all tables of the executor; None is most of the machine's memory.
        on_disk: whether tables are mapped files on the local disk.

    Attributes:
        loaded: how many states this worker has read from the run directory.
    """

    def __init__(self, folder: Path, states: RunStates, kernels: Kernels, limit: int | None, on_disk: bool) -> None:
        self.folder, self.states, self.kernels = folder, states, kernels
        self.limit = limit or (_NEVER if on_disk else physical_memory() * 8 // 10)
        self.on_disk = on_disk or not can_be_anonymous()
        self.loaded = 0
        self._open: dict[int, Table] = {}
        folder.mkdir(parents=True, exist_ok=True)

    @contextlib.contextmanager
    def table(self, partition: int) -> Iterator[Table]:
        """Yield a partition's table, locked against other workers of this executor."""
        with locked(self.folder, partition):
            table = self._mapped(partition)
            try:
                yield table
            except BaseException:
                self._discard(partition)
                raise

    def insert(self, table: Table, rows: int, count: int) -> None:
        """Add the states that are new; other workers cannot use the table until `commit`.

        Raises:
            TableFull: there is no memory for them.
        """
        self._note(table.partition).unlink(missing_ok=True)
        fresh = count * self.kernels.sizes.row_bytes
        if table.store.used_bytes + fresh > self.limit:
            raise self._full(table)
        self._make_room(table, fresh)
        if not table.store.insert(rows, count, lambda size: self._may_use(table, size)):
            raise self._full(table)

    def close_level(self, table: Table) -> None:
        """Make a level of the states that were inserted since the last call."""
        table.ends.append(len(table.store))

    def ordered(self, table: Table, level: int) -> Iterator[tuple[int, int]]:
        """Yield (address, count) of a sorted copy of a level; the rows of the table itself cannot be moved.

        Raises:
            TableFull: there is no memory for the copy.
        """
        kernels, count = order_kernels(self.kernels.sizes.words), table.count(level)
        size = count * (2 * kernels.row_bytes + 1)
        if not self._may_use(table, size):
            raise self._full(table)
        rows = RowBuffer(kernels, max(count, 1), RowScratch(kernels.row_bytes, max(count, 1)))
        try:
            for address, some in table.pieces(level):
                rows.extend(address, some)
            rows.sort()
            yield rows.address, rows.count
        finally:
            rows.close()

    def load(self, table: Table, level: int) -> None:
        """Add the missing levels up to `level` from the run directory."""
        for pieces in self.states.levels(table.partition, table.levels + 1, level):
            self._load_level(table, pieces)

    def commit(self, table: Table) -> None:
        """Write the note of a table, so that other workers can use it."""
        store = table.store
        note = {
            "states": [table.states.path, table.states.inode, table.states.size],
            "table": [table.slots.path, table.slots.inode, table.slots.size],
            "buckets": store.buckets,
            "ends": table.ends,
            "bytes": store.used_bytes,
        }
        beside = self._note(table.partition).with_suffix(f".{os.getpid()}")
        beside.write_text(json_with_digest(_label(self._note(table.partition)), note))
        beside.replace(self._note(table.partition))

    def close(self) -> None:
        """Unmap all tables."""
        for table in self._open.values():
            table.close()
        self._open.clear()

    # ------------------------------------------------------------------------------------------------------- mapping

    def _mapped(self, partition: int) -> Table:
        note = _read_note(self._note(partition))
        known = self._open.get(partition)
        if note is None:
            return self._new(partition)
        states, inodes = note["states"], (note["states"][1], note["table"][1])
        if known is None or (known.states.inode, known.slots.inode) != inodes:
            self._discard(partition)
            try:
                blocks = SharedBlock.attach(*states), SharedBlock.attach(*note["table"])
            except Gone:
                return self._new(partition)
            known = self._opened(partition, *blocks)
        known.ends = note["ends"]
        known.store.restore(note["buckets"], known.ends[-1] if known.ends else 0)
        return known

    def _new(self, partition: int) -> Table:
        self._discard(partition)
        self._note(partition).unlink(missing_ok=True)
        size = min(self.limit, physical_memory() * 9 // 10 if not self.on_disk else 1 << 40)
        files = [self._file(partition, kind) if self.on_disk else None for kind in ("states", "table")]
        states = SharedBlock.create(size, files[0])
        size = table_bytes(states.size, self.kernels.sizes.row_bytes, _FIRST_BUCKETS)
        return self._opened(partition, states, SharedBlock.create(size, files[1]))

    def _opened(self, partition: int, states: SharedBlock, slots: SharedBlock) -> Table:
        store = self.kernels.store_on(states, slots, _FIRST_BUCKETS)
        table = self._open[partition] = Table(partition, states, slots, store)
        return table

    def _discard(self, partition: int) -> None:
        table = self._open.pop(partition, None)
        if table is not None:
            table.close()

    def _load_level(self, table: Table, pieces: Iterator[bytes]) -> None:
        row = self.kernels.sizes.row_bytes
        for piece in pieces:
            held = ctypes.create_string_buffer(piece, len(piece))
            self.insert(table, ctypes.addressof(held), len(piece) // row)
            self.loaded += len(piece) // row
        self.close_level(table)

    # ------------------------------------------------------------------------------------------------------- memory

    def _may_use(self, table: Table, size: int) -> bool:
        if table.store.used_bytes + size > self.limit:
            return False
        self._make_room(table, size)
        return True

    def _make_room(self, table: Table, size: int) -> None:
        """Free the least recently used tables until there is room; tables in use are kept."""
        if self.limit == _NEVER:
            return
        others = {p: note for p in self._noted() if p != table.partition and (note := _read_note(self._note(p)))}
        over = sum(int(note["bytes"]) for note in others.values()) + table.store.used_bytes + size - self.limit
        for partition in sorted(others, key=self._age):
            if over <= 0:
                return
            with contextlib.suppress(BlockingIOError), locked(self.folder, partition, wait=False):
                _give_back(self._note(partition))
                over -= int(others[partition]["bytes"])

    def _noted(self) -> list[int]:
        return [int(path.stem[1:]) for path in self.folder.glob("p*.json")]

    def _age(self, partition: int) -> float:
        try:
            return self._note(partition).stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def _full(self, table: Table) -> TableFull:
        states = len(table.store)
        return TableFull(f"partition {table.partition} has {states} states and no room for more in {self.limit} bytes")

    # -------------------------------------------------------------------------------------------------------- files

    def _note(self, partition: int) -> Path:
        return self.folder / f"p{partition:05}.json"

    def _file(self, partition: int, kind: str) -> Path:
        return self.folder / f"p{partition:05}.{kind}"


def leave_tables(folder: Path) -> None:
    """Free the tables of an executor that goes over to sorted files; tables in use are kept."""
    for note in folder.glob("p*.json"):
        with contextlib.suppress(BlockingIOError), locked(folder, int(note.stem[1:]), wait=False):
            _give_back(note)


def release_tables(folder: Path) -> None:
    """Free all tables of an executor, and remove its notes; no worker may use them any more."""
    for note in folder.glob("p*.json"):
        _give_back(note)
    shutil.rmtree(folder, ignore_errors=True)


def _give_back(path: Path) -> None:
    note = _read_note(path)
    if note is not None:
        path.unlink(missing_ok=True)
        for kind in ("states", "table"):
            give_back(note[kind][0], note[kind][1])


def _read_note(path: Path) -> dict[str, Any] | None:
    """Return a note; None if it is missing or damaged, and the table must be rebuilt."""
    try:
        text = path.read_text()
        require_digest(_label(path), text)
    except (FileNotFoundError, UnicodeDecodeError, Damaged):
        return None
    found: dict[str, Any] = json.loads(text)
    return found


def _label(note: Path) -> Label:
    return {"kind": "note of a table", "format": "insync-table/2", "path": str(note)}
