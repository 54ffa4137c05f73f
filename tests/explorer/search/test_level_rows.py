"""The file of a level that comes from memory: every state is in it once, in order, however few are sorted at once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from insync.explorer.search import run_directory
from insync.explorer.search.run_directory import buffered_rows
from insync.machine.packed import PackedRows, Words
from insync.machine.store_kernels import order_kernels
from insync.machine.stores import external_sort, sorted_file, sorted_rows
from insync.machine.stores.run_files import RunFiles
from insync.machine.stores.run_folder import RunFolder
from insync_run_files import read_states


def written(folder: Path, states: list[Words], most: int, piece: int) -> RunFiles:
    files = RunFiles(RunFolder(folder), "run", order_kernels(len(states[0])))
    pieces = [PackedRows(states[start : start + piece]) for start in range(0, len(states), piece)]
    digest = files.write_sorted(3, 1, [(rows.address, rows.count) for rows in pieces], most)
    assert files.level(3, 1).digest == digest
    return files


@pytest.mark.parametrize(
    ("words", "most", "piece"), [(1, 4096, 64), (2, 100, 33), (2, 70, 1000), (3, 64, 5), (2, 500, 1)]
)
def test_all_states_are_there_in_order(
    words: int, most: int, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (sorted_rows, sorted_file, external_sort):
        monkeypatch.setattr(module, "BLOCK", 20)
    monkeypatch.setattr(external_sort, "_MOST_FILES", 4)
    drawn = random.Random(most)
    states = list({tuple(drawn.getrandbits(drawn.choice([3, 30, 64])) for _ in range(words)) for _ in range(500)})
    drawn.shuffle(states)
    files = written(tmp_path, states, most, piece)
    assert read_states(files, 3, 1) == sorted(states)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["00001-00001"]


def test_states_that_are_close_take_few_bytes(tmp_path: Path) -> None:
    drawn = random.Random(4)
    states: list[Words] = list({(drawn.randrange(1 << 8) << 40, drawn.randrange(1 << 30)) for _ in range(20_000)})
    written(tmp_path, states, 1 << 20, 1 << 20)
    assert (tmp_path / "states/p00003/00001-00001").stat().st_size < 6 * len(states)


def test_few_rows_are_sorted_at_once_where_there_is_little_memory() -> None:
    assert buffered_rows(2, (1 << 22) + 44 * 10_000) == 10_000  # 33 bytes each, and a quarter is left for the rest
    assert buffered_rows(2, 1 << 22) == run_directory.LEAST_ROWS
    assert buffered_rows(2, -5) == run_directory.LEAST_ROWS
    assert buffered_rows(2, 1 << 40) == run_directory.MOST_ROWS
