from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from insync.model.domains.bounds import BoundValues
from insync.model.domains.composite import Array, Int, Option, Record, State
from insync.model.domains.layout import WORD, Schema
from insync.model.domains.values import Bool

SIZES = st.integers(0, 62).flatmap(lambda bits: st.integers((1 << bits) // 2 + 1, 1 << bits))


def schema_of(sizes: list[int]) -> Schema:
    state = State(**{f"f{i}": Int(0, size - 1) for i, size in enumerate(sizes)})
    return Schema(state.bind(BoundValues({})))


@given(st.lists(SIZES, min_size=1, max_size=40), st.data())
def test_packing_is_undone_by_unpacking(sizes: list[int], data: st.DataObject) -> None:
    schema = schema_of(sizes)
    codes = data.draw(st.tuples(*(st.integers(0, size - 1) for size in sizes)))
    words = schema.pack(codes)
    assert len(words) == schema.words
    assert all(0 <= word < 1 << WORD for word in words)
    assert schema.unpack(words) == codes


@given(st.lists(SIZES, min_size=1, max_size=40))
def test_no_cell_crosses_a_word_or_meets_another(sizes: list[int]) -> None:
    schema = schema_of(sizes)
    taken: set[tuple[int, int]] = set()
    for cell, size in zip(schema.cells, sizes, strict=True):
        assert (cell.size, cell.bits) == (size, (size - 1).bit_length())
        assert cell.word < schema.words
        assert cell.shift + cell.bits <= WORD
        bits = {(cell.word, bit) for bit in range(cell.shift, cell.shift + cell.bits)}
        assert not taken & bits
        taken |= bits
    assert schema.bits == len(taken)


def test_a_cell_of_one_code_takes_no_bits() -> None:
    cell = schema_of([1 << 62, 1]).cells[1]
    assert (cell.bits, cell.word, cell.shift) == (0, 0, 0)
    assert schema_of([1]).words == 1


def test_a_small_cell_fills_the_gap_in_an_earlier_word() -> None:
    schema = schema_of([1 << 60, 1 << 60, 16])
    assert [(c.word, c.shift) for c in schema.cells] == [(0, 0), (1, 0), (0, 60)]


def test_paths_say_where_a_cell_is() -> None:
    entry = Record(id=Int(0, 1), epoch=Option(Int(0, 2)))
    state = State(replica=Array(2, Record(log=Array(1, Option(entry)), up=Bool)))
    assert [c.path for c in Schema(state.bind(BoundValues({}))).cells] == [
        "replica[0].log[0]",
        "replica[0].log[0].id",
        "replica[0].log[0].epoch",
        "replica[0].up",
        "replica[1].log[0]",
        "replica[1].log[0].id",
        "replica[1].log[0].epoch",
        "replica[1].up",
    ]
