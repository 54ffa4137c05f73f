"""The file of a level: every state is in it once, in order as many as are sorted at once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from insync.explorer.search import run_directory
from insync.explorer.search.run_directory import LevelRows, buffered_rows, write_level_rows
from insync.machine.packed import PackedRows, Words, words_at
from insync.machine.stores import sorted_file, sorted_rows

LABEL: dict[str, int | str] = {"kind": "level", "run": "a", "level": 3}


def written(path: Path, states: list[Words], most: int, piece: int) -> LevelRows:
    words = len(states[0])
    pieces = [PackedRows(states[start : start + piece]) for start in range(0, len(states), piece)]
    runs = ((rows.address, rows.count) for rows in pieces)
    covering = write_level_rows(path, LABEL, range(words), runs, len(states), most)
    rows = LevelRows(path, words, LABEL)
    assert (rows.owned_by, rows.digest) == (list(range(words)), covering)
    return rows


def read(rows: LevelRows, words: int) -> list[Words]:
    return [words_at(at + 8 * words * place, words) for at, count in rows.states() for place in range(count)]


@pytest.mark.parametrize(
    ("words", "most", "piece"), [(1, 4096, 64), (2, 100, 33), (2, 7, 1000), (3, 1, 5), (2, 500, 1)]
)
def test_all_states_are_there_in_the_order_of_those_sorted_at_once(
    words: int, most: int, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of as many as are sorted at once, however they come."""
    for module in (sorted_rows, sorted_file):
        monkeypatch.setattr(module, "BLOCK", 50)
    drawn = random.Random(most)
    states = list({tuple(drawn.getrandbits(drawn.choice([3, 30, 64])) for _ in range(words)) for _ in range(500)})
    drawn.shuffle(states)
    rows = written(tmp_path / "level", states, most, piece)
    sorted_at_once = [sorted(states[start : start + most]) for start in range(0, len(states), most)]
    assert read(rows, words) == [state for some in sorted_at_once for state in some]
    assert [path.name for path in tmp_path.iterdir()] == ["level"]


def test_states_that_are_close_take_few_bytes(tmp_path: Path) -> None:
    drawn = random.Random(4)
    states: list[Words] = list({(drawn.randrange(1 << 8) << 40, drawn.randrange(1 << 30)) for _ in range(20_000)})
    written(tmp_path / "level", states, 1 << 20, 1 << 20)
    assert (tmp_path / "level").stat().st_size < 6 * len(states)


def test_few_rows_are_sorted_at_once_where_there_is_little_memory() -> None:
    assert buffered_rows(2, (1 << 22) + 44 * 10_000) == 10_000  # 33 bytes each, and a quarter is left for the rest
    assert buffered_rows(2, 1 << 22) == run_directory.LEAST_ROWS
    assert buffered_rows(2, -5) == run_directory.LEAST_ROWS
    assert buffered_rows(2, 1 << 40) == run_directory.MOST_ROWS
