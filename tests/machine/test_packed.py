"""Packed states in memory are the states, and of what several workers found the sum and the least is kept."""

from __future__ import annotations

import ctypes
from array import array

from hypothesis import given
from hypothesis import strategies as st

from insync.machine.packed import Found, PackedRows, Records, Words, words_at

WORD = st.integers(0, 2**64 - 1)


@st.composite
def rows(draw: st.DrawFn) -> tuple[int, list[Words]]:
    words = draw(st.integers(1, 4))
    return words, draw(st.lists(st.tuples(*[WORD] * words), max_size=6))


@given(rows())
def test_rows_lie_one_after_the_other(drawn: tuple[int, list[Words]]) -> None:
    words, states = drawn
    for made in (PackedRows(states), PackedRows.of(array("Q", [word for state in states for word in state]), words)):
        assert made.count == len(states)
        assert [words_at(made.address + 8 * words * place, words) for place in range(made.count)] == states
        assert made.content(words) == b"".join(word.to_bytes(8, "little") for state in states for word in state)
        assert PackedRows.of(made.content(words), words).content(words) == made.content(words)
        if states:
            assert made.first(words) == states[0]


@given(st.lists(st.builds(Found, st.integers(1, 9), st.tuples(WORD, WORD)) | st.just(Found()), max_size=5))
def test_of_what_was_found_the_sum_and_the_least_are_kept(parts: list[Found]) -> None:
    total = Found()
    for part in parts:
        total.add(part)
    assert total == Found(sum(p.count for p in parts), min((p.least for p in parts if p.least), default=None))


def test_a_record_that_was_taken_is_empty() -> None:
    records = Records(2, 3)
    memory = (ctypes.c_uint64 * 8).from_address(records.address)
    memory[:] = [0, 1, 2, 3, 5, 6, 7, 8]  # of the first nothing is counted, whatever its state is
    assert records.take() == [Found(), Found(5, (6, 7, 8))]
    assert records.take() == [Found(), Found()]
    assert list(memory) == [0] * 8
