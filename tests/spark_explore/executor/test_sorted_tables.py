"""Sorted files are shared between the workers of an executor, and only a cache: whatever is lost is built again."""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from insync.runtime.errors import InternalError, UserError
from insync.spark_explore.executor import sorted_tables as module
from insync.spark_explore.executor.sorted_tables import SortedTable, SortedTables
from insync_machine import store_kernels
from insync_tables import states_at

pytest.importorskip("pyarrow")

State = tuple[int, int]
LITTLE = 1  # bytes: a buffer of as few rows as there may be
ROWS = 128  # a block of each of 32 files must fit into half of them


def packed(states: Sequence[State]) -> ctypes.Array[ctypes.c_uint64]:
    return (ctypes.c_uint64 * (2 * len(states)))(*[word for state in states for word in state])


def tables_in(folder: Path, limit: int | None = LITTLE) -> SortedTables:
    return SortedTables(folder / "executor", states_at(str(folder / "run")), store_kernels(2), limit)


def write(folder: Path, level: int, states: Sequence[State]) -> None:
    states_at(str(folder / "run")).write(0, [len(states)], [bytes(packed(states))], level)


def insert(tables: SortedTables, table: SortedTable, states: Sequence[State]) -> None:
    rows = packed(states)
    tables.insert(table, ctypes.addressof(rows), len(states))
    tables.close_level(table)


def last_level(table: SortedTable) -> list[State]:
    found: list[int] = []
    for address, count in table.pieces(table.levels):
        found += (ctypes.c_uint64 * (2 * count)).from_address(address)
    return list(zip(found[::2], found[1::2], strict=True))


def _run(first: int, step: int, count: int) -> list[State]:
    return [divmod((first + step * number) % 1000, 31) for number in range(count)]


runs_of = st.tuples(st.integers(0, 900), st.integers(1, 7), st.integers(0, 300))
states_of = st.lists(runs_of, max_size=3).map(lambda runs: [state for run in runs for state in _run(*run)])
levels_of = st.lists(st.tuples(states_of, st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=6)
"""For each level what comes, which of three workers takes it (it may die once), and how often each state comes."""


@settings(max_examples=40, deadline=None)
@given(levels=levels_of, dies=st.integers(0, 8))
def test_workers_that_take_turns_know_what_a_set_knows(levels: list[tuple[list[State], int, int]], dies: int) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LEAST_ROWS", ROWS)
        folder = Path(name)
        workers = [tables_in(folder) for _ in range(3)]
        known: set[State] = set()
        for level, (states, worker, times) in enumerate(levels):
            tables, many = workers[worker], states * times
            event("more than a buffer" if len(set(states)) > ROWS else "a buffer")
            if level == dies:
                event("a worker dies")
                with pytest.raises(ZeroDivisionError):
                    _insert_and_die(tables, [*states, (99, 99)])
            with tables.table(0) as table:
                assert table.levels == level
                insert(tables, table, many)
                fresh = sorted(set(states) - known)
                assert sorted(last_level(table)) == fresh
                assert table.count(level + 1) == len(fresh)
                tables.commit(table)
                write(folder, level + 1, fresh)
            known |= set(states)
        for tables in workers:
            with tables.table(0) as table:
                assert [table.count(level + 1) for level in range(table.levels)] == _sizes(levels)
            tables.close()
        other = SortedTables(folder / "another", states_at(str(folder / "run")), store_kernels(2), LITTLE)
        with other.table(0) as table:
            other.load(table, len(levels))
            assert (table.counts, other.loaded) == (_sizes(levels), len(known)), "on an executor that has nothing"
        other.close()
        assert not list((folder / "executor").glob("*.part"))


def _insert_and_die(tables: SortedTables, states: Sequence[State]) -> None:
    with tables.table(0) as table:
        insert(tables, table, states)
        raise ZeroDivisionError


def _sizes(levels: Sequence[tuple[list[State], int, int]]) -> list[int]:
    known: set[State] = set()
    sizes = []
    for states, _, _ in levels:
        sizes.append(len(set(states) - known))
        known |= set(states)
    return sizes


def test_only_the_last_level_can_be_read(tmp_path: Path) -> None:
    tables = tables_in(tmp_path)
    with tables.table(0) as table:
        insert(tables, table, [(1, 1)])
        insert(tables, table, [(2, 2)])
        with pytest.raises(InternalError, match=r"Level 1 of partition 0 was asked for, and level 2 is the last."):
            table.pieces(1)
    tables.close()


def test_many_partitions_are_opened_again(tmp_path: Path) -> None:
    tables = tables_in(tmp_path)
    for turn in range(2):
        for partition in range(20):
            with tables.table(partition) as table:
                assert table.levels == turn
                insert(tables, table, [(partition, turn), (partition, 0)])
                assert last_level(table) == [(partition, turn)]
                tables.commit(table)
    tables.close()


def test_a_disk_that_cannot_be_written_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = tables_in(tmp_path)

    def full(descriptor: int, content: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    said = r"executor: an executor cannot write what does not fit into its memory \(No space left on device\)\. Name a"
    with pytest.raises(UserError, match=said), tables.table(0) as table:
        insert(tables, table, [(1, 1)])
    monkeypatch.undo()
    with tables.table(0) as table:
        assert table.levels == 0, "nothing is left of what was not whole"
        insert(tables, table, [(1, 1)])
        assert last_level(table) == [(1, 1)]
    tables.close()


@pytest.mark.parametrize("harm", ["cut", "gone"])
def test_a_file_that_was_damaged_is_a_sentence(tmp_path: Path, harm: str) -> None:
    first, second = tables_in(tmp_path), tables_in(tmp_path)
    with first.table(0) as table:
        insert(first, table, [(1, 1), (2, 2)])
        first.commit(table)
    (file,) = (tmp_path / "executor").glob("states-*")
    if harm == "cut":
        file.write_bytes(file.read_bytes()[:-4])
    else:
        file.unlink()
    if harm == "cut":
        with pytest.raises(UserError, match=r"this is not what an executor has written there. Resume the run."):
            second.table(0).__enter__()
    else:
        with pytest.raises(UserError, match=r"cannot read what it has written \(No such file"), first.table(0) as table:
            insert(first, table, [(1, 1)])
    for tables in (first, second):
        tables.close()
