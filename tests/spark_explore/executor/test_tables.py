"""Tables are shared between the workers of an executor, and only a cache: whatever is lost is built again."""

from __future__ import annotations

import ctypes
import json
import multiprocessing
from collections.abc import Sequence
from pathlib import Path

import pytest

from insync.spark_explore.executor.release import release_task
from insync.spark_explore.executor.shared_memory import Gone, SharedBlock, can_be_anonymous
from insync.spark_explore.executor.tables import Table, TableFull, Tables, release_tables
from insync.spark_explore.wire.packets import Kind, to_batch
from insync.spark_explore.wire.run_states import RunStates
from insync_machine import store_kernels
from insync_tables import ROW, load_and_leave, states_at, tables_in

pytest.importorskip("pyarrow")

STATES = [(number * 7919, number) for number in range(1, 4001)]


def packed(states: Sequence[tuple[int, int]]) -> ctypes.Array[ctypes.c_uint64]:
    return (ctypes.c_uint64 * (2 * len(states)))(*[word for state in states for word in state])


def fill(tables: Tables, table: Table, states: Sequence[tuple[int, int]]) -> None:
    rows = packed(states)
    tables.insert(table, ctypes.addressof(rows), len(states))
    tables.close_level(table)


def states_in(table: Table) -> list[tuple[int, int]]:
    words = memoryview(table.store.read(0, len(table.store))).cast("Q").tolist()
    return list(zip(words[::2], words[1::2], strict=True))


@pytest.fixture
def run(tmp_path: Path) -> RunStates:
    """A run with two partitions of two levels each, the first written by the driver."""
    states = states_at(str(tmp_path / "run"))
    for partition in (0, 1):
        mine = STATES[partition::2]
        states.write(partition, [10], [bytes(packed(mine[:10]))])
        states.write(partition, [len(mine) - 10], [bytes(packed(mine[10:]))], level=2)
    return states


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_table_is_read_from_the_run_directory_and_used_by_another_worker(
    tmp_path: Path, run: RunStates, on_disk: bool
) -> None:
    first, second = (tables_in(tmp_path, run, on_disk=on_disk) for _ in range(2))
    with first.table(0) as table:
        first.load(table, 2)
        first.commit(table)
        assert states_in(table) == STATES[::2]
        assert (table.levels, table.count(1), table.count(2)) == (2, 10, 1990)
    with second.table(0) as table:
        assert (table.levels, states_in(table)) == (2, STATES[::2])
        fill(second, table, [STATES[0], STATES[1], (5, 5)])  # two of them are not in it
        second.commit(table)
    with first.table(0) as table:
        assert (table.levels, len(table.store)) == (3, 2002)
    for tables in (first, second):
        tables.close()
    release_tables(tmp_path / "executor")
    assert not (tmp_path / "executor").exists()


def test_of_the_levels_that_lie_in_one_file_only_those_asked_for_are_loaded(tmp_path: Path) -> None:
    written = states_at(str(tmp_path / "warm"), warm=3)
    written.write(0, [1, 3, 5], [bytes(packed(STATES[:9]))])
    tables = Tables(tmp_path / "executor", written, store_kernels(2), None, False)
    with tables.table(0) as table:
        for level, states in ((1, 1), (2, 4), (3, 9)):
            tables.load(table, level)
            assert (table.levels, states_in(table)) == (level, STATES[:states])
    tables.close()


def test_what_another_worker_has_added_is_known_though_the_table_has_grown_by_it(
    tmp_path: Path, run: RunStates
) -> None:
    first, second = (tables_in(tmp_path, run) for _ in range(2))
    more = [(number, 3) for number in range(60_000)]
    for tables, states in ((first, more[:10]), (second, more), (first, more)):
        with tables.table(0) as table:
            buckets = table.store.buckets
            fill(tables, table, states)
            tables.commit(table)
    assert (table.levels, len(table.store), table.store.buckets) == (3, len(more), buckets)
    for tables in (first, second):
        tables.close()


def test_a_worker_that_dies_while_it_changes_a_table_leaves_none(tmp_path: Path, run: RunStates) -> None:
    tables = tables_in(tmp_path, run)
    with tables.table(0) as table:
        tables.load(table, 2)
        tables.commit(table)
    with pytest.raises(ZeroDivisionError):
        _change_and_die(tables)
    with tables.table(0) as table:
        assert table.levels == 0
        tables.load(table, 2)
        assert states_in(table) == STATES[::2]
    tables.close()


@pytest.mark.parametrize("on_disk", [False, True])
def test_what_a_worker_that_dies_has_added_is_added_again(tmp_path: Path, run: RunStates, on_disk: bool) -> None:
    """Its states are in the shared memory by then, and nobody may take them for known."""
    first, second = (tables_in(tmp_path, run, on_disk=on_disk) for _ in range(2))
    with first.table(0) as table:
        first.load(table, 2)
        first.commit(table)
    with pytest.raises(ZeroDivisionError):
        _change_and_die(second)
    with first.table(0) as table:
        assert table.levels == 0
        first.load(table, 2)
        fill(first, table, [(1, 1)])
        assert states_in(table) == [*STATES[::2], (1, 1)]
    for tables in (first, second):
        tables.close()


def _change_and_die(tables: Tables) -> None:
    with tables.table(0) as table:
        fill(tables, table, [(1, 1)])
        raise ZeroDivisionError


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_table_that_another_worker_has_built_anew_is_the_new_one(
    tmp_path: Path, run: RunStates, on_disk: bool
) -> None:
    first, second, third = (tables_in(tmp_path, run, on_disk=on_disk) for _ in range(3))
    with first.table(0) as table:
        first.load(table, 2)
        first.commit(table)
    with pytest.raises(ZeroDivisionError):
        _change_and_die(second)
    with third.table(0) as table:
        third.load(table, 2)
        fill(third, table, [(3, 3)])
        third.commit(table)
    with first.table(0) as table:
        assert (table.levels, states_in(table)) == (3, [*STATES[::2], (3, 3)])
    for tables in (first, second, third):
        tables.close()


@pytest.mark.parametrize("batches", [0, 1, 3])
def test_a_task_gives_back_all_tables_of_an_executor_and_answers_nothing(
    tmp_path: Path, run: RunStates, monkeypatch: pytest.MonkeyPatch, batches: int
) -> None:
    monkeypatch.setattr("insync.spark_explore.executor.release.executor_folder", {"run": tmp_path / "executor"}.get)
    tables = tables_in(tmp_path, run)
    with tables.table(0) as table:
        tables.load(table, 2)
        tables.commit(table)
    tables.close()
    seeds = [to_batch([(0, Kind.SEED, 1, 0, b"")])] * batches
    assert list(release_task("run")(iter(seeds))) == []
    assert (tmp_path / "executor").exists() == (batches == 0)


@pytest.mark.slow
def test_memory_of_a_worker_that_is_gone_is_gone(tmp_path: Path, run: RunStates) -> None:
    if not can_be_anonymous():
        pytest.skip("no anonymous shared memory here")
    context = multiprocessing.get_context("spawn")
    worker = context.Process(target=load_and_leave, args=(tmp_path, run.folder.uri))
    worker.start()
    worker.join(60)
    assert worker.exitcode == 0
    note = json.loads((tmp_path / "executor" / "p00000.json").read_text())
    with pytest.raises(Gone):
        SharedBlock.attach(*note["states"])
    tables = tables_in(tmp_path, run)
    with tables.table(0) as table:
        assert table.levels == 0
    tables.close()


def test_what_does_not_fit_beside_another_takes_its_place(tmp_path: Path, run: RunStates) -> None:
    one = 2000 * ROW + (1 << 12) * 64
    tables = tables_in(tmp_path, run, limit=one + 4096)
    for partition in (0, 1, 0):
        with tables.table(partition) as table:
            assert table.levels == 0  # the other one drove it out
            tables.load(table, 2)
            tables.commit(table)
            assert states_in(table) == STATES[partition::2]
        assert [path.name for path in (tmp_path / "executor").glob("*.json")] == [f"p{partition:05}.json"]
    tables.close()


def test_what_comes_has_to_fit_beside_the_others_or_one_of_them_goes(tmp_path: Path, run: RunStates) -> None:
    """Two tables just fit, and a row more does not: the older one is given back, and not the one that grows."""
    notes = tmp_path / "executor"

    def names() -> list[str]:
        return sorted(path.name for path in notes.glob("*.json"))

    def loaded(tables: Tables) -> None:
        for partition in (0, 1):
            with tables.table(partition) as table:
                tables.load(table, 2)
                tables.commit(table)

    free = tables_in(tmp_path, run)
    loaded(free)
    both = sum(json.loads((notes / name).read_text())["bytes"] for name in names())
    free.close()
    release_tables(notes)
    tables = tables_in(tmp_path, run, limit=both + ROW)
    loaded(tables)
    assert names() == ["p00000.json", "p00001.json"]
    for rows, left in (([(5, 5)], ["p00000.json", "p00001.json"]), ([(6, 6)], ["p00001.json"])):
        with tables.table(1) as table:
            fill(tables, table, rows)
            tables.commit(table)
        assert names() == left
    tables.close()


@pytest.mark.timeout(20)
def test_a_table_that_another_worker_uses_is_left_though_there_is_no_room(tmp_path: Path, run: RunStates) -> None:
    first = tables_in(tmp_path, run)
    with first.table(0) as table:
        first.load(table, 2)
        first.commit(table)
    second = tables_in(tmp_path, run, limit=2000 * ROW + (1 << 12) * 64 + 4096)
    with first.table(0) as used:
        with second.table(1) as table:
            second.load(table, 2)
            second.commit(table)
            assert states_in(table) == STATES[1::2]
        assert states_in(used) == STATES[::2]
    for tables in (first, second):
        tables.close()


def test_a_partition_that_fits_nowhere_is_an_error(tmp_path: Path, run: RunStates) -> None:
    tables = tables_in(tmp_path, run, limit=(1 << 12) * 64 + 1000 * ROW)
    with pytest.raises(TableFull, match="partition 0 has"), tables.table(0) as table:
        tables.load(table, 2)
    tables.close()
