"""Columns of packed states are what the model's domains decode."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insync.explorer.hypothesis import typed_states
from insync.machine.arrow_states import columns_of, decode_states
from insync.model import Index, Int, Model, Set, State
from insync.model.domains.bounds import BoundValues
from insync.model.domains.layout import Schema
from insync_collected import ELEMENTS, made
from insync_post import Post
from insync_toys import TOYS

np, pa = pytest.importorskip("numpy"), pytest.importorskip("pyarrow")


@pytest.mark.parametrize("model", [Post(), *TOYS], ids=lambda model: str(model.name))
@settings(max_examples=10)
@given(data=st.data())
def test_columns_have_the_readable_states(model: Model, data: st.DataObject) -> None:
    states = data.draw(st.lists(typed_states(model), min_size=1, max_size=5))
    schema = model.program.schema
    rows = np.array([schema.pack(model.encode(state)) for state in states], dtype=np.uint64)
    columns = columns_of(model.state, schema)
    names = [column.name for column in columns]
    table = pa.RecordBatch.from_arrays(decode_states(columns, rows), names=names)
    assert table.to_pylist() == states


@pytest.mark.parametrize("kind", ["Seq", "Bag", "ListedSet", "BitSet"])
def test_columns_have_elements_of_every_form(kind: str) -> None:
    seen = 0
    for of in ELEMENTS[:-1]:
        state: Any = State(x=made(kind, of, 2)).bind(BoundValues({}))
        schema, column = Schema(state), state.fields["x"]
        some = [codes for codes, _ in zip(column.values(), range(300), strict=False)]
        rows = np.array([schema.pack(codes) for codes in some], dtype=np.uint64)
        (decoded,) = decode_states(columns_of(state, schema), rows)
        assert decoded.to_pylist() == [column.decode(codes, 0) for codes in some]
        seen += len(some)
    assert seen > 100


@pytest.mark.parametrize("kind", ["Seq", "Bag", "ListedSet"])
def test_a_collection_with_room_for_nothing_is_an_empty_list(kind: str) -> None:
    state: Any = State(x=made(kind, Int(0, 3), 0), after=Int(0, 3)).bind(BoundValues({}))
    schema = Schema(state)
    columns = columns_of(state, schema)
    rows = np.array([schema.pack((0, code)) for code in (0, 3)], dtype=np.uint64)
    assert [decoded.to_pylist() for decoded in decode_states(columns, rows)] == [[[], []], [0, 3]]
    assert columns[0].type == "array<int>"


@pytest.mark.slow_for("16-array<string>")
@pytest.mark.parametrize(("members", "kind"), [(15, "array<string>"), (16, "array<string>"), (17, "bigint")])
def test_a_set_is_a_list_of_its_members_up_to_sixteen_of_them(members: int, kind: str) -> None:
    sort = type("Member", (Index,), {"label": "m", "size": members})
    state: Any = State(x=Set(sort)).bind(BoundValues({}))
    (column,) = columns_of(state, Schema(state))
    assert column.type == kind
