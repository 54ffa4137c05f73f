"""The streaming merge finds the states that are in no file, whatever fits into memory."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator, Sequence
from ctypes import string_at
from pathlib import Path

import pytest

from insync.machine.packed import PackedRows, Words
from insync.machine.store_kernels import order_kernels
from insync.machine.stores.known_files import most_files
from insync.machine.stores.run_files import RunFiles
from insync.machine.stores.run_folder import RunFolder
from insync.runtime.errors import UserError
from insync.spark_explore.executor import candidates as module
from insync.spark_explore.executor.candidates import Candidates
from insync_run_files import read_states, write_start

pytest.importorskip("pyarrow")

SMALL, LARGE = 256, 1 << 12


@pytest.fixture(params=[SMALL, LARGE], ids=["spills", "fits"])
def candidates(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Candidates]:
    monkeypatch.setattr(module, "_LEAST_ROWS", request.param)
    states = RunFiles(RunFolder(str(tmp_path / "run")), "run", order_kernels(2), 1)
    made = Candidates(states, tmp_path, limit=1)
    yield made
    states.close()
    made.close()


def insert(candidates: Candidates, packed: Sequence[Words]) -> None:
    for at in range(0, len(packed), 100):
        rows = PackedRows(packed[at : at + 100])
        candidates.insert(rows.address, rows.count)


def found(candidates: Candidates, level: int) -> list[Words]:
    """Write the new states of a level, and return them."""
    states, new = candidates._states, list[Words]()
    with states.writing_states(5, level, ()) as writer:

        def runs() -> Iterator[tuple[int, int]]:
            writer.spans = yield from candidates.new(5, states.level(5, level - 1).spans)

        for address, count in runs():
            writer.append(address, count)
            numbers = array("Q", string_at(address, 16 * count))
            new += zip(numbers[::2], numbers[1::2], strict=True)
    return new


@pytest.mark.parametrize("seed", range(4))
def test_each_level_has_the_candidates_that_no_level_before_has(candidates: Candidates, seed: int) -> None:
    drawn, known = random.Random(seed), set[Words]([(0, 0)])
    write_start(candidates._states, 5, [[(0, 0)]])
    for level in range(2, 12):
        packed = [(drawn.randrange(4), drawn.randrange(600)) for _ in range(drawn.choice([0, 3, 900]))]
        insert(candidates, packed)
        new = found(candidates, level)
        assert new == sorted(set(packed) - known)
        assert read_states(candidates._states, 5, level) == new
        known |= set(new)


def test_adjacent_files_with_the_fewest_states_are_merged_when_there_are_too_many(candidates: Candidates) -> None:
    states, sizes = candidates._states, [1, 8, 2, 3, 9, 1, 1, 30, 2, 1, 1, 1, 1, 1, 1, 1, 1]
    levels = [[(number, level) for number in range(size)] for level, size in enumerate(sizes)]
    write_start(states, 5, levels[:1])
    seen = []
    for level in range(2, len(levels) + 1):
        insert(candidates, [row for level in levels[:level] for row in level])
        before = states.read_bytes
        assert found(candidates, level) == levels[level - 1]
        known = sum(path.stat().st_size for path in states.folder.path.glob("states/p00005/*"))
        assert states.read_bytes - before < known, "each file is read once"
        spans = states.level(5, level).spans
        assert len(spans) <= most_files(level)
        assert [span.count for span in spans] == [sum(sizes[span.first - 1 : span.last]) for span in spans]
        seen.append([(span.first, span.last) for span in spans])
    assert seen[2:4] == [[(1, 1), (2, 2), (3, 3), (4, 4)], [(1, 1), (2, 2), (3, 4), (5, 5)]]
    insert(candidates, [row for level in levels for row in level] + [(99, 0)])
    assert found(candidates, len(levels) + 1) == [(99, 0)]


def test_a_disk_without_room(candidates: Candidates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(
        UserError, match=rf"^{tmp_path}: an executor cannot write what does not fit .* spark\.local\.dir"
    ):
        insert(candidates, [(0, number) for number in range(3 * LARGE)])
