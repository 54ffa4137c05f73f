"""Conditions in many states at once, state by state and as what was found, as the evaluator has them."""

from __future__ import annotations

import numpy as np
import pytest

from insync.machine.kernels import Part, compile_kernels
from insync.machine.packed import BATCH, Found, PackedRows
from insync.model.catalogue import find_model
from insync.model.evaluator import evaluate
from insync.model.expressions.graph import Op
from insync.model.expressions.simplify import apply
from insync_machine import reachable_states

MODEL = find_model("kip320")(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
STATES = reachable_states(MODEL)


@pytest.mark.parametrize("count", [0, 1, 5, BATCH - 1, BATCH, BATCH + 1, len(STATES)])
@pytest.mark.parametrize("conditions", [0, 1, 3, 32])
def test_a_condition_holds_where_it_does_by_the_evaluator(conditions: int, count: int) -> None:
    graph, cells = MODEL.program.graph, len(MODEL.program.schema.cells)
    nodes = [apply(Op.EQ, graph.cell(n % cells), graph.const(n // cells)) for n in range(conditions)]
    checker = compile_kernels(MODEL.program, nodes, parts=[Part.CHECK]).checker()
    states, unpack = STATES[:count], MODEL.program.schema.unpack
    expected = [[bool(evaluate(node, unpack(state))) for state in states] for node in nodes]
    rows = np.array(states, dtype=np.uint64).reshape(count, MODEL.program.schema.words)
    assert checker.holds(rows).tolist() == expected
    checker.take()
    memory = PackedRows(states)
    checker.check(memory.address, memory.count)
    wrong = [[state for state, holds in zip(states, row, strict=True) if not holds] for row in expected]
    assert checker.take() == [Found(len(found), min(found, default=None)) for found in wrong]
    assert checker.take() == [Found() for _ in nodes]
    checker.close()


@pytest.mark.parametrize("count", [0, 1, BATCH - 1, BATCH, BATCH + 1, len(STATES)])
@pytest.mark.parametrize("conditions", [0, 1, 32])
def test_states_that_violate_a_condition_are_counted_as_by_the_evaluator(conditions: int, count: int) -> None:
    graph, cells = MODEL.program.graph, len(MODEL.program.schema.cells)
    nodes = [apply(Op.EQ, graph.cell(n % cells), graph.const(n // cells)) for n in range(conditions)]
    counter = compile_kernels(MODEL.program, nodes, parts=[Part.COUNT]).counter()
    states, unpack = STATES[:count], MODEL.program.schema.unpack
    memory = PackedRows(states)
    counter.count(memory.address, memory.count)
    counter.count(memory.address, min(count, 3))
    expected = [sum(not evaluate(node, unpack(state)) for state in [*states, *states[:3]]) for node in nodes]
    assert counter.take() == expected
    assert counter.take() == [0] * conditions
    counter.close()
