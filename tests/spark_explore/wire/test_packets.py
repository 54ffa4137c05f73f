"""What a task writes into the rows that Spark moves is what the driver reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.machine.packed import Found

pytest.importorskip("pyarrow")

from insync.spark_explore.wire.packets import (
    COLUMNS,
    Kind,
    closed_block,
    expanded_block,
    read_closed,
    read_expanded,
    rows_of,
    to_batch,
)

WORD = st.integers(0, 2**64 - 1)
LARGE = st.integers(0, 2**128 - 1)  # what is counted of states that representatives stand for


def records(words: int) -> st.SearchStrategy[Found]:
    state = st.tuples(*[WORD] * words)
    return st.just(Found()) | st.builds(Found, st.integers(1, 2**64 - 1), state)


@given(st.integers(1, 4), st.data())
def test_what_was_found_is_read_as_it_was_written(words: int, data: st.DataObject) -> None:
    found = data.draw(st.lists(records(words), max_size=4))
    states, outside = data.draw(LARGE), data.draw(LARGE)
    digest = data.draw(st.binary(min_size=16, max_size=16))
    block = closed_block(digest, states, outside, found, words)
    assert read_closed(block, words) == (digest, states, outside, found)
    steps, refused = data.draw(st.lists(LARGE, max_size=5)), data.draw(records(words))
    stepless = data.draw(LARGE)
    block = expanded_block(steps, refused, stepless, words)
    assert read_expanded(block, len(steps), words) == (steps, refused, stepless)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 99), st.sampled_from(Kind), st.integers(0, 99), st.integers(0, 2**40), st.binary(max_size=40)
        ),
        min_size=1,
        max_size=5,
    )
)
def test_rows_are_read_as_they_were_written(rows: list[tuple[int, Kind, int, int, bytes]]) -> None:
    batch = to_batch(rows)
    assert [name.split()[0] for name in COLUMNS.split(", ")] == batch.schema.names
    read = list(rows_of(batch))
    assert [(row.partition, row.kind, row.level, row.count, row.block) for row in read] == rows
    for row, (*_, block) in zip(read, rows, strict=True):
        assert row.size == len(block)
        assert (row.address != 0) == bool(block)
