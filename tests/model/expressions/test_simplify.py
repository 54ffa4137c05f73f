from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from insync.model.evaluator import evaluate
from insync.model.expressions.graph import Graph, Node, Op, Quantifier, reachable
from insync.model.expressions.semantics import MEANING
from insync.model.expressions.simplify import apply, combine
from insync.runtime.errors import ModelError
from insync_expressions import SIZES, Tree, conditions, direct, every_state, made, numbers, sets


@given(st.one_of(numbers(3), conditions(3), sets(3)), st.randoms(use_true_random=False))
def test_a_simplified_node_means_what_was_written_and_its_range_is_right(tree: Tree, dice: random.Random) -> None:
    graph = Graph(SIZES)
    try:
        node = made(graph, tree)
    except ModelError:
        assume(False)
    for codes in dice.sample(list(every_state()), 24):
        value = direct(tree, codes)
        assert evaluate(node, codes) == value
        assert node.lo <= value <= node.hi
        assert isinstance(evaluate(node, codes), bool) == node.is_bool


@pytest.mark.parametrize("op", [Op.MIN, Op.MAX, Op.EQ, Op.LT, Op.LE])
def test_two_numbers_compare_as_their_values_do_wherever_their_ranges_lie(op: Op) -> None:
    """Ranges that are apart, that touch, that overlap, and of which one is a part of the other."""
    graph = Graph([3, 2])
    for more in range(-4, 5):
        a, b = graph.cell(0), apply(Op.ADD, graph.cell(1), graph.const(more))
        one, other = apply(op, a, b), apply(op, b, a)
        for codes in itertools.product(range(3), range(2)):
            left, right = codes[0], codes[1] + more
            assert evaluate(one, codes) == MEANING[op](left, right)
            assert evaluate(other, codes) == MEANING[op](right, left)


@given(st.one_of(numbers(3), conditions(3)))
def test_arguments_come_before_their_users_and_equal_nodes_are_one(tree: Tree) -> None:
    graph = Graph(SIZES)
    node = made(graph, tree)
    assert made(graph, tree) is node
    assert all(a.index < n.index for n in reachable([node]) for a in n.args)
    assert len({(n.op, n.args, n.arg, type(n.arg)) for n in graph.nodes}) == len(graph.nodes)


def test_a_set_of_one_test_reads_through_unions_and_differences() -> None:
    graph = Graph([8])
    mask = graph.cell(0)
    joined = apply(Op.BITOR, mask, graph.const(2))
    assert apply(Op.TEST, joined, graph.const(1)) is graph.true
    assert apply(Op.TEST, joined, graph.const(0)) is apply(Op.TEST, mask, graph.const(0))
    without = apply(Op.BITDIFF, mask, graph.const(2))
    assert apply(Op.TEST, without, graph.const(1)) is graph.false


def test_constants_move_to_one_side_of_an_equation() -> None:
    graph = Graph([5, 5])
    a, b = graph.cell(0), graph.cell(1)
    plus = apply(Op.ADD, apply(Op.ADD, a, graph.const(1)), graph.const(1))
    assert apply(Op.EQ, plus, graph.const(3)) is apply(Op.EQ, a, graph.const(1))
    assert apply(Op.SUB, plus, graph.const(2)) is a
    left = apply(Op.EQ, plus, apply(Op.ADD, b, graph.const(2)))
    assert left is apply(Op.EQ, b, a)


@pytest.mark.parametrize("op", [Op.AND, Op.OR])
def test_a_quantifier_keeps_the_labels_of_the_conditions_that_are_left(op: Op) -> None:
    graph = Graph([2, 2])
    first, second = (apply(Op.EQ, graph.cell(i), graph.const(1)) for i in range(2))
    neutral = graph.boolean(op is Op.AND)
    node = combine(graph, op, [first, neutral, second], Quantifier("r", ("b1", "b2", "b3")))
    assert node.arg == Quantifier("r", ("b1", "b3"))
    assert node.args == (first, second)
    alone = combine(graph, op, [neutral, second], Quantifier("r", ("b1", "b2")))
    assert (alone.args, alone.arg) == ((second,), Quantifier("r", ("b2",)))
    assert combine(graph, op, [], Quantifier("r", ())) is neutral


def test_plain_conjunctions_are_flat_and_quantified_ones_stay() -> None:
    graph = Graph([2, 2, 2])
    a, b, c = (apply(Op.EQ, graph.cell(i), graph.const(1)) for i in range(3))
    flat = combine(graph, Op.AND, [combine(graph, Op.AND, [a, b]), combine(graph, Op.AND, [b, c])])
    assert flat.args == (a, b, c)
    quantified = combine(graph, Op.AND, [a, b], Quantifier("x", ("1", "2")))
    assert combine(graph, Op.AND, [quantified, c]).args == (quantified, c)


def test_divisions_are_made_simple() -> None:
    graph = Graph([5, 12])
    a, b = graph.cell(0), graph.cell(1)

    def divided(op: Op, number: Node, n: int) -> Node:
        return apply(op, number, graph.const(n))

    assert divided(Op.DIV, a, 1) is a
    assert divided(Op.MOD, a, 1) is graph.const(0)
    assert divided(Op.MOD, a, 5) is a
    assert divided(Op.DIV, a, 5) is graph.const(0)
    assert divided(Op.MOD, apply(Op.ADD, a, graph.const(10)), 5) is a
    assert divided(Op.MOD, apply(Op.SUB, a, graph.const(5)), 5) is a
    sixfold = apply(Op.MUL, b, graph.const(6))
    assert divided(Op.MOD, sixfold, 3) is graph.const(0)
    assert divided(Op.DIV, sixfold, 3) is apply(Op.MUL, b, graph.const(2))
    assert divided(Op.DIV, sixfold, 6) is b
    assert divided(Op.DIV, divided(Op.DIV, b, 2), 3) is divided(Op.DIV, b, 6)
    assert divided(Op.MOD, divided(Op.MOD, b, 6), 3) is divided(Op.MOD, b, 3)
    assert divided(Op.MOD, apply(Op.SUB, b, graph.const(1)), 3) is divided(Op.MOD, apply(Op.ADD, b, graph.const(2)), 3)
    round_it = divided(Op.MOD, apply(Op.ADD, b, graph.const(1)), 12)
    assert (round_it.lo, round_it.hi) == (0, 11)


def test_a_division_by_what_no_number_reaches_is_none() -> None:
    graph = Graph([3])
    far = graph.const(2**61)
    number = apply(Op.SUB, graph.cell(0), graph.const(1))
    twice = apply(Op.DIV, apply(Op.DIV, number, far), far)
    assert [evaluate(twice, (code,)) for code in range(3)] == [-1, 0, 0]


@pytest.mark.parametrize("lowest", [-1, 0, 1])
def test_an_index_past_either_end_of_equal_elements_gives_zero(lowest: int) -> None:
    graph = Graph([3, 5])
    index, same = apply(Op.ADD, graph.cell(0), graph.const(lowest)), graph.cell(1)
    chosen = apply(Op.SELECT, index, same, same, same)
    assert [evaluate(chosen, (code, 4)) for code in range(3)] == [
        4 if 0 <= code + lowest < 3 else 0 for code in range(3)
    ]
    assert (chosen is same) == (lowest == 0)


@pytest.mark.parametrize("op", [Op.MIN, Op.MAX])
def test_the_extreme_of_an_extreme_and_one_of_its_numbers_is_that_extreme(op: Op) -> None:
    graph = Graph([5, 5])
    a, b = graph.cell(0), graph.cell(1)
    extreme = apply(op, a, b)
    assert all(apply(op, *pair) is extreme for one in (a, b) for pair in ((extreme, one), (one, extreme)))
