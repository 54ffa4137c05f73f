"""The tasks of a whole search in this process, with Spark's shuffles played: they say what the evaluator says."""

from __future__ import annotations

import gc
import json
import sys
from array import array
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import FrameType

import pytest

from insync.machine.packed import Found
from insync.machine.store_kernels import order_kernels
from insync.machine.stores.known_files import most_files
from insync.machine.stores.run_files import CountedFiles, RunFiles
from insync.machine.stores.run_folder import RunFolder
from insync.model.evaluator import Codes, Evaluator, evaluate
from insync.runtime.errors import InternalError, UserError
from insync.spark_explore.executor import worker
from insync.spark_explore.executor.level_task import LevelJob, PredecessorJob, level_task, predecessor_task
from insync.spark_explore.executor.worker import Assignment, RunPlace, worker_for
from insync.spark_explore.wire.code_bundle import insync_version, recipe_for, write_recipe
from insync.spark_explore.wire.packets import Kind, Row, read_closed, read_expanded, rows_of, to_batch
from insync_evaluator import conditions, successors
from insync_run_files import read_states, write_start
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
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Assignment]:
    """A run whose first level is there, on which one executor works."""
    program, run = MODEL.program, RunFolder(str(tmp_path / "run"))
    folder = tmp_path / "executor"
    folder.mkdir()
    monkeypatch.setattr(worker, "spark_folder", lambda: folder)
    recipe = recipe_for(program, NODES)
    place = RunPlace(run.uri, "ring", insync_version(), "c0de", PARTITIONS, 1, limit=64 << 20)
    made = Assignment(place, write_recipe(recipe), CountedFiles({}))
    states = RunFiles(run, "ring", order_kernels(program.schema.words), 1)
    packed = [program.schema.pack(codes) for codes in LEVELS[0]]
    owners = [worker_for(made).kernels.owner(words, PARTITIONS) for words in packed]
    for partition in range(PARTITIONS):
        write_start(
            states, partition, [[words for words, owner in zip(packed, owners, strict=True) if owner == partition]]
        )
    yield made
    _forget_worker()


def _forget_worker() -> None:
    """Have the next task come to another worker."""
    while worker._workers:
        worker._workers.popitem()[1].close()


def said(row: Row) -> Said:
    return row.partition, row.kind, row.level, row.count, row.block


def run_level(given: Assignment, level: int, sent: list[Said], *, expands: bool = True) -> list[Said]:
    """Give each partition its rows, and return what all of them say."""
    answers: list[Said] = []
    for partition in range(PARTITIONS):
        rows = [row for row in sent if row[0] == partition] or [(partition, Kind.PACKET, level, 0, b"")]
        job = LevelJob(given, level, inserts=level > 1, expands=expands)
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


def search(given: Assignment, depth: int = len(LEVELS) + 1) -> list[Said]:
    rows = [(partition, Kind.SEED, 1, 0, b"") for partition in range(PARTITIONS)]
    for level in range(1, depth + 1):
        rows = run_level(given, level, rows, expands=level < depth)
    return rows


@pytest.mark.usefixtures("coded")
def test_a_search_by_codes_says_what_the_evaluator_says(given: Assignment) -> None:
    assert {row[1] for row in run_level(given, 1, [])} == {Kind.CODES, Kind.EXPANDED, Kind.FIGURES}
    _require_what_the_evaluator_says(search(given))


def test_each_level_has_the_states_the_steps_and_the_violations_of_the_evaluator(given: Assignment) -> None:
    _require_what_the_evaluator_says(search(given))


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
            assert sum(row[3] for row in closed) == sum(many for _, many, _, _ in read) == len(states)
            assert sum(outside for _, _, outside, _ in read) == 0
            for number, node in enumerate(NODES):
                wrong = [program.schema.pack(codes) for codes in states if not evaluate(node, codes)]
                total = Found()
                for _, _, _, violations in read:
                    total.add(violations[number])
                assert total == Found(len(wrong), min(wrong, default=None))
    assert sum(row[3] for row in of_kind(everything, Kind.CLOSED, len(LEVELS) + 1)) == 0


def test_a_packet_goes_to_the_owner_of_its_states_and_to_the_next_level(given: Assignment) -> None:
    packets = [row for row in run_level(given, 1, []) if row[1] is Kind.PACKET]
    owner, schema = worker_for(given).kernels.owner, MODEL.program.schema
    assert {row[2] for row in packets} == {2}
    for partition, _, _, count, block in packets:
        states = states_in([block])
        assert len(states) == count
        assert {owner(schema.pack(codes), PARTITIONS) for codes in states} == {partition}


def test_what_is_not_for_this_level_passes_through(given: Assignment) -> None:
    passing: list[Said] = [(1, Kind.CLOSED, 7, 3, b"abc"), (1, Kind.FIGURES, 8, 0, b"")]
    rows = [row for row in run_level(given, 1, []) if row[1] is Kind.PACKET]
    answers = run_level(given, 2, [*passing, *rows], expands=False)
    assert [row for row in answers if row in passing] == passing


def test_a_level_that_was_written_is_not_made_again(given: Assignment) -> None:
    rows = run_level(given, 1, [])
    first = run_level(given, 2, rows, expands=False)
    again = run_level(given, 2, rows, expands=False)
    _forget_worker()
    anew = run_level(given, 2, [], expands=False)
    closed = [of_kind(answers, Kind.CLOSED, 2) for answers in (first, again, anew)]
    assert closed[0] == closed[1] == closed[2]
    assert sum(row[3] for row in closed[0]) == len(LEVELS[1])


def test_a_task_that_runs_again_writes_the_same_file_whatever_came_first(given: Assignment) -> None:
    """Spark may run it twice at a time, and which of both answers is taken has nothing to do with whose file stays."""
    rows, files, closed = run_level(given, 1, []), list[list[bytes]](), list[list[Said]]()
    folder = Path(given.place.uri) / "states"
    for order in (1, -1):
        closed.append(of_kind(run_level(given, 2, rows[::order], expands=False), Kind.CLOSED, 2))
        files.append([(folder / f"p{part:05}" / "00002-00002").read_bytes() for part in range(PARTITIONS)])
        for part in range(PARTITIONS):
            (folder / f"p{part:05}" / "00002-00002").unlink()
        _forget_worker()
    assert files[0] == files[1]
    assert closed[0] == closed[1]


def test_files_are_merged_and_those_that_nobody_needs_are_removed(given: Assignment) -> None:
    """A search in jobs of one level, each of which finds what the manifest counts."""
    rows: list[Said] = []
    for level in range(1, len(LEVELS) + 1):
        rows = run_level(given, level, rows, expands=False)
        rows = run_level(given, level, [], expands=True) if level == 1 else _seeded(given, level)
    states = RunFiles(RunFolder(given.place.uri), "ring", order_kernels(MODEL.program.schema.words), 1)
    merged = Path(given.place.uri) / "merged"
    for partition in range(PARTITIONS):
        spans = states.level(partition, len(LEVELS)).spans
        assert len(spans) <= most_files(len(LEVELS)) < len(LEVELS)
        assert [span.first for span in spans[1:]] == [span.last + 1 for span in spans[:-1]]
        assert (spans[0].first, spans[-1].last) == (1, len(LEVELS))
        found = {path.name for path in (merged / f"p{partition:05}").iterdir()}
        assert found == {f"{span.first:05}-{span.last:05}" for span in spans if span.folder == "merged"}
        for span in spans:
            there = sum(len(read_states(states, partition, level)) for level in range(span.first, span.last + 1))
            assert states.known(partition, span).file.count == span.count == there
    states.close()


def _seeded(given: Assignment, level: int) -> list[Said]:
    """Expand a level that is complete, as the first stage of a job does."""
    answers: list[Said] = []
    for partition in range(PARTITIONS):
        job = LevelJob(given, level, inserts=False, expands=True)
        for batch in level_task(job)(iter([to_batch([(partition, Kind.SEED, level, 0, b"")])])):
            answers += [said(row) for row in rows_of(batch)]
    return answers


def test_the_file_of_a_level_is_the_one_that_is_counted(given: Assignment) -> None:
    closed = of_kind(run_level(given, 2, run_level(given, 1, []), expands=False), Kind.CLOSED, 2)
    digests = b"".join(read_closed(row[4], MODEL.program.schema.words)[0] for row in closed)
    counted = replace(given, counted=CountedFiles({2: digests}))
    _forget_worker()
    assert of_kind(run_level(counted, 2, [], expands=False), Kind.CLOSED, 2) == closed
    _forget_worker()
    with pytest.raises(UserError, match=r"states/p00000/00002-00002: this file is not what the run has written there"):
        run_level(replace(given, counted=CountedFiles({2: bytes(16 * PARTITIONS)})), 2, [], expands=False)


def test_the_figures_of_a_task(given: Assignment) -> None:
    rows = run_level(given, 1, [])
    first = [json.loads(row[4]) for row in of_kind(rows, Kind.FIGURES, 1)]
    assert sum(each["bytes_out"] for each in first) == sum(len(row[4]) for row in rows if row[1] is Kind.PACKET)
    assert [(each["level"], each["bytes_in"]) for each in first] == [(1, 0)] * PARTITIONS
    second = [json.loads(row[4]) for row in of_kind(run_level(given, 2, rows), Kind.FIGURES, 2)]
    assert sum(each["bytes_in"] for each in second) == sum(each["bytes_out"] for each in first)
    assert all({"insert", "find", "check", "expand", "seconds"} <= set(each) for each in second)
    assert all(each["bytes_read"] > 0 for each in second)


def test_rows_of_another_partition_are_our_mistake(given: Assignment) -> None:
    rows = [to_batch([(0, Kind.PACKET, 2, 0, b""), (1, Kind.PACKET, 2, 0, b"")])]
    with pytest.raises(InternalError, match="Rows of the partitions 0 and 1 came to one task"):
        list(level_task(LevelJob(given, 2, inserts=True, expands=False))(iter(rows)))


def test_without_a_row_there_is_no_answer(given: Assignment) -> None:
    assert list(level_task(LevelJob(given, 1, inserts=False, expands=True))(iter([]))) == []


@pytest.mark.parametrize("level", [1, 2, 3])
def test_the_least_predecessor_in_a_level_is_that_of_the_evaluator(given: Assignment, level: int) -> None:
    search(given, depth=4)
    evaluator, schema = Evaluator(MODEL.program), MODEL.program.schema
    for target in LEVELS[level][:4]:
        found = []
        job = PredecessorJob(given, level, schema.pack(target))
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


def test_a_worker_serves_one_run_and_place(given: Assignment) -> None:
    first = worker_for(given)
    assert worker_for(given) is first
    later = replace(given, counted=CountedFiles({1: bytes(48)}))
    assert worker_for(later) is first
    assert first.states.counted == later.counted
    for other in (replace(given.place, together=2), replace(given.place, code="other")):
        another = worker_for(replace(given, place=other))
        assert another is not first
        assert worker_for(replace(given, place=other)) is another


def test_the_task_of_a_level_enters_few_files(given: Assignment) -> None:
    """Whoever follows what an executor does at a level opens these; benchmarks/entered.py counts those of commands."""
    rows = [(partition, Kind.SEED, 1, 0, b"") for partition in range(PARTITIONS)]
    for level in range(1, 4):
        rows = run_level(given, level, rows)
    entered = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and "/insync/" in file and file != __file__:  # a clone may be called insync
            entered.add(file.rpartition("/insync/")[2])

    gc.collect()
    gc.disable()  # what other tests have left would be finalized in the middle of the level
    sys.setprofile(note)
    try:
        run_level(given, 4, rows)
    finally:
        sys.setprofile(None)
        gc.enable()
    assert len(entered) <= 17, sorted(entered)
