"""The tasks of a whole search in this process, with Spark's shuffles played: they say what the evaluator says."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from insync.machine.packed import Found
from insync.model.errors import InternalError
from insync.model.evaluator import Codes, Evaluator, evaluate
from insync.spark_explore.executor import worker
from insync.spark_explore.executor.level_task import LevelJob, level_task
from insync.spark_explore.executor.predecessors import PredecessorJob, level_pieces, predecessor_task
from insync.spark_explore.executor.worker import RECIPE, RunPlace, worker_for
from insync.spark_explore.wire.packets import Kind, Row, read_closed, read_expanded, rows_of, to_batch
from insync.spark_explore.wire.recipe import recipe_for, write_recipe
from insync.spark_explore.wire.run_folder import RunFolder, StatesFile
from insync.spark_explore.wire.version import insync_version
from insync_evaluator import conditions, successors
from insync_toys import TokenRing

pytest.importorskip("pyarrow")

MODEL = TokenRing(nodes=2, two_tokens=1)
NODES = list(conditions(MODEL).values())
PARTITIONS = 3
Said = tuple[int, Kind, int, int, bytes]


def levels_of(model: TokenRing) -> list[list[Codes]]:
    evaluator, seen = Evaluator(model.program), set(model.program.initials)
    levels = [list(model.program.initials)]
    while levels[-1]:
        found = dict.fromkeys(after for codes in levels[-1] for _, after in successors(evaluator, codes))
        levels.append([codes for codes in found if codes not in seen])
        seen.update(found)
    return levels[:-1]


LEVELS = levels_of(MODEL)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunPlace]:
    """A run whose first level is there, on which one executor works."""
    program, run = MODEL.program, RunFolder(str(tmp_path / "run"))
    run.write(RECIPE, write_recipe(recipe_for(program, NODES)))
    folder = tmp_path / "executor"
    folder.mkdir()
    monkeypatch.setattr(worker, "executor_folder", lambda run: folder)
    made = RunPlace(run.uri, "ring", insync_version(), PARTITIONS, 1, 64 << 20)
    packed = [program.schema.pack(codes) for codes in LEVELS[0]]
    owners = [worker_for(made).kernels.owner(words, PARTITIONS) for words in packed]
    for partition in range(PARTITIONS):
        own = [words for words, owner in zip(packed, owners, strict=True) if owner == partition]
        rows = array("Q", [word for words in own for word in words])
        run.write_states(partition, 1, [len(own)], program.schema.words, rows.tobytes())
    yield made
    worker._workers.pop("ring")[1].close()


def said(row: Row) -> Said:
    return row.partition, row.kind, row.level, row.count, row.block


def run_level(place: RunPlace, level: int, given: list[Said], *, expands: bool = True) -> list[Said]:
    """Give each partition its rows, and return what all of them say."""
    answers: list[Said] = []
    for partition in range(PARTITIONS):
        rows = [row for row in given if row[0] == partition] or [(partition, Kind.PACKET, level, 0, b"")]
        job = LevelJob(place, level, inserts=level > 1, expands=expands)
        for batch in level_task(job)(iter([to_batch([row]) for row in rows])):
            answers += [said(row) for row in rows_of(batch)]
    return answers


@pytest.fixture
def coded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates are sent as codes, however few there are."""
    monkeypatch.setattr(worker, "LEAST_CODED", 0)


def of_kind(rows: list[Said], kind: Kind, level: int) -> list[Said]:
    return [row for row in rows if row[1] is kind and row[2] == level]


def states_in(blocks: list[bytes]) -> list[Codes]:
    schema = MODEL.program.schema
    numbers = array("Q", b"".join(blocks))
    return [schema.unpack(numbers[at : at + schema.words]) for at in range(0, len(numbers), schema.words)]


def search(place: RunPlace, depth: int = len(LEVELS) + 1) -> list[Said]:
    rows = [(partition, Kind.SEED, 1, 0, b"") for partition in range(PARTITIONS)]
    for level in range(1, depth + 1):
        rows = run_level(place, level, rows, expands=level < depth)
    return rows


@pytest.mark.usefixtures("coded")
def test_a_search_by_codes_says_what_the_evaluator_says(place: RunPlace) -> None:
    assert {row[1] for row in run_level(place, 1, [])} == {Kind.CODES, Kind.EXPANDED, Kind.FIGURES}
    _require_what_the_evaluator_says(search(place))


def test_each_level_has_the_states_the_steps_and_the_violations_of_the_evaluator(place: RunPlace) -> None:
    _require_what_the_evaluator_says(search(place))


def _require_what_the_evaluator_says(everything: list[Said]) -> None:
    evaluator, program = Evaluator(MODEL.program), MODEL.program
    words, actions = program.schema.words, len(program.actions)
    for level, states in enumerate(LEVELS, start=1):
        blocks = [row[4] for row in of_kind(everything, Kind.EXPANDED, level)]
        assert len(blocks) == PARTITIONS
        steps, refused, stepless = zip(*(read_expanded(block, actions, words) for block in blocks), strict=True)
        taken = [number for codes in states for number, _ in successors(evaluator, codes)]
        assert [sum(each) for each in zip(*steps, strict=True)] == [taken.count(number) for number in range(actions)]
        assert set(map(repr, refused)) == {repr(Found())}
        assert sum(stepless) == sum(not evaluator.enabled(codes) for codes in states)
        if level > 1:
            closed = of_kind(everything, Kind.CLOSED, level)
            read = [read_closed(row[4], words) for row in closed]
            assert sum(row[3] for row in closed) == sum(many for many, _, _ in read) == len(states)
            assert sum(outside for _, outside, _ in read) == 0
            for number, node in enumerate(NODES):
                wrong = [program.schema.pack(codes) for codes in states if not evaluate(node, codes)]
                total = Found()
                for _, _, violations in read:
                    total.add(violations[number])
                assert total == Found(len(wrong), min(wrong, default=None))
    assert sum(row[3] for row in of_kind(everything, Kind.CLOSED, len(LEVELS) + 1)) == 0


def test_a_packet_goes_to_the_owner_of_its_states_and_to_the_next_level(place: RunPlace) -> None:
    packets = [row for row in run_level(place, 1, []) if row[1] is Kind.PACKET]
    owner, schema = worker_for(place).kernels.owner, MODEL.program.schema
    assert {row[2] for row in packets} == {2}
    for partition, _, _, count, block in packets:
        states = states_in([block])
        assert len(states) == count
        assert {owner(schema.pack(codes), PARTITIONS) for codes in states} == {partition}


def test_what_is_not_for_this_level_passes_through(place: RunPlace) -> None:
    passing: list[Said] = [(1, Kind.CLOSED, 7, 3, b"abc"), (1, Kind.FIGURES, 8, 0, b"")]
    rows = [row for row in run_level(place, 1, []) if row[1] is Kind.PACKET]
    answers = run_level(place, 2, [*passing, *rows], expands=False)
    assert [row for row in answers if row in passing] == passing


def test_a_level_that_was_written_is_not_made_again(place: RunPlace) -> None:
    rows = run_level(place, 1, [])
    first = run_level(place, 2, rows, expands=False)
    again = run_level(place, 2, rows, expands=False)
    worker._workers.pop("ring")[1].close()
    anew = run_level(place, 2, [], expands=False)
    closed = [of_kind(answers, Kind.CLOSED, 2) for answers in (first, again, anew)]
    assert closed[0] == closed[1] == closed[2]
    assert sum(row[3] for row in closed[0]) == len(LEVELS[1])


def test_the_figures_of_a_task(place: RunPlace) -> None:
    rows = run_level(place, 1, [])
    first = [json.loads(row[4]) for row in of_kind(rows, Kind.FIGURES, 1)]
    assert sum(each["bytes_out"] for each in first) == sum(len(row[4]) for row in rows if row[1] is Kind.PACKET)
    assert [(each["level"], each["bytes_in"]) for each in first] == [(1, 0)] * PARTITIONS
    second = [json.loads(row[4]) for row in of_kind(run_level(place, 2, rows), Kind.FIGURES, 2)]
    assert sum(each["bytes_in"] for each in second) == sum(each["bytes_out"] for each in first)
    assert all({"insert", "write", "check", "expand", "seconds", "loaded"} <= set(each) for each in second)


def test_rows_of_another_partition_are_our_mistake(place: RunPlace) -> None:
    rows = [to_batch([(0, Kind.PACKET, 2, 0, b""), (1, Kind.PACKET, 2, 0, b"")])]
    with pytest.raises(InternalError, match="Rows of the partitions 0 and 1 came to one task"):
        list(level_task(LevelJob(place, 2, inserts=True, expands=False))(iter(rows)))


def test_without_a_row_there_is_no_answer(place: RunPlace) -> None:
    assert list(level_task(LevelJob(place, 1, inserts=False, expands=True))(iter([]))) == []


@pytest.mark.parametrize("level", [1, 2, 3])
def test_the_least_predecessor_in_a_level_is_that_of_the_evaluator(place: RunPlace, level: int) -> None:
    search(place, depth=4)
    evaluator, schema = Evaluator(MODEL.program), MODEL.program.schema
    for target in LEVELS[level][:4]:
        found = []
        job = PredecessorJob(place, level, schema.pack(target))
        for partition in range(PARTITIONS):
            seed = to_batch([(partition, Kind.SEED, level, 0, b"")])
            for batch in predecessor_task(job)(iter([seed])):
                for row in rows_of(batch):
                    assert (row.kind, row.partition, row.level, row.count) == (Kind.FOUND, partition, level, 1)
                    found.append(tuple(array("Q", row.block)))
        leading = [
            codes for codes in LEVELS[level - 1] if any(after == target for _, after in successors(evaluator, codes))
        ]
        assert min(found) == min(map(schema.pack, leading))


def test_a_worker_serves_one_run_and_place(place: RunPlace) -> None:
    first = worker_for(place)
    assert worker_for(place) is first
    other = worker_for(replace(place, warm=2))
    assert other is not first
    assert worker_for(replace(place, warm=2)) is other


def test_what_a_worker_has_of_a_run_that_is_over_is_given_back(
    place: RunPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = {"ring": tmp_path / "executor", "second": tmp_path / "second", "third": tmp_path / "third"}
    monkeypatch.setattr(worker, "executor_folder", lambda run: folders[run])
    for name in ("second", "third"):
        folders[name].mkdir()
    first = worker_for(place)
    worker_for(replace(place, run="second"))
    assert worker_for(place) is first, "its folder is there: the run is not over"
    folders["second"].rmdir()
    worker_for(replace(place, run="third"))
    assert list(worker._workers) == ["ring", "third"]
    worker._workers.pop("third")[1].close()


def test_the_files_that_are_looked_through_are_closed(place: RunPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []
    real = StatesFile.close

    def close(file: StatesFile) -> None:
        closed.append(1)
        real(file)

    monkeypatch.setattr(StatesFile, "close", close)
    run = RunFolder(place.uri)
    for partition in range(PARTITIONS):
        list(level_pieces(run, 1, partition, 1))
    assert len(closed) == PARTITIONS
    pieces = level_pieces(run, 1, 0, 1)
    next(pieces, None)
    pieces.close()  # type: ignore[attr-defined]
    assert len(closed) == PARTITIONS + 1
