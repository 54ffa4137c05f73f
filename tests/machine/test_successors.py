from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from insync.machine.kernels import compile_kernels
from insync.machine.packed import PackedRows
from insync.model import Model
from insync.model.catalogue import find_model
from insync.model.expressions.graph import Node
from insync.properties.registry import invariants_of
from insync_machine import (
    by_evaluator,
    by_machine,
    reachable_states,
    violations_by_evaluator,
    violations_by_machine,
)
from insync_suspicious import Inert
from insync_toys import TOYS, Grid

SMALL = [
    *(toy for toy in TOYS if not isinstance(toy, Grid)),
    Grid(width=1),
    Inert(),
    find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1),
    find_model("kip101")(replicas=2, log_size=2, max_records=2, max_leader_epoch=1),
    find_model("async_isr")(replicas=3, max_offset=1, max_version=1),
]
LARGE = [
    find_model("kip320")(replicas=3, log_size=3, max_records=3, max_leader_epoch=3),
    find_model("truncate_to_high_watermark")(replicas=4, log_size=2, max_records=3, max_leader_epoch=2),
    find_model("kip279")(replicas=5, log_size=4, max_records=4, max_leader_epoch=2),
    find_model("async_isr")(replicas=4, max_offset=5, max_version=5),
]


def name_of(model: Model) -> str:
    return f"{model.name}-{'-'.join(map(str, dict(model.b).values()))}"


@cache
def nodes_of(model: Model) -> tuple[Node, ...]:
    return tuple(found.node(model) for found in invariants_of(model).values())


@pytest.mark.slow_for("1-kip320-2-1-1-1", "1-kip101-2-2-2-1", "3-kip101-2-2-2-1")
@pytest.mark.parametrize("model", SMALL, ids=name_of)
@pytest.mark.parametrize("partitions", [1, 3])
def test_whole_small_spaces_have_the_same_successors(model: Model, partitions: int) -> None:
    states = reachable_states(model)
    assert by_machine(model, states, partitions) == by_evaluator(model, states)


@pytest.mark.slow_for("kip101-2-2-2-1")
@pytest.mark.parametrize("model", SMALL, ids=name_of)
def test_whole_small_spaces_have_the_same_violations(model: Model) -> None:
    states, nodes = reachable_states(model), nodes_of(model)
    assert violations_by_machine(model, nodes, states) == violations_by_evaluator(model, nodes, states)


@pytest.mark.slow_for("1")
@pytest.mark.parametrize("partitions", [1, 3])
def test_states_all_over_a_space_have_the_same_successors_and_violations(partitions: int) -> None:
    """The evaluator takes half a minute for all 36,864 states of this grid; these are of all its typed states."""
    model, chance = Grid(), random.Random(1)
    cells, pack = model.program.schema.cells, model.program.schema.pack
    states = list({pack([chance.randrange(cell.size) for cell in cells]): None for _ in range(1500)})
    assert by_machine(model, states, partitions) == by_evaluator(model, states)
    nodes = nodes_of(model)
    assert violations_by_machine(model, nodes, states) == violations_by_evaluator(model, nodes, states)


@pytest.mark.slow
@pytest.mark.parametrize("model", LARGE, ids=name_of)
@settings(max_examples=15)
@given(data=st.data())
def test_random_states_of_large_spaces_have_the_same_successors_and_violations(
    model: Model, data: st.DataObject
) -> None:
    cells = model.program.schema.cells
    codes = st.tuples(*(st.integers(0, cell.size - 1) for cell in cells))
    states = [model.program.schema.pack(c) for c in data.draw(st.lists(codes, min_size=1, max_size=12))]
    assert by_machine(model, states) == by_evaluator(model, states)
    nodes = nodes_of(model)
    assert violations_by_machine(model, nodes, states) == violations_by_evaluator(model, nodes, states)


@pytest.mark.slow_for("1", "256", "257", "600")
@pytest.mark.parametrize("count", [1, 7, 8, 9, 63, 64, 65, 255, 256, 257, 600])
def test_a_batch_may_have_any_size(count: int) -> None:
    model = SMALL[-2]
    states = reachable_states(model)[:count]
    assert len(states) == count
    assert by_machine(model, states) == by_evaluator(model, states)
    nodes = nodes_of(model)
    assert violations_by_machine(model, nodes, states) == violations_by_evaluator(model, nodes, states)


def test_buffers_that_were_full_once_need_no_more_memory_afterwards() -> None:
    model = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
    states, (initial, *_) = PackedRows(reachable_states(model)), reachable_states(model)
    expander = compile_kernels(model.program, []).expander(1, 1 << 20, initial)
    whole = expander.untouched_bytes
    expander.expand(states.address, states.count)
    used = expander.pending_bytes
    expander.clear()
    assert (expander.pending_bytes, whole - expander.untouched_bytes) == (0, used)
    expander.forget()
    expander.expand(states.address, 1)
    expander.clear()
    assert whole - expander.untouched_bytes == used
    expander.close()
