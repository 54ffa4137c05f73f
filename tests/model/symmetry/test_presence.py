"""What a condition says of the cells that tell whether others are there: the range of the codes that meet it."""

from __future__ import annotations

import itertools

import pytest

from insync.model.evaluator import evaluate
from insync.model.expressions.graph import Op
from insync.model.expressions.simplify import apply
from insync.model.symmetry.presence import Presence
from insync_symmetric_protocols import Line

MODEL = Line(nodes=3)


@pytest.mark.parametrize("op", [Op.LT, Op.LE, Op.EQ])
@pytest.mark.parametrize("added", [0, 1])
def test_a_comparison_with_a_number_tells_the_least_and_the_greatest_code(op: Op, added: int) -> None:
    program = MODEL.program
    assert program.symmetry is not None
    presence = Presence(program.symmetry, sizes := [cell.size for cell in program.schema.cells])
    telling, _ = next(guard for cell in range(len(sizes)) if (guard := presence.guard(cell)) is not None)
    graph, seen = program.graph, 0
    length = apply(Op.ADD, graph.cell(telling), graph.const(added))
    for number, swapped, holds in itertools.product(range(-1, sizes[telling] + 2), (False, True), (True, False)):
        sides = (graph.const(number), length) if swapped else (length, graph.const(number))
        condition = apply(op, *sides)
        if condition.op is Op.CONST:
            continue
        states = [tuple(code if cell == telling else 0 for cell in range(len(sizes))) for code in range(sizes[telling])]
        right = [codes[telling] for codes in states if bool(evaluate(condition, codes)) == holds]
        assert presence.assumed({}, [condition], holds).get(telling) in ((right[0], right[-1]), None)
        if right != [*range(sizes[telling])] and (op is not Op.EQ or holds):
            assert presence.assumed({}, [condition], holds)[telling] == (right[0], right[-1])
        seen += 1
    assert seen > 4


def test_a_code_that_is_never_there_may_be_read_from_what_is_not_there() -> None:
    program = MODEL.program
    assert program.symmetry is not None
    graph, sizes = program.graph, [cell.size for cell in program.schema.cells]
    presence = Presence(program.symmetry, sizes)
    seen = 0
    for cell in range(len(sizes)):
        if (guard := presence.guard(cell)) is not None:
            above, code = guard[1], graph.cell(cell)
            assert presence.code_is_there(code, graph.const(above), above, {})
            assert not presence.code_is_there(code, graph.const(above + 1), above, {})
            assert presence.code_is_there(code, graph.const(above + 1), above, {guard[0]: (above + 1, above + 1)})
            seen += 1
    assert seen > 3
