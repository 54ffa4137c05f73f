"""The walks of a simulation, shared out: each is taken once, and what came of all of them is what one walker says."""

from __future__ import annotations

import itertools

import pytest

from insync.machine.kernels import Part, compile_kernels
from insync.machine.packed import PackedRows
from insync.machine.walker import Walked, Walker, merged
from insync.model.abstraction import abstraction_of
from insync.model.expressions.graph import Node
from insync.spark_explore.executor.walk_task import Tour, read_walked, walk_task
from insync.spark_explore.wire.code_bundle import insync_version, recipe_for, write_recipe
from insync.spark_explore.wire.packets import Kind, rows_of, to_batch
from insync_evaluator import conditions
from insync_toys import DieHard

pytest.importorskip("pyarrow")

MODEL = DieHard()
NODES = list(conditions(MODEL).values())


@pytest.mark.parametrize(("first", "end"), [(0, 1), (0, 6), (0, 7), (5, 5), (5, 17)])
def test_every_walk_is_in_one_share_of_one_partition_and_shares_are_even(first: int, end: int) -> None:
    for share, partitions in itertools.product((1, 2, 3, 20), (1, 2, 3, 5)):
        tour = Tour(0, 9, first, end, share, partitions)
        shares = [list(tour.shares(partition)) for partition in range(partitions)]
        assert [*itertools.chain(*shares)] == list(range(first, end, share))
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


def answers(nodes: list[Node], tour: Tour) -> dict[int, Walked]:
    task = walk_task(insync_version(), write_recipe(recipe_for(MODEL.program, nodes, (Part.WALK,))), tour)
    found = {}
    for partition in range(tour.partitions):
        for batch in task(iter([to_batch([(partition, Kind.SEED, 0, 0, b"")])])):
            (row,) = rows_of(batch)
            found[partition] = read_walked(row.block)
            assert (row.partition, row.kind) == (partition, Kind.WALKED)
            assert row.count == sum(found[partition].lengths.values())
    return found


def walked(nodes: list[Node], first: int, end: int) -> Walked:
    rows = PackedRows.of(MODEL.program.initials.rows, MODEL.program.schema.words)
    walker = Walker.of(compile_kernels(MODEL.program, nodes, (Part.WALK,)), rows, 7, 12)
    try:
        return walker.walk(first, end)
    finally:
        walker.close()


def test_what_all_partitions_say_is_what_one_walker_says() -> None:
    found = answers([], Tour(7, 12, 3, 34, 4, 3))
    assert sorted(found) == [0, 1, 2]
    assert merged(list(found.values())) == walked([], 3, 34)
    assert list(answers([], Tour(7, 12, 3, 7, 4, 3))) == [2], "who has no share says nothing"


def test_a_partition_stops_after_the_share_in_which_a_walk_fails() -> None:
    whole = walked(NODES, 0, 4000).failed
    assert whole is not None
    (found,) = answers(NODES, Tour(7, 12, 0, 4000, 5, 1)).values()
    assert found.failed == whole
    assert sum(found.lengths.values()) <= whole.number // 5 * 5 + 5
    after = walked(NODES, whole.number + 1, 4000).failed
    assert after is None or after.number > whole.number


@pytest.mark.parametrize("piece", [1 << 24, 64])
def test_what_was_seen_comes_in_pieces(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr("insync.spark_explore.executor.walk_task._PIECE", piece)
    abstraction = abstraction_of(MODEL)
    recipe = recipe_for(MODEL.program, [], (Part.WALK, Part.SIGHT), abstraction=abstraction)
    tour = Tour(7, 12, 3, 34, 4, 3)
    rows = PackedRows.of(MODEL.program.initials.rows, MODEL.program.schema.words)
    kernels = compile_kernels(MODEL.program, [], (Part.WALK, Part.SIGHT), abstraction=abstraction)
    task = walk_task(insync_version(), write_recipe(recipe), tour)
    for partition in range(3):
        batches = task(iter([to_batch([(partition, Kind.SEED, 0, 0, b"")])]))
        seen = [row for batch in batches for row in rows_of(batch) if row.kind is Kind.SEEN]
        walker = Walker.of(kernels, rows, 7, 12)
        walker.walk(*tour.walks(partition))
        expected = {walker.seen[start : start + 16] for start in range(0, len(walker.seen), 16)}
        walker.close()
        blocks = b"".join(row.block for row in seen)
        assert {blocks[start : start + 16] for start in range(0, len(blocks), 16)} == expected
        assert sum(row.count for row in seen) == len(expected)
        assert len(seen) == -(-len(expected) // min(len(expected), piece // 16))
