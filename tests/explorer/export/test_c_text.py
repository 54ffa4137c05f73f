from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from insync.explorer.export.promela import C_FUNCTIONS, C_TEXT, CText
from insync.model.evaluator import evaluate
from insync.model.expressions.graph import Graph, Op
from insync.model.expressions.semantics import MEANING
from insync_expressions import SIZES, Tree, conditions, every_state, made, numbers, sets
from insync_promela import value_of

VARIABLES = {number: f"now.c{number}" for number in range(len(SIZES))}
STATES = list(every_state())


@given(numbers(3) | conditions(3) | sets(3), st.sampled_from(STATES))
def test_an_expression_means_what_the_evaluator_says(tree: Tree, codes: tuple[int, ...]) -> None:
    node = made(Graph(SIZES), tree)
    body = CText(VARIABLES)
    text = body.value(node)
    now = {f"c{number}": code for number, code in enumerate(codes)}
    assert value_of(body.lines, text, now) == evaluate(node, codes)


def test_every_operation_has_a_text() -> None:
    assert set(C_TEXT) == set(MEANING)


def test_a_node_is_computed_once() -> None:
    graph = Graph((4, 4))
    total = graph.node(Op.ADD, (graph.cell(0), graph.cell(1)))
    body = CText({0: "now.a", 1: "now.b"})
    body.require([graph.node(Op.LT, (total, graph.const(3))), graph.node(Op.EQ, (total, graph.const(1)))], "return 0;")
    assert sum(line.endswith("+ n2);") for line in body.lines) == 1
    assert [line for line in body.lines if line.startswith("if")] == ["if (!n4) return 0;", "if (!n5) return 0;"]


def test_the_functions_that_c_lacks_mean_what_the_operations_mean(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    values = [-9, -8, -1, 0, 1, 2, 7, 8, 61, 62, 63, 64]
    of_two = {Op.MIN: values, Op.MAX: values, Op.DIV: [1, 2, 3, 8], Op.MOD: [1, 2, 3, 8], Op.TEST: values}
    asked: list[tuple[Op, tuple[int, ...]]] = [
        (op, (a, b)) for op, others in of_two.items() for a, b in itertools.product(values, others)
    ]
    asked += [(Op.BIT, (a,)) for a in values]
    asked += [(Op.COUNT, (a,)) for a in values if a >= 0]
    asked += [(Op.ITE, (c, a, b)) for c in (0, 1) for a, b in ((3, 4), (-1, 2))]
    lines = [f'printf("%lld\\n", {C_TEXT[op](*map(str, args))});' for op, args in asked]
    (tmp_path / "a.c").write_text(
        f"#include <stdio.h>\n{C_FUNCTIONS}\nint main(void) {{ {' '.join(lines)} return 0; }}\n"
    )
    subprocess.run([compiler, "-o", tmp_path / "a", tmp_path / "a.c"], check=True, timeout=60)
    said = subprocess.run([tmp_path / "a"], capture_output=True, text=True, check=True, timeout=60).stdout.split()
    assert [int(value) for value in said] == [int(MEANING[op](*args)) for op, args in asked]
