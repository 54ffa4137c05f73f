"""The task of a level, in this process: what it answers does not depend on the size of its buffers."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from insync.machine.store_kernels import order_kernels
from insync.machine.stores.run_files import CountedFiles, RunFiles
from insync.machine.stores.run_folder import RunFolder
from insync.model import BoundValues, Int, Model, State, StateView, action
from insync.spark_explore.executor import worker
from insync.spark_explore.executor.level_task import LevelJob, level_task
from insync.spark_explore.executor.worker import Assignment, RunPlace
from insync.spark_explore.wire.code_bundle import insync_version, recipe_for, write_recipe
from insync.spark_explore.wire.packets import Kind, read_expanded, rows_of, to_batch
from insync_run_files import write_start

pytest.importorskip("pyarrow")

STATES = 3000


class Marks(Model):
    """Every state has two successors that no other state has."""

    def declare(self, b: BoundValues) -> State:
        return State(number=Int(0, STATES - 1), mark=Int(0, 2))

    @action
    def once(self, s: StateView) -> None:
        """Mark the number once."""
        s.mark = 1

    @action
    def twice(self, s: StateView) -> None:
        """Mark the number twice."""
        s.mark = 2


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Assignment]:
    """A run of one partition whose first level is there."""
    program = Marks().program
    states = RunFiles(RunFolder(str(tmp_path / "run")), "marks", order_kernels(program.schema.words), 1)
    write_start(states, 0, [[program.schema.pack((number, 0)) for number in range(STATES)]])
    folder = tmp_path / "executor"
    folder.mkdir()
    monkeypatch.setattr(worker, "spark_folder", lambda: folder)
    recipe = recipe_for(program)
    place = RunPlace(str(tmp_path / "run"), "marks", insync_version(), "c0de", 1, 1, limit=64 << 20)
    yield Assignment(place, write_recipe(recipe), CountedFiles({}))
    while worker._workers:
        worker._workers.popitem()[1].close()


@pytest.mark.parametrize(("packet_bytes", "several"), [(1, True), (1 << 20, False)])
def test_a_level_whose_successors_fill_a_buffer_again_and_again_is_expanded_to_its_end(
    given: Assignment, packet_bytes: int, several: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_PACKET_BYTES", packet_bytes)
    seed = to_batch([(0, Kind.SEED, 1, 0, b"")])
    schema, found, packets, taken = Marks().program.schema, list[tuple[int, ...]](), 0, list[int]()
    for batch in level_task(LevelJob(given, 1, inserts=False, expands=True))(iter([seed])):
        for row in rows_of(batch):
            if row.kind is Kind.PACKET:
                packets += 1
                found += [schema.unpack([word]) for word in array("Q", row.block)]
            elif row.kind is Kind.EXPANDED:
                taken, _, _ = read_expanded(row.block, 2, schema.words)
    assert packets > 3 if several else packets == 1
    assert sorted(found) == [(number, mark) for number in range(STATES) for mark in (1, 2)]
    assert taken == [STATES, STATES]


def test_a_level_that_is_expanded_again_says_the_same(given: Assignment) -> None:
    """Spark takes a task again whose answer it has lost: none of the successors may count as known by then."""
    seed = to_batch([(0, Kind.SEED, 1, 0, b"")])
    answers = []
    for _ in range(3):
        batches = level_task(LevelJob(given, 1, inserts=False, expands=True))(iter([seed]))
        rows = [row for batch in batches for row in rows_of(batch)]
        answers.append([(row.kind, row.count, row.block) for row in rows if row.kind is not Kind.FIGURES])
    assert answers[0] == answers[1] == answers[2]
