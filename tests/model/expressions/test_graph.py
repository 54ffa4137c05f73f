from __future__ import annotations

import pytest

from insync.model.expressions.graph import GROUND, Graph, Node, Op, Quantifier, fold, range_of, reachable
from insync.model.expressions.semantics import MEANING
from insync.runtime.errors import ModelError


def test_every_operation_has_one_meaning() -> None:
    assert set(MEANING) == GROUND - {Op.CONST, Op.CELL}


def test_true_is_not_one() -> None:
    graph = Graph([])
    assert graph.boolean(True) is graph.true
    assert graph.const(1) is not graph.true
    assert (graph.true.is_bool, graph.const(1).is_bool) == (True, False)


def test_a_cell_of_one_code_is_no_cell() -> None:
    graph = Graph([1, 2])
    assert graph.cell(0) is graph.const(0)
    assert (graph.cell(1).op, graph.cell(1).lo, graph.cell(1).hi) == (Op.CELL, 0, 1)


def test_an_argument_is_read_as_what_it_is() -> None:
    graph = Graph([2, 3])
    some = Quantifier("n", ("a", "b"))
    both = graph.node(Op.AND, (graph.node(Op.EQ, (graph.cell(0), graph.const(1))), graph.true), some)
    assert (graph.cell(1).cell, graph.const(7).value, graph.true.value, both.quantifier) == (1, 7, True, some)
    assert graph.cell(1).quantifier is None
    with pytest.raises(AssertionError):
        _ = graph.const(1).cell
    with pytest.raises(AssertionError):
        _ = graph.cell(1).value


def test_nodes_of_two_graphs_are_apart() -> None:
    assert Graph([3]).cell(0) is not Graph([3]).cell(0)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_value_may_be_as_far_from_0_as_2_to_the_62_and_no_further(sign: int) -> None:
    graph = Graph([2])
    assert graph.const(sign << 62).lo == sign << 62
    with pytest.raises(ModelError, match="can leave the range of 64-bit numbers"):
        graph.const(sign * (1 + (1 << 62)))


def test_values_beyond_64_bits_are_refused_where_they_are_written() -> None:
    graph = Graph([1 << 40])
    with pytest.raises(ModelError, match=r"test_graph\.py:\d+: .* can leave the range of 64-bit numbers"):
        graph.node(Op.MUL, (graph.cell(0), graph.cell(0)))


def test_reachable_lists_arguments_before_their_users_and_each_node_once() -> None:
    graph = Graph([4, 4])
    a, b = graph.cell(0), graph.cell(1)
    total = graph.node(Op.ADD, (a, b))
    root = graph.node(Op.LT, (total, a))
    assert reachable([root, total]) == [a, b, total, root]
    assert reachable([]) == []


def test_fold_makes_each_value_once_and_keeps_what_is_known() -> None:
    graph = Graph([5, 5])
    a, b = graph.cell(0), graph.cell(1)
    both = graph.node(Op.ADD, (a, b))
    twice = graph.node(Op.MUL, (both, both))
    made: list[Node] = []

    def text(node: Node, args: list[str]) -> str:
        made.append(node)
        return f"{node.op.value}({', '.join(args)})"

    known = {both: "sum"}
    assert fold([twice, a, twice], text, known) == ["mul(sum, sum)", "cell()", "mul(sum, sum)"]
    assert made == [a, twice]
    assert fold([both, twice], text, known) == ["sum", "mul(sum, sum)"]
    assert set(known) == {a, both, twice}
    assert fold([], text) == []
    assert fold([twice], text) == ["mul(add(cell(), cell()), add(cell(), cell()))"]


def test_deep_expressions_need_no_recursion() -> None:
    graph = Graph([2])
    node = graph.cell(0)
    for _ in range(20_000):
        node = graph.node(Op.MIN, (node, graph.cell(0)))
    assert len(reachable([node])) == 20_001


@pytest.mark.parametrize(
    ("op", "args", "expected"),
    [
        (Op.SELECT, [(0, 1), (5, 6), (7, 9)], (5, 9)),
        (Op.SELECT, [(0, 2), (5, 6), (7, 9)], (0, 9)),
        (Op.SELECT, [(-9, -2), (5, 6), (7, 9)], (0, 6)),
        (Op.SELECT, [(1, 1), (5, 6), (-7, 9)], (-7, 9)),
        (Op.BIT, [(0, 3)], (1, 8)),
        (Op.BIT, [(-1, 70)], (0, 1 << 62)),
        (Op.BITOR, [(1, 4), (0, 2)], (1, 7)),
        (Op.MUL, [(-2, 3), (-5, 1)], (-15, 10)),
        (Op.COUNT, [(0, 6)], (0, 3)),
    ],
)
def test_ranges(op: Op, args: list[tuple[int, int]], expected: tuple[int, int]) -> None:
    assert range_of(op, args) == expected


def test_a_node_shows_its_operation_and_arguments() -> None:
    graph = Graph([3])
    shown = repr(graph.node(Op.LT, (graph.cell(0), graph.const(2))))
    assert shown == "n4=lt(n2, n3)"
    assert Quantifier("r", ("b1",)) == Quantifier("r", ("b1",))


def test_a_copy_is_the_node_with_its_arguments_and_counts_as_made() -> None:
    graph, other = Graph([4]), Graph([4])
    node, copy = (one.node(Op.EQ, (one.cell(0), one.const(1))) for one in (graph, other))
    asked = 0

    def ask() -> None:
        nonlocal asked
        asked += 1

    with other.asking(ask):
        for _ in range(3000):
            node, before = graph.node(Op.NOT, (node,)), copy
            copy = other.copied(node, (before,))
            assert copy is other.copied(node, (before,)) is other.node(Op.NOT, (before,))
    assert asked >= 2
